"""The exceptions of this library.

    LabelTreeError
    ├── ChecksumError (ValueError)     a data set differs from its first download
    ├── DataFormatError (ValueError)   a data file does not have the expected format
    ├── DownloadError (OSError)        a data set cannot be fetched
    ├── ModelFileError (ValueError)    a model directory is missing, damaged, malicious or from a newer version
    └── WorkerError (RuntimeError)     a worker of an engine dies again and again, or has other versions

A wrong argument raises `ValueError` or `TypeError`; a model that has not been trained raises
`sklearn.exceptions.NotFittedError`.
"""

from __future__ import annotations

__all__ = [
    "ChecksumError",
    "DataFormatError",
    "DownloadError",
    "LabelTreeError",
    "ModelFileError",
    "WorkerError",
]


#: The longest reason of an error in a data file, in characters.
MAX_REASON = 1000


class LabelTreeError(Exception):
    """Base class of this library's exceptions."""


class ChecksumError(LabelTreeError, ValueError):
    """A data set differs from its first download; the message names the file and says what to do."""


class DataFormatError(LabelTreeError, ValueError):
    """A data file does not have the expected format.

    Parameters
    ----------
    reason : str
        What was expected and what was found.
    path : str
        Name of the file, or ``"<stdin>"`` or ``"<stream>"``.
    line : int or None
        Number of the wrong line, counted from 1; None if the error concerns the whole file.

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
        super().__init__(reason, path, line)  # all arguments: pickling needs them
        # A file of another format may have lines of any length.
        self.reason = reason if len(reason) <= MAX_REASON else f"{reason[:MAX_REASON]}…"
        self.path = path
        self.line = line

    def __str__(self) -> str:
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{place}: {self.reason}"


class DownloadError(LabelTreeError, OSError):
    """A data set cannot be fetched; the message gives the URL and the reason."""


class ModelFileError(LabelTreeError, ValueError):
    """A model directory cannot be used; the message names the file and gives the reason."""


class WorkerError(LabelTreeError, RuntimeError):
    """A worker of an engine cannot do its tasks; the message names the task and gives the reason."""
