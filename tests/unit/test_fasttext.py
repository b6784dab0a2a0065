"""read_texts of fastText lines."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest

from labeltree.data import DataFormatError, Texts, read_texts


def test_lines() -> None:
    lines = [
        "__label__sea __label__boat A fishing  boat",
        "no labels",
        "",
        "__label__only",
        "in the __label__middle\tof a line __label__end",
        "__label__größe Übergröße\u00a0mit\u2028Zeichen",
        "__label__a __label__a twice",
        "not__label__this __LABEL__that",
    ]
    expected = [
        ("A fishing boat", ["sea", "boat"]),
        ("no labels", []),
        ("", []),
        ("", ["only"]),
        ("in the of a line", ["middle", "end"]),
        ("Übergröße\u00a0mit\u2028Zeichen", ["größe"]),  # only blanks, tabs and line ends separate
        ("twice", ["a", "a"]),
        ("not__label__this __LABEL__that", []),
    ]
    for end in ("\n", "\r\n"):
        for last in ("", end):
            read = read_texts(io.BytesIO((end.join(lines) + last).encode()))
            assert list(zip(read.texts, read.labels, strict=True)) == expected


def test_other_prefix() -> None:
    read = read_texts(io.BytesIO(b"#sea #boat __label__x\n"), label_prefix="#")
    assert read == Texts(["__label__x"], [["sea", "boat"]])
    with pytest.raises(ValueError, match="expected a label_prefix of at least one character"):
        read_texts(io.BytesIO(b"x"), label_prefix="")


def test_file(tmp_path: Path) -> None:
    path = tmp_path / "train.txt.gz"
    path.write_bytes(gzip.compress("\ufeff__label__sea boat\n".encode()))
    assert read_texts(path) == Texts(["boat"], [["sea"]])


def test_empty_file(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").touch()
    assert read_texts(tmp_path / "empty.txt") == Texts([], [])


def test_errors(tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    path.write_bytes(b"__label__sea boat\n__label__ boat\n")
    with pytest.raises(DataFormatError, match=r"train.txt:2: expected the name of a label after '__label__'"):
        read_texts(path)
    path.write_bytes(b"__label__sea boat\n\nna\xefve\n")
    with pytest.raises(
        DataFormatError, match=r"train.txt:3: expected UTF-8 text, got the byte 0xef as byte 3 of"
    ):
        read_texts(path)
