"""Limits on the size, the pace and the number of requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from labeltree.serving.errors import Refusal


@dataclass(frozen=True)
class Limits:
    """The requests that a server accepts. All numbers are for one process.

    Parameters
    ----------
    body_bytes : int
        Maximum size of a body, counted while it arrives.
    rows : int
        Maximum number of texts, rows or examples in one request.
    k : int
        Maximum number of labels for each of them, of labels or nodes on a page, and of features in an explanation.
    answer_labels : int
        Maximum number of labels in one answer: rows times k.
    row_values : int
        Maximum number of values in one row, example or object of features, if the body is large.
    text_chars : int
        Maximum length of one text.
    seconds : float
        Maximum time from the head of a request to its answer.
    in_flight : int
        Maximum number of requests in progress, counted when their bodies have arrived. Further requests are answered
        503.
    head_bytes : int
        Maximum size of a head: the request line and all headers.
    head_lines : int
        Maximum number of headers.
    head_seconds : float
        Maximum time from the begin of a connection or a head to the end of the head.
    idle_seconds : float
        Maximum time without a request on an open connection.
    stall_seconds : float
        Maximum time in which a body or an answer makes no progress.
    bytes_per_second : float
        Minimum pace of a body or an answer, after the first `stall_seconds`.
    connections : int
        Maximum number of open connections. When there are more, the one that has been idle longest is closed.
    client_share : float
        The share of `connections` and of `in_flight` that one address may have; 1 behind a proxy.

    Examples
    --------
    >>> from labeltree.serving import Limits
    >>> Limits(rows=10).check_rows("texts", 11)
    Traceback (most recent call last):
        ...
    labeltree.serving.errors.Refusal: texts: at most 10 in one request, got 11; send several requests
    """

    body_bytes: int = 8 << 20
    rows: int = 1000
    k: int = 1000
    answer_labels: int = 100_000
    row_values: int = 50_000
    text_chars: int = 1_000_000
    seconds: float = 30.0
    in_flight: int = 64
    head_bytes: int = 64 << 10
    head_lines: int = 100
    head_seconds: float = 10.0
    idle_seconds: float = 30.0
    stall_seconds: float = 10.0
    bytes_per_second: float = 10_000.0
    connections: int = 512
    client_share: float = 0.5

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not 0 < value < float("inf"):
                and_finite = " and finite" if value == float("inf") else ""
                raise ValueError(f"expected a limit of {name} above 0{and_finite}, got {value}")
        if self.client_share > 1:
            raise ValueError(f"expected a client_share from above 0 to 1, got {self.client_share}")
        if self.head_bytes < 1024:
            raise ValueError(f"expected a limit of head_bytes of at least 1024, got {self.head_bytes}")

    def share_of(self, total: int) -> int:
        """Return the part of a total that one address may have, at least 1."""
        return max(1, int(self.client_share * total))

    def check_rows(self, field: str, n_rows: int) -> None:
        """Refuse too many rows."""
        if n_rows > self.rows:
            message = f"{field}: at most {self.rows} in one request, got {n_rows}; send several requests"
            raise Refusal(422, message, "too_many_rows")

    def check_count(self, field: str, count: int) -> None:
        """Refuse to return too many labels, nodes or features."""
        if count > self.k:
            raise Refusal(422, f"{field}: at most {self.k}, got {count}", "too_many_labels")

    def check_answer(self, n_rows: int, k: int) -> None:
        """Refuse an answer that would be too large."""
        if n_rows * k > self.answer_labels:
            message = (
                f"k: at most {self.answer_labels} labels in one answer, but {k} for each of {n_rows} rows are "
                f"{n_rows * k}; send fewer rows or a smaller k"
            )
            raise Refusal(422, message, "too_many_labels")

    def check_texts(self, field: str, texts: Sequence[str | Mapping[str, str | None]]) -> None:
        """Refuse texts that are too long."""
        for i, text in enumerate(texts):
            n_chars = len(text) if isinstance(text, str) else sum(len(piece or "") for piece in text.values())
            if n_chars > self.text_chars:
                message = f"{field}[{i}]: at most {self.text_chars} characters, got {n_chars}"
                raise Refusal(422, message, "text_too_long")
