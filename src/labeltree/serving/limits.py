"""Limits on the size of requests and on their number."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from dataclasses import dataclass

from labeltree.serving.errors import Refusal


@dataclass(frozen=True)
class Limits:
    """The largest requests that a server accepts.

    Parameters
    ----------
    body_bytes : int
        Maximum size of a body, counted while it arrives.
    rows : int
        Maximum number of texts, rows or examples in one request.
    k : int
        Maximum number of labels for each of them, of labels or nodes on a page, and of features in an explanation.
    text_chars : int
        Maximum length of one text.
    seconds : float
        Maximum time from the head of a request to the end of its answer. A slow head is not limited: put a proxy in
        front of the server.
    in_flight : int
        Maximum number of requests in progress in one process. Further requests are answered 503.

    Examples
    --------
    >>> from labeltree.serving import Limits
    >>> Limits(rows=10).check_rows("texts", ["a"] * 11)
    Traceback (most recent call last):
        ...
    labeltree.serving.errors.Refusal: texts: at most 10 in one request, got 11; send several requests
    """

    body_bytes: int = 8 << 20
    rows: int = 1000
    k: int = 1000
    text_chars: int = 1_000_000
    seconds: float = 30.0
    in_flight: int = 64

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not value > 0:
                raise ValueError(f"expected a limit of {name} above 0, got {value}")

    def check_rows(self, field: str, rows: Sized) -> None:
        """Refuse too many rows."""
        if len(rows) > self.rows:
            message = f"{field}: at most {self.rows} in one request, got {len(rows)}; send several requests"
            raise Refusal(422, message, "too_many_rows")

    def check_count(self, field: str, count: int) -> None:
        """Refuse to return too many labels, nodes or features."""
        if count > self.k:
            raise Refusal(422, f"{field}: at most {self.k}, got {count}", "too_many_labels")

    def check_texts(self, field: str, texts: Sequence[str]) -> None:
        """Refuse texts that are too long."""
        for i, text in enumerate(texts):
            if len(text) > self.text_chars:
                message = f"{field}[{i}]: at most {self.text_chars} characters, got {len(text)}"
                raise Refusal(422, message, "text_too_long")
