"""What both clients ask, and how they read the answers: everything but the sending."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import quote

from labeltree.serving.client_errors import ServiceError, ServiceUnavailableError

_Result = TypeVar("_Result")


class Tag(NamedTuple):
    """A label, and how probable it is."""

    label: Any
    probability: float


@dataclass(frozen=True)
class LabelCount:
    """A label, and how many training examples had it."""

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

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> ModelDescription:
        """From JSON; fields that a newer server has are passed over."""
        return cls(**{name: answer[name] for name in cls.__dataclass_fields__})


@dataclass(frozen=True)
class Reloaded:
    """What a reload came to: the version, and whether all processes of the server have it."""

    version: str
    complete: bool


@dataclass(frozen=True)
class Call(Generic[_Result]):
    """One request, and how to read its answer. Only those that change nothing may be sent twice."""

    method: str
    path: str
    read: Callable[[Any], _Result]
    body: Mapping[str, Any] | None = None
    query: Mapping[str, Any] | None = None
    may_repeat: bool = True


def predict(model: str, asked: Mapping[str, Any], **options: Any) -> Call[list[list[Tag]]]:
    """Ask for labels."""
    return Call("POST", _path(model, "predict"), _read_tags, body=_given({**asked, **options}))


def explain(model: str, asked: Mapping[str, Any], label: Any, n_features: int) -> Call[dict[str, Any]]:
    """Ask why."""
    body = _given({**asked, "label": label, "n_features": n_features})
    return Call("POST", _path(model, "explain"), dict, body=body)


def labels(model: str, query: str, limit: int, offset: int) -> Call[list[LabelCount]]:
    """Search labels."""
    asked = {"query": query, "limit": limit, "offset": offset}
    return Call("GET", _path(model, "labels"), _read_labels, query=asked)


def models() -> Call[list[ModelDescription]]:
    """Ask which models there are."""
    return Call(
        "GET", "/v1/models", lambda answer: [ModelDescription.of(model) for model in answer["models"]]
    )


def reload(model: str) -> Call[Reloaded]:
    """Have a model loaded anew."""

    def read(answer: Any) -> Reloaded:
        return Reloaded(answer["version"], answer["complete"])

    return Call("POST", _path(model, "reload"), read, may_repeat=False)


def learn(model: str, examples: Sequence[Mapping[str, Any]]) -> Call[int]:
    """Have a model learn."""
    body = {"examples": list(examples)}
    return Call(
        "POST", _path(model, "learn"), lambda answer: int(answer["n_examples"]), body, may_repeat=False
    )


def options(
    k: int,
    threshold: float,
    allow: Collection[Any] | None,
    deny: Collection[Any] | None,
    label_weight: str | Mapping[Any, float] | None,
) -> dict[str, Any]:
    """What restricts a prediction, as JSON has it."""
    weight = (
        {str(label): number for label, number in label_weight.items()}
        if isinstance(label_weight, Mapping)
        else label_weight
    )
    return {
        "k": k,
        "threshold": threshold,
        "allow": None if allow is None else list(allow),
        "deny": None if deny is None else list(deny),
        "label_weight": weight,
    }


def refusal(status: int, answer: Any) -> ServiceError:
    """The error of an answer that is not what was asked for."""
    error = answer.get("error", {}) if isinstance(answer, dict) else {}
    kind = ServiceUnavailableError if status == 503 else ServiceError
    return kind(
        status, str(error.get("code", "error")), str(error.get("message", "the server gave no reason"))
    )


def seconds_to_wait(retry_after: str | None, attempt: int) -> float:
    """How long to wait before the next attempt: as the server says, but not for ever."""
    if retry_after is not None and retry_after.isdigit():
        return min(float(retry_after), 30.0)
    return min(0.1 * 2.0**attempt, 5.0)


def _path(model: str, what: str) -> str:
    return f"/v1/models/{quote(model, safe='')}/{what}"


def _given(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _read_tags(answer: Any) -> list[list[Tag]]:
    return [[Tag(tag["label"], tag["probability"]) for tag in row] for row in answer["predictions"]]


def _read_labels(answer: Any) -> list[LabelCount]:
    return [LabelCount(label["label"], label["count"]) for label in answer["labels"]]
