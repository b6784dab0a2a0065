"""WordNet, from Debian's package wordnet-base: a gloss as text, its words or its hypernyms as labels."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.data_sets.features import Example, keep_frequent

_PARTS_OF_SPEECH = ("noun", "verb", "adj", "adv")
_HYPERNYM = re.compile(r" @i? (\d{8}) ([nv]) ")


@dataclass(frozen=True)
class Synset:
    """Words of one meaning; `hypernyms` are the numbers of the more general synsets."""

    words: tuple[str, ...]
    hypernyms: tuple[str, ...]
    gloss: str


def words() -> Iterator[Example]:
    """Glosses and the words that have this meaning, of words with two meanings or more."""
    yield from keep_frequent(((synset.words, synset.gloss) for synset in _synsets().values()), 2)


def hypernyms() -> Iterator[Example]:
    """Glosses of nouns and verbs and all synsets above them, of those above two synsets or more."""
    synsets = _synsets()

    def above(number: str) -> set[str]:
        found: set[str] = set()
        waiting = [number]
        while waiting:
            new = set(synsets[waiting.pop()].hypernyms) - found
            found |= new
            waiting += new
        return found

    examples = ((sorted(above(number)), synset.gloss) for number, synset in synsets.items())
    yield from keep_frequent(examples, 2)


def _synsets() -> dict[str, Synset]:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["apt-get", "--quiet=2", "download", "wordnet-base"], check=True, cwd=folder)
        (package,) = Path(folder).glob("wordnet-base_*.deb")
        subprocess.run(["dpkg-deb", "--extract", package, folder], check=True)
        files = Path(folder, "usr", "share", "wordnet")
        return {
            f"{part[0]}{line[:8]}": _synset(line)
            for part in _PARTS_OF_SPEECH
            for line in (files / f"data.{part}").read_text(encoding="utf-8").splitlines()
            if not line.startswith(" ")
        }


def _synset(line: str) -> Synset:
    """A line of a data file: number, file, kind, number of words, words and ids, pointers, | gloss."""
    head, gloss = line.split(" | ", 1)
    fields = head.split(" ")
    n_words = int(fields[3], 16)
    names = [fields[4 + 2 * i] for i in range(n_words)]
    return Synset(
        words=tuple(re.sub(r"\(\w+\)$", "", name).lower() for name in names),
        hypernyms=tuple(f"{part}{number}" for number, part in _HYPERNYM.findall(head + " ")),
        gloss=gloss,
    )
