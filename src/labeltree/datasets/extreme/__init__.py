"""Synthetic extreme multi-label data: labels of a power law, topical words, a hidden hierarchy."""

from .data_set import ExtremeMatrices, make_extreme, write_extreme

__all__ = ["ExtremeMatrices", "make_extreme", "write_extreme"]
