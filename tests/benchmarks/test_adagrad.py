"""The steps of AdaGrad that are compared, and their table."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks import adagrad

from labeltree import LabelTreeClassifier
from labeltree.data import write_xmlc
from labeltree.metrics import evaluate


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Rows whose words are their labels, with some noise."""
    rng = np.random.default_rng(0)
    for name, n_rows in (("train", 200), ("dev", 60), ("test", 20)):
        y = sp.csr_matrix((rng.random((n_rows, 8)) < 0.2).astype(np.float32))
        X = sp.csr_matrix(sp.hstack([y, sp.random(n_rows, 12, 0.3, random_state=rng)]), dtype=np.float32)
        write_xmlc(tmp_path / f"{name}.txt", X, y)
    return tmp_path


def test_each_loss_has_its_defaults_and_no_step_comes_twice():
    assert len(set(adagrad.STEPS)) == len(adagrad.STEPS)
    for loss in adagrad.RATES:
        (step,) = (step for step in adagrad.STEPS if step.loss == loss and step.is_default)
        usual = LabelTreeClassifier(solver="adagrad", loss=loss, random_state=0)
        told = LabelTreeClassifier(random_state=0, **step.parameters)
        X, y = sp.random(50, 9, 0.5, "csr", random_state=0), (np.arange(50) % 3).tolist()
        found = [model.fit(X, y).predict_topk(X, 3) for model in (usual, told)]
        np.testing.assert_array_equal(found[0].probabilities, found[1].probabilities)


def test_precision_is_that_of_development_rows(folder, monkeypatch):
    step, other = adagrad.STEPS[:2]
    monkeypatch.setattr(adagrad, "STEPS", [step, other])
    found = adagrad.measure(str(folder), 1_000, seeds=1)
    X, y = adagrad.read_xmlc(folder / "train.txt")
    X_dev, y_dev = adagrad.read_xmlc(folder / "dev.txt", n_features=20, n_labels=8)
    for one in (step, other):
        model = LabelTreeClassifier(random_state=0, **one.parameters).fit(X, y)
        figures = evaluate(y_dev, model.predict_topk(X_dev, 5).labels)
        assert found[one] == pytest.approx(100 * (figures["P@1"] + figures["P@3"] + figures["P@5"]) / 3)


def test_others_are_shown_as_differences_from_the_defaults(monkeypatch):
    usual = next(step for step in adagrad.STEPS if step.is_default)
    other = next(step for step in adagrad.STEPS if step.loss == usual.loss and step != usual)
    monkeypatch.setattr(adagrad, "STEPS", [other, usual])
    lines = list(adagrad.table({"a": {usual: 50.0, other: 49.5}, "b": {usual: 60.0, other: 62.0}}))
    assert lines[0] == "| loss | start | rate | schedule | a | b | mean |"
    assert lines[2].endswith(" | 50.00 | 60.00 | 55.00 |")
    assert lines[3].endswith(" | -0.50 | +2.00 | +0.75 |")
