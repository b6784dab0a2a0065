"""The errors that a client raises."""

from __future__ import annotations

from labeltree.errors import LabelTreeError


class ServiceError(LabelTreeError):
    """The server refused a request.

    Parameters
    ----------
    status : int
        HTTP status; 0 if there was no answer.
    code : str
        The reason as a word for programs, as ``"no_such_model"``.
    message : str
        The reason as a sentence for people.
    """

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(status, code, message)  # all three, so that the error can be pickled
        self.status = status
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return f"{self.message} ({self.code}, status {self.status})"


class ServiceUnavailableError(ServiceError):
    """The server is busy or cannot be reached."""
