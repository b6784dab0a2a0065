"""Answers to explain requests."""

from __future__ import annotations

import re
from math import isfinite
from typing import Any

from labeltree.model.explanation import Explanation, LabelStep, Step
from labeltree.serving import given_labels, rows
from labeltree.serving.errors import Refusal
from labeltree.serving.limits import Limits
from labeltree.serving.registry import ServedModel
from labeltree.serving.schemas import ExplainRequest
from labeltree.text.text_explanation import explain_text

_WORD = re.compile(r"\w\w+")


def check(request: ExplainRequest, limits: Limits) -> None:
    """Refuse a request that exceeds the limits."""
    limits.check_count("n_features", request.n_features)
    if request.text is not None:
        limits.check_texts("text", (request.text,))


def explain(served: ServedModel, request: ExplainRequest) -> dict[str, Any]:
    """Return the content of an `ExplainAnswer`."""
    given_labels.check(served, [request.label], ["label"])
    version = served.version
    try:
        explanation = _explanation(served, request)
    except ValueError as error:  # the scores of this kind of model are not sums
        raise Refusal(409, str(error), "cannot_explain") from None
    scores = [step.score for path in explanation.paths for step in path]
    if explanation.classifier is not None:
        scores.append(explanation.classifier.score)
    if not all(map(isfinite, scores)):
        place = "row" if request.row is not None else "features"
        raise Refusal(
            422, f"{place}: the scores of these values are too large for float32: send smaller values"
        )
    return {
        "model": served.name,
        "version": version,
        "label": request.label,
        **_name(served, request.label),
        "probability": explanation.probability,
        "paths": [
            [_step(step, request.label if step is path[-1] else None) for step in path]
            for path in explanation.paths
        ],
        **_classifier(explanation),
        "highlights": _highlights(explanation, str(request.text or "")),
    }


def _name(served: ServedModel, label: Any) -> dict[str, str]:
    names = served.model.model_.label_names or {}
    return {"name": names[label]} if label in names else {}


def _explanation(served: ServedModel, request: ExplainRequest) -> Explanation:
    model, label, n_features = served.model, request.label, request.n_features
    if request.text is not None:
        rows.check_takes_text(served)
        rows.check_fields(served, [request.text])
        if not served.is_online:
            return explain_text(model, request.text, label, n_features)
        X = rows.of_texts(served, [request.text])
    elif request.row is not None:
        X = rows.of_rows(served, [request.row], "row")
    else:
        X = rows.of_features(served, [request.features or {}])
    explanation: Explanation = model.explain(X, label, n_features=n_features)
    return explanation


def _step(step: Step, label: Any) -> dict[str, Any]:
    return {**vars(step), "label": label, "contributions": _contributions(step)}


def _classifier(explanation: Explanation) -> dict[str, Any]:
    step = explanation.classifier
    return {} if step is None else {"classifier": {**vars(step), "contributions": _contributions(step)}}


def _contributions(step: Step | LabelStep) -> list[dict[str, Any]]:
    return [{**c._asdict(), "amount": c.amount} for c in step.contributions]


def _highlights(explanation: Explanation, text: str) -> list[dict[str, Any]]:
    """Return the words of the text that contributed most."""
    found = getattr(explanation, "highlights", None)
    if found is not None:
        return [highlight._asdict() for highlight in found]
    amounts = explanation.amounts()  # the features of an online model are words in lower case
    words = ((*match.span(), amounts.get(match[0].lower())) for match in _WORD.finditer(text))
    return [
        {"begin": begin, "end": end, "amount": amount, "field": None}
        for begin, end, amount in words
        if amount
    ]
