"""Files of word vectors, as word2vec, GloVe and fastText write them."""

from __future__ import annotations

import codecs
import os
from array import array
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import Any, BinaryIO, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from labeltree.errors import DataFormatError

from .atomic_file import open_atomic
from .sources import Source, open_stream, source_name

#: Nobody means words or vectors this long: the file is something else.
_LONGEST_WORD = 10_000
_MOST_DIMENSIONS = 100_000


#: A word, the number of dimensions, and what reads its vector: it is called for wanted words only.
_Row: TypeAlias = tuple[str, int, Callable[[], NDArray[np.float32]]]


class WordVectors(NamedTuple):
    """Words and a vector for each."""

    words: list[str]
    values: NDArray[np.float32]
    """Of shape (words, dimensions)."""


def read_word_vectors(
    path: Source, *, words: Collection[str] | None = None, max_words: int | None = None
) -> WordVectors:
    """Read word vectors of a text or binary file.

    A line of a text file is a word and its numbers, separated by blanks, as GloVe has them. The first line may have
    the numbers of words and of dimensions instead, as word2vec and fastText have it: it is taken for that if it is
    two whole numbers. Words may have blanks within. Names that end in ``.bin`` are word2vec's binary format. Of a
    word that comes twice the first vector counts.

    Parameters
    ----------
    path : str, path-like or binary file
        The file, in UTF-8; ``"-"`` is standard input. Names ending in ``.gz``, ``.xz`` and ``.zst`` are
        decompressed as they are read.
    words : collection of str, optional
        Only the vectors of these words are kept in memory; of all words by default.
    max_words : int, optional
        Only so many words from the beginning of the file, where the frequent ones are, are looked at.

    Returns
    -------
    WordVectors
        The words, in the order of the file, and an array of float32.

    Raises
    ------
    DataFormatError
        With file and line, when a line has too few or too many numbers, one that is not finite, or is not UTF-8;
        when the file has more or fewer words than its first line says; when it has no words at all.

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
        rows = _binary_rows(file, name) if _is_binary(name) else _text_rows(file, name)
        for number, (word, size, vector) in enumerate(rows):
            if number == max_words:
                break
            dimensions = size
            if word not in kept and (wanted is None or word in wanted):
                kept[word] = None
                values.frombytes(vector().tobytes())
    if not dimensions:
        raise DataFormatError("expected word vectors, got none", name)
    return WordVectors(list(kept), np.frombuffer(values, dtype=np.float32).reshape(-1, dimensions))


def write_word_vectors(path: str | os.PathLike[str], words: Sequence[str], values: Any) -> None:
    """Write word vectors as a text file that begins with the numbers of words and of dimensions.

    Parameters
    ----------
    path : str or path-like
        The file; compressed if it ends in ``.gz``, ``.xz`` or ``.zst``. It appears when it is complete.
    words : sequence of str
        Words, all different, without line breaks and without blanks at their ends.
    values : array of shape (words, dimensions)
        Their vectors, finite; written so that they are read back exactly as float32.
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
                raise ValueError(f"expected a word without blanks at its ends and line breaks, got {word!r}")
            file.write(" ".join([word, *map(str, row)]).encode() + b"\n")


def _is_binary(name: str) -> bool:
    name = name.lower()
    return name.removesuffix(".gz").removesuffix(".xz").removesuffix(".zst").endswith(".bin")


def _header(line: bytes, name: str) -> tuple[int, int] | None:
    """The numbers of words and of dimensions, if that is what a line has."""
    fields = line.split()
    if len(fields) != 2 or not all(field.isdigit() and len(field) < 19 for field in fields):
        return None
    announced, dimensions = map(int, fields)
    if not 1 <= dimensions <= _MOST_DIMENSIONS:
        raise DataFormatError(f"expected 1 to {_MOST_DIMENSIONS} dimensions, got {dimensions}", name, 1)
    return announced, dimensions


def _text_rows(file: BinaryIO, name: str) -> Iterator[_Row]:
    announced, dimensions, found = None, None, 0
    for number, line in enumerate(file, 1):
        if number == 1:
            if not isinstance(line, bytes):
                raise TypeError("expected a file opened in binary mode, got one that reads text")
            line = line.removeprefix(codecs.BOM_UTF8)
            header = _header(line, name)
            if header:
                announced, dimensions = header
                continue
        if not line.strip():
            continue
        fields = line.rsplit(None, -1 if dimensions is None else dimensions)
        if dimensions is None:
            dimensions = len(fields) - 1
        _check_fields(fields, dimensions, name, number)
        found += 1
        yield (
            _word(fields[0].strip(), name, number),
            dimensions,
            partial(_parse_numbers, fields[1:], name, number),
        )
    _check_count(announced, found, name)


def _parse_numbers(fields: list[bytes], name: str, line: int) -> NDArray[np.float32]:
    try:
        with np.errstate(over="ignore"):
            row = np.array([float(field) for field in fields], dtype=np.float32)
    except ValueError as error:
        raise DataFormatError(f"expected numbers behind the word, but: {error}", name, line) from None
    if not np.isfinite(row).all():
        field = fields[int(np.argmin(np.isfinite(row)))].decode(errors="replace")
        raise DataFormatError(f"expected finite float32 numbers, got {field!r}", name, line)
    return row


def _check_fields(fields: list[bytes], dimensions: int, name: str, line: int) -> None:
    if len(fields) < 2 or len(fields) - 1 < dimensions:
        wanted = f"{dimensions} numbers" if dimensions else "numbers"
        raise DataFormatError(f"expected a word and {wanted}, got {len(fields)} fields", name, line)
    # A word may have blanks within, but if its last part is a number, there are too many of them.
    parts = fields[0].split()
    if len(parts) > 1 and _is_number(parts[-1]):
        raise DataFormatError(f"expected a word and {dimensions} numbers, got more numbers", name, line)


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _word(content: bytes, name: str, line: int | None) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        shown = content[:40].decode(errors="replace")
        raise DataFormatError(f"expected a word in UTF-8, got {shown!r}", name, line) from None


def _check_count(announced: int | None, found: int, name: str) -> None:
    if announced is not None and announced != found:
        raise DataFormatError(f"expected the {announced} words of the first line, got {found}", name)


def _binary_rows(file: BinaryIO, name: str) -> Iterator[_Row]:
    header = _header(file.readline(100), name)
    if header is None:
        raise DataFormatError("expected the numbers of words and of dimensions in the first line", name, 1)
    announced, dimensions = header
    for number in range(1, announced + 1):
        word = bytearray()
        while (byte := file.read(1)) != b" ":
            if not byte:
                _check_count(announced, number - 1, name)
            if len(word) == _LONGEST_WORD:
                raise DataFormatError(
                    f"expected a word, got over {_LONGEST_WORD} bytes without a blank", name
                )
            word += byte
        content = file.read(4 * dimensions)
        if len(content) < 4 * dimensions:
            raise DataFormatError(
                f"expected {dimensions} numbers in vector {number}, but the file ends", name
            )
        # Some write a line break behind every vector, some do not.
        yield (
            _word(bytes(word).strip(), name, None),
            dimensions,
            partial(_unpack_numbers, content, name, number),
        )


def _unpack_numbers(content: bytes, name: str, number: int) -> NDArray[np.float32]:
    row = np.frombuffer(content, dtype="<f4").astype(np.float32)
    if not np.isfinite(row).all():
        raise DataFormatError(f"expected finite numbers, got others in vector {number}", name)
    return row
