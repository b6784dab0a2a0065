"""What the running Python knows of characters, for the kernel."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from labeltree import _native

_SIGMA = "Σ"
_N_CHARACTERS = 0x110000
#: What the kernel asks for the table of characters, and to make capital sigmas small where that is needed.
CharacterFunctions = tuple[Callable[[], _native.CharacterTable], Callable[[str], str] | None]
#: Blocks of so many characters are looked at one by one only if anything in them changes.
_BLOCK = 256


def character_functions(lowercase: bool, strip_accents: str | None) -> CharacterFunctions:
    """How the kernel asks about characters, which it does only for texts that are not ASCII."""
    return partial(character_table, lowercase, strip_accents), with_small_sigma if lowercase else None


@cache
def character_table(lowercase: bool, strip_accents: str | None) -> _native.CharacterTable:
    """What `re` takes for letters and spaces, and what every character becomes.

    What a character becomes does not depend on its neighbours: accents that Unicode's normal form would put into
    order are left out anyway. The capital sigma alone is different; see `with_small_sigma`.
    """
    everything = np.arange(_N_CHARACTERS, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
    changed: list[int] = []
    becomes: list[bytes] = []
    for first in range(0, _N_CHARACTERS, _BLOCK):
        block = everything[first : first + _BLOCK]
        if normalized(block, lowercase, strip_accents) == block:
            continue
        for character in block:
            result = normalized(character, lowercase, strip_accents)
            if result != character:
                changed.append(ord(character))
                becomes.append(result.encode("utf-8", "surrogatepass"))
    begin = np.zeros(len(becomes) + 1, dtype=np.int64)
    np.cumsum([len(one) for one in becomes], out=begin[1:])
    return _native.CharacterTable(
        _ranges(r"\w+", everything),
        _ranges(r"\s+", everything),
        np.array(changed, dtype=np.int32),
        np.frombuffer(b"".join(becomes), dtype=np.uint8),
        begin,
    )


def normalized(text: str, lowercase: bool, strip_accents: str | None) -> str:
    """A text as its terms have it."""
    if lowercase:
        text = text.lower()
    if strip_accents is None or text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    if strip_accents == "ascii":
        return decomposed.encode("ascii", "ignore").decode("ascii")
    return "".join([character for character in decomposed if not unicodedata.combining(character)])


def with_small_sigma(text: str) -> str:
    """Make every capital sigma the small one that `str.lower` makes of it, which depends on its neighbours.

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
        at += 1 + len(piece.lower())  # how long it becomes does not depend on neighbours
    return "".join(pieces)


def _ranges(pattern: str, everything: str) -> NDArray[np.int32]:
    """Begin and end of the runs of characters that match."""
    spans = [match.span() for match in re.finditer(pattern, everything)]
    return np.array(spans, dtype=np.int32).ravel()
