"""The requests that both clients send, and how they read the answers: everything except the sending."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import quote

import httpx

from labeltree.serving.client_errors import ServiceError, ServiceUnavailableError

_Result = TypeVar("_Result")


class _Pair(NamedTuple):
    label: Any
    probability: float


class Tag(_Pair):
    """A label and its probability: a pair. `name` is the readable name of the label, or None."""

    name: str | None

    def __new__(cls, label: Any, probability: float, name: str | None = None) -> Tag:
        tag = super().__new__(cls, label, probability)
        tag.name = name
        return tag

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (*self, self.name)

    def __repr__(self) -> str:
        named = "" if self.name is None else f", name={self.name!r}"
        return f"Tag(label={self.label!r}, probability={self.probability!r}{named})"


@dataclass(frozen=True)
class LabelCount:
    """A label, its number of training examples, and its readable name if it has one."""

    label: Any
    count: int
    name: str | None = None


@dataclass(frozen=True)
class ModelDescription:
    """A model that is served."""

    name: str
    version: str
    estimator: str
    n_labels: int
    n_features: int
    n_trees: int
    takes_text: bool
    takes_features: bool
    learns: bool
    loaded_at: str


@dataclass(frozen=True)
class Reloaded:
    """The version that was loaded, and whether all processes of the server have it."""

    version: str
    complete: bool


@dataclass(frozen=True)
class Call(Generic[_Result]):
    """One request, the function that reads its answer, and the statuses after which it is sent again.

    A request that changes something is sent again only if it has a key, which keeps it from being followed twice.
    """

    method: str
    path: str
    read: Callable[[Any], _Result]
    body: Mapping[str, Any] | None = None
    query: Mapping[str, Any] | None = None
    may_retry: bool = True
    headers: Mapping[str, str] | None = None
    retry_statuses: tuple[int, ...] = (503,)

    def seconds_before_retry(
        self, outcome: httpx.Response | httpx.TransportError, attempt: int, retries: int
    ) -> float | None:
        """Return the time to wait before the next attempt, or None if the outcome is final."""
        if not self.may_retry or attempt >= retries:
            return None
        if isinstance(outcome, httpx.TransportError):
            return seconds_to_wait(None, attempt)
        if outcome.status_code in self.retry_statuses:
            return seconds_to_wait(outcome.headers.get("retry-after"), attempt)
        return None

    def result(self, outcome: httpx.Response | httpx.TransportError) -> _Result:
        """Return the result, or raise the error."""
        if isinstance(outcome, httpx.TransportError):
            raise ServiceUnavailableError(0, "no_answer", f"there was no answer: {outcome}") from outcome
        if outcome.is_success and outcome.status_code not in self.retry_statuses:
            return self.read(outcome.json())
        if outcome.is_success:  # an answer that is not the last one, after the last retry
            raise ServiceUnavailableError(outcome.status_code, "accepted", str(outcome.json()["message"]))
        error: Any = {}
        with suppress(ValueError, TypeError, KeyError):  # raised by the answer of a proxy
            error = outcome.json()["error"]
        kind = ServiceUnavailableError if outcome.status_code == 503 else ServiceError
        message = error.get("message", "the server gave no reason")
        raise kind(outcome.status_code, str(error.get("code", "error")), str(message))


class Calls:
    """The methods of both clients. Each returns a `Call`, which a client sends."""

    def models(self) -> Call[list[ModelDescription]]:
        """Return all models that are served."""
        return Call("GET", "/v1/models", _list_of(ModelDescription, "models"))

    def predict(
        self,
        model: str,
        texts: Sequence[str] | None = None,
        *,
        rows: Sequence[Mapping[str, Any]] | None = None,
        features: Sequence[Mapping[str, Any]] | None = None,
        k: int = 5,
        threshold: float = 0.0,
        allow: Collection[Any] | None = None,
        deny: Collection[Any] | None = None,
        label_weight: str | Mapping[Any, float] | None = None,
    ) -> Call[list[list[Tag]]]:
        """Return the most probable labels of each text, sparse row ``{"indices": …, "values": …}`` or features."""
        if isinstance(label_weight, Mapping):
            label_weight = {str(label): weight for label, weight in label_weight.items()}
        body = {
            "texts": texts,
            "rows": rows,
            "features": features,
            "k": k,
            "threshold": threshold,
            "allow": None if allow is None else list(allow),
            "deny": None if deny is None else list(deny),
            "label_weight": label_weight,
        }

        def read(answer: Any) -> list[list[Tag]]:
            return [
                [Tag(tag["label"], tag["probability"], tag.get("name")) for tag in row]
                for row in answer["predictions"]
            ]

        return Call("POST", _path(model, "predict"), read, _given(body))

    def explain(
        self,
        model: str,
        text: str | None = None,
        *,
        label: Any,
        row: Mapping[str, Any] | None = None,
        features: Mapping[str, Any] | None = None,
        n_features: int = 10,
    ) -> Call[dict[str, Any]]:
        """Explain the probability of a label: return the JSON of the answer, with `paths` and `highlights`."""
        body = {"text": text, "row": row, "features": features, "label": label, "n_features": n_features}
        return Call("POST", _path(model, "explain"), dict, _given(body))

    def labels(
        self, model: str, query: str = "", *, limit: int = 20, offset: int = 0
    ) -> Call[list[LabelCount]]:
        """Return labels with `query` in their text or name."""
        parameters = {"query": query, "limit": limit, "offset": offset}
        return Call("GET", _path(model, "labels"), _list_of(LabelCount, "labels"), query=parameters)

    def reload(self, model: str) -> Call[Reloaded]:
        """Reload a model from its directory."""
        path = _path(model, "reload")
        return Call("POST", path, lambda answer: _object(Reloaded, answer), may_retry=False)

    def learn(
        self, model: str, examples: Sequence[Mapping[str, Any]], *, key: str | None = None
    ) -> Call[int]:
        """Let an online model learn examples ``{"text": …, "labels": […]}``; return its total number of examples.

        The request is sent again when the server is busy, out of disk space or cannot be reached: a key keeps the
        server from learning the examples twice. Pass your own key to send them again after an error, or later.
        """
        return Call(
            "POST",
            _path(model, "learn"),
            lambda answer: int(answer["n_examples"]),
            {"examples": list(examples)},
            headers={"Idempotency-Key": uuid.uuid4().hex if key is None else key},
            retry_statuses=(202, 503, 504, 507),
        )


def seconds_to_wait(retry_after: str | None, attempt: int) -> float:
    """Return how long to wait before the next attempt: as long as the server says, but at most 30 seconds."""
    if retry_after is not None and retry_after.isdigit():
        return min(float(retry_after), 30.0)
    return min(0.1 * 2.0**attempt, 5.0)


def _path(model: str, action: str) -> str:
    return f"/v1/models/{quote(model, safe='')}/{action}"


def _object(kind: type[_Result], answer: Any) -> _Result:
    """Return an object of a dataclass; fields of the answer that only a newer server has are ignored."""
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    return kind(**{name: answer[name] for name in known if name in answer})


def _list_of(kind: type[_Result], key: str) -> Callable[[Any], list[_Result]]:
    return lambda answer: [_object(kind, one) for one in answer[key]]


def _given(body: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if value is not None}
