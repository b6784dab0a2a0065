"""Word vectors in a NumPy file, with their words in a text file."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

import numpy as np

from labeltree.errors import DataFormatError

from .sources import open_stream
from .word_vector_file import MAX_DIMENSIONS, WordVectors


def read_word_vector_array(
    path: str | os.PathLike[str],
    word_file: str | os.PathLike[str] | None = None,
    *,
    words: Collection[str] | None = None,
) -> WordVectors:
    """Read word vectors from a NumPy file, and their words from a text file.

    Parameters
    ----------
    path : str or path-like
        A ``.npy`` file with an array of numbers of shape (words, dimensions). It is mapped, not read as a whole.
    word_file : str or path-like, optional
        A text file with one word per line, in UTF-8, in the order of the array. By default the file of the same
        name that ends in ``.txt``.
    words : collection of str, optional
        Words to keep in memory. The default keeps all words.

    Returns
    -------
    WordVectors
        The words, in the order of the file, and an array of float32.

    Raises
    ------
    DataFormatError
        If the array is not of this form; if there are not as many words as vectors; with the line, if a word occurs
        twice, is empty or not UTF-8, or if its vector has a number that is not finite.
    """
    name = os.fspath(path)
    word_name = os.fspath(Path(path).with_suffix(".txt") if word_file is None else word_file)
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise DataFormatError(f"expected a NumPy file with an array of numbers: {error}", name) from None
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind not in "fiu":
        found = (
            "several arrays" if not isinstance(array, np.ndarray) else f"{array.dtype} of shape {array.shape}"
        )
        raise DataFormatError(f"expected an array of numbers of shape (words, dimensions), got {found}", name)
    if not 1 <= array.shape[1] <= MAX_DIMENSIONS:
        raise DataFormatError(f"expected 1 to {MAX_DIMENSIONS} dimensions, got {array.shape[1]}", name)
    line_of = _read_lines(word_name)
    if len(line_of) != len(array):
        raise DataFormatError(
            f"expected a word for each of the {len(array)} vectors of {name}, got {len(line_of)} words",
            word_name,
        )
    wanted = None if words is None else frozenset(words)
    kept = [word for word in line_of if wanted is None or word in wanted]
    rows = [line_of[word] - 1 for word in kept]
    with np.errstate(over="ignore"):  # found below
        values = np.asarray(array[rows], dtype=np.float32).reshape(len(rows), array.shape[1])
    finite = np.isfinite(values).all(axis=1)
    if not finite.all():
        bad = int(np.argmin(finite))
        raise DataFormatError(
            f"expected finite float32 numbers, got others in the vector of {kept[bad]!r}",
            word_name,
            rows[bad] + 1,
        )
    return WordVectors(kept, values)


def _read_lines(name: str) -> dict[str, int]:
    """Return the words of a file and the line of each."""
    line_of: dict[str, int] = {}
    with open_stream(name) as file:
        for number, line in enumerate(file, start=1):
            try:
                word = line.decode().rstrip("\r\n")
            except UnicodeDecodeError:
                raise DataFormatError("expected a word in UTF-8", name, number) from None
            if not word:
                raise DataFormatError("expected a word, got an empty line", name, number)
            if line_of.setdefault(word, number) != number:
                raise DataFormatError(
                    f"expected each word once, but {word!r} stands also in line {line_of[word]}", name, number
                )
    return line_of
