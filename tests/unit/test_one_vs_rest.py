"""One classifier per label: what liblinear finds, label by label, however labels are grouped."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import normalize
from tests.documents import documents
from tests.reference.one_vs_rest import label_weights, scores
from tests.reference.search import decoded

from labeltree import LabelTreeClassifier, OneVsRestClassifier, _native
from labeltree.rivals.one_vs_rest import training
from labeltree.training import column_plan

pytestmark = pytest.mark.native

LOSSES = ["squared_hinge", "logistic"]
PRECISE: dict[str, Any] = {
    "tol": 1e-5,
    "max_iter": 10_000,
    "prune": 0.0,
    "weights": "float32",
    "random_state": 0,
}


def trained(X: Any, y: Any, *, sample_weight: Any = None, **parameters: Any) -> OneVsRestClassifier:
    return OneVsRestClassifier(**{"random_state": 0, **parameters}).fit(X, y, sample_weight=sample_weight)


def weights_of(model: OneVsRestClassifier) -> np.ndarray:
    """[label][feature], the bias last."""
    W, bias = decoded(model.weights_[0], model.n_features_in_)
    return np.hstack([W, bias[:, None]])[1:]


def assert_same_weights(one: OneVsRestClassifier, other: OneVsRestClassifier | LabelTreeClassifier) -> None:
    arrays, others = one.weights_[0].arrays, other.weights_[0].arrays
    assert arrays.keys() == others.keys()
    for name, array in arrays.items():
        assert array.dtype == others[name].dtype
        np.testing.assert_array_equal(array, others[name])


# -- what is learned ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_weights_are_those_of_liblinear(loss: str, C: float) -> None:
    X, y = documents(150, 80, 40, unlabelled=0.1)
    expected = label_weights(normalize(X), y, loss=loss, C=C, tol=1e-9, prune=0.0)
    model = trained(X, y, loss=loss, C=C, **PRECISE)
    learned = np.isfinite(expected).all(axis=1)
    np.testing.assert_allclose(weights_of(model)[learned], expected[learned], atol=5e-5)
    assert model.training_report_[0]["n_columns"] == learned.sum() > 32
    assert model.training_report_[0]["n_unconverged"] == 0


@pytest.mark.parametrize("loss", LOSSES)
def test_examples_have_weights(loss: str) -> None:
    X, y = documents(150, 80, 12, unlabelled=0.1, seed=1)
    weight = np.random.default_rng(0).exponential(size=150)
    expected = label_weights(normalize(X), y, loss=loss, tol=1e-9, prune=0.0, sample_weight=weight)
    found = weights_of(trained(X, y, loss=loss, sample_weight=weight, **PRECISE))
    np.testing.assert_allclose(found, expected, atol=5e-5)
    assert not np.allclose(found, weights_of(trained(X, y, loss=loss, **PRECISE)), atol=1e-2)


def test_the_defaults_rank_as_the_twin_does() -> None:
    X, y = documents(1200, 300, 60, seed=2)
    X_train, y_train, X_test, y_test = X[:600], y[:600], X[600:], y[600:]
    model = trained(X_train, y_train)
    twin = scores(label_weights(normalize(X_train), y_train), normalize(X_test))
    rows = np.arange(600)[:, None]
    for k in (1, 3):
        ours = y_test[rows, model.predict_topk(X_test, k=k).labels].mean()
        theirs = y_test[rows, np.argsort(-twin, axis=1)[:, :k]].mean()
        assert ours > 0.2
        assert abs(ours - theirs) < 0.01


def test_small_weights_are_dropped() -> None:
    X, y = documents(150, 80, 20, seed=3)
    W = weights_of(trained(X, y, weights="float32"))
    unpruned = weights_of(trained(X, y, weights="float32", prune=0.0))
    small = np.abs(unpruned) < 0.01
    small[:, -1] = False  # biases stay
    assert small.sum() > 0
    np.testing.assert_array_equal(W, np.where(small, 0, unpruned))
    with pytest.warns(UserWarning, match="use a smaller prune"):
        assert trained(X, y, prune=1e6).weights_[0].n_weights == 0


def test_labels_that_all_rows_have_or_none() -> None:
    X, y = documents(100, 60, 5, seed=4)
    wide = sp.hstack([y, np.ones((100, 1)), sp.csr_matrix((100, 2))]).tocsr()
    model = trained(X, wide)
    assert model.training_report_[0]["n_columns"] == 5
    assert model.training_report_[0]["n_constant"] == 4  # with the root
    found = model.predict_proba(X, top_k=None).toarray()
    np.testing.assert_array_equal(found[:, 5], 1)
    np.testing.assert_array_equal(found[:, 6:], 0)
    np.testing.assert_array_equal(found[:, :5], trained(X, y).predict_proba(X, top_k=None).toarray())


def test_rows_without_labels_count_against_all_labels() -> None:
    X, y = documents(200, 60, 8, unlabelled=0.5, seed=5)
    labelled = np.diff(y.indptr) > 0
    everything, without = trained(X, y), trained(X[labelled], y[labelled])
    empty = X[~labelled]
    assert everything.predict_topk(empty, k=1).probabilities.mean() < (
        without.predict_topk(empty, k=1).probabilities.mean() - 0.1
    )


@pytest.mark.parametrize("loss", LOSSES)
def test_it_is_the_flat_tree_where_every_row_has_a_label(loss: str) -> None:
    X, y = documents(200, 80, 70, seed=6)
    same = {"loss": loss, "C": 1.0, "tol": 0.01, "max_iter": 1000, "prune": 0.01, "random_state": 0}
    assert_same_weights(trained(X, y, **same), LabelTreeClassifier(tree="flat", **same).fit(X, y))


# -- scores and probabilities ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
def test_a_probability_is_the_link_of_the_score(loss: str) -> None:
    X, y = documents(100, 60, 20, seed=7)
    model = trained(X, y, loss=loss)
    assert model.weights_[0].arrays["bias"][0] == 1000  # the root is certain
    score = scores(weights_of(model), normalize(X))
    scale = 2 if loss == "squared_hinge" else 1
    np.testing.assert_allclose(
        model.predict_proba(X, top_k=None).toarray(), 1 / (1 + np.exp(-scale * score)), atol=1e-5
    )
    np.testing.assert_array_equal(model.predict(X).toarray(), model.predict_proba(X).toarray() >= 0.5)


def test_high_scores_stay_apart() -> None:
    X, y = documents(300, 60, 20, seed=8)
    model = trained(X, y, C=100.0, prune=0.0)
    score = scores(weights_of(model), normalize(X))
    assert (np.sort(score, axis=1)[:, -2] > 1).sum() > 100  # rows with two scores beyond the margin
    np.testing.assert_array_equal(model.predict_topk(X, k=3).labels, np.argsort(-score, axis=1)[:, :3])
    tied = trained(X, y, C=100.0, prune=0.0, link="exp4").predict_topk(X, k=2).probabilities
    assert (tied[:, 0] == tied[:, 1]).sum() > 100


@pytest.mark.parametrize("link", ["sigmoid2", "exp2", "clip"])
def test_links_do_not_change_the_weights(link: str) -> None:
    X, y = documents(100, 60, 20, seed=9)
    assert_same_weights(trained(X, y, link=link), trained(X, y))


# -- groups, chunks and threads ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
def test_neither_threads_nor_chunks_change_a_bit(loss: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = documents(200, 100, 200, unlabelled=0.1, seed=10)
    expected = trained(X, y, loss=loss)
    assert expected.weights_[0].arrays["column"].dtype == np.uint8
    for chunk_groups in (1, 2, 16):
        monkeypatch.setattr(column_plan, "CHUNK_GROUPS", chunk_groups)
        for n_jobs in (1, 2, 7):
            model = trained(X, y, loss=loss, n_jobs=n_jobs)
            assert_same_weights(model, expected)
            assert model.training_report_ == expected.training_report_


def test_many_labels_have_wide_columns() -> None:
    X, y = documents(100, 60, 300, seed=11)
    wide = sp.csr_matrix((y.data, y.indices * 230, y.indptr), shape=(100, 300 * 230))
    model, narrow = trained(X, wide), trained(X, y)
    assert narrow.weights_[0].arrays["column"].dtype == np.uint16
    assert model.weights_[0].arrays["column"].dtype == np.uint32
    expected = narrow.predict_proba(X, top_k=50)
    np.testing.assert_array_equal(model.predict_proba(X, top_k=50)[:, ::230].toarray(), expected.toarray())


def test_dense_features_are_kept_apart() -> None:
    X, y = documents(120, 60, 40, unlabelled=0.1, seed=12)
    vectors = np.random.default_rng(0).standard_normal((120, 5)).astype(np.float32) / 4
    joined = sp.hstack([normalize(X), vectors]).tocsr()
    expected = label_weights(joined, y, tol=1e-9, prune=0.0)
    model = trained((normalize(X), vectors), y, normalize=False, **PRECISE)
    assert model.dense_features_ == (60, 65)
    learned = np.isfinite(expected).all(axis=1)
    np.testing.assert_allclose(weights_of(model)[learned], expected[learned], atol=5e-5)
    pruned = trained((normalize(X), vectors), y, normalize=False, **{**PRECISE, "prune": 0.05})
    np.testing.assert_array_equal(weights_of(pruned)[:, 60:65], weights_of(model)[:, 60:65])
    assert (weights_of(pruned)[:, :60] == 0).sum() > (weights_of(model)[:, :60] == 0).sum()


# Prints the largest memory of the process in KiB: before training, after that of 64 and of 1,600 labels.
PEAKS = """
import pathlib, resource, sys
import numpy as np, scipy.sparse as sp
from labeltree import OneVsRestClassifier

def peak():
    if sys.platform == "linux":  # where the other number is that of the parent, if it was larger
        (line,) = (l for l in pathlib.Path("/proc/self/status").read_text().splitlines() if l.startswith("VmHWM"))
        return int(line.split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

def labels(n):
    return sp.csr_matrix((np.ones(8_000), np.arange(8_000) % n, np.arange(8_001)), shape=(8_000, n))

X = sp.random(8_000, 10_000, 1e-3, "csr", np.float32, np.random.default_rng(0))
model = OneVsRestClassifier(solver=sys.argv[1], max_iter=1, prune=0.5, weights="float32", random_state=0)
model.fit(X[:100], labels(32)[:100])  # all that is loaded once
print(peak())
for n_labels in (64, 1600):
    model.fit(X, labels(n_labels))
    print(peak())
"""


@pytest.mark.skipif(bool(os.environ.get("LD_PRELOAD")), reason="sanitizers keep memory that was freed")
@pytest.mark.parametrize("solver", ["descent", "sparse"])
def test_working_memory_does_not_grow_with_the_labels(solver: str) -> None:
    """64 labels are two groups, 1,600 are fifty; the dual variables of all would be 50 MB, the weights more.

    The allocator keeps a few MB more or less from run to run.
    """
    command = [sys.executable, "-c", PEAKS, solver]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    before, few, many = map(int, told.split())
    assert few - before > 32 * 8_000 * 4 / 1024  # the dual variables of a group, at least
    assert many - few < 16 * 1024


# -- what goes wrong ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "squared"}, "'loss' must be one of 'squared_hinge', 'logistic', got 'squared'"),
        ({"loss": "logistic", "link": "sigmoid2"}, "link 'sigmoid2' does not work with loss 'logistic'"),
        ({"link": "sigmoid"}, "link 'sigmoid' does not work with loss 'squared_hinge'"),
        ({"C": None}, "'C' must be a finite number above 0"),
        ({"tol": 0}, "'tol' must be"),
        ({"max_iter": 0}, "'max_iter' must be"),
        ({"prune": -1}, "'prune' must be"),
        ({"checkpoint": 3}, "'checkpoint' must be one of a str, a PathLike or None, got 3"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
        ({"checkpoint": "somewhere", "random_state": None}, "checkpoint needs an integer for random_state"),
        ({"checkpoint": "somewhere", "random_state": np.random.RandomState(0)}, "needs an integer"),
    ],
)
def test_parameters_that_make_no_sense(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        trained(np.eye(3), [["a"], ["b"], []], **parameters)


def test_more_weights_than_a_block_can_count_are_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = documents(100, 60, 200, seed=13)
    monkeypatch.setattr(column_plan, "CHUNK_GROUPS", 1)
    n_weights = trained(X, y).weights_[0].n_weights
    monkeypatch.setattr(training, "MOST_WEIGHTS", n_weights)
    trained(X, y)
    monkeypatch.setattr(training, "MOST_WEIGHTS", n_weights // 2)
    with pytest.raises(ValueError, match=r"have [\d,]+ weights, but .* use a larger prune"):
        trained(X, y, n_jobs=2)


def _chunk(**changed: Any) -> dict[str, Any]:
    chunk = {
        "label": np.array([4, 1], dtype=np.int32),
        "feature": np.array([0, 6], dtype=np.int32),
        "entry_begin": np.array([0, 1, 3], dtype=np.uint32),
        "column": np.array([1, 1, 4], dtype=np.uint32),
        "weight": np.array([1, 2, 3], dtype=np.float32),
        "bias": np.array([5, 6], dtype=np.float32),
        "dense_weight": np.zeros(0, dtype=np.float32),
    }
    return {**chunk, **{name: np.array(value, chunk[name].dtype) for name, value in changed.items()}}


def test_chunks_are_joined_to_one_block() -> None:
    other = _chunk(label=[0], feature=[2, 6], entry_begin=[0, 1, 2], column=[0, 0], weight=[7, 8], bias=[9])
    arrays = _native.merge_columns([_chunk(), other], [3], 5, 7, 0)
    assert {name: array.tolist() for name, array in arrays.items()} == {
        "block_begin": [0, 0, 3],
        "block_entry_begin": [0, 0, 5],
        "feature": [0, 2, 6],
        "entry_begin": [0, 0, 1, 2, 5],
        "column": [1, 0, 1, 4, 0],
        "weight": [1, 7, 2, 3, 8],
        "bias": [1000, 9, 6, -1000, 1000, 5],
    }


@pytest.mark.parametrize(
    "changed",
    [
        {"label": [4, 5]},
        {"label": [4, -1]},
        {"label": [4]},
        {"feature": [0, 7]},
        {"feature": [-1, 6]},
        {"feature": [6, 6]},
        {"feature": [0]},
        {"entry_begin": [0, 1, 4]},
        {"entry_begin": [0, 4, 3]},
        {"entry_begin": [1, 1, 3]},
        {"column": [1, 1, 5]},
        {"weight": [1, 2]},
        {"bias": [5]},
        {"dense_weight": [0.0] * 16},
    ],
    ids=str,
)
def test_chunks_that_lead_astray_are_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="contradict each other"):
        _native.merge_columns([_chunk(**changed)], [], 5, 7, 0)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_what_goes_wrong_with_a_chunk_is_told(
    n_jobs: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    X, y = documents(100, 60, 200, seed=14)
    monkeypatch.setattr(column_plan, "CHUNK_GROUPS", 1)

    def fail(*_: Any) -> Any:
        raise OSError("no space left on device")

    monkeypatch.setattr(training.Checkpoint, "write", fail)
    with pytest.raises(OSError, match="no space left"):
        trained(X, y, n_jobs=n_jobs, checkpoint=tmp_path / "run")


def test_deciding_for_a_metric(tmp_path: Path) -> None:
    X, y = documents(200, 60, 10, seed=15)
    fit: Callable[..., Any] = OneVsRestClassifier(random_state=0, checkpoint=tmp_path / "run").fit_for
    model = fit("micro_f1", X, y)
    assert model.decision_.metric == "micro_f1"
    assert_same_weights(model, trained(X, y))
