"""A client that is generated from `/openapi.json` can do what the description says."""

from __future__ import annotations

import subprocess
import sys
import venv
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
from tests.servers import TOKEN, serving

from labeltree.serving import Settings, Tokens

PACKAGE = "generated_labeltree_client"
GENERATOR = "openapi-python-client==0.29.1"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """With an online model that learns."""
    from tests.serving.conftest import online_model

    path = tmp_path_factory.mktemp("learning") / "online"
    online_model().save(path)
    with serving(Settings({"online": path}, tokens=Tokens([TOKEN]), learn=True)) as (client, _):
        yield client


@pytest.fixture(scope="module")
def generator() -> Path:
    """The program, in an environment of its own: it needs an older typer. Later runs find it there."""
    folder = Path(__file__).parents[2] / "build" / GENERATOR
    program = folder / "bin" / "openapi-python-client"
    if not program.exists():
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "-qq", GENERATOR], check=True)
    return program


@pytest.fixture(scope="module")
def generated(
    server: httpx.Client, generator: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ModuleType]:
    """The package that `openapi-python-client` writes."""
    folder = tmp_path_factory.mktemp("generated")
    (folder / "openapi.json").write_bytes(server.get("/openapi.json").content)
    (folder / "config.yaml").write_text("post_hooks: []\n")
    command = [str(generator), "generate", "--meta", "none", "--fail-on-warning"]
    command += ["--path", "openapi.json", "--config", "config.yaml", "--output-path", PACKAGE]
    told = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert told.returncode == 0, told.stdout + told.stderr
    sys.path.insert(0, str(folder))
    try:
        yield import_module(PACKAGE)
    finally:
        sys.path.remove(str(folder))


def call(generated: ModuleType, server: httpx.Client, operation: str, **arguments: Any) -> Any:
    """Call an operation with a token, and return its answer as an object of the generated package."""
    api = import_module(f"{PACKAGE}.api.{operation}")
    client = generated.AuthenticatedClient(base_url=str(server.base_url), token=TOKEN)
    with client as client:
        return api.sync(client=client, **arguments)


def test_it_predicts_learns_and_explains(generated: ModuleType, server: httpx.Client) -> None:
    models = import_module(f"{PACKAGE}.models")
    answer = call(
        generated, server, "questions.predict", name="online", body=models.PredictRequest(text="a boat", k=2)
    )
    assert isinstance(answer, models.PredictAnswer)
    assert len(answer.predictions[0]) == 2
    assert isinstance(answer.predictions[0][0].label, str)

    examples = [models.Example(text="a dog in a park", labels=["dog"])]
    learned = call(
        generated, server, "changes.learn", name="online", body=models.LearnRequest(examples=examples)
    )
    assert isinstance(learned, models.LearnAnswer)
    assert learned.learned == 1

    features = models.PredictRequestFeaturesType0Item.from_dict({"dog": 1.0, "place": "park"})
    answer = call(
        generated, server, "questions.predict", name="online", body=models.PredictRequest(features=[features])
    )
    assert "dog" in [found.label for found in answer.predictions[0]]

    body = models.ExplainRequest(text="a dog", label="dog")
    explained = call(generated, server, "questions.explain", name="online", body=body)
    assert explained.label == "dog"
    assert len(explained.paths) == 1


def test_it_asks_for_models_and_labels(generated: ModuleType, server: httpx.Client) -> None:
    models = import_module(f"{PACKAGE}.models")
    (described,) = call(generated, server, "models.models").models
    assert (described.name, described.learns) == ("online", True)
    found = call(generated, server, "labels.labels", name="online", query="se", limit=1)
    assert [label.label for label in found.labels] == ["sea"]
    assert call(generated, server, "labels.tree", name="online").node == 0
    assert call(generated, server, "server.healthz").status == "alive"
    refused = call(generated, server, "questions.predict", name="none", body=models.PredictRequest(text="a"))
    assert isinstance(refused, models.ErrorAnswer)
    assert refused.error.code == "no_such_model"
