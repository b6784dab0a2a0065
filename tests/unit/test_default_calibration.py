"""Probabilities of a plain fit: right on average, saved, and replaced by what is asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from tests.documents import documents

from labeltree import LabelTreeClassifier
from labeltree.calibration import measure_calibration
from labeltree.training import linear_learner


@pytest.fixture(autouse=True)
def trials_of_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trials need many rows, which tests do not have the time for."""
    monkeypatch.setattr(linear_learner, "FEWEST_ROWS", 200)


DOCUMENTS = documents(3000, 200, 60, unlabelled=0.05)
X, Y = (part[:2000] for part in DOCUMENTS)
X_NEW, Y_NEW = (part[2000:] for part in DOCUMENTS)
SHAPE = {"arity": 4, "max_leaves": 8, "random_state": 0}


def error(model: LabelTreeClassifier) -> float:
    return measure_calibration(model, X_NEW, Y_NEW).labels.error_per_row


def probabilities(model: LabelTreeClassifier) -> np.ndarray:
    return model.predict_topk(X_NEW[:200], 5).probabilities


def test_probabilities_are_right_by_default() -> None:
    maps, link = [], []
    for seed in range(4):  # the errors of a single small model vary by a third
        shape = {**SHAPE, "random_state": seed}
        maps.append(error(LabelTreeClassifier(**shape).fit(X, Y)))
        linked = LabelTreeClassifier(link="exp4", **shape).fit(X, Y)
        assert not hasattr(linked, "calibration_")
        link.append(error(linked))
    assert np.mean(maps) < 0.6 * np.mean(link)


@pytest.mark.parametrize("n_trees", [1, 2])
def test_a_saved_model_answers_the_same(n_trees: int, tmp_path: Path) -> None:
    model = LabelTreeClassifier(n_trees, **SHAPE).fit(X, Y)
    model.save(tmp_path / "model")
    document = json.loads((tmp_path / "model" / "model.json").read_text())
    assert document["format_version"] == 13
    assert document["calibration"]["source"] == "training"
    loaded = LabelTreeClassifier.load(tmp_path / "model", verify=True)
    assert (loaded.calibration_.method, loaded.calibration_.source) == ("isotonic", "training")
    for found, expected in zip(loaded.predict_topk(X_NEW, 5), model.predict_topk(X_NEW, 5), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_maps_of_calibrate_replace_them(tmp_path: Path) -> None:
    model = LabelTreeClassifier(**SHAPE).fit(X, Y)
    before = probabilities(model)
    model.calibrate(X_NEW, Y_NEW)
    assert model.calibration_.source == "calibrate"
    assert not np.array_equal(probabilities(model), before)
    model.save(tmp_path / "model")
    assert "source" not in json.loads((tmp_path / "model" / "model.json").read_text())["calibration"]
    assert LabelTreeClassifier.load(tmp_path / "model").calibration_.source == "calibrate"


def test_a_link_that_is_set_replaces_them() -> None:
    model = LabelTreeClassifier(**SHAPE).fit(X, Y)
    before = probabilities(model)
    linked = LabelTreeClassifier(link="exp2", **{**SHAPE, "C": model.C_}).fit(X, Y)
    model.set_params(link="exp2")
    assert not np.array_equal(probabilities(model), before)
    np.testing.assert_array_equal(probabilities(model), probabilities(linked))


@pytest.mark.parametrize(
    "parameters",
    [
        {"label_weight": "propensity"},
        {"siblings": "joint", "loss": "logistic", "arity": 2, "max_leaves": 2, "frequent_share": 0.0},
        {"link": "exp3"},
    ],
    ids=["label_weight", "joint", "link"],
)
def test_models_without_maps(parameters: dict[str, Any]) -> None:
    model = LabelTreeClassifier(**{**SHAPE, **parameters}).fit(X[:400], Y[:400])
    assert not hasattr(model, "calibration_")


def test_few_rows_have_no_maps() -> None:
    assert not hasattr(LabelTreeClassifier(**SHAPE).fit(X[:199], Y[:199]), "calibration_")
    assert hasattr(LabelTreeClassifier(**SHAPE).fit(X[:200], Y[:200]), "calibration_")


def test_nodes_that_need_no_training_stay_certain() -> None:
    """The only label has no siblings: its probability is that of the root."""
    random = np.random.default_rng(1)
    X = random.normal(size=(4_000, 3))
    y = random.random(4_000) < 1 / (1 + np.exp(-2 * X[:, 0]))
    model = LabelTreeClassifier(random_state=0, normalize=False).fit(X, sp.csr_matrix(y[:, None]))
    assert model.calibration_.source == "training"
    assert abs(model.predict_proba(X).toarray().mean() - y.mean()) < 0.02
