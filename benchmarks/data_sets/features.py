"""Texts and labels as rows of the XMLC text format."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

#: The labels and the text of a row.
Example = tuple[Sequence[str], str]

#: In a set without a split every 5th row is a test row, and every 10th row of the others a development row.
TEST_EVERY, DEV_EVERY = 5, 10

#: Features are the words in at least this many training rows.
MIN_ROWS_OF_WORD = 3

_WORD = re.compile(r"[^\W\d_]{2,}")


def split(examples: Iterable[Example], seed: int = 0) -> dict[str, list[Example]]:
    """Shuffle the rows, and part them into training, development and test rows."""
    rows = list(examples)
    random.Random(seed).shuffle(rows)
    test = rows[::TEST_EVERY]
    del rows[::TEST_EVERY]
    return {"test": test, **hold_out(rows)}


def hold_out(rows: list[Example]) -> dict[str, list[Example]]:
    """Part training rows into development rows and the others."""
    return {"dev": rows[::DEV_EVERY], "train": [row for i, row in enumerate(rows) if i % DEV_EVERY]}


def keep_frequent(examples: Iterable[Example], min_rows: int) -> list[Example]:
    """The examples with the labels that at least `min_rows` of them have."""
    rows = [(sorted(set(labels)), text) for labels, text in examples]
    n_rows = Counter(label for labels, _ in rows for label in labels)
    kept = (([label for label in labels if n_rows[label] >= min_rows], text) for labels, text in rows)
    return [(labels, text) for labels, text in kept if labels]


def write_parts(folder: Path, parts: dict[str, list[Example]]) -> None:
    """Write train.txt, dev.txt and test.txt: log tf x idf of words of two or more letters, rows of length one.

    Words and labels are those of the training rows. Rows without a word or a label are left out. train.txt comes
    last, so that it is there only with the rest.
    """
    counted = [Counter(_WORD.findall(text.lower())) for _, text in parts["train"]]
    n_rows_of = Counter(word for counts in counted for word in counts)
    words = sorted(word for word, n in n_rows_of.items() if n >= MIN_ROWS_OF_WORD)
    column = {word: i for i, word in enumerate(words)}
    idf = [math.log((1 + len(counted)) / (1 + n_rows_of[word])) + 1 for word in words]
    names = sorted({label for labels, _ in parts["train"] for label in labels})
    number = {name: i for i, name in enumerate(names)}

    def lines(part: list[Example]) -> Iterator[str]:
        for labels, text in part:
            counts = Counter(column[word] for word in _WORD.findall(text.lower()) if word in column)
            row = [(j, (1 + math.log(n)) * idf[j]) for j, n in sorted(counts.items())]
            norm = math.sqrt(sum(value * value for _, value in row))
            ids = sorted({number[label] for label in labels if label in number})
            if row and ids:
                yield ",".join(map(str, ids)) + "".join(f" {j}:{value / norm:.5g}" for j, value in row) + "\n"

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "labels.txt").write_text("".join(name + "\n" for name in names), encoding="utf-8")
    (folder / "words.txt").write_text("".join(word + "\n" for word in words), encoding="utf-8")
    for part in ("test", "dev", "train"):
        rows = list(lines(parts[part]))
        partial = folder / f"{part}.txt.partial"
        partial.write_text(f"{len(rows)} {len(words)} {len(names)}\n" + "".join(rows), encoding="ascii")
        partial.rename(folder / f"{part}.txt")
