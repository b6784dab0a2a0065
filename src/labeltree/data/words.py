"""Word counts of texts: named features without a vocabulary."""

from __future__ import annotations

import re
from collections import Counter

_WORD = re.compile(r"\w\w+")


def word_counts(text: str) -> dict[str, float]:
    """Count the words of a text, as named features for models that learn from streams.

    Words are runs of two or more letters, digits or underscores, as in scikit-learn, in lower case.

    Parameters
    ----------
    text : str
        The text.

    Returns
    -------
    dict of str to float
        Count of each word, in the order of first occurrence.

    Examples
    --------
    >>> from labeltree.data import word_counts
    >>> word_counts("A boat, a boat on the Sea!")
    {'boat': 2.0, 'on': 1.0, 'the': 1.0, 'sea': 1.0}
    """
    return counted(_WORD.findall(text.lower()))


def counted(words: list[str]) -> dict[str, float]:
    """Return the count of each word, in the order of first occurrence."""
    return {word: float(count) for word, count in Counter(words).items()}
