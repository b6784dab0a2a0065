"""The properties of characters in the running Python, for the kernel."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from labeltree import _native
from labeltree.text.terms import pack_terms

_SIGMA = "Σ"
_N_CHARACTERS = 0x110000
#: The kernel calls the first for the table of characters, and the second to lower capital sigmas.
CharacterFunctions = tuple[Callable[[], _native.CharacterTable], Callable[[str], str] | None]
#: Characters are first compared in blocks of this size, because most blocks have no character that changes.
_BLOCK = 256


def character_functions(lowercase: bool, strip_accents: str | None) -> CharacterFunctions:
    """Return the functions that the kernel calls for texts that are not ASCII."""
    return partial(character_table, lowercase, strip_accents), with_small_sigma if lowercase else None


@cache
def character_table(lowercase: bool, strip_accents: str | None) -> _native.CharacterTable:
    """Return the ranges of letters and spaces by `re`, and the normalized form of every character.

    The normalized form of a character does not depend on its neighbours: Unicode's normal form reorders accents, but
    these are removed. The only exception is the capital sigma; see `with_small_sigma`.
    """
    everything = np.arange(_N_CHARACTERS, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
    changed: dict[str, str] = {}
    for first in range(0, _N_CHARACTERS, _BLOCK):
        block = everything[first : first + _BLOCK]
        if normalized(block, lowercase, strip_accents) != block:
            changed.update((one, normalized(one, lowercase, strip_accents)) for one in block)
    changed = {character: result for character, result in changed.items() if result != character}
    return _native.CharacterTable(
        _ranges(r"\w+", everything),
        _ranges(r"\s+", everything),
        np.array([ord(character) for character in changed], dtype=np.int32),
        *pack_terms(list(changed.values())),
    )


def normalized(text: str, lowercase: bool, strip_accents: str | None) -> str:
    """Return a text in lower case or without accents, as its terms are."""
    if lowercase:
        text = text.lower()
    if strip_accents is None or text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    if strip_accents == "ascii":
        return decomposed.encode("ascii", "ignore").decode("ascii")
    return "".join([character for character in decomposed if not unicodedata.combining(character)])


def with_small_sigma(text: str) -> str:
    """Replace every capital sigma by the small one of `str.lower`, which depends on its neighbours.

    All other characters stay as they are.
    """
    if _SIGMA not in text:
        return text
    lowered = text.lower()
    first, *others = text.split(_SIGMA)
    pieces = [first]
    at = len(first.lower())
    for piece in others:
        pieces += [lowered[at], piece]
        at += 1 + len(piece.lower())  # the length of a lower-case text does not depend on neighbours
    return "".join(pieces)


def _ranges(pattern: str, everything: str) -> NDArray[np.int32]:
    """Return begin and end of the runs of characters that match."""
    spans = [match.span() for match in re.finditer(pattern, everything)]
    return np.array(spans, dtype=np.int32).ravel()
