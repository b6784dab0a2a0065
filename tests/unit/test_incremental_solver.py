"""Incremental training: the weights of the paper's algorithm 5, whatever the tree, and what they converge to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.utils import check_random_state
from tests.documents import documents
from tests.reference.incremental import example_order, iplt_train
from tests.reference.search import decoded
from tests.reference.sparse_solver import liblinear_logistic
from tests.strategies import label_trees

from labeltree import LabelTree, LabelTreeClassifier

pytestmark = pytest.mark.native

LOSSES = ["squared_hinge", "logistic"]
SOLVERS = ["adagrad", "sgd", "fobos"]
#: Strong enough to show in every weight.
PENALTIES: dict[str, dict[str, float]] = {
    "adagrad": {}, "sgd": {"regularization": 0.01}, "fobos": {"regularization": 1e-3}
}  # fmt: skip


def trained(
    X: Any, y: Any, *, sample_weight: Any = None, **parameters: Any
) -> tuple[LabelTreeClassifier, np.ndarray]:
    """A model of one tree with all its weights, and these in float64: [node][feature], the bias last."""
    fixed = {"prune": 0.0, "weights": "float32", "frequent_share": 0.0, "random_state": 0}
    model = LabelTreeClassifier(**{**fixed, **parameters}).fit(X, y, sample_weight=sample_weight)
    W, bias = decoded(model.weights_[0], X.shape[1])
    return model, np.hstack([W, bias[:, None]]) if model.bias else W


def seed_of(model: LabelTreeClassifier) -> int:
    """What the kernel is seeded with for the first tree."""
    return int(check_random_state(model.random_state).randint(np.iinfo(np.int32).max))


def dense_rows(X: sp.csr_matrix, *, normalize: bool = True, bias: bool = True) -> np.ndarray:
    rows = X.toarray().astype(np.float64)
    if normalize:
        norm = np.linalg.norm(rows, axis=1, keepdims=True)
        rows /= np.where(norm > 0, norm, 1)
    return np.hstack([rows, np.ones((len(rows), 1))]) if bias else rows


def assert_as_algorithm_5(
    model: LabelTreeClassifier, W: np.ndarray, X: Any, y: Any, sample_weight: Any = None
) -> int:
    """All nodes are those of the twin, also those whose examples are all of one class; returns how many there are."""
    expected = iplt_train(
        model.tree_,
        dense_rows(X, normalize=model.normalize, bias=model.bias),
        [y[[i]].indices.tolist() for i in range(y.shape[0])],
        solver=model.solver,
        loss=model.loss,
        learning_rate=model.learning_rate,
        regularization=model.regularization or 0.0,
        epochs=model.epochs,
        seed=seed_of(model),
        sample_weight=sample_weight,
        falling_rate=model.rate_schedule == "linear",
        initial_accumulator=1.0 if model.initial_accumulator is None else model.initial_accumulator,
    )
    np.testing.assert_allclose(W, expected, rtol=1e-4, atol=2e-5)
    return len(W)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("epochs", [1, 3])
def test_algorithm_5_on_a_tree(solver: str, loss: str, epochs: int) -> None:
    X, y = documents(80, 60, 20, unlabelled=0.1)
    parameters = {"solver": solver, "loss": loss, "epochs": epochs, "learning_rate": 0.3, **PENALTIES[solver]}
    model, W = trained(X, y, arity=3, max_leaves=4, **parameters)
    assert model.tree_.depth >= 2
    n_learned = assert_as_algorithm_5(model, W, X, y)
    report = model.training_report_[0]
    assert (report["n_columns"], report["n_constant"]) == (n_learned, 0)
    assert report["n_unconverged"] == 0
    assert report["n_passes"] == model.n_iter_ == epochs


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("epsilon", [0.01, 0.001])
def test_the_adagrad_of_the_paper(loss: str, epsilon: float) -> None:
    """A constant rate, and sums that start from a small number."""
    X, y = documents(80, 60, 20, seed=8)
    parameters = {"solver": "adagrad", "rate_schedule": "constant", "initial_accumulator": epsilon}
    model, W = trained(X, y, tree="kmeans", arity=2, max_leaves=4, loss=loss, learning_rate=0.2, **parameters)
    assert_as_algorithm_5(model, W, X, y)


@pytest.mark.parametrize("solver", ["sgd", "fobos"])
def test_a_constant_rate(solver: str) -> None:
    X, y = documents(80, 60, 20, seed=9)
    parameters = {"rate_schedule": "constant", "learning_rate": 0.2, **PENALTIES[solver]}
    model, W = trained(X, y, max_leaves=4, solver=solver, loss="logistic", **parameters)
    assert_as_algorithm_5(model, W, X, y)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_weights_of_examples(solver: str, loss: str) -> None:
    X, y = documents(80, 60, 12, seed=2)
    weight = np.random.default_rng(0).exponential(size=80)
    parameters = {"solver": solver, "loss": loss, "learning_rate": 0.2, **PENALTIES[solver]}
    model, W = trained(X, y, max_leaves=4, sample_weight=weight, **parameters)
    assert_as_algorithm_5(model, W, X, y, weight)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("normalize", "bias"), [(False, True), (True, False)])
def test_rows_as_they_are_and_models_without_bias(solver: str, normalize: bool, bias: bool) -> None:
    X, y = documents(60, 40, 12, unlabelled=0.1, seed=1)
    X = sp.vstack([X / 5, sp.csr_matrix((2, 40))]).tocsr()  # rows without features
    y = sp.vstack([y, y[:2]]).tocsr()
    parameters = {"solver": solver, "loss": "logistic", "learning_rate": 0.3, **PENALTIES[solver]}
    model, W = trained(X, y, max_leaves=4, normalize=normalize, bias=bias, **parameters)
    assert_as_algorithm_5(model, W, X, y)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("n_children", [1, 4, 5, 9, 17, 33])
def test_blocks_of_every_width(solver: str, n_children: int) -> None:
    """Vector lanes come in groups of 4, 8, 16 and 32; a block fills some and leaves others empty."""
    X, y = documents(60, 40, n_children, unlabelled=0.1, seed=3)
    parameters = {"solver": solver, "learning_rate": 0.2, **PENALTIES[solver]}
    model, W = trained(X, y, tree="flat", **parameters)
    assert assert_as_algorithm_5(model, W, X, y) >= 1


@given(
    label_trees(max_labels=8), st.sampled_from(SOLVERS), st.sampled_from(LOSSES), st.integers(0, 2**32 - 1)
)
@settings(max_examples=25)
def test_random_trees_and_data(tree: LabelTree, solver: str, loss: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_rows, n_features = rng.integers(1, 30), rng.integers(1, 12)
    X = sp.random(n_rows, n_features, 0.4, "csr", np.float32, rng, data_rvs=rng.standard_normal)
    labels = rng.random((n_rows, tree.n_labels)) < rng.uniform(0.05, 0.6)
    labels[0, 0] = True
    y = sp.csr_matrix(labels)
    parameters = {"learning_rate": 10 ** rng.uniform(-2, -0.5), "epochs": rng.integers(1, 4)}
    if solver != "adagrad":
        parameters["regularization"] = 10 ** rng.uniform(-4, 0)
    model, W = trained(X, y, tree=tree, solver=solver, loss=loss, random_state=seed, **parameters)
    assert_as_algorithm_5(model, W, X, y)


def test_a_penalty_that_takes_all_weights_away_again_and_again() -> None:
    """Half of every weight goes with every example: what SGD divides by must not become 0."""
    X, y = documents(100, 40, 8, seed=4)
    model, W = trained(
        X, y, tree="flat", solver="sgd", loss="logistic", learning_rate=0.5, regularization=1.0, epochs=3
    )
    assert np.abs(W).max() > 1e-6
    assert_as_algorithm_5(model, W, X, y)


@pytest.mark.parametrize("loss", LOSSES)
def test_scikit_learn_takes_the_same_steps(loss: str) -> None:
    X, y = documents(60, 40, 1, unlabelled=0.4, seed=5)
    rate, penalty, epochs = 0.3, 0.01, 2
    model, W = trained(
        X, y, tree="flat", solver="sgd", loss=loss, learning_rate=rate, regularization=penalty, epochs=epochs
    )
    other = SGDClassifier(
        loss="log_loss" if loss == "logistic" else loss,
        alpha=penalty,
        fit_intercept=False,
        learning_rate="constant",
        shuffle=False,
    )
    rows, has_label = dense_rows(X), y.toarray().ravel() > 0
    order = [i for epoch in range(epochs) for i in example_order(seed_of(model), epoch, 60)]
    for step, i in enumerate(order):
        other.set_params(eta0=rate * (1 - step / len(order)))
        other.partial_fit(rows[[i]], has_label[[i]], classes=[False, True])
    np.testing.assert_allclose(W[0], other.coef_[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("solver", "l1_ratio"), [("sgd", 0.0), ("fobos", 1.0)])
def test_many_epochs_lead_to_the_optimum(solver: str, l1_ratio: float) -> None:
    """The mean loss plus the penalty is what liblinear finds."""
    X, y = documents(200, 40, 1, unlabelled=0.4, seed=6)
    penalty = 0.01
    _, W = trained(
        X,
        y,
        tree="flat",
        solver=solver,
        loss="logistic",
        learning_rate=1.0,
        regularization=penalty,
        epochs=400,
    )
    rows, sign = dense_rows(X), 2 * y.toarray().ravel() - 1

    def objective(w: np.ndarray) -> float:
        size = np.abs(w).sum() if l1_ratio else w @ w / 2
        return float(np.logaddexp(0, -sign * (rows @ w)).mean() + penalty * size)

    best = liblinear_logistic(bool(l1_ratio), C=1 / (penalty * 200), tol=1e-8).fit(rows, sign)
    optimum = objective(best.coef_[0])
    assert optimum <= objective(W[0]) + 1e-6
    assert objective(W[0]) <= optimum * 1.001
    if l1_ratio:
        assert 0 < np.count_nonzero(W[0]) < 41


def test_adagrad_reduces_the_loss_as_far_as_there_is_one() -> None:
    X, y = documents(200, 40, 1, unlabelled=0.4, seed=6)
    rows, sign = dense_rows(X), 2 * y.toarray().ravel() - 1
    best = LogisticRegression(C=1e6, fit_intercept=False, solver="liblinear", tol=1e-8, max_iter=100_000)
    coef = best.fit(rows, sign).coef_[0]
    loss = [float(np.logaddexp(0, -sign * (rows @ coef)).mean())]
    for epochs in (1000, 100, 10, 1):
        parameters = {"solver": "adagrad", "loss": "logistic", "learning_rate": 1.0}
        _, W = trained(X, y, tree="flat", epochs=epochs, **parameters)
        loss.append(float(np.logaddexp(0, -sign * (rows @ W[0])).mean()))
    assert loss == sorted(loss)
    assert loss[1] <= loss[0] + 0.01


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_number_of_threads_does_not_change_a_bit(solver: str) -> None:
    X, y = documents(200, 100, 80, unlabelled=0.1, seed=5)
    # The root's block has two and a half groups of lanes, the others less than one.
    tree = LabelTree.from_nested([*range(75), [75, 76], [77, [78, 79]]])
    expected = trained(X, y, tree=tree, solver=solver)[0].weights_[0].arrays
    for n_jobs in (2, 7):
        found = trained(X, y, tree=tree, solver=solver, n_jobs=n_jobs)[0].weights_[0].arrays
        for name, array in expected.items():
            np.testing.assert_array_equal(found[name], array)
    other = trained(X, y, tree=tree, solver=solver, random_state=1)[0].weights_[0].arrays
    assert not np.array_equal(other["bias"], expected["bias"])


def test_a_learning_rate_that_is_too_large_is_told() -> None:
    X, y = documents(100, 40, 8)
    with pytest.raises(ValueError, match="grew beyond all bounds: use a smaller learning_rate"):
        LabelTreeClassifier(solver="sgd", learning_rate=1000.0, n_jobs=2).fit(X, y)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weight", [1e-30, 1e38])
def test_adagrad_bears_any_weights_of_examples(loss: str, weight: float) -> None:
    X, y = documents(60, 30, 8)
    _, W = trained(X, y, solver="adagrad", loss=loss, sample_weight=np.full(60, weight))
    assert np.isfinite(W).all()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_as_good_as_batch_training_on_easy_data(solver: str, loss: str) -> None:
    X, y = documents(600, 300, 20, seed=7)
    hits = {}
    for name in ("descent", solver):
        model = LabelTreeClassifier(solver=name, loss=loss, random_state=0).fit(X[:500], y[:500])
        best = model.predict_topk(X[500:], k=1).labels[:, 0]
        hits[name] = float(y[500:][np.arange(100), best].mean())
    assert hits[solver] >= hits["descent"] - 0.05


def test_a_saved_model_keeps_what_its_solver_did_not_use(tmp_path: Path) -> None:
    X, y = documents(60, 30, 8)
    model = LabelTreeClassifier(solver="fobos", loss="logistic", learning_rate=1.0, random_state=0).fit(X, y)
    model.set_params(tol=0.3).save(tmp_path / "model")
    opened = LabelTreeClassifier.load(tmp_path / "model")
    assert (opened.solver, opened.learning_rate, opened.epochs, opened.tol) == ("fobos", 1.0, 3, 0.3)
    assert opened.n_iter_ == 3
    np.testing.assert_array_equal(opened.predict_topk(X).probabilities, model.predict_topk(X).probabilities)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"solver": "adagrad", "C": 1.0},
            "does not use C, got C=1.0: leave it at 'auto', or .* does: descent",
        ),
        ({"solver": "sgd", "tol": 0.1}, "solver 'sgd' does not use tol, got tol=0.1: leave it at 0.2"),
        ({"solver": "fobos", "max_iter": 3}, "solver 'fobos' does not use max_iter"),
        ({"solver": "adagrad", "regularization": 0.0}, "does not use regularization, .*: sgd, fobos"),
        ({"learning_rate": 0.1}, "solver 'descent' does not use learning_rate"),
        ({"rate_schedule": "constant"}, "solver 'descent' does not use rate_schedule"),
        ({"initial_accumulator": 0.01}, "'descent' does not use initial_accumulator, .*: adagrad"),
        (
            {"solver": "sgd", "initial_accumulator": 0.01},
            "'sgd' does not use initial_accumulator, .*: adagrad",
        ),
        ({"solver": "adagrad", "initial_accumulator": 0.0}, "initial_accumulator.* at least 1e-12"),
        (
            {"solver": "adagrad", "rate_schedule": "cosine"},
            "'rate_schedule' must be one of 'linear', 'constant'",
        ),
        ({"epochs": 4}, "solver 'descent' does not use epochs, got epochs=4: leave it at 3"),
        ({"regularization": 1e-6}, "solver 'descent' does not use regularization"),
        ({"solver": "sgd", "learning_rate": 0.5, "regularization": 2.0}, "learning_rate .* must be below 1"),
    ],
    ids=str,
)
def test_parameters_that_the_solver_does_not_use(parameters: dict[str, Any], message: str) -> None:
    X, y = documents(60, 30, 8)
    with pytest.raises(ValueError, match=message):
        LabelTreeClassifier(**parameters).fit(X, y)
