"""`scipy.sparse`, imported when first used: texts are tagged without it."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array, csr_matrix, diags_array, hstack, sparray, spmatrix, vstack

__all__ = [
    "csc_array",
    "csr_array",
    "csr_matrix",
    "diags_array",
    "hstack",
    "issparse",
    "sparray",
    "spmatrix",
    "vstack",
]


def issparse(x: Any) -> bool:
    """Return whether x is a sparse matrix. Before `scipy.sparse` is imported there are none."""
    # Another thread may be importing it.
    scipy_issparse = getattr(sys.modules.get("scipy.sparse"), "issparse", None)
    return scipy_issparse is not None and bool(scipy_issparse(x))


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module("scipy.sparse"), name)
    return value
