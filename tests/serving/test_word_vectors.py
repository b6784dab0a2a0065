"""A server answers for models with word vectors, and explains them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.labelled_texts import labelled_texts
from tests.servers import serving
from tests.serving.test_answers import get, post

from labeltree.serving import Settings, schemas
from labeltree.text import Tagger

TEXT = "A harbour with a violin."


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    for method in ("extremetext", "fasttext"):
        tagger = Tagger(method=method)
        tagger.set_params(classifier__dimension=8, classifier__epochs=20, classifier__random_state=0)
        tagger.fit(*labelled_texts(100)).save(folder / method)
    return {method: folder / method for method in ("extremetext", "fasttext")}


@pytest.fixture(scope="module")
def client(models: dict[str, Path]) -> Iterator[httpx.Client]:
    with serving(Settings(models)) as (client, _):
        yield client


@pytest.mark.parametrize("name", ["extremetext", "fasttext"])
def test_answers_and_explanations_are_those_of_the_model(
    client: httpx.Client, models: dict[str, Path], name: str
) -> None:
    tagger = Tagger.load(models[name])
    answer = post(client, f"/v1/models/{name}/predict", {"text": TEXT, "k": 5}, schemas.PredictAnswer)
    tags = tagger.tag(TEXT, 5)
    assert [tag["label"] for tag in answer["predictions"][0]] == [tag.label for tag in tags]
    for found, tag in zip(answer["predictions"][0], tags, strict=True):
        assert found["probability"] == pytest.approx(tag.probability, rel=1e-5)
    body = {"text": TEXT, "label": "sea"}
    explained = post(client, f"/v1/models/{name}/explain", body, schemas.ExplainAnswer)
    expected = tagger.explain(TEXT, "sea")
    assert explained["probability"] == pytest.approx(expected.probability, rel=1e-5)
    best = max(explained["highlights"], key=lambda highlight: float(highlight["amount"]))
    assert TEXT[best["begin"] : best["end"]] == "harbour"
    described = get(client, f"/v1/models/{name}", schemas.ModelAnswer)
    assert described["n_labels"] == 5
    assert get(client, f"/v1/models/{name}/tree", schemas.TreeAnswer)["children"]
