"""Readable names of labels in the answers of the server, and in its clients."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.servers import serving
from tests.serving.conftest import LABELS, SENTENCES, TEXTS
from tests.serving.test_answers import get, post

from labeltree import LabelTreeClassifier, OnlineLabelTreeClassifier
from labeltree.serving import Client, Settings, schemas
from labeltree.serving.client_calls import LabelCount, Tag
from labeltree.text import Tagger

CODES = {"sea": "T1", "boat": "T2", "portrait": "T3", "cat": "T4"}
NAMES = {"T1": "the sea", "T2": "Böats", "T3": "portraits"}  # T4 has none


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("names")
    coded = [[CODES[label] for label in row] for row in LABELS]
    deep = LabelTreeClassifier(arity=2, max_leaves=2, frequent_share=1, random_state=0)
    tagger = Tagger(deep).fit(SENTENCES, coded)
    tagger.label_names_ = NAMES
    tagger.save(folder / "tags")
    online = OnlineLabelTreeClassifier(random_state=0).partial_fit(TEXTS, coded)
    online.label_names_ = NAMES
    online.save(folder / "online")
    plain: dict[str, Path] = {"plain": folder / "plain"}
    Tagger(LabelTreeClassifier(random_state=0)).fit(SENTENCES, coded).save(plain["plain"])
    with serving(Settings({"tags": folder / "tags", "online": folder / "online", **plain})) as (client, _):
        yield client


@pytest.mark.parametrize("model", ["tags", "online"])
def test_predictions(client: httpx.Client, model: str) -> None:
    for body in ({"text": "the sea", "k": 4}, {"texts": ["the sea", "a cat"], "k": 4}):
        answer = post(client, f"/v1/models/{model}/predict", body, schemas.PredictAnswer)
        for row in answer["predictions"]:
            assert row
            for tag in row:
                assert tag.get("name") == NAMES.get(tag["label"])
                assert ("name" in tag) == (tag["label"] in NAMES)


def test_a_model_without_names_answers_as_before(client: httpx.Client) -> None:
    answer = post(client, "/v1/models/plain/predict", {"text": "the sea"}, schemas.PredictAnswer)
    assert all(tag.keys() == {"label", "probability"} for tag in answer["predictions"][0])
    answer = get(client, "/v1/models/plain/labels", schemas.LabelsAnswer)
    assert all(found.keys() == {"label", "count"} for found in answer["labels"])
    for child in get(client, "/v1/models/plain/tree", schemas.TreeAnswer)["children"]:
        assert child.keys() == {"node", "n_labels", "count", "label", "examples"}
    assert not get(client, "/v1/models/plain", schemas.ModelAnswer)["has_label_names"]


@pytest.mark.parametrize("model", ["tags", "online"])
def test_explanations(client: httpx.Client, model: str) -> None:
    body = {"text": "the sea", "label": "T1"}
    assert post(client, f"/v1/models/{model}/explain", body, schemas.ExplainAnswer)["name"] == "the sea"
    assert "name" not in post(
        client, f"/v1/models/{model}/explain", {**body, "label": "T4"}, schemas.ExplainAnswer
    )


@pytest.mark.parametrize("model", ["tags", "online"])
def test_labels_are_found_by_label_and_by_name(client: httpx.Client, model: str) -> None:
    def found(query: str) -> list[tuple[str, str | None]]:
        answer = get(client, f"/v1/models/{model}/labels", schemas.LabelsAnswer, query=query)
        assert answer["total"] == len(answer["labels"])
        return [(label["label"], label.get("name")) for label in answer["labels"]]

    assert found("boat") == [("T2", "Böats")]
    assert found("t4") == [("T4", None)]
    assert {label for label, _ in found("t")} == {"T1", "T2", "T3", "T4"}
    assert found("po") == [("T3", "portraits")]
    assert found("the sea")[0] == ("T1", "the sea")


def test_names_that_begin_with_the_query_come_first(client: httpx.Client) -> None:
    answer = get(client, "/v1/models/tags/labels", schemas.LabelsAnswer, query="b")
    assert [label["label"] for label in answer["labels"]] == ["T2"]


def test_trees(client: httpx.Client) -> None:
    seen: dict[str, str | None] = {}
    waiting = [0]
    while waiting:
        answer = get(client, "/v1/models/tags/tree", schemas.TreeAnswer, node=waiting.pop())
        for child in answer["children"]:
            if child["label"] is None:
                waiting.append(child["node"])
                assert child["example_names"] == [NAMES.get(label, label) for label in child["examples"]]
            else:
                seen[child["label"]] = child.get("name")
                leaf = get(client, "/v1/models/tags/tree", schemas.TreeAnswer, node=child["node"])
                assert leaf.get("name") == NAMES.get(child["label"])
    assert seen == {label: NAMES.get(label) for label in CODES.values()}
    assert get(client, "/v1/models/tags/tree/path", schemas.PathAnswer, label="T1")["name"] == "the sea"


def test_models(client: httpx.Client) -> None:
    assert get(client, "/v1/models/tags", schemas.ModelAnswer)["has_label_names"]


def test_the_client_has_names_beside_pairs(client: httpx.Client) -> None:
    with Client(str(client.base_url)) as asking:
        (row,) = asking.predict("tags", ["the sea"], k=4)
        label, probability = row[0]  # a pair, as it always was
        assert (label, row[0].name) == ("T1", "the sea")
        assert row[0] == (label, probability)
        assert repr(row[0]) == f"Tag(label='T1', probability={probability!r}, name='the sea')"
        assert repr(Tag("T4", 0.5)) == "Tag(label='T4', probability=0.5)"
        assert pickle.loads(pickle.dumps(row[0])).name == "the sea"
        assert [tag.name for tag in row] == [NAMES.get(tag.label) for tag in row]
        assert asking.labels("tags", "portr") == [LabelCount("T3", 2, "portraits")]
        assert asking.labels("plain", "T3") == [LabelCount("T3", 2)]
        assert asking.explain("tags", "the sea", label="T1")["name"] == "the sea"
