"""A model is read and asked before it is served, whatever kind it is."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import Any

import pytest
from tests.servers import BEARER, TOKEN, serving
from tests.small_models import small_model

import labeltree
from labeltree import LabelTreeClassifier, OneVsRestClassifier
from labeltree.model_file import load
from labeltree.serving import Settings, Tokens, registry, warming
from labeltree.text import Tagger, TextVectorizer
from labeltree.text.characters import character_table


@pytest.fixture
def faults(caplog: pytest.LogCaptureFixture) -> Any:
    """What the server logs of warnings and worse."""
    caplog.set_level(logging.WARNING, "labeltree.serving")
    logging.getLogger("labeltree.serving").addHandler(caplog.handler)
    yield caplog
    logging.getLogger("labeltree.serving").removeHandler(caplog.handler)


class Asked:
    """A model that counts the questions, and may take its time."""

    def __init__(self, model: Any, seconds: float = 0.0) -> None:
        self._model, self._seconds, self.n = model, seconds, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def predict_topk(self, *arguments: Any) -> Any:
        self.n += 1
        time.sleep(self._seconds)
        return self._model.predict_topk(*arguments)


def test_every_kind_of_model_is_asked(
    models: dict[str, Path], tmp_path: Path, faults: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warming, "ASK_SECONDS", 60.0)
    texts, labels = ["a boat at sea", "two cats"], [["sea"], ["cat"]]
    hashed = Tagger(LabelTreeClassifier(), TextVectorizer(n_features=64)).fit(texts, labels)
    words = Tagger(OneVsRestClassifier()).fit(texts, labels)
    for name, model in {
        "hashed": hashed,
        "mix": labeltree.mix([hashed.classifier_, words.classifier_]),
    }.items():
        model.save(tmp_path / name)
        models = {**models, name: tmp_path / name}
    for name, path in models.items():
        asked = Asked(load(path))
        warming.warm_up(asked, path)
        assert asked.n >= warming.N_QUESTIONS, name
    assert faults.records == []


def test_the_first_letter_that_is_not_ascii_finds_its_table(models: dict[str, Path]) -> None:
    """To make it took most of the time of the slowest of the first requests."""
    character_table.cache_clear()
    with serving(Settings({"tags": models["tags"]})):
        assert character_table.cache_info().currsize > 0


def test_time_is_bounded(models: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked(load(models["small"]), seconds=0.2)
    monkeypatch.setattr(warming, "ASK_SECONDS", 0.5)
    monkeypatch.setattr(warming, "READ_SECONDS", -1.0)  # a file that takes longer is not read to its end
    monkeypatch.setattr(warming, "_CHUNK_BYTES", 1)
    warming.warm_up(asked, models["small"])
    assert 1 <= asked.n <= 4


def test_a_warm_up_that_fails_is_logged_and_does_no_harm(models: dict[str, Path], faults: Any) -> None:
    class Failing(Asked):
        def predict_topk(self, *arguments: Any) -> Any:
            raise MemoryError("the test has taken it all")

    warming.warm_up(Failing(load(models["small"])), models["small"])
    assert {fault.getMessage() for fault in faults.records} == {"warm-up failed"}


def test_a_new_version_is_warm_before_it_takes_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "small"
    small_model(0).save(path)
    with serving(Settings({"small": path}, tokens=Tokens([TOKEN]))) as (client, service):
        before = service.registry["small"].saved_version
        served: list[str] = []

        def warm_up(model: Any, directory: Path) -> None:
            served.append(service.registry["small"].saved_version)

        monkeypatch.setattr(registry, "warm_up", warm_up)
        small_model(1).save(path)
        assert client.post("/v1/models/small/reload", headers=BEARER).status_code == 200
        assert served == [before]
        assert service.registry["small"].saved_version != before
