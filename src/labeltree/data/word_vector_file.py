"""Files of word vectors in the formats of word2vec, GloVe and fastText."""

from __future__ import annotations

import codecs
import itertools
import os
from array import array
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, BinaryIO, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from labeltree.errors import DataFormatError

from .atomic_file import open_atomic
from .compression import uncompressed_name
from .lines import LineError, checked_bytes
from .sources import Source, open_stream, source_name

#: A longer word or vector means that the file has another format.
_MAX_WORD_BYTES = 10_000
MAX_DIMENSIONS = 100_000


#: A word, the number of dimensions, a function that reads the vector if the word is wanted, and the line or 0.
_Row: TypeAlias = tuple[str, int, Callable[[], NDArray[Any]], int]


class WordVectors(NamedTuple):
    """Words and their vectors."""

    words: list[str]
    values: NDArray[np.float32]
    """Array of shape (words, dimensions)."""


def read_word_vectors(
    path: Source,
    *,
    words: Collection[str] | None = None,
    max_words: int | None = None,
    unique: bool = False,
) -> WordVectors:
    """Read word vectors from a text or binary file.

    A line of a text file is a word and its numbers, separated by spaces, as in GloVe. A first line of two integers is
    a header with the numbers of words and dimensions, as in word2vec and fastText. Words may contain spaces. Files
    whose names end in ``.bin`` have word2vec's binary format.

    Parameters
    ----------
    path : str, path-like or binary file
        The file, in UTF-8; ``"-"`` is standard input. Names ending in ``.gz``, ``.xz`` and ``.zst`` are
        decompressed as they are read.
    words : collection of str, optional
        Words to keep in memory. The default keeps all words.
    max_words : int, optional
        Maximum number of words to read from the beginning of the file, where the frequent words are.
    unique : bool
        Whether a word that occurs twice is an error; only words that are kept are compared. By default its first
        vector is used.

    Returns
    -------
    WordVectors
        The words, in the order of the file, and an array of float32.

    Raises
    ------
    DataFormatError
        With file and line, if a line has too few or too many numbers, has a number that is not finite, or is not
        UTF-8; if the file has another number of words than its header, or no words at all; with `unique`, if a word
        occurs twice.

    Examples
    --------
    >>> import io
    >>> from labeltree.data import read_word_vectors
    >>> words, values = read_word_vectors(io.BytesIO(b"2 3\\nsea 0.5 1 -2\\nboat 0 1.5 1\\n"))
    >>> words
    ['sea', 'boat']
    >>> values
    array([[ 0.5,  1. , -2. ],
           [ 0. ,  1.5,  1. ]], dtype=float32)
    """
    if max_words is not None and max_words < 1:
        raise ValueError(f"expected max_words of at least 1 or None, got {max_words}")
    wanted = None if words is None else frozenset(words)
    name = source_name(path)
    kept: dict[str, None] = {}  # a set that keeps the order
    values = array("f")
    dimensions = 0
    with open_stream(path) as file:
        rows = _binary_rows(file) if uncompressed_name(name).endswith(".bin") else _text_rows(file)
        try:
            for word, dimensions, read_vector, line in itertools.islice(rows, max_words):  # noqa: B007
                if unique and word in kept:
                    raise LineError(f"expected each word once, got {word!r} again", line)
                if word not in kept and (wanted is None or word in wanted):
                    kept[word] = None
                    vector = np.asarray(read_vector(), dtype=np.float32)  # in the byte order of this machine
                    if not np.isfinite(vector).all():
                        found = f"{vector[~np.isfinite(vector)][0]} in the vector of {word!r}"
                        raise LineError(f"expected finite float32 numbers, got {found}", line)
                    values.frombytes(vector.tobytes())
        except LineError as error:
            raise DataFormatError(error.reason, name, error.line or None) from None
    if not dimensions:
        raise DataFormatError("expected word vectors, got none", name)
    return WordVectors(list(kept), np.frombuffer(values, dtype=np.float32).reshape(-1, dimensions))


def write_word_vectors(path: str | os.PathLike[str], words: Sequence[str], values: Any) -> None:
    """Write word vectors to a text file with a header of the numbers of words and dimensions.

    Parameters
    ----------
    path : str or path-like
        The file to write, atomically. Names ending in ``.gz``, ``.xz`` and ``.zst`` are compressed.
    words : sequence of str
        Distinct words without line breaks and without leading or trailing spaces.
    values : array of shape (words, dimensions)
        Their vectors, of finite numbers. They are written so that they are read back exactly as float32.
    """
    values = np.asarray(values, dtype=np.float32)
    if values.ndim != 2 or len(values) != len(words) or not values.size:
        raise ValueError(f"expected a vector for each of {len(words)} words, got the shape {values.shape}")
    if not np.isfinite(values).all():
        bad = int(np.argmin(np.isfinite(values).all(axis=1)))
        raise ValueError(f"expected finite numbers, got others in the vector of {words[bad]!r}")
    with open_atomic(path) as file:
        file.write(f"{len(values)} {values.shape[1]}\n".encode())
        for word, row in zip(words, values, strict=True):
            if not word or word != word.strip() or "\n" in word:
                raise ValueError(
                    f"expected a word without line breaks and without leading or trailing spaces, got {word!r}"
                )
            file.write(" ".join([word, *map(str, row)]).encode() + b"\n")


def _header(line: bytes) -> tuple[int, int] | None:
    """Return the numbers of words and dimensions, if the line is a header."""
    fields = line.split()
    if len(fields) != 2 or not all(field.isdigit() and len(field) < 19 for field in fields):
        return None
    n_words, dimensions = map(int, fields)
    if not 1 <= dimensions <= MAX_DIMENSIONS:
        raise LineError(f"expected 1 to {MAX_DIMENSIONS} dimensions, got {dimensions}")
    return n_words, dimensions


def _text_rows(file: BinaryIO) -> Iterator[_Row]:
    n_words, dimensions, found = None, None, 0
    for number, line in enumerate(file, start=1):
        if number == 1:
            line = checked_bytes(line).removeprefix(codecs.BOM_UTF8)
            if header := _header(line):
                n_words, dimensions = header
                continue
        if not line.strip():
            continue
        fields = line.rsplit(None, -1 if dimensions is None else dimensions)
        if dimensions is None:
            dimensions = len(fields) - 1
        if len(fields) < 2 or len(fields) - 1 < dimensions:
            wanted = f"{dimensions} numbers" if dimensions else "numbers"
            raise LineError(f"expected a word and {wanted}, got {len(fields)} fields", number)
        # A word may contain spaces, but a number at its end means that there are too many numbers.
        _, *parts = fields[0].split()
        if parts:
            with suppress(ValueError):
                float(parts[-1])
                raise LineError(f"expected a word and {dimensions} numbers, got more numbers", number)
        found += 1
        vector = partial(_parse_numbers, fields[1:], number)
        yield _decode(fields[0], number), dimensions, vector, number
    _check_count(n_words, found)


def _parse_numbers(fields: list[bytes], line: int) -> NDArray[np.float32]:
    try:
        with np.errstate(over="ignore"):
            return np.array([float(field) for field in fields], dtype=np.float32)
    except ValueError as error:
        raise LineError(f"expected numbers after the word, but: {error}", line) from None


def _binary_rows(file: BinaryIO) -> Iterator[_Row]:
    header = _header(file.readline(100))
    if header is None:
        raise LineError("expected the numbers of words and dimensions in the first line")
    n_words, dimensions = header
    for number in range(1, n_words + 1):
        word = bytearray()
        while (byte := file.read(1)) != b" ":
            if not byte:
                _check_count(n_words, number - 1)
            if len(word) == _MAX_WORD_BYTES:
                raise LineError(f"expected a word, got over {_MAX_WORD_BYTES} bytes without a space", 0)
            word += byte
        content = file.read(4 * dimensions)
        if len(content) < 4 * dimensions:
            raise LineError(f"expected {dimensions} numbers in vector {number}, but the file ends", 0)
        # Some programs write a line break after each vector.
        yield _decode(bytes(word), 0), dimensions, partial(np.frombuffer, content, "<f4"), 0


def _decode(word: bytes, line: int) -> str:
    try:
        return word.strip().decode("utf-8")
    except UnicodeDecodeError:
        shown = word[:40].decode(errors="replace")
        raise LineError(f"expected a word in UTF-8, got {shown!r}", line) from None


def _check_count(n_words: int | None, found: int) -> None:
    if n_words is not None and n_words != found:
        raise LineError(f"expected the {n_words} words of the first line, got {found}", 0)
