"""Errors of this library that are more than a wrong argument.

    LabelTreeError
    ├── ChecksumError (ValueError)     a data set that was fetched is not what it was the first time
    ├── DataFormatError (ValueError)   a data file is not what it should be
    ├── DownloadError (OSError)        a data set cannot be fetched
    └── ModelFileError (ValueError)    a model directory is missing, damaged, hostile or from the future

A wrong argument raises `ValueError` or `TypeError`; a model that has not been trained
`sklearn.exceptions.NotFittedError`.
"""

from __future__ import annotations

__all__ = ["ChecksumError", "DataFormatError", "DownloadError", "LabelTreeError", "ModelFileError"]


class LabelTreeError(Exception):
    """What all errors of this library's own have in common."""


class ChecksumError(LabelTreeError, ValueError):
    """A data set is not what came the first time; the message says which file, and what to do."""


class DataFormatError(LabelTreeError, ValueError):
    """A file that is not what its format says.

    Parameters
    ----------
    reason : str
        What was expected and what was found.
    path : str
        The file, or ``"<stdin>"`` or ``"<stream>"``.
    line : int or None
        The line at fault, counted from 1; None when it is the file as a whole.

    Examples
    --------
    >>> import io
    >>> from labeltree.data import read_xmlc
    >>> read_xmlc(io.BytesIO(b"0,2 1:0.5\\n1 4:abc\\n"))
    Traceback (most recent call last):
        ...
    labeltree.errors.DataFormatError: <stream>:2: expected 'feature:value' with a number, got '4:abc'
    """

    def __init__(self, reason: str, path: str, line: int | None = None) -> None:
        super().__init__(reason, path, line)  # all of them, so that the error survives pickling
        self.reason = reason
        self.path = path
        self.line = line

    def __str__(self) -> str:
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{place}: {self.reason}"


class DownloadError(LabelTreeError, OSError):
    """A data set cannot be fetched; the message says from where, and why."""


class ModelFileError(LabelTreeError, ValueError):
    """A model directory cannot be used; the message says which file and why."""
