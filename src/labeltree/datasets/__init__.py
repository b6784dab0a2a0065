"""Data sets: one that comes with the library, and synthetic ones of any size."""

from .extreme import ExtremeMatrices, make_extreme, write_extreme
from .tate import TateCatalogue, TateMatrices, load_tate

__all__ = [
    "ExtremeMatrices",
    "TateCatalogue",
    "TateMatrices",
    "load_tate",
    "make_extreme",
    "write_extreme",
]
