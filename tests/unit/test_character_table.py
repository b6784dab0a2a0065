"""The kernel's table of characters: what it refuses, and what it makes of texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from labeltree import _native

pytestmark = pytest.mark.native


def table(
    words: Sequence[int] = (),
    spaces: Sequence[int] = (),
    changed: Sequence[int] = (),
    text: bytes = b"",
    begin: Sequence[int] = (0,),
) -> _native.CharacterTable:
    ranges = [np.array(values, dtype=np.int32) for values in (words, spaces, changed)]
    return _native.CharacterTable(*ranges, np.frombuffer(text, np.uint8), np.array(begin, dtype=np.int64))


def test_tables_that_are_right() -> None:
    table()
    table([65, 91, 97, 123], [32, 33], [0, 0xC4, 0x10FFFF], b"ae!", [0, 0, 2, 3])
    table([0, 0x110000], changed=[5], text="äЖ\u20ac\U0001f600\x7f".encode(), begin=[0, 12])


@pytest.mark.parametrize("ranges", [[5], [5, 4], [5, 7, 6, 9], [-1, 3], [0, 0x110001], [0, 3, 3, 0x110001]])
def test_ranges_of_characters_that_are_none(ranges: list[int]) -> None:
    for words, spaces in ((ranges, []), ([], ranges)):
        with pytest.raises(ValueError, match="ranges of characters must"):
            table(words, spaces)


@pytest.mark.parametrize("begin", [[], [0], [0, 1, 2], [1, 2], [0, 1], [0, 3], [-1, 2]])
def test_offsets_that_do_not_span_the_text(begin: list[int]) -> None:
    with pytest.raises(ValueError, match="offsets of changed characters must span their text"):
        table(changed=[200], text=b"ab", begin=begin)


@pytest.mark.parametrize(
    ("changed", "text", "begin"),
    [
        ([-1], b"a", [0, 1]),
        ([0x110000], b"a", [0, 1]),
        ([200, 201], b"ab", [0, 3, 2]),
        ([200, 201, 202], b"ab", [0, 2, 1, 2]),
        ([200], b"\x80", [0, 1]),  # a byte that continues nothing
        ([200], b"\xbf", [0, 1]),
        ([200], b"\xc3", [0, 1]),  # cut off
        ([200, 201], b"\xc3\xa4", [0, 1, 2]),  # cut in two
        ([200], b"\xe2\x82", [0, 2]),
        ([200], b"\xc3a", [0, 2]),
        ([200], b"\xc3\xc3", [0, 2]),
        ([200], b"\xe2\x82a", [0, 3]),
        ([200], b"\xc0\x80", [0, 2]),  # longer than need be
        ([200], b"\xc1\xbf", [0, 2]),
        ([200], b"\xe0\x9f\xbf", [0, 3]),
        ([200], b"\xf0\x8f\xbf\xbf", [0, 4]),
        ([200], b"\xf4\x90\x80\x80", [0, 4]),  # beyond Unicode
        ([200], b"\xf8\x88\x80\x80\x80", [0, 5]),
        ([200], b"\xff", [0, 1]),
    ],
)
def test_changed_characters_that_are_none(changed: list[int], text: bytes, begin: list[int]) -> None:
    with pytest.raises(ValueError, match="must lie within Unicode and become UTF-8"):
        table(changed=changed, text=text, begin=begin)
