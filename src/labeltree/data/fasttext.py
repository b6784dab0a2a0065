"""Texts in fastText's form: labels and words on a line."""

from __future__ import annotations

import re

from labeltree.errors import DataFormatError

from .lines import LineError
from .sources import Source, read_lines, source_name

_BLANKS = re.compile(r"[ \t]+")


def read_fasttext(path: Source, label_prefix: str = "__label__") -> tuple[list[str], list[list[str]]]:
    """Read lines such as ``__label__sea __label__boat A fishing boat in the harbour``.

    Every line is a text, also a blank one. A word that begins with `label_prefix` is a label, wherever it
    stands; the other words, joined by single spaces, are the text.

    Parameters
    ----------
    path : str, path-like or binary file
        The file, in UTF-8; ``"-"`` is standard input. Names ending in ``.gz``, ``.xz`` and ``.zst`` are
        decompressed.
    label_prefix : str, default="__label__"
        How labels begin; not part of the label.

    Returns
    -------
    texts : list of str
    labels : list of list of str
        The labels of each text, in the order of the line.

    Raises
    ------
    DataFormatError
        With file and line, when a line is not UTF-8 or has a label without a name.

    Examples
    --------
    >>> import io
    >>> from labeltree.data import read_fasttext
    >>> read_fasttext(io.BytesIO(b"__label__sea __label__boat A fishing boat\\nA blank page\\n"))
    (['A fishing boat', 'A blank page'], [['sea', 'boat'], []])
    """
    check_label_prefix(label_prefix)
    texts, labels = [], []
    for number, line in read_lines(path):
        try:
            words, found = split_words(line, label_prefix)
        except LineError as error:
            raise DataFormatError(error.reason, source_name(path), number) from None
        texts.append(" ".join(words))
        labels.append(found)
    return texts, labels


def check_label_prefix(label_prefix: str) -> None:
    """Raise unless labels can be told from words."""
    if not label_prefix:
        raise ValueError("expected a label_prefix of at least one character, got ''")


def split_words(line: str, label_prefix: str) -> tuple[list[str], list[str]]:
    """The words of a line and its labels, both in their order."""
    words, labels = [], []
    for word in _BLANKS.split(line.strip(" \t")):
        if not word.startswith(label_prefix):
            words.append(word)
        elif word == label_prefix:
            raise LineError(f"expected the name of a label behind {label_prefix!r}, got nothing")
        else:
            labels.append(word[len(label_prefix) :])
    return [word for word in words if word], labels
