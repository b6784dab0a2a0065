"""How fast texts become features, beside scikit-learn's vectorizers on the same texts; checks that they are the same.

python -m benchmarks.text eurlex57k tate --threads 1 2
"""

from __future__ import annotations

import argparse
import lzma
import re
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from rich.console import Console
from rich.table import Table
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer

from benchmarks.data import sources
from labeltree.text import TextVectorizer

#: The file of a set's texts, and in which column of its lines they are.
FILES = {"eurlex57k": ("train.tsv.xz", 1), "tate": ("artworks.tsv.xz", 2)}
SETTINGS: dict[str, dict[str, Any]] = {
    "words": {},
    "1 to 2 words": {"ngram_range": (1, 2)},
    "2 to 4 characters": {"analyzer": "char_wb", "ngram_range": (2, 4)},
    "hashed words": {"n_features": 2**20},
    "stems": {"stemmer": "english"},
}
TABLE_WIDTH = 140


def read_texts(name: str, most: int | None) -> list[str]:
    """The first texts of a set in the folder that LABELTREE_DATA names, or of a file with a text per line."""
    file, column = FILES.get(name, ("", 0))
    path = sources() / name / file if file else Path(name)
    opened = lzma.open if path.suffix == ".xz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        return [line.rstrip("\n").split("\t", column)[column] for line in islice(lines, most)]


def peer(settings: dict[str, Any]) -> Any:
    """scikit-learn's vectorizer for the same features; it stems by a tokenizer that remembers the stem of a word."""
    if "stemmer" in settings:
        import snowballstemmer

        stem = cache(snowballstemmer.stemmer(settings["stemmer"]).stemWord)
        words = re.compile(r"\b\w\w+\b").findall
        return TfidfVectorizer(tokenizer=lambda text: [*map(stem, words(text))], token_pattern=None)
    return HashingVectorizer(**settings) if "n_features" in settings else TfidfVectorizer(**settings)


def own(settings: dict[str, Any], threads: int) -> TextVectorizer:
    return TextVectorizer(**settings, use_idf="n_features" not in settings, n_jobs=threads)


def seconds(work: Callable[[], Any], repeat: int) -> tuple[float, Any]:
    """The least time that the work took, and what came of it."""
    times, result = [], None
    for _ in range(repeat):
        started = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - started)
    return min(times), result


def check_same(found: sp.csr_matrix, expected: sp.csr_matrix) -> None:
    expected.sort_indices()
    if not np.array_equal(found.indices, expected.indices) or not np.allclose(
        found.data, expected.data, rtol=1e-6
    ):
        raise RuntimeError("the features are not those of scikit-learn")


def measure(name: str, texts: list[str], chosen: Sequence[str], threads: Sequence[int], repeat: int) -> Table:
    """Seconds of fit_transform and transform, and how many times faster than scikit-learn's."""
    n_bytes = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    table = Table(title=f"{name}: {len(texts):,} texts, {n_bytes / 1e6:,.0f} MB")
    for heading in ("terms", "what", "scikit-learn s", *(f"{n} thread{'s' * (n > 1)} s" for n in threads)):
        table.add_column(heading, justify="left" if heading in ("terms", "what") else "right")
    for terms in chosen:
        expected = peer(SETTINGS[terms])
        found = {n: own(SETTINGS[terms], n) for n in threads}
        for what in ("fit_transform", "transform"):
            floor, rows = seconds(partial(getattr(expected, what), texts), repeat)
            cells = []
            for vectorizer in found.values():
                took, own_rows = seconds(partial(getattr(vectorizer, what), texts), repeat)
                check_same(own_rows, rows)
                cells.append(f"{took:.2f} ({floor / took:.1f}×)")
            table.add_row(terms, what, f"{floor:.2f}", *cells)
    return table


def latency(vectorizer: Any, texts: list[str]) -> str:
    """How long one text takes."""
    vectorizer.fit(texts)
    some = texts[:: max(1, len(texts) // 500)]
    times = [seconds(partial(vectorizer.transform, [text]), 3)[0] * 1e6 for text in some]
    return f"p50 {np.quantile(times, 0.5):,.0f} µs, p99 {np.quantile(times, 0.99):,.0f} µs"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.text", description=__doc__)
    parser.add_argument("data", nargs="*", default=list(FILES), help="sets in LABELTREE_DATA, or files")
    parser.add_argument("--terms", nargs="+", choices=SETTINGS, default=["words", "hashed words"])
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--texts", type=int, help="maximum number of texts")
    parser.add_argument("--repeat", type=int, default=3, help="number of runs; the fastest counts; 3")
    options = parser.parse_args(arguments)
    console = Console(width=TABLE_WIDTH)
    for name in options.data:
        texts = read_texts(name, options.texts)
        console.print(measure(name, texts, options.terms, options.threads, options.repeat))
        console.print(f"one text, scikit-learn: {latency(peer({}), texts)}")
        console.print(f"one text, labeltree: {latency(own({}, 1), texts)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
