"""What docs/serving.md says works as it stands there."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.servers import ServerProcess
from tests.serving.conftest import online_model

from labeltree import LabelTreeClassifier
from labeltree.text import Tagger

PAGE = Path(__file__).parents[2] / "docs" / "serving.md"
ADDRESS = "http://127.0.0.1:8000"
SECRET = "the-secret-of-this-test"

TEXTS = ["a fishing boat at sea", "a boat, the sea and waves", "two cats", "portrait of a cat"] * 2
LABELS = [["sea", "boat"], ["sea", "boat"], ["cat"], ["cat", "portrait"]] * 2


def blocks(language: str) -> list[str]:
    found: list[str] = re.findall(
        rf"^```{language}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S
    )
    return found


LINES = [line for block in blocks("bash") for line in block.splitlines() if line.startswith("curl ")]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """As the page starts it, with models that have its names."""
    folder = tmp_path_factory.mktemp("documentation")
    Tagger(LabelTreeClassifier(random_state=0)).fit(TEXTS, LABELS).save(folder / "tags.labeltree")
    online_model().save(folder / "live.labeltree")
    models = (folder / "tags.labeltree", folder / "live.labeltree")
    with ServerProcess(*models, "--learn", log=folder / "log", tokens=SECRET) as server:
        yield server


def test_there_are_lines() -> None:
    assert len(LINES) > 10
    assert all("$SECRET" in line for line in LINES if "/learn" in line or "/reload" in line)


@pytest.mark.parametrize("line", LINES)
def test_lines_of_curl_are_answered(server: ServerProcess, line: str) -> None:
    response = ask(line.replace(ADDRESS, server.url).replace("$SECRET", SECRET))
    assert response.status_code == 200, response.text
    if "/metrics" in line:
        assert "labeltree_requests_total" in response.text
    else:
        assert response.json()


def ask(line: str) -> httpx.Response:
    """The request of a line of curl, sent without curl: not every machine has it."""
    words = iter(shlex.split(line)[1:])
    asked: dict[str, Any] = {"method": None, "headers": {}, "content": None}
    for word in words:
        if word == "-X":
            asked["method"] = next(words)
        elif word == "-H":
            name, _, value = next(words).partition(": ")
            asked["headers"][name] = value
        elif word == "--json":
            asked["content"] = next(words)
            asked["headers"] |= {"Content-Type": "application/json", "Accept": "application/json"}
        elif word != "-s":
            assert word.startswith("http://"), f"{word}: an option that is not known here"
            asked["url"] = word
    asked["method"] = asked["method"] or ("GET" if asked["content"] is None else "POST")
    return httpx.request(**asked, timeout=60)


def test_python_is_answered(server: ServerProcess, capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = blocks("python")
    exec(compile(code.replace(ADDRESS, server.url), str(PAGE), "exec"), {})
    label, probability = capsys.readouterr().out.split()
    assert label in {"sea", "boat"}
    assert 0 < float(probability) <= 1


def test_an_answer_looks_as_it_is_shown(server: ServerProcess) -> None:
    shown, readiness = blocks("json")
    answer = server.client.post("/v1/models/tags/predict", json={"text": "a fishing boat at sea"}).json()
    expected = json.loads(shown)
    assert answer.keys() == expected.keys()
    assert answer["predictions"][0][0].keys() == expected["predictions"][0][0].keys()
    assert {tag["label"] for tag in answer["predictions"][0][:2]} == {"sea", "boat"}
    told, expected = server.client.get("/readyz").json(), json.loads(readiness)
    assert told.keys() == expected.keys()
    assert told["models"]["tags"].keys() == expected["models"]["live"].keys()
