"""With enough data the probabilities are true: trees trained on known distributions, and on samples of them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.bounds import path_of
from tests.reference.known_distribution import KnownDistribution, best_precision, label_vectors
from tests.strategies import label_trees

from labeltree import LabelTree, LabelTreeClassifier

#: Proper pairs of loss and link: the minimiser of the expected loss, put through the link, is the probability.
PROPER = [
    ("logistic", "sigmoid"),
    ("squared_hinge", "clip"),
    ("squared", "clip"),
    ("exponential", "sigmoid2"),
]
PRECISE = {
    "C": 10.0,
    "tol": 1e-3,
    "max_iter": 500,
    "prune": 0.0,
    "weights": "float32",
    "bias": False,
    "random_state": 0,
}
TREE = LabelTree.from_nested([[0, 1], [2, [3, 4]], 5])


@pytest.mark.parametrize(("loss", "link"), PROPER)
def test_kinds_of_examples(loss: str, link: str) -> None:
    """Examples of a few kinds, each with its own distribution of label vectors, labels far from independent.

    The kind is a feature of its own, so linear classifiers can say anything about it: along a path their
    probabilities multiply to the share of the kind's examples that have the label, and that is near the truth.
    """
    rng = np.random.default_rng(0)
    n_kinds, n_rows = 5, 20_000
    vectors = (np.arange(64)[:, None] >> np.arange(6)) & 1
    P = rng.dirichlet(np.full(64, 0.1), size=n_kinds)  # of the label vectors, no label at all among them
    truth = P @ vectors

    kind = rng.integers(0, n_kinds, n_rows)
    drawn = np.array([rng.choice(64, p=P[k]) for k in kind])
    X, y = sp.csr_matrix(np.eye(n_kinds, dtype=np.float32)[kind]), vectors[drawn]
    model = LabelTreeClassifier(tree=TREE, loss=loss, link=link, **PRECISE).fit(X, y)
    found = model.predict_pairs(
        np.eye(n_kinds), np.repeat(np.arange(n_kinds), 6), np.tile(np.arange(6), n_kinds)
    )
    found = found.reshape(n_kinds, 6)

    shares = np.array([y[kind == k].mean(axis=0) for k in range(n_kinds)])
    np.testing.assert_allclose(found, shares, atol=5e-4)
    deviation = np.sqrt(truth * (1 - truth) / np.bincount(kind)[:, None])
    assert (np.abs(found - truth) <= 4 * deviation + 5e-4).all()


def test_a_known_logistic_model() -> None:
    """A single label whose log-odds are linear in the features: the root learns them."""
    rng = np.random.default_rng(1)
    w = np.array([1.5, -2.0, 0.5, 0.0])
    X = rng.normal(size=(20_000, 4))
    y = rng.random(20_000) < 1 / (1 + np.exp(-(X @ w - 0.7)))
    model = LabelTreeClassifier(
        loss="logistic", link="sigmoid", **{**PRECISE, "normalize": False, "bias": True}
    ).fit(X, sp.csr_matrix(y[:, None]))
    X_new = rng.normal(size=(1000, 4))
    truth = 1 / (1 + np.exp(-(X_new @ w - 0.7)))
    found = model.predict_pairs(X_new, np.arange(1000), np.zeros(1000, dtype=int))
    assert np.abs(found - truth).mean() < 0.006
    assert np.abs(found - truth).max() < 0.025


@pytest.mark.parametrize(("loss", "link"), PROPER)
def test_more_examples_bring_estimates_nearer(loss: str, link: str) -> None:
    rng = np.random.default_rng(2)
    P = rng.dirichlet(np.full(64, 0.3))
    vectors = (np.arange(64)[:, None] >> np.arange(6)) & 1
    errors = []
    for n_rows in (100, 1000, 10_000, 40_000):
        y = vectors[rng.choice(64, size=n_rows, p=P)]
        model = LabelTreeClassifier(tree=TREE, loss=loss, link=link, **PRECISE).fit(
            np.ones((n_rows, 1), dtype=np.float32), y
        )
        found = model.predict_pairs(np.ones((1, 1)), np.zeros(6, dtype=int), np.arange(6))
        errors.append(float(np.abs(found - P @ vectors).max()))
    assert errors[-1] < 0.006
    assert errors[-1] < errors[0] / 5


def estimates(model: LabelTreeClassifier, known: KnownDistribution) -> np.ndarray:
    """The model's probabilities, [kind][label]."""
    kinds, labels = np.indices(known.eta.shape).reshape(2, -1)
    return model.predict_pairs(np.eye(known.n_kinds), kinds, labels).reshape(known.eta.shape)


def largest_regret(model: LabelTreeClassifier, known: KnownDistribution) -> float:
    """The most that is lost in precision at any k, over kinds of rows."""
    ranking = model.predict_topk(np.eye(known.n_kinds), known.n_labels).labels
    means = np.take_along_axis(known.eta, ranking, axis=1).cumsum(axis=1) / np.arange(1, known.n_labels + 1)
    best = [[best_precision(eta, k + 1) for k in range(known.n_labels)] for eta in known.eta]
    return float((best - means).max())


@settings(max_examples=30)
@given(st.data())
def test_the_less_the_penalty_counts_the_truer_any_tree(data: st.DataObject) -> None:
    """Trained on a distribution itself: a row for each label vector of each kind, as heavy as it is probable.

    Where the weight w of a kind is best, its pull, |w|, is that of the loss: C times the mass of the rows times the
    error of the node. |w| is at most log C, so that lemma 1 bounds the error of a label.
    """
    tree = data.draw(label_trees(max_labels=5, min_labels=2))
    n_kinds = data.draw(st.integers(1, 3))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    concentration = np.full(2**tree.n_labels, data.draw(st.sampled_from([0.05, 0.3, 2.0])))
    known = KnownDistribution(rng.dirichlet(concentration, size=n_kinds) / n_kinds)
    kind, vector = np.nonzero(known.joint)
    n_nodes = np.array([len(path_of(tree, leaf)) for leaf in tree.leaf_of_label])
    for C in (10.0, 1000.0):
        model = LabelTreeClassifier(
            tree=tree, loss="logistic", **{**PRECISE, "C": C, "tol": 1e-4, "max_iter": 50_000}
        )
        model.fit(np.eye(n_kinds)[kind], label_vectors(tree.n_labels)[vector], known.joint[kind, vector])
        error = np.abs(estimates(model, known) - known.eta)
        assert (error <= n_nodes * n_kinds * np.log(C) / C + 1e-4).all()
        assert largest_regret(model, known) <= 2 * error.max() + 1e-6


@pytest.mark.parametrize("seed", range(4))
def test_more_examples_bring_the_regret_of_rankings_to_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    known = KnownDistribution(rng.dirichlet(np.full(64, 0.2), size=4) / 4)
    tree = LabelTree.from_nested([[0, [1, 5]], [2, [3, 4]]])
    regrets = []
    for n_rows in (30, 20_000):
        X, y = known.draw(n_rows, rng)
        regrets.append(
            largest_regret(
                LabelTreeClassifier(tree=tree, loss="logistic", link="sigmoid", **PRECISE).fit(X, y), known
            )
        )
    assert regrets[0] > 0.05
    assert regrets[1] < 0.01
