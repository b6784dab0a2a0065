"""The terms of a text and where they are: character by character, in plain Python."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import TypeVar

_Unit = TypeVar("_Unit")
#: A character after lower case and accents, and where it comes from; begin and end are equal if from nowhere.
Character = tuple[str, int, int]
#: A term, and where it is.
Place = tuple[str, int, int]
#: The words of analyzers.
WORDS = {"word": r"\b\w\w+\b", "whitespace": r"\S+"}


def term_places(
    text: str,
    analyzer: str = "word",
    ngram_range: tuple[int, int] = (1, 1),
    lowercase: bool = True,
    strip_accents: str | None = None,
    stop_words: frozenset[str] = frozenset(),
) -> list[Place]:
    """Every occurrence of a term that stands for some character of the text."""
    characters = normal_characters(text, lowercase, strip_accents)
    if analyzer in WORDS:
        units = word_sequences(characters, WORDS[analyzer], ngram_range, stop_words)
    elif analyzer == "char":
        units = [list(unit) for unit in windows(merged_spaces(characters), ngram_range, whole=False)]
    else:
        units = [
            list(unit)
            for word in runs(characters, r"\S+")
            for unit in windows([(" ", 0, 0), *word, (" ", 0, 0)], ngram_range, whole=True)
        ]
    places = []
    for unit in units:
        real = [(begin, end) for _, begin, end in unit if begin < end]
        if real:
            begin, end = real[0][0], real[-1][1]
            while strip_accents and end < len(text) and unicodedata.combining(text[end]):
                end += 1
            places.append(("".join(c for c, _, _ in unit), begin, end))
    return places


def normal_characters(text: str, lowercase: bool, strip_accents: str | None) -> list[Character]:
    """Lower case and without accents."""
    lowered = text.lower()
    found: list[Character] = []
    at = 0
    for i, character in enumerate(text):
        # What str.lower makes of a character may depend on its neighbours, but not how long that is.
        length = len(character.lower())
        becomes = lowered[at : at + length] if lowercase else character
        at += length
        if strip_accents is not None:
            becomes = unicodedata.normalize("NFKD", becomes)
            becomes = "".join(
                c
                for c in becomes
                if (c.isascii() if strip_accents == "ascii" else not unicodedata.combining(c))
            )
        found += [(c, i, i + 1) for c in becomes]
    return found


def runs(characters: list[Character], pattern: str) -> list[list[Character]]:
    text = "".join(c for c, _, _ in characters)
    return [characters[slice(*match.span())] for match in re.finditer(pattern, text)]


def word_sequences(
    characters: list[Character], pattern: str, ngram_range: tuple[int, int], stop_words: frozenset[str]
) -> list[list[Character]]:
    words = [word for word in runs(characters, pattern) if "".join(c for c, _, _ in word) not in stop_words]
    sequences = []
    for n in range(ngram_range[0], ngram_range[1] + 1):
        for i in range(len(words) - n + 1):
            joined = list(words[i])
            for word in words[i + 1 : i + n]:
                joined += [(" ", 0, 0), *word]
            sequences.append(joined)
    return sequences


def merged_spaces(characters: list[Character]) -> list[Character]:
    merged: list[Character] = []
    for run in runs(characters, r"(?s)\s+|\S"):
        merged += [(" ", run[0][1], run[-1][2])] if len(run) > 1 else run
    return merged


def windows(characters: Sequence[_Unit], ngram_range: tuple[int, int], whole: bool) -> list[Sequence[_Unit]]:
    """All of some lengths; with `whole`, one that is too short as it is, once."""
    found: list[Sequence[_Unit]] = []
    for n in range(ngram_range[0], ngram_range[1] + 1):
        if whole and n >= len(characters):
            return [*found, characters]
        found += [characters[i : i + n] for i in range(len(characters) - n + 1)]
    return found
