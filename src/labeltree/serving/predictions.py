"""The answer to "which labels?"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from labeltree.serving import rows
from labeltree.serving.errors import Refusal
from labeltree.serving.limits import Limits
from labeltree.serving.registry import ServedModel
from labeltree.serving.schemas import Label, PredictRequest


def n_rows(request: PredictRequest) -> int:
    """How many rows are asked about."""
    return len(request.texts or request.rows or request.features or (request.text,))


def check(request: PredictRequest, limits: Limits) -> None:
    """Refuse a request that asks for too much."""
    for field in ("texts", "rows", "features"):
        limits.check_rows(field, getattr(request, field) or ())
    limits.check_count("k", request.k)
    if request.text is not None:
        limits.check_texts("text", (request.text,))
    limits.check_texts("texts", request.texts or ())


def predict(served: ServedModel, request: PredictRequest) -> dict[str, Any]:
    """What `PredictAnswer` says."""
    options: dict[str, Any] = {}
    for field in ("allow", "deny"):
        labels = getattr(request, field)
        if labels is not None:
            options[field] = _known(served, field, labels)
    if request.label_weight is not None:
        options["label_weight"] = _weights(served, request.label_weight)
    version = served.version
    top = served.model.predict_topk(
        _features(served, request), request.k, threshold=request.threshold, **options
    )
    return {
        "model": served.name,
        "version": version,
        "predictions": [
            [
                {"label": label, "probability": p}
                for label, p in zip(names, probabilities, strict=True)
                if p > 0
            ]
            for names, probabilities in zip(top.labels.tolist(), top.probabilities.tolist(), strict=True)
        ],
    }


def _features(served: ServedModel, request: PredictRequest) -> Any:
    if request.text is not None:
        return rows.of_texts(served, [request.text])
    if request.texts is not None:
        return rows.of_texts(served, request.texts)
    if request.rows is not None:
        return rows.of_rows(served, request.rows, "rows")
    return rows.of_features(served, request.features or ())


def _known(served: ServedModel, field: str, labels: Sequence[Label]) -> Sequence[Label]:
    """The labels, if all are the model's."""
    for i, position in enumerate(served.model._label_names().find(labels).tolist()):
        if position < 0:
            raise Refusal(
                422,
                f"{field}[{i}]: {_short(labels[i])} is not a label of the model {served.name}",
                "no_such_label",
            )
    return labels


def _weights(served: ServedModel, given: Any) -> Any:
    """Weights by label: the keys of JSON objects are strings, whatever labels are."""
    if isinstance(given, str):
        return given
    weights, labels = {}, served.labels  # once: of a model that learns they are made anew each time
    for text, weight in given.items():
        label = labels.by_text(text)
        if label is None:
            raise Refusal(
                422,
                f"label_weight: {_short(text)} is not a label of the model {served.name}",
                "no_such_label",
            )
        weights[label] = weight
    return weights


def _short(label: Label) -> str:
    text = repr(label)
    return text if len(text) <= 60 else f"{text[:57]}…"
