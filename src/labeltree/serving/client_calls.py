"""The requests that both clients send, and how they read the answers: everything except the sending."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import quote

import httpx

from labeltree.serving.client_errors import ServiceError, ServiceUnavailableError

_Result = TypeVar("_Result")


class Tag(NamedTuple):
    """A label and its probability."""

    label: Any
    probability: float


@dataclass(frozen=True)
class LabelCount:
    """A label and its number of training examples."""

    label: Any
    count: int


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
    """One request, and the function that reads its answer. A request that changes something is never retried."""

    method: str
    path: str
    read: Callable[[Any], _Result]
    body: Mapping[str, Any] | None = None
    query: Mapping[str, Any] | None = None
    may_retry: bool = True

    def seconds_before_retry(
        self, outcome: httpx.Response | httpx.TransportError, attempt: int, retries: int
    ) -> float | None:
        """Return the time to wait before the next attempt, or None if the outcome is final."""
        if not self.may_retry or attempt >= retries:
            return None
        if isinstance(outcome, httpx.TransportError):
            return seconds_to_wait(None, attempt)
        if outcome.status_code == 503:
            return seconds_to_wait(outcome.headers.get("retry-after"), attempt)
        return None

    def result(self, outcome: httpx.Response | httpx.TransportError) -> _Result:
        """Return the result, or raise the error."""
        if isinstance(outcome, httpx.TransportError):
            raise ServiceUnavailableError(0, "no_answer", f"there was no answer: {outcome}") from outcome
        if outcome.is_success:
            return self.read(outcome.json())
        error: Any = {}
        with suppress(ValueError, TypeError, KeyError):  # raised by the answer of a proxy
            error = outcome.json()["error"]
        kind = ServiceUnavailableError if outcome.status_code == 503 else ServiceError
        message = error.get("message", "the server gave no reason")
        raise kind(outcome.status_code, str(error.get("code", "error")), str(message))


def models() -> Call[list[ModelDescription]]:
    """List the models. Fields that only a newer server has are ignored."""
    names = ModelDescription.__dataclass_fields__

    def read(answer: Any) -> list[ModelDescription]:
        return [ModelDescription(**{name: model[name] for name in names}) for model in answer["models"]]

    return Call("GET", "/v1/models", read)


def predict(
    model: str,
    inputs: Mapping[str, Any],
    k: int,
    threshold: float,
    allow: Collection[Any] | None,
    deny: Collection[Any] | None,
    label_weight: str | Mapping[Any, float] | None,
) -> Call[list[list[Tag]]]:
    """Predict labels."""
    if isinstance(label_weight, Mapping):
        label_weight = {str(label): weight for label, weight in label_weight.items()}
    options = {
        "k": k,
        "threshold": threshold,
        "allow": None if allow is None else list(allow),
        "deny": None if deny is None else list(deny),
        "label_weight": label_weight,
    }

    def read(answer: Any) -> list[list[Tag]]:
        return [[Tag(tag["label"], tag["probability"]) for tag in row] for row in answer["predictions"]]

    return Call("POST", _path(model, "predict"), read, body=_given({**inputs, **options}))


def explain(model: str, inputs: Mapping[str, Any], label: Any, n_features: int) -> Call[dict[str, Any]]:
    """Explain a label."""
    body = _given({**inputs, "label": label, "n_features": n_features})
    return Call("POST", _path(model, "explain"), dict, body=body)


def labels(model: str, query: str, limit: int, offset: int) -> Call[list[LabelCount]]:
    """Search labels."""

    def read(answer: Any) -> list[LabelCount]:
        return [LabelCount(label["label"], label["count"]) for label in answer["labels"]]

    parameters = {"query": query, "limit": limit, "offset": offset}
    return Call("GET", _path(model, "labels"), read, query=parameters)


def reload(model: str) -> Call[Reloaded]:
    """Reload a model."""

    def read(answer: Any) -> Reloaded:
        return Reloaded(answer["version"], answer["complete"])

    return Call("POST", _path(model, "reload"), read, may_retry=False)


def learn(model: str, examples: Sequence[Mapping[str, Any]]) -> Call[int]:
    """Learn examples."""

    def read(answer: Any) -> int:
        return int(answer["n_examples"])

    return Call("POST", _path(model, "learn"), read, body={"examples": list(examples)}, may_retry=False)


def seconds_to_wait(retry_after: str | None, attempt: int) -> float:
    """Return how long to wait before the next attempt: as long as the server says, but at most 30 seconds."""
    if retry_after is not None and retry_after.isdigit():
        return min(float(retry_after), 30.0)
    return min(0.1 * 2.0**attempt, 5.0)


def _path(model: str, action: str) -> str:
    return f"/v1/models/{quote(model, safe='')}/{action}"


def _given(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
