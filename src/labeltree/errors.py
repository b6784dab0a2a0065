"""Errors of this library that are more than a wrong argument.

    LabelTreeError
    ├── DataFormatError (ValueError)   a data file is not what it should be
    └── ModelFileError (ValueError)    a model directory is missing, damaged, hostile or from the future

A wrong argument raises `ValueError` or `TypeError`; a model that has not been trained
`sklearn.exceptions.NotFittedError`.
"""

from __future__ import annotations

__all__ = ["LabelTreeError", "ModelFileError"]


class LabelTreeError(Exception):
    """What all errors of this library's own have in common."""


class ModelFileError(LabelTreeError, ValueError):
    """A model directory cannot be used; the message says which file and why."""
