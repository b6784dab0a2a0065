"""Synthetic multi-label data with a power law of labels, topical words and a hidden hierarchy."""

from .data_set import ExtremeMatrices, make_extreme, write_extreme

__all__ = ["ExtremeMatrices", "make_extreme", "write_extreme"]
