"""Data sets that come with the library."""

from .tate import TateCatalogue, TateMatrices, load_tate

__all__ = ["TateCatalogue", "TateMatrices", "load_tate"]
