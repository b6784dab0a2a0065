"""Texts as counts of their words: named features without a vocabulary."""

from __future__ import annotations

import re
from collections import Counter

_WORD = re.compile(r"\w\w+")


def word_counts(text: str) -> dict[str, float]:
    """Count the words of a text: features by name, for models that learn new ones as they come.

    Words are runs of two or more letters, digits or underscores, as in scikit-learn, in lower case.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    dict of str to float
        How often each word occurs, in the order of the text.

    Examples
    --------
    >>> from labeltree.data import word_counts
    >>> word_counts("A boat, a boat on the Sea!")
    {'boat': 2.0, 'on': 1.0, 'the': 1.0, 'sea': 1.0}
    """
    return counted(_WORD.findall(text.lower()))


def counted(words: list[str]) -> dict[str, float]:
    """How often each word is in a list, in the order of their first places."""
    return {word: float(count) for word, count in Counter(words).items()}
