"""Training with the penalty "l1": as good and as sparse as liblinear on every node, whatever the block looks like."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.documents import documents
from tests.reference.search import decoded
from tests.reference.solver import node_problems
from tests.reference.sparse_solver import sparse_objective, sparse_solution
from tests.strategies import label_trees

from labeltree import LabelTree, LabelTreeClassifier

pytestmark = pytest.mark.native

LOSSES = ["squared_hinge", "logistic"]
PRECISE: dict[str, Any] = {
    "penalty": "l1", "tol": 1e-3, "max_iter": 2000, "prune": 0.0, "weights": "float32", "frequent_share": 0.0,
    "random_state": 0,
}  # fmt: skip
GAP = 1e-4


def trained(
    X: Any, y: Any, *, sample_weight: Any = None, **parameters: Any
) -> tuple[LabelTreeClassifier, Any]:
    """A precise model of one tree, and its weights in float64: [node][feature], the bias last."""
    model = LabelTreeClassifier(**{**PRECISE, **parameters}).fit(X, y, sample_weight=sample_weight)
    W, bias = decoded(model.weights_[0], X.shape[1])
    return model, np.hstack([W, bias[:, None]]) if model.bias else W


def assert_optimal(
    model: LabelTreeClassifier, W: np.ndarray, X: Any, y: Any, *, sample_weight: Any = None
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Assert that every node with two classes reaches liblinear's optimum; return the weights of both."""
    problems = node_problems(
        model.tree_, X, y, normalize=model.normalize, bias=model.bias, sample_weight=sample_weight
    )
    pairs = [(W[problem.node], sparse_solution(problem, model.loss, model.C)) for problem in problems]
    for problem, (found, expected) in zip(problems, pairs, strict=True):
        best = sparse_objective(problem, expected, model.loss, model.C)
        assert sparse_objective(problem, found, model.loss, model.C) <= best * (1 + GAP)
    return pairs


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [0.1, 1.0, 5.0])
def test_every_node_of_a_tree_is_optimal(loss: str, C: float) -> None:
    X, y = documents(200, 60, 20, unlabelled=0.1)
    model, W = trained(X, y, loss=loss, C=C, arity=3, max_leaves=4)
    assert model.tree_.depth >= 3
    pairs = assert_optimal(model, W, X, y)
    report = model.training_report_[0]
    assert report["n_columns"] == len(pairs)
    assert report["n_unconverged"] == 0
    assert model.weights_[0].n_weights == np.count_nonzero(W[:, :-1])


@pytest.mark.parametrize("loss", LOSSES)
def test_the_weights_are_those_of_liblinear_and_as_many_are_zero(loss: str) -> None:
    X, y = documents(300, 40, 8, seed=1)
    model, W = trained(X, y, loss=loss, C=0.5, tree="flat", tol=1e-4)
    found, expected = map(np.array, zip(*assert_optimal(model, W, X, y), strict=True))
    np.testing.assert_allclose(found, expected, atol=2e-3)
    np.testing.assert_array_equal(found != 0, expected != 0)
    assert 0 < np.count_nonzero(found) < 0.6 * found.size


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("normalize", "bias"), [(False, True), (True, False), (False, False)])
def test_rows_as_they_are_and_models_without_bias(loss: str, normalize: bool, bias: bool) -> None:
    X, y = documents(120, 60, 10, unlabelled=0.1, seed=2)
    X = sp.vstack([X, sp.csr_matrix((2, 60))]).tocsr()  # rows without features
    y = sp.vstack([y, y[:2]]).tocsr()
    model, W = trained(X, y, loss=loss, C=0.3, max_leaves=4, normalize=normalize, bias=bias)
    assert_optimal(model, W, X, y)
    if not bias:
        assert set(model.weights_[0].arrays["bias"].tolist()) <= {0.0, 1000.0, -1000.0}


@pytest.mark.parametrize("loss", LOSSES)
def test_weights_of_examples(loss: str) -> None:
    X, y = documents(150, 60, 10, seed=3)
    weight = np.random.default_rng(0).exponential(size=150)
    model, W = trained(X, y, loss=loss, C=1.0, max_leaves=4, sample_weight=weight)
    assert_optimal(model, W, X, y, sample_weight=weight)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_children", [1, 5, 16, 33])
def test_blocks_of_every_width(loss: str, n_children: int) -> None:
    X, y = documents(100, 50, n_children, unlabelled=0.1, seed=4)
    model, W = trained(X, y, loss=loss, C=1.0, tree="flat")
    assert len(assert_optimal(model, W, X, y)) >= 1


@given(label_trees(max_labels=8), st.sampled_from(LOSSES), st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_random_trees_and_data(tree: LabelTree, loss: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_rows, n_features = rng.integers(1, 40), rng.integers(1, 12)
    X = sp.random(n_rows, n_features, 0.4, "csr", np.float32, rng, data_rvs=rng.standard_normal)
    labels = rng.random((n_rows, tree.n_labels)) < rng.uniform(0.05, 0.6)
    labels[0, 0] = True
    y = sp.csr_matrix(labels)
    model, W = trained(X, y, loss=loss, C=10 ** rng.uniform(-1, 1), tree=tree)
    assert np.isfinite(W).all()
    assert_optimal(model, W, X, y)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_number_of_threads_does_not_change_a_bit(loss: str) -> None:
    X, y = documents(300, 100, 80, unlabelled=0.1, seed=5)
    tree = LabelTree.from_nested([*range(75), [75, 76], [77, [78, 79]]])
    parameters: dict[str, Any] = {"loss": loss, "C": 1.0, "tree": tree, "tol": 0.2, "max_iter": 10}
    expected = trained(X, y, **parameters, n_jobs=1)[0].weights_[0].arrays
    for n_jobs in (2, 7):
        found = trained(X, y, **parameters, n_jobs=n_jobs)[0].weights_[0].arrays
        for name, array in expected.items():
            np.testing.assert_array_equal(found[name], array)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_smaller_cost_makes_sparser_models_and_a_tiny_one_nothing_but_zeros(loss: str) -> None:
    X, y = documents(300, 100, 20, seed=6)
    sizes = [
        LabelTreeClassifier(penalty="l1", loss=loss, C=C, prune=0.0, random_state=0)
        .fit(X, y)
        .weights_[0]
        .n_weights
        for C in (1e-4, 0.1, 1.0, 10.0)
    ]
    assert sizes == sorted(sizes)
    assert sizes[0] == 0
    assert sizes[1] < sizes[2] < sizes[3]


@pytest.mark.parametrize("loss", LOSSES)
def test_max_iter_stops_what_does_not_converge(loss: str) -> None:
    X, y = documents(200, 80, 40, seed=7)
    for max_iter in (1, 3):
        model, _ = trained(X, y, loss=loss, C=10.0, tol=1e-7, max_iter=max_iter, tree="flat")
        report = model.training_report_[0]
        assert report["n_unconverged"] == report["n_columns"] == 40
        assert report["n_passes"] == model.n_iter_ == max_iter


def test_the_default_settings_are_near_the_optimum_and_small() -> None:
    X, y = documents(600, 300, 40, seed=8)
    for loss, C in (("squared_hinge", 1.0), ("logistic", 2.0)):
        sparse = LabelTreeClassifier(penalty="l1", loss=loss, prune=0.0, random_state=0).fit(X, y)
        W, bias = decoded(sparse.weights_[0], 300)
        W = np.hstack([W, bias[:, None]])
        precise, best = trained(X, y, loss=loss, C=C, tree=sparse.tree_)
        problems = node_problems(sparse.tree_, X, y, normalize=True, bias=True)
        totals = [sum(sparse_objective(p, w[p.node], loss, C) for p in problems) for w in (W, best)]
        assert totals[1] <= totals[0] <= 1.03 * totals[1]
        dense = LabelTreeClassifier(loss=loss, random_state=0).fit(X, y)
        assert sparse.weights_[0].n_weights < 0.5 * dense.weights_[0].n_weights
        assert sparse.training_report_[0]["n_passes"] <= 10 < precise.training_report_[0]["n_passes"]


def test_a_saved_model_remembers_its_penalty(tmp_path: Path) -> None:
    X, y = documents(100, 50, 8)
    model = LabelTreeClassifier(penalty="l1", random_state=0).fit(X, y)
    model.save(tmp_path / "model")
    loaded = LabelTreeClassifier.load(tmp_path / "model")
    assert loaded.penalty == "l1"
    np.testing.assert_array_equal(loaded.predict_topk(X).probabilities, model.predict_topk(X).probabilities)
