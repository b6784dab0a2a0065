"""Answers to predict requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic_core import to_json

from labeltree.serving import given_labels, rows
from labeltree.serving.limits import Limits
from labeltree.serving.registry import ServedModel
from labeltree.serving.schemas import Label, PredictRequest
from labeltree.serving.text_batches import MAX_TEXTS


def n_rows(request: PredictRequest) -> int:
    """Return the number of texts or rows."""
    return len(request.texts or request.rows or request.features or (request.text,))


def check(served: ServedModel, request: PredictRequest, n_rows: int, limits: Limits) -> None:
    """Refuse a request that exceeds the limits."""
    if n_rows > 1:  # only one of these has any
        for field in ("texts", "rows", "features"):
            limits.check_rows(field, len(getattr(request, field) or ()))
    limits.check_count("k", request.k)
    if n_rows * request.k > limits.answer_labels:
        limits.check_answer(n_rows, min(request.k, len(served.model.classes_)))
    if request.text is not None:
        limits.check_texts("text", (request.text,))
    elif request.texts is not None:
        limits.check_texts("texts", request.texts)


def texts_to_join(served: ServedModel, request: PredictRequest, n_rows: int) -> list[Any] | None:
    """Return the texts of a request if they should be read together with those of other requests, else None."""
    if not served.prefers_batches or n_rows > MAX_TEXTS:
        return None
    return request.texts or (None if request.text is None else [request.text])


def predict(served: ServedModel, request: PredictRequest, X: Any = None) -> dict[str, Any] | bytes:
    """Return the content of a `PredictAnswer`, for several rows as JSON.

    `X` has the features of the request if they were read before. `to_json` holds the GIL until it is done, so each row
    is written on its own.
    """
    options: dict[str, Any] = {}
    for field in ("allow", "deny"):
        labels = getattr(request, field)
        if labels is None:
            continue
        given_labels.check(served, labels, [f"{field}[{i}]" for i in range(len(labels))])
        options[field] = labels
    if request.label_weight is not None:
        options["label_weight"] = _weights(served, request.label_weight)
    version = served.version
    if X is None:
        X = _features(served, request)
    try:
        top = served.model.predict_topk(X, request.k, threshold=request.threshold, **options)
    except ValueError as error:
        raise rows.bad_features(request.features, error) from None
    tops = zip(top.labels.tolist(), top.probabilities.tolist(), strict=True)
    names = served.model.model_.label_names
    answer: dict[str, Any] = {"model": served.name, "version": version}
    if len(top.labels) == 1:
        answer["predictions"] = [_labels(*row, names) for row in tops]
        return answer
    rows_of_json = [to_json(_labels(*row, names)) for row in tops]
    return to_json(answer)[:-1] + b',"predictions":[' + b",".join(rows_of_json) + b"]}"


def _labels(
    labels: list[Label], probabilities: list[float], names: Mapping[Any, str] | None
) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {"label": label, "probability": p} for label, p in zip(labels, probabilities, strict=True) if p > 0
    ]
    if names is not None:
        for prediction in found:
            if (name := names.get(prediction["label"])) is not None:
                prediction["name"] = name
    return found


def _features(served: ServedModel, request: PredictRequest) -> Any:
    if request.rows is not None:
        return rows.of_rows(served, request.rows, "rows")
    if request.features is not None:
        return rows.of_features(served, request.features)
    return rows.of_texts(served, request.texts or [request.text])


def _weights(served: ServedModel, given: str | dict[str, float]) -> Any:
    """Return weights by label. The keys of JSON objects are strings, so each is looked up."""
    if isinstance(given, str):
        return given
    weights, labels = {}, served.labels  # read once: a model that learns makes them each time
    for text, weight in given.items():
        label = labels.by_text(text)
        if label is None:
            raise given_labels.no_such_label(served, "label_weight", text)
        weights[label] = weight
    return weights
