"""What a client raises when the service does not answer as asked."""

from __future__ import annotations

from labeltree.errors import LabelTreeError

__all__ = ["ServiceError", "ServiceUnavailableError"]


class ServiceError(LabelTreeError):
    """The service refused a request.

    Parameters
    ----------
    status : int
        The HTTP status; 0 if there was no answer.
    code : str
        What is wrong, in a word for programs, as ``"no_such_model"``.
    message : str
        What is wrong, in words for people.
    """

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(status, code, message)  # all of them, so that the error survives pickling
        self.status = status
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return f"{self.message} ({self.code}, status {self.status})"


class ServiceUnavailableError(ServiceError):
    """The service cannot be reached, or has too much to do."""
