"""Texts with fields: answered as by the tagger, and refused where the model has none."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import ValidationError

from labeltree.serving import schemas
from labeltree.text import Tagger

TEXTS = [{"title": "The sea", "text": None}, {"text": "a woman with a cat", "year": "1999"}, "a boat"]


def test_texts_are_predicted_as_by_the_tagger(client: httpx.Client, models: dict[str, Path]) -> None:
    expected = [[tag._asdict() for tag in tags] for tags in Tagger.load(models["fields"]).tag(TEXTS, k=3)]
    found = client.post("/v1/models/fields/predict", json={"texts": TEXTS, "k": 3}).json()
    assert found["predictions"] == expected
    for text, tags in zip(TEXTS, expected, strict=True):
        found = client.post("/v1/models/fields/predict", json={"text": text, "k": 3}).json()
        assert found["predictions"] == [tags]


def test_highlights_have_fields(client: httpx.Client, models: dict[str, Path]) -> None:
    text = {"title": "The STORM", "text": "a boat"}
    answer = client.post("/v1/models/fields/explain", json={"text": text, "label": "sea"}).json()
    expected = Tagger.load(models["fields"]).explain(text, "sea").highlights
    assert answer["highlights"] == [highlight._asdict() for highlight in expected]
    assert ("title", "STORM") in {
        (h["field"], text[h["field"]][h["begin"] : h["end"]]) for h in answer["highlights"]
    }


@pytest.mark.parametrize(
    ("model", "body", "message"),
    [
        ("tags", {"text": {"title": "sea"}}, "trained on texts without fields: send each text as a string"),
        ("online", {"text": {"title": "sea"}}, "trained on texts without fields"),
        ("small", {"text": {"title": "sea"}}, "takes no texts"),
        ("fields", {"text": {}}, "text: expected at least one of the fields title, text, got none"),
        (
            "fields",
            {"texts": ["sea", {"Title": "sea"}]},
            r"texts\[1\]: expected at least one of the fields title, text",
        ),
        ("fields", {"text": {"title": 3}}, "string"),
        ("fields", {"text": {"title": "x" * 1500, "text": "y" * 1500}}, "at most 2000 characters, got 3000"),
    ],
)
def test_wrong_fields(client: httpx.Client, model: str, body: dict[str, Any], message: str) -> None:
    for route, more in (("predict", {}), ("explain", {"label": "sea" if model != "small" else "x"})):
        if route == "explain" and ("texts" in body or model == "small"):
            continue
        answer = client.post(f"/v1/models/{model}/{route}", json={**body, **more})
        assert answer.status_code == 422, answer.text
        assert re.search(message, answer.json()["error"]["message"]), answer.text


def test_examples_have_no_fields() -> None:
    body = {"examples": [{"text": {"title": "sea"}, "labels": ["sea"]}]}
    with pytest.raises(ValidationError, match="text"):
        schemas.LearnRequest.model_validate(body)
