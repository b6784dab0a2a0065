"""Every route says what the model says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
import scipy.sparse as sp
from pydantic import BaseModel
from tests.servers import BEARER
from tests.serving.conftest import OTHERS
from tests.small_models import N_FEATURES, NAMES, small_data

from labeltree import LabelTreeClassifier, OnlineLabelTreeClassifier
from labeltree.data import word_counts
from labeltree.serving import schemas
from labeltree.text import Tagger


def post(client: httpx.Client, path: str, body: Any, answer: type[BaseModel]) -> dict[str, Any]:
    """What is answered, if it is what the description says."""
    response = client.post(path, json=body)
    assert response.status_code == 200, response.text
    answer.model_validate_json(response.content, extra="forbid")
    found: dict[str, Any] = response.json()
    return found


def get(client: httpx.Client, path: str, answer: type[BaseModel], **query: Any) -> dict[str, Any]:
    response = client.get(path, params=query)
    assert response.status_code == 200, response.text
    answer.model_validate_json(response.content, extra="forbid")
    found: dict[str, Any] = response.json()
    return found


def as_rows(X: Any) -> list[dict[str, Any]]:
    return [
        {"indices": row.indices.tolist(), "values": row.data.tolist()}
        for row in (X[i].sorted_indices() for i in range(X.shape[0]))
    ]


def predictions_of(model: Any, X: Any, k: int = 5, **options: Any) -> list[list[dict[str, Any]]]:
    top = model.predict_topk(X, k, **options)
    return [
        [{"label": label, "probability": p} for label, p in zip(*row, strict=True) if p > 0]
        for row in zip(top.labels.tolist(), top.probabilities.tolist(), strict=True)
    ]


OPTIONS: list[dict[str, Any]] = [
    {},
    {"k": 1},
    {"k": 100},
    {"threshold": 0.4},
    {"allow": NAMES[:3]},
    {"deny": NAMES[1:4], "k": 3},
    {"allow": NAMES[:5], "deny": NAMES[:2]},
    {"label_weight": "propensity"},
    {"label_weight": {NAMES[0]: 50.0, NAMES[1]: 0.0}, "k": 12},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_rows_are_predicted_as_by_the_model(
    client: httpx.Client, models: dict[str, Path], options: dict[str, Any]
) -> None:
    X, _ = small_data(seed=1)
    X = X[:20]
    found = post(client, "/v1/models/small/predict", {"rows": as_rows(X), **options}, schemas.PredictAnswer)
    model = LabelTreeClassifier.load(models["small"])
    assert found["predictions"] == predictions_of(model, X, **{"k": 5, **options})
    assert found["model"] == "small"


def test_one_row_is_predicted_as_many_are(client: httpx.Client) -> None:
    """Small questions are answered on another way."""
    X, _ = small_data(seed=2)
    rows = as_rows(X[:30])
    together = post(client, "/v1/models/small/predict", {"rows": rows}, schemas.PredictAnswer)
    alone = [
        post(client, "/v1/models/small/predict", {"rows": [row]}, schemas.PredictAnswer)["predictions"][0]
        for row in rows
    ]
    assert alone == together["predictions"]


def test_an_empty_row_is_a_row(client: httpx.Client) -> None:
    rows = [{"indices": [], "values": []}]
    found = post(client, "/v1/models/small/predict", {"rows": rows, "k": 2}, schemas.PredictAnswer)
    assert len(found["predictions"][0]) == 2


def test_labels_that_are_numbers_stay_numbers(client: httpx.Client) -> None:
    body = {
        "rows": [{"indices": [1], "values": [1.0]}],
        "k": 3,
        "allow": [10, 20],
        "label_weight": {"20": 0.0},
    }
    found = post(client, "/v1/models/numbers/predict", body, schemas.PredictAnswer)
    assert [tag["label"] for tag in found["predictions"][0]] == [10, 20]


def test_texts_are_words_to_online_models(client: httpx.Client, models: dict[str, Path]) -> None:
    texts = ["A Boat on the SEA, the sea", "a woman", ""]
    model = OnlineLabelTreeClassifier.load(models["online"])
    expected = predictions_of(model, [word_counts(text) for text in texts])
    path = "/v1/models/online/predict"
    assert post(client, path, {"texts": texts}, schemas.PredictAnswer)["predictions"] == expected
    assert post(client, path, {"text": texts[0]}, schemas.PredictAnswer)["predictions"] == expected[:1]
    features = [word_counts(text) for text in texts]
    assert post(client, path, {"features": features}, schemas.PredictAnswer)["predictions"] == expected


def test_texts_are_predicted_as_by_the_tagger(client: httpx.Client, models: dict[str, Path]) -> None:
    texts = ["The Sea, the SEA", "a woman with a cat", "", "nothing of it is known"]
    tagger = Tagger.load(models["tags"])
    expected = predictions_of(tagger, texts, k=3)
    path = "/v1/models/tags/predict"
    assert post(client, path, {"texts": texts, "k": 3}, schemas.PredictAnswer)["predictions"] == expected
    for text, tags in zip(texts, expected, strict=True):
        body = {"text": text, "k": 3}
        assert post(client, path, body, schemas.PredictAnswer)["predictions"] == [tags]
    row = {"indices": [0, 2], "values": [1.0, 0.5]}
    X = sp.csr_matrix(([1.0, 0.5], [0, 2], [0, 2]), shape=(1, tagger.classifier_.n_features_in_))
    found = post(client, path, {"rows": [row]}, schemas.PredictAnswer)["predictions"]
    assert found == predictions_of(tagger.classifier_, X)


def test_texts_are_explained_as_by_the_tagger(client: httpx.Client, models: dict[str, Path]) -> None:
    text = "In the STORM, a boat"
    found = post(client, "/v1/models/tags/explain", {"text": text, "label": "sea"}, schemas.ExplainAnswer)
    expected = Tagger.load(models["tags"]).explain(text, "sea")
    assert found["probability"] == expected.probability
    assert found["highlights"] == [highlight._asdict() for highlight in expected.highlights]
    assert "STORM" in {text[h["begin"] : h["end"]] for h in found["highlights"]}
    features = [c["feature"] for step in found["paths"][0] for c in step["contributions"]]
    assert features == [c.feature for step in expected.paths[0] for c in step.contributions]


def test_rows_are_explained_as_by_the_model(client: httpx.Client, models: dict[str, Path]) -> None:
    X, _ = small_data(seed=1)
    body = {"row": as_rows(X[:1])[0], "label": NAMES[3], "n_features": 2}
    found = post(client, "/v1/models/small/explain", body, schemas.ExplainAnswer)
    expected = LabelTreeClassifier.load(models["small"]).explain(X[:1], NAMES[3], n_features=2)
    assert found["probability"] == expected.probability
    assert len(found["paths"]) == len(expected.paths) == 2
    for path, steps in zip(found["paths"], expected.paths, strict=True):
        assert [step["node"] for step in path] == [step.node for step in steps]
        assert [step["score"] for step in path] == [step.score for step in steps]
        assert [step["label"] for step in path] == [None] * (len(steps) - 1) + [NAMES[3]]
        for step, contributions in zip(path, (step.contributions for step in steps), strict=True):
            assert [(c["feature"], c["amount"]) for c in step["contributions"]] == [
                (c.feature, c.amount) for c in contributions
            ]
    assert found["highlights"] == []


def test_the_classifier_of_a_label_is_explained(client: httpx.Client, models: dict[str, Path]) -> None:
    X = [[0.0, 1.0, 0.0]]
    model = LabelTreeClassifier.load(models["reranked"])
    body = {"row": {"indices": [1], "values": [1.0]}, "label": "b"}
    found = post(client, "/v1/models/reranked/explain", body, schemas.ExplainAnswer)
    expected = model.explain(X, "b").classifier
    assert expected is not None
    assert found["classifier"]["probability"] == expected.probability == found["probability"]
    assert [c["amount"] for c in found["classifier"]["contributions"]] == [
        c.amount for c in expected.contributions
    ]


def test_words_that_weighed_are_found_in_the_text(client: httpx.Client) -> None:
    text = "İn the STORM, a boat on the sea; a Boat!"
    found = post(client, "/v1/models/online/explain", {"text": text, "label": "boat"}, schemas.ExplainAnswer)
    words = [text[h["begin"] : h["end"]] for h in found["highlights"]]
    assert words == ["STORM", "boat", "sea", "Boat"]
    amounts = {word: h["amount"] for word, h in zip(words, found["highlights"], strict=True)}
    assert amounts["boat"] == amounts["Boat"] > 0
    whole = sum(
        c["amount"] for step in found["paths"][0] for c in step["contributions"] if c["feature"] == "boat"
    )
    assert amounts["boat"] == pytest.approx(whole)


def test_labels_are_searched_without_case_and_accents(client: httpx.Client) -> None:
    path = "/v1/models/small/labels"
    everything = get(client, path, schemas.LabelsAnswer)
    assert everything["total"] == 12
    counts = [label["count"] for label in everything["labels"]]
    assert counts == sorted(counts, reverse=True)
    found = get(client, path, schemas.LabelsAnswer, query="LABEL 1")
    assert {label["label"] for label in found["labels"]} == {"läbel 1", "läbel 10", "läbel 11"}
    assert get(client, path, schemas.LabelsAnswer, query="bel 1", limit=1)["total"] == 3
    pages = [get(client, path, schemas.LabelsAnswer, limit=5, offset=i)["labels"] for i in (0, 5, 10)]
    assert [label for page in pages for label in page] == everything["labels"]
    assert get(client, path, schemas.LabelsAnswer, query="nothing")["labels"] == []
    assert get(client, "/v1/models/numbers/labels", schemas.LabelsAnswer, query="2")["labels"] == [
        {"label": 20, "count": 2}
    ]


@pytest.mark.parametrize(("name", "n_trees"), [("small", 2), ("online", 1)])
def test_trees_are_walked_to_every_label(client: httpx.Client, name: str, n_trees: int) -> None:
    everything = get(client, f"/v1/models/{name}/labels", schemas.LabelsAnswer)["labels"]
    for tree in range(n_trees):
        root = get(client, f"/v1/models/{name}/tree", schemas.TreeAnswer, tree=tree)
        assert (root["parent"], root["n_trees"], root["n_labels"]) == (None, n_trees, len(everything))
        seen: dict[str, int] = {}
        waiting = [root]
        while waiting:
            node = waiting.pop()
            assert node["count"] == sum(child["count"] for child in node["children"])
            assert node["n_labels"] == sum(child["n_labels"] for child in node["children"])
            for child in node["children"]:
                if child["label"] is not None:
                    seen[child["label"]] = child["node"]
                    continue
                assert child["examples"]
                below = get(
                    client, f"/v1/models/{name}/tree", schemas.TreeAnswer, tree=tree, node=child["node"]
                )
                assert below["parent"] == node["node"]
                waiting.append(below)
        assert seen.keys() == {label["label"] for label in everything}
        for label, leaf in seen.items():
            path = get(client, f"/v1/models/{name}/tree/path", schemas.PathAnswer, tree=tree, label=label)
            assert path["nodes"][0] == 0
            assert path["nodes"][-1] == leaf


def test_children_come_in_pages(client: httpx.Client) -> None:
    whole = get(client, "/v1/models/online/tree", schemas.TreeAnswer)
    assert whole["total"] == len(whole["children"]) == 4
    pages = [
        get(client, "/v1/models/online/tree", schemas.TreeAnswer, limit=3, offset=offset)["children"]
        for offset in (0, 3)
    ]
    assert [child for page in pages for child in page] == whole["children"]


def test_models_are_described(client: httpx.Client) -> None:
    found = {model["name"]: model for model in get(client, "/v1/models", schemas.ModelsAnswer)["models"]}
    assert list(found) == ["small", "numbers", "online", "tags", "fields", *OTHERS]
    small, online = found["small"], found["online"]
    assert (small["estimator"], small["n_labels"], small["n_features"]) == (
        "LabelTreeClassifier",
        12,
        N_FEATURES,
    )
    assert (small["takes_text"], small["takes_features"], small["learns"]) == (False, False, False)
    assert (online["takes_text"], online["takes_features"], online["learns"]) == (True, True, False)
    assert get(client, "/v1/models/small", schemas.ModelAnswer) == small


def test_a_reload_says_which_version_all_have(client: httpx.Client) -> None:
    response = client.post("/v1/models/small/reload", headers=BEARER)
    assert response.status_code == 200
    answer = schemas.ReloadAnswer.model_validate_json(response.content)
    assert answer.complete
    assert [worker.version for worker in answer.workers] == [answer.version]
    assert get(client, "/v1/models/small", schemas.ModelAnswer)["version"] == answer.version


def test_the_server_is_alive_and_ready(client: httpx.Client) -> None:
    assert client.get("/healthz").json() == {"status": "alive"}
    assert client.get("/readyz").json()["status"] == "ready"


def test_the_pages_need_nothing_but_this_server(client: httpx.Client) -> None:
    for path, kind in (("/", "text/html"), ("/page/page.css", "text/css"), ("/page/page.js", "javascript")):
        response = client.get(path)
        assert response.status_code == 200
        assert kind in response.headers["content-type"]
    for path in ("/page/nothing.js", "/page/..%2Ftokens.py", "/page/%2Fetc%2Fpasswd", "/page/"):
        assert client.get(path).status_code == 404
    docs = client.get("/docs").text
    assert "https://" not in docs
    assert "<script" not in docs
    for path in client.get("/openapi.json").json()["paths"]:
        assert path in docs


def test_every_answer_forbids_what_browsers_should_not_do(client: httpx.Client) -> None:
    for path in ("/", "/docs", "/v1/models", "/nothing", "/v1/models/nothing"):
        headers = client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize("name", OTHERS)
def test_models_of_all_kinds_answer_all_questions(client: httpx.Client, name: str) -> None:
    address, row = f"/v1/models/{name}", {"indices": [1], "values": [1.0]}
    found = client.post(f"{address}/predict", json={"rows": [row], "k": 1}).json()["predictions"]
    assert found[0][0]["label"] in ("a", "b")
    explained = client.post(f"{address}/explain", json={"row": row, "label": "b"})
    assert explained.status_code == 200
    assert client.get(f"{address}/labels").json()["total"] == 3
    described = client.get(address).json()
    assert described["n_trees"] == len(explained.json()["paths"])
    for question in ("tree", "tree/path?label=a"):
        answer = client.get(f"{address}/{question}")
        if described["has_label_trees"]:
            assert answer.status_code == 200
        else:
            assert (answer.status_code, answer.json()["error"]["code"]) == (409, "no_label_tree")
