"""The text format of fastText: labels and words on a line."""

from __future__ import annotations

import re
from functools import partial

from .lines import LineError
from .sources import Source, read_lines

_BLANKS = re.compile(r"[ \t]+")


def read_fasttext(path: Source, label_prefix: str = "__label__") -> tuple[list[str], list[list[str]]]:
    """Read lines such as ``__label__sea __label__boat A fishing boat in the harbour``.

    Every line is a text, even a blank line. Each word that begins with `label_prefix` is a label, at any position.
    The other words, joined by single spaces, are the text.

    Parameters
    ----------
    path : str, path-like or binary file
        The file, in UTF-8; ``"-"`` is standard input. Names ending in ``.gz``, ``.xz`` and ``.zst`` are
        decompressed.
    label_prefix : str, default="__label__"
        Prefix of labels in the file. It is removed from the labels.

    Returns
    -------
    texts : list of str
    labels : list of list of str
        The labels of each text, in the order of the line.

    Raises
    ------
    DataFormatError
        With file and line, if a line is not UTF-8 or has a label without a name.

    Examples
    --------
    >>> import io
    >>> from labeltree.data import read_fasttext
    >>> read_fasttext(io.BytesIO(b"__label__sea __label__boat A fishing boat\\nA blank page\\n"))
    (['A fishing boat', 'A blank page'], [['sea', 'boat'], []])
    """
    check_label_prefix(label_prefix)
    texts, labels = [], []
    for _, (words, found) in read_lines(path, partial(split_words, label_prefix=label_prefix)):
        texts.append(" ".join(words))
        labels.append(found)
    return texts, labels


def check_label_prefix(label_prefix: str) -> None:
    """Raise `ValueError` if the prefix is empty, or if no file can have it."""
    if not label_prefix:
        raise ValueError("expected a label_prefix of at least one character, got ''")
    try:
        label_prefix.encode()
    except UnicodeEncodeError:
        message = (
            f"expected a label_prefix of valid Unicode, got {label_prefix!r}, with half of a surrogate pair"
        )
        raise ValueError(message) from None


def split_words(line: str, label_prefix: str) -> tuple[list[str], list[str]]:
    """Return the words and the labels of a line, in their order."""
    words, labels = [], []
    for word in _BLANKS.split(line.strip(" \t")):
        if not word.startswith(label_prefix):
            words.append(word)
        elif word == label_prefix:
            raise LineError(f"expected the name of a label after {label_prefix!r}, got nothing")
        else:
            labels.append(word[len(label_prefix) :])
    return [word for word in words if word], labels
