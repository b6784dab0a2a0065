"""Many strings as two arrays: their UTF-8 bytes, and where each string begins."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from labeltree import _native

#: The bytes of all terms, and where each begins; the last number is the total length.
Terms = tuple[NDArray[np.uint8], NDArray[np.int64]]


def pack_terms(terms: Sequence[str]) -> Terms:
    """Return the arrays of terms.

    Examples
    --------
    >>> pack_terms(["a", "sea"])[1]
    array([0, 1, 4])
    """
    encoded = [term.encode("utf-8", "surrogatepass") for term in terms]
    begin = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), begin


def unpack_terms(terms: Terms) -> list[str]:
    """Return the terms of arrays."""
    try:
        return list(_native.decode_texts(*terms))
    except UnicodeDecodeError:  # sequences of characters may contain surrogates
        encoded = terms[0].tobytes()
        return [encoded[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(terms[1])]
