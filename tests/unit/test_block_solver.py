"""Training of the nodes: it reaches the optimum of other solvers on every node of a tree, for any block."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.documents import documents
from tests.reference.search import decoded
from tests.reference.solver import node_problems
from tests.strategies import label_trees

from labeltree import LabelTree, LabelTreeClassifier

pytestmark = pytest.mark.native

LOSSES = ["squared_hinge", "logistic", "squared", "exponential"]
PRECISE: dict[str, Any] = {
    "tol": 1e-4, "max_iter": 10_000, "prune": 0.0, "frequent_share": 0.0, "weights": "float32", "random_state": 0
}  # fmt: skip
#: The objective may be above the other solver's by this share.
GAP = 1e-4


def trained(
    X: Any, y: Any, *, sample_weight: Any = None, **parameters: Any
) -> tuple[LabelTreeClassifier, np.ndarray]:
    """A precise model of one tree, and its weights in float64: [node][feature], the bias last."""
    model = LabelTreeClassifier(**{**PRECISE, **parameters}).fit(X, y, sample_weight=sample_weight)
    W, bias = decoded(model.weights_[0], X.shape[1])
    return model, np.hstack([W, bias[:, None]]) if model.bias else W


def assert_optimal(
    model: LabelTreeClassifier, W: np.ndarray, X: Any, y: Any, *, gap: float = GAP, **weights: Any
) -> int:
    """Assert that every node with two classes reaches another solver's optimum; return the number of nodes."""
    problems = node_problems(model.tree_, X, y, normalize=model.normalize, bias=model.bias, **weights)
    for problem in problems:
        best = problem.optimum(model.loss, model.C)
        assert problem.objective(W[problem.node], model.loss, model.C) <= best * (1 + gap)
    return len(problems)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0, 100.0])
def test_every_node_of_a_tree_is_optimal(loss: str, C: float) -> None:
    X, y = documents(300, 80, 40, unlabelled=0.1)
    model, W = trained(X, y, loss=loss, C=C, arity=3, max_leaves=4)
    assert model.tree_.depth >= 3
    n_problems = assert_optimal(model, W, X, y)
    report = model.training_report_[0]
    assert report["n_columns"] == n_problems
    assert report["n_columns"] + report["n_constant"] == model.tree_.n_nodes
    assert report["n_unconverged"] == 0


@pytest.mark.parametrize("tol", [0.2, 0.02])
@pytest.mark.parametrize("C", [0.5, 5.0])
def test_no_row_violates_the_conditions_of_an_optimum_by_more_than_the_tolerance(
    tol: float, C: float
) -> None:
    """Rows that have not moved are passed over for a while; before a column has converged, all are asked again.

    Each row has a feature of its own, whose weight tells the row's dual variable.
    """
    own = 0.5
    for seed in range(12):
        rng = np.random.default_rng(seed)
        shared = rng.normal(size=(40, 4)) * (rng.random((40, 4)) < 0.6)
        X = sp.hstack([sp.csr_matrix(shared), own * sp.identity(40)]).tocsr().astype(np.float32)
        y = sp.csr_matrix((rng.random((40, 5)) < 0.3).astype(np.int8))
        model, W = trained(
            X,
            y,
            loss="squared_hinge",
            C=C,
            tol=tol,
            normalize=False,
            bias=False,
            tree=LabelTree.flat(5),
            random_state=seed,
        )
        assert model.training_report_[0]["n_unconverged"] == 0
        for problem in node_problems(model.tree_, X, y, normalize=False, bias=False):
            w = W[problem.node]
            rows = np.ravel(problem.X[:, 4:].argmax(axis=1))
            alpha = problem.z * w[4 + rows] / own
            gradient = problem.z * (problem.X @ w) - 1 + alpha / (2 * C)
            violation = np.where(alpha == 0, np.minimum(gradient, 0), gradient)
            assert np.abs(violation).max() <= tol / 2 + 1e-4


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
@pytest.mark.parametrize(("normalize", "bias"), [(False, True), (True, False), (False, False)])
def test_rows_as_they_are_and_models_without_bias(loss: str, C: float, normalize: bool, bias: bool) -> None:
    X, y = documents(150, 80, 12, unlabelled=0.1, seed=1)
    X = sp.vstack([X, sp.csr_matrix((2, 80))]).tocsr()  # rows without features
    y = sp.vstack([y, y[:2]]).tocsr()
    # Long rows make ill-conditioned problems, above all where every example pulls (squared loss).
    model, W = trained(X, y, loss=loss, C=C, max_leaves=4, normalize=normalize, bias=bias, max_iter=100_000)
    assert_optimal(model, W, X, y)
    if not bias:
        used = np.unique(model.weights_[0].arrays["bias"])
        assert set(used.tolist()) <= {0.0, 1000.0, -1000.0}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_weights_of_examples(loss: str, C: float) -> None:
    X, y = documents(150, 80, 12, seed=2)
    weight = np.random.default_rng(0).exponential(size=150)
    model, W = trained(X, y, loss=loss, C=C, max_leaves=4, sample_weight=weight)
    assert_optimal(model, W, X, y, sample_weight=weight)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_weights_of_labels(loss: str, C: float) -> None:
    X, y = documents(150, 80, 40, unlabelled=0.1, seed=9)
    rng = np.random.default_rng(1)
    weights = {"sample_weight": rng.exponential(size=150), "label_weight": 10 ** rng.uniform(-1, 1, 40)}
    model, W = trained(
        X, y, loss=loss, C=C, arity=3, max_leaves=4,
        sample_weight=weights["sample_weight"], label_weight=weights["label_weight"],
    )  # fmt: skip
    assert model.tree_.depth >= 3
    assert assert_optimal(model, W, X, y, **weights) > 40


@pytest.mark.parametrize("loss", LOSSES)
def test_weights_of_1_change_nothing_but_rounding(loss: str) -> None:
    X, y = documents(150, 80, 40, seed=10)
    _, W = trained(X, y, loss=loss, C=1.0, arity=3, max_leaves=4, tol=1e-6)
    _, other = trained(X, y, loss=loss, C=1.0, arity=3, max_leaves=4, tol=1e-6, label_weight=np.ones(40))
    np.testing.assert_allclose(other, W, atol=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_children", [1, 2, 4, 5, 8, 9, 16, 17, 32, 33, 100])
def test_blocks_of_every_width(loss: str, n_children: int) -> None:
    """Vector lanes come in groups of 4, 8, 16 and 32; a block fills some and leaves others empty."""
    X, y = documents(120, 60, n_children, unlabelled=0.1, seed=3)
    model, W = trained(X, y, loss=loss, C=1.0, tree="flat")
    assert assert_optimal(model, W, X, y) >= 1


@given(label_trees(max_labels=10), st.sampled_from(LOSSES), st.integers(0, 2**32 - 1))
@settings(max_examples=25)
def test_random_trees_and_data(tree: LabelTree, loss: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_rows, n_features = rng.integers(1, 40), rng.integers(1, 12)
    X = sp.random(n_rows, n_features, 0.4, "csr", np.float32, rng, data_rvs=rng.standard_normal)
    labels = rng.random((n_rows, tree.n_labels)) < rng.uniform(0.05, 0.6)
    labels[0, 0] = True
    y = sp.csr_matrix(labels)
    model, W = trained(X, y, loss=loss, C=10 ** rng.uniform(-1, 1.5), tree=tree)
    assert np.isfinite(W).all()
    assert_optimal(model, W, X, y)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_order_of_rows_changes_nothing_but_rounding(loss: str) -> None:
    X, y = documents(150, 80, 12, seed=4)
    tree = LabelTree.from_nested([[0, 1, 2, 3], [4, [5, 6, 7], 8], 9, 10, 11])
    _, W = trained(X, y, loss=loss, C=1.0, tree=tree, tol=1e-6)
    for seed in (1, 2):
        _, other = trained(X, y, loss=loss, C=1.0, tree=tree, tol=1e-6, random_state=seed)
        np.testing.assert_allclose(other, W, atol=1e-5)
    order = np.random.default_rng(0).permutation(150)
    _, other = trained(X[order], y[order], loss=loss, C=1.0, tree=tree, tol=1e-6)
    np.testing.assert_allclose(other, W, atol=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_number_of_threads_does_not_change_a_bit(loss: str) -> None:
    X, y = documents(300, 100, 80, unlabelled=0.1, seed=5)
    # The root's block has two and a half groups of lanes, the others less than one.
    tree = LabelTree.from_nested([*range(75), [75, 76], [77, [78, 79]]])
    expected = trained(X, y, loss=loss, C=1.0, tree=tree, n_jobs=1)[0].weights_[0].arrays
    for n_jobs in (2, 3, 7):
        found = trained(X, y, loss=loss, C=1.0, tree=tree, n_jobs=n_jobs)[0].weights_[0].arrays
        assert found.keys() == expected.keys()
        for name, array in expected.items():
            np.testing.assert_array_equal(found[name], array)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_looser_tolerance_takes_fewer_passes_and_is_less_precise(loss: str) -> None:
    X, y = documents(300, 80, 20, seed=6)
    passes, objectives = [], []
    for tol in (1.0, 0.2, 0.01, 1e-4):
        model, W = trained(X, y, loss=loss, C=10.0, tree="flat", tol=tol)
        problems = node_problems(model.tree_, X, y, normalize=True, bias=True)
        objectives.append(sum(problem.objective(W[problem.node], loss, 10.0) for problem in problems))
        passes.append(model.n_iter_)
        assert model.training_report_[0]["n_passes"] == model.n_iter_
        assert model.training_report_[0]["n_unconverged"] == 0
    assert passes == sorted(passes)
    assert passes[0] < passes[-1]
    assert objectives == sorted(objectives, reverse=True)
    # The default of 0.2 is within a few per cent of the optimum.
    assert objectives[1] <= objectives[-1] * 1.05


@pytest.mark.parametrize("loss", ["squared_hinge", "squared"])
@pytest.mark.parametrize("weighted", [False, True])
def test_descent_starts_where_examples_of_one_class_are_best_alike(loss: str, weighted: bool) -> None:
    """Rows that are all the same need no step: one pass over them finds that out."""
    rng = np.random.default_rng(9)
    X = sp.csr_matrix(np.tile([0.6, 0.0, 0.8], (200, 1)).astype(np.float32))
    has_label = rng.random((200, 40)) < 0.1
    has_label[np.arange(200), np.arange(200) % 40] = True  # no row is without a label: the root is constant
    y = sp.csr_matrix(has_label.astype(np.int8))
    weight = rng.exponential(size=200) if weighted else None
    model, W = trained(X, y, loss=loss, C=3.0, tol=0.01, tree=LabelTree.flat(40), sample_weight=weight)
    report = model.training_report_[0]
    assert report["n_row_visits"] == 2 * 200  # two groups of lanes
    assert report["n_unconverged"] == 0
    assert assert_optimal(model, W, X, y, sample_weight=weight) == 40


@pytest.mark.parametrize("loss", LOSSES)
def test_max_iter_stops_what_does_not_converge(loss: str) -> None:
    X, y = documents(200, 80, 40, seed=7)
    for max_iter in (1, 3):
        model = LabelTreeClassifier(loss=loss, C=10.0, tol=1e-7, max_iter=max_iter, tree="flat").fit(X, y)
        report = model.training_report_[0]
        assert report["n_unconverged"] == report["n_columns"] == 40
        assert report["n_passes"] == model.n_iter_ == max_iter
        assert report["n_row_visits"] <= max_iter * 200 * 2  # two groups of lanes
    assert trained(X, y, loss=loss, C=10.0, tree="flat")[0].training_report_[0]["n_unconverged"] == 0


def test_pruning_everything_is_told() -> None:
    X, y = documents(200, 80, 20, seed=8)
    with pytest.warns(
        UserWarning, match=r"prune=1e\+06 dropped .* weights and left 0; .* use a smaller prune"
    ):
        model, _ = trained(X, y, max_leaves=4, prune=1e6)
    assert model.weights_[0].n_weights == 0
    assert np.isfinite(model.predict_topk(X).probabilities).all()


@pytest.mark.parametrize("prune", [0.05, 0.3])
def test_small_weights_are_dropped(prune: float) -> None:
    X, y = documents(200, 80, 20, seed=8)
    _, W = trained(X, y, max_leaves=4)
    model, pruned = trained(X, y, max_leaves=4, prune=prune)
    small = np.abs(W) < prune
    small[:, -1] = False  # biases stay
    np.testing.assert_array_equal(pruned, np.where(small, 0, W))
    assert model.weights_[0].n_weights == np.count_nonzero(pruned[:, :-1])
    assert np.isfinite(model.predict_topk(X).probabilities).all()
