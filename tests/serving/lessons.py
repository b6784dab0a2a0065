"""Examples for a server that learns, and the model that must come of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
from tests.servers import BEARER, TOKEN

from labeltree import OnlineLabelTreeClassifier
from labeltree.data import word_counts
from labeltree.serving import Settings, Tokens

LEARN = "/v1/models/online/learn"


def example(number: int) -> dict[str, Any]:
    """An example that no other is like."""
    return {
        "text": f"word{number} word{number % 7} every",
        "labels": [f"label {number % 11}", f"only {number}"],
    }


def learned(model: OnlineLabelTreeClassifier, examples: list[dict[str, Any]]) -> OnlineLabelTreeClassifier:
    """The model after these examples, one by one."""
    for one in examples:
        model.partial_fit([word_counts(one["text"])], [one["labels"]])
    return model


def state(model: OnlineLabelTreeClassifier) -> dict[str, Any]:
    """Everything that the model has learned."""
    states = [tree.state() for tree in model._model.trees]
    arrays = [{name: values.tobytes() for name, values in state.items()} for state in states]
    return {"trees": arrays, "labels": model._model.labels.labels, "names": model._model.features.names}


def settings(path: Path, **options: Any) -> Settings:
    return Settings({"online": path}, tokens=Tokens([TOKEN]), learn=True, **options)


def send(client: httpx.Client, *examples: dict[str, Any]) -> httpx.Response:
    return client.post(LEARN, json={"examples": list(examples)}, headers=BEARER)
