"""The text format of fastText: labels and words on a line."""

from __future__ import annotations

import re

from .examples import Example
from .lines import LineError
from .words import counted

#: The prefix of labels in files that fastText itself makes.
LABEL_PREFIX = "__label__"

_BLANKS = re.compile(r"[ \t]+")


def parse_text(line: str, label_prefix: str) -> Example:
    """Parse words, joined into a text, and labels."""
    words, labels = split_words(line, label_prefix)
    return " ".join(words), labels, None


def parse_words(line: str, label_prefix: str) -> Example:
    """Parse words, as they are written, into counts, and labels."""
    words, labels = split_words(line, label_prefix)
    return counted(words), labels, None


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
