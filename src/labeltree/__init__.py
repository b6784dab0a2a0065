"""Extreme multi-label classification with probabilistic label trees."""

__version__ = "0.1.0"
