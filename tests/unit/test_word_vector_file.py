"""read_word_vectors and write_word_vectors."""

from __future__ import annotations

import gzip
import io
import lzma
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from labeltree.data import DataFormatError, read_word_vectors, write_word_vectors

TEXT = b"the 0.5 -1 2e-3\nsea 1 2 3\n. . . 4 5 6\n"
WORDS = ["the", "sea", ". . ."]
VALUES = np.array([[0.5, -1, 2e-3], [1, 2, 3], [4, 5, 6]], dtype=np.float32)


def binary(words: list[str], values: Any, end: bytes = b"\n") -> bytes:
    """The format of word2vec, written down independently."""
    rows = [
        w.encode() + b" " + row.astype("<f4").tobytes() + end for w, row in zip(words, values, strict=True)
    ]
    return f"{len(words)} {len(values[0])}\n".encode() + b"".join(rows)


def assert_read(found: Any, words: list[str] = WORDS, values: Any = VALUES) -> None:
    assert found.words == words
    assert found.values.dtype == np.float32
    np.testing.assert_array_equal(found.values, values)


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        b"3 3\n" + TEXT,
        b"\xef\xbb\xbf3 3\r\n" + TEXT.replace(b"\n", b" \r\n"),  # blanks at the ends, as fastText has them
        TEXT.replace(b" ", b"\t").replace(b".\t.\t.", b". . ."),
        TEXT + b"sea 7 8 9\n\n",  # only the first counts
        TEXT.rstrip(b"\n"),
    ],
)
def test_text_files(text: bytes) -> None:
    assert_read(read_word_vectors(io.BytesIO(text)))


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_binary_files(end: bytes, tmp_path: Path) -> None:
    words = ["the", "sea", "⛵"]
    path = tmp_path / "vectors.bin"
    path.write_bytes(binary(words, VALUES, end))
    assert_read(read_word_vectors(path), words)


@pytest.mark.parametrize(
    ("suffix", "compress"), [(".gz", gzip.compress), (".xz", lzma.compress), (".zst", zstandard.compress)]
)
def test_compressed_files(suffix: str, compress: Any, tmp_path: Path) -> None:
    text = tmp_path / f"vectors.txt{suffix}"
    text.write_bytes(compress(TEXT))
    assert_read(read_word_vectors(text))
    packed = tmp_path / f"vectors.BIN{suffix}"
    packed.write_bytes(compress(binary(["a", "b", "c"], VALUES)))
    assert_read(read_word_vectors(packed), ["a", "b", "c"])
    text.write_bytes(compress(TEXT * 1000)[:-9])
    with pytest.raises(DataFormatError, match=r"vectors\.txt\.\w+: expected a valid \w+ file, but"):
        read_word_vectors(text)


def test_only_some_words() -> None:
    assert_read(read_word_vectors(io.BytesIO(TEXT), words={"sea", "sky"}), ["sea"], VALUES[1:2])
    assert_read(read_word_vectors(io.BytesIO(b"3 3\n" + TEXT), max_words=2), WORDS[:2], VALUES[:2])
    assert_read(read_word_vectors(io.BytesIO(TEXT), words=["sky"]), [], np.empty((0, 3)))
    with pytest.raises(ValueError, match="max_words of at least 1"):
        read_word_vectors(io.BytesIO(TEXT), max_words=0)


def test_numbers_of_unwanted_words_are_not_looked_at() -> None:
    text = b"the 1 x\nsea 1 2\n"
    assert_read(read_word_vectors(io.BytesIO(text), words=["sea"]), ["sea"], [[1, 2]])
    with pytest.raises(DataFormatError, match="<stream>:1"):
        read_word_vectors(io.BytesIO(text), words=["the"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"sea 1 2\nboat 1\n", "<stream>:2: expected a word and 2 numbers, got 2 fields"),
        (b"sea 1 2\nboat 1 2 3\n", "<stream>:2: expected a word and 2 numbers, got more numbers"),
        (b"sea 1 2\nboat 1 two\n", "<stream>:2: expected numbers after the word, but: could not convert"),
        (
            b"sea 1 2\nboat 1 nan\n",
            "<stream>:2: expected finite float32 numbers, got nan in the vector of 'boat'",
        ),
        (b"sea 1 1e39\n", "<stream>:1: expected finite float32 numbers, got inf in the vector of 'sea'"),
        (b"sea\n", "<stream>:1: expected a word and numbers, got 1 fields"),
        (b"sea 1\n\xff 2\n", "<stream>:2: expected a word in UTF-8"),
        (b"3 1\nsea 1\nboat 2\n", "<stream>: expected the 3 words of the first line, got 2"),
        (b"1 1\nsea 1\nboat 2\n", "<stream>: expected the 1 words of the first line, got 2"),
        (b"1 0\nsea\n", "<stream>:1: expected 1 to 100000 dimensions, got 0"),
        (b"1 999999999999\nsea 1\n", "<stream>:1: expected 1 to 100000 dimensions, got 999999999999"),
        (b"", "<stream>: expected word vectors, got none"),
        (b"0 5\n", "<stream>: expected word vectors, got none"),
    ],
)
def test_bad_text(text: bytes, message: str) -> None:
    with pytest.raises(DataFormatError) as raised:
        read_word_vectors(io.BytesIO(text))
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"sea 1 2\n", "expected the numbers of words and dimensions in the first line"),
        (b"2 1\nsea 1234", "expected the 2 words of the first line, got 1"),
        (b"2 1\nsea 1234\nboat 12", "expected 1 numbers in vector 2, but the file ends"),
        (
            b"1 1\nsea " + np.array([np.inf], "<f4").tobytes(),
            "expected finite float32 numbers, got inf in the vector of 'sea'",
        ),
        (b"1 1\n" + b"x" * 20_000, "expected a word, got over 10000 bytes without a space"),
    ],
)
def test_bad_binary(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "vectors.bin"
    path.write_bytes(content)
    with pytest.raises(DataFormatError, match=message):
        read_word_vectors(path)


def test_text_mode_is_refused() -> None:
    source: Any = io.StringIO("sea 1 2\n")
    with pytest.raises(TypeError, match="binary mode"):
        read_word_vectors(source)


@given(arrays.arrays(np.float32, (3, 2), elements=st.floats(width=32, allow_nan=False, allow_infinity=False)))
def test_round_trip_is_exact(values: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.txt.gz"
        write_word_vectors(path, WORDS, values)
        assert_read(read_word_vectors(path), WORDS, values)


@pytest.mark.parametrize(
    ("words", "values", "message"),
    [
        (["a"], [[1.0], [2.0]], r"each of 1 words, got the shape \(2, 1\)"),
        (["a", "b"], [[1.0], [np.nan]], "vector of 'b'"),
        (["a "], [[1.0]], "got 'a '"),
        ([], np.empty((0, 3)), "each of 0 words"),
    ],
)
def test_what_cannot_be_written(words: list[str], values: Any, message: str, tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    with pytest.raises(ValueError, match=message):
        write_word_vectors(path, words, values)
    assert not path.exists()
