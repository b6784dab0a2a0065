"""`labeltree demo`, on a part of the catalogue."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.command_line import run, run_json

from labeltree import LabelTreeClassifier, datasets


@pytest.fixture(autouse=True)
def _small_catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = datasets.load_tate()
    part = replace(
        whole,
        texts_train=whole.texts_train[::20],
        labels_train=whole.labels_train[::20],
        texts_test=whole.texts_test[::20],
        labels_test=whole.labels_test[::20],
    )
    monkeypatch.setattr(datasets, "load_tate", lambda: part)


def test_text() -> None:
    text = run("demo").stdout
    assert max(map(len, text.splitlines())) <= 80
    assert "Still Life Adrian Stokes" in text
    assert text.count("true: ") == 5
    assert re.search("✓ +bottle", text)
    assert "labeltree train --help" in text


def test_json_and_model(tmp_path: Path) -> None:
    report = run_json("demo", "--model", tmp_path / "tate")
    assert 0.3 < report["metrics"]["P@5"] < report["metrics"]["P@1"] < 1
    assert len(report["artworks"]) == 5
    still_life = report["artworks"][0]
    assert {"bottle", "jug", "goblet"} == set(still_life["true"])
    probabilities = [entry["probability"] for entry in still_life["predicted"]]
    assert probabilities == sorted(probabilities, reverse=True)
    assert len(LabelTreeClassifier.load(tmp_path / "tate").classes_) == report["labels"]
    assert report["timed"] == "texts"
    assert "%  " in run("tag", tmp_path / "tate", "A still life with a bottle").stdout
