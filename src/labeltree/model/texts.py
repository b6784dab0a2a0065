"""Texts in the collections that users have them in: lists, arrays, columns of frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Number
from typing import Any, TypeAlias

import numpy as np

from labeltree import sparse as sp

#: A text, or the texts of its fields by name.
Text: TypeAlias = str | Mapping[str, str | None]

#: The methods by which columns of pandas, polars, Arrow and NumPy become lists.
_TO_LIST = ("to_pylist", "to_list", "tolist")


def are_texts(X: Any) -> bool:
    """Return whether X is texts, or meant to be, and not rows of features."""
    # The usual forms first: each question of a model comes by here, and abstract classes take long to ask.
    if isinstance(X, list | tuple) or (isinstance(X, Sequence) and not isinstance(X, str | bytes)):
        return len(X) == 0 or not (_is_row(X[0]) or sp.issparse(X[0]))
    if sp.issparse(X):
        return False
    # A frame is refused by `as_texts`, which says that a column is needed.
    if X is None or isinstance(X, str | bytes | Number | Mapping | Iterator) or hasattr(X, "columns"):
        return True
    shape = getattr(X, "shape", None)
    return len(shape) == 1 if isinstance(shape, tuple) else hasattr(X, "to_pylist")  # a column of Arrow


def _is_row(x: Any) -> bool:
    return isinstance(x, list | tuple | np.ndarray) and not (len(x) > 0 and isinstance(x[0], str))


def as_texts(texts: Any) -> Iterable[Text]:
    """Return texts as values of Python; raise `ValueError` for one text, None, or a frame of several columns.

    A column or an array becomes a list; iterators stay as they are. The texts are checked where they are read.
    """
    if isinstance(texts, list | tuple):
        return texts
    if isinstance(texts, str | bytes | Mapping):
        raise ValueError("texts must be a sequence of texts, got a single one: put it into a list")
    if not isinstance(texts, Iterable) or len(getattr(texts, "shape", (0,))) != 1:
        found = "None" if texts is None else type(texts).__name__
        raise ValueError(
            f"texts must be a sequence of texts, such as a list or one column of a frame, got {found}"
        )
    for name in _TO_LIST:
        if hasattr(texts, name):
            listed: list[Text] = getattr(texts, name)()
            return listed
    return texts
