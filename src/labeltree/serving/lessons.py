"""The examples of one request, on their way to a model that learns, and the answers that the request may get."""

from __future__ import annotations

import hashlib
import json
import re
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import to_json
from starlette.responses import Response

from labeltree.model_file.journal_lines import Lesson, Receipt
from labeltree.serving.errors import Refusal

_KEY = re.compile(rb"[!-~]{1,255}")


@dataclass(eq=False)
class PendingLesson:
    """The examples of one request.

    `written` becomes None when the examples are on disk, or the refusal. `learned` becomes the receipt, or the refusal;
    it can be cancelled until the examples are written. `n_clients` is the number of requests that wait for the lesson:
    requests with the same key share one.
    """

    X: Any
    y: list[list[Any]]
    examples: list[dict[str, Any]]
    key: str | None
    digest: str  # of the examples; empty without a key
    n_clients: int = 1
    written: Future[Refusal | None] = field(default_factory=Future)
    learned: Future[Receipt | Refusal] = field(default_factory=Future)

    def entry(self) -> Lesson:
        """Return the lesson as the journal has it."""
        return Lesson(len(self.examples), self.key, self.digest)

    def refuse(self, refusal: Refusal) -> None:
        """Answer the request with an error."""
        if not self.written.done():
            self.written.set_result(refusal)
        if not self.learned.done():
            self.learned.set_result(refusal)


def digest_of(examples: list[dict[str, Any]]) -> str:
    """Return a hash that tells whether two requests have the same examples."""
    return hashlib.sha256(json.dumps(examples, sort_keys=True).encode()).hexdigest()[:32]


def read_key(given: bytes | None) -> str | None:
    """Return the value of the header ``Idempotency-Key``."""
    if given is None:
        return None
    if not _KEY.fullmatch(given):
        message = "Idempotency-Key: expected 1 to 255 printable ASCII characters without spaces"
        raise Refusal(422, f"{message}, got {len(given)} bytes")
    return given.decode()


class PartlyLearned(Refusal):
    """A request whose examples are learned up to one that the model cannot learn, which may be the first one."""

    def __init__(self, status: int, receipt: Receipt) -> None:
        code = "cannot_learn" if status == 409 else "learning_stopped"
        super().__init__(status, receipt.refusal or "", code)
        self._learned = receipt.learned

    def response(self) -> Response:
        error = {"code": self.code, "message": self.message, "learned": self._learned}
        return Response(to_json({"error": error}), self.status, media_type="application/json")


class Accepted(Refusal):
    """The answer when the time is over, and the examples are in the journal but not learned yet."""

    def __init__(self, model: str, n_examples: int) -> None:
        message = (
            "the examples are on disk and will be learned; to know the result, send the same request with the same "
            "Idempotency-Key again"
        )
        super().__init__(202, message, headers={"Retry-After": "1"})
        self._answer = {"model": model, "accepted": n_examples, "message": message}

    def response(self) -> Response:
        return Response(to_json(self._answer), self.status, self.headers, media_type="application/json")
