"""How much one request may ask for, and how many are answered at once."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from dataclasses import dataclass, fields

from labeltree.serving.errors import Refusal


@dataclass(frozen=True)
class Limits:
    """What a request may ask for.

    Parameters
    ----------
    body_bytes : int
        The size of a body, counted as it comes.
    rows : int
        Texts, rows or examples in one request.
    k : int
        Labels for each of them; also the labels or nodes on a page, and the features of an explanation.
    text_chars : int
        The length of one text.
    seconds : float
        From when the head of a request is read to the answer. Clients that send heads slowly are a proxy's
        business.
    in_flight : int
        Requests at work in one process; those beyond are told to come again.

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
        for field in fields(self):
            value = getattr(self, field.name)
            if not value > 0:
                raise ValueError(f"expected a limit of {field.name} above 0, got {value}")

    def check_rows(self, field: str, rows: Sized) -> None:
        """Refuse too many rows."""
        if len(rows) > self.rows:
            raise Refusal(
                422,
                f"{field}: at most {self.rows} in one request, got {len(rows)}; send several requests",
                "too_many_rows",
            )

    def check_count(self, field: str, count: int) -> None:
        """Refuse to give so many labels, nodes or features."""
        if count > self.k:
            raise Refusal(422, f"{field}: at most {self.k}, got {count}", "too_many_labels")

    def check_texts(self, field: str, texts: Sequence[str]) -> None:
        """Refuse too long texts."""
        for i, text in enumerate(texts):
            if len(text) > self.text_chars:
                raise Refusal(
                    422,
                    f"{field}[{i}]: at most {self.text_chars} characters, got {len(text)}",
                    "text_too_long",
                )
