"""The backend ``http`` of Annif can ask a served model: requests are sent here exactly as Annif 1.4 sends them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.servers import BEARER, TOKEN, serving
from tests.serving.conftest import LABELS, SENTENCES, online_model

from labeltree import LabelTreeClassifier
from labeltree.serving import Limits, Settings, Tokens
from labeltree.text import Tagger

URI = "http://example.org/{}"
LIMITS = Limits(k=50, text_chars=50_000, body_bytes=200_000)
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("annif")
    tagger = Tagger(LabelTreeClassifier(random_state=0))
    tagger.fit(SENTENCES, [[URI.format(label) for label in row] for row in LABELS])
    tagger.label_names_ = {URI.format("sea"): "the sea"}
    tagger.save(folder / "tags")
    online_model().save(folder / "online")
    LabelTreeClassifier().fit([[1.0, 0.0], [0.0, 1.0]], [[1], [2]]).save(folder / "numbers")
    return folder


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[httpx.Client]:
    models = {name: folder / name for name in ("tags", "online", "numbers")}
    with serving(Settings(models, limits=LIMITS)) as (client, _):
        yield client


def suggest(client: httpx.Client, model: str = "tags", **data: Any) -> httpx.Response:
    """Send what `annif.backend.http` sends."""
    return client.post(f"/v1/models/{model}/suggest", data=data, headers={"User-Agent": "Annif/1.4.3"})


def refusal(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]


def test_suggestions_are_the_predictions_with_names(client: httpx.Client) -> None:
    text = "A boat & the sea: 100 % größer + 水"
    answer = suggest(client, text=text, project="yso-en", limit=3).json()
    wanted = client.post("/v1/models/tags/predict", json={"text": text, "k": 3}).json()["predictions"][0]
    assert [(hit["uri"], hit["score"]) for hit in answer["results"]] == [
        (tag["label"], tag["probability"]) for tag in wanted
    ]
    assert answer["results"][0]["label"] == "the sea"
    assert all(hit["label"] == hit["uri"] for hit in answer["results"][1:])  # they have no names


def test_a_threshold_and_the_default_limit(client: httpx.Client) -> None:
    answer = suggest(client, text="A boat and the sea", threshold=0.5, language="en").json()
    assert answer["results"]
    assert all(hit["score"] >= 0.5 for hit in answer["results"])


def test_metadata_of_documents_is_ignored(client: httpx.Client) -> None:
    plain = suggest(client, text="A cat", limit=2).json()
    assert suggest(client, text="A cat", limit=2, metadata_title="x", metadata_text="y").json() == plain


def test_large_texts_are_read_too(client: httpx.Client) -> None:
    assert (
        suggest(client, text="the sea and a böat " * 2000, limit=1).json()["results"][0]["label"] == "the sea"
    )


def test_labels_of_an_online_model(client: httpx.Client) -> None:
    hit = suggest(client, "online", text="the sea", limit=1).json()["results"][0]
    assert (hit["uri"], hit["label"]) == ("sea", "sea")


def test_the_address_without_suggest_describes_the_project(client: httpx.Client, folder: Path) -> None:
    endpoint = f"{client.base_url}/v1/models/tags/suggest"
    answer = client.get(endpoint.replace("/suggest", "")).json()  # as Annif makes the address
    assert answer["is_trained"] is True
    saved = datetime.fromtimestamp((folder / "tags" / "model.json").stat().st_mtime, timezone.utc)
    assert abs((datetime.fromisoformat(answer["modification_time"]) - saved).total_seconds()) < 0.01


def test_a_model_of_numbers_is_refused(client: httpx.Client) -> None:
    response = suggest(client, "numbers", text="a boat")
    assert 400 <= response.status_code < 500
    assert "takes no texts" in response.json()["error"]["message"]
    assert refusal(suggest(client, "nothing", text="a boat")) == (404, "no_such_model")


@pytest.mark.parametrize(
    ("data", "expected", "part"),
    [
        ({"limit": "5"}, (422, "invalid_request"), "text: Field required"),
        ({"text": "a", "limit": "0"}, (422, "invalid_request"), "limit: "),
        ({"text": "a", "limit": "many"}, (422, "invalid_request"), "limit: "),
        ({"text": "a", "limit": "51"}, (422, "too_many_labels"), "limit: at most 50, got 51"),
        ({"text": "a", "limit": "9" * 5000}, (422, "invalid_request"), "limit: "),
        ({"text": "a", "threshold": "nan"}, (422, "invalid_request"), "threshold: "),
        ({"text": "a", "top": "1"}, (422, "invalid_request"), "top: there is no such field"),
        ({"text": "a", "t" * 5000: "1"}, (422, "invalid_request"), f"{'t' * 99}…: there is no such field"),
        ({"text": "a" * 50_001}, (422, "text_too_long"), "at most 50000 characters, got 50001"),
        ({"text": "a" * 200_000}, (413, "body_too_large"), "at most 200000 bytes"),
        ({f"metadata_{i}": "x" for i in range(101)}, (400, "invalid_form"), "more than 100 fields"),
    ],
)
def test_wrong_forms(client: httpx.Client, data: Any, expected: tuple[int, str], part: str) -> None:
    response = suggest(client, **data)
    assert refusal(response) == expected
    assert part in response.json()["error"]["message"]


@pytest.mark.parametrize(
    ("body", "headers", "expected"),
    [
        (b"text=%FF", FORM, (400, "invalid_form")),
        (b"text=\xc3\xa4", FORM, (400, "invalid_form")),
        (b"text", FORM, (400, "invalid_form")),
        (b"text=a&&limit=1", FORM, (400, "invalid_form")),
        (b"text=a&text=b", FORM, (422, "repeated_key")),
        (b'{"text": "a"}', {"Content-Type": "application/json"}, (415, "not_a_form")),
        (b"text=a", {}, (415, "not_a_form")),
        (b"text=a", {**FORM, "Content-Encoding": "gzip"}, (415, "compressed_body")),
    ],
)
def test_bodies_that_are_no_forms(
    client: httpx.Client, body: bytes, headers: dict[str, str], expected: tuple[int, str]
) -> None:
    assert refusal(client.post("/v1/models/tags/suggest", content=body, headers=headers)) == expected


def test_a_token_is_needed_only_if_all_requests_need_one(folder: Path) -> None:
    settings = Settings({"tags": folder / "tags"}, tokens=Tokens([TOKEN], for_all=True))
    with serving(settings) as (client, _):
        assert suggest(client, text="a boat").status_code == 401
        data = {"text": "a boat"}
        assert client.post("/v1/models/tags/suggest", data=data, headers=BEARER).status_code == 200
    with serving(Settings({"tags": folder / "tags"}, tokens=Tokens([TOKEN]))) as (client, _):
        assert suggest(client, text="a boat").status_code == 200
