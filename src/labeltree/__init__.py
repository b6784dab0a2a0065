"""Extreme multi-label classification with probabilistic label trees."""

from labeltree.classifier import LabelTreeClassifier
from labeltree.errors import DataFormatError, LabelTreeError, ModelFileError
from labeltree.trees import LabelTree

__version__ = "0.1.0"

__all__ = [
    "DataFormatError",
    "LabelTree",
    "LabelTreeClassifier",
    "LabelTreeError",
    "ModelFileError",
    "__version__",
]
