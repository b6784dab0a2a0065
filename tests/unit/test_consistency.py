"""With enough data the probabilities are true: trees trained on samples of known distributions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from labeltree import LabelTree, LabelTreeClassifier

#: Proper pairs of loss and link: the minimiser of the expected loss, put through the link, is the probability.
PROPER = [
    ("logistic", "sigmoid"),
    ("squared_hinge", "clip"),
    ("squared", "clip"),
    ("exponential", "sigmoid2"),
]
PRECISE = {"C": 10.0, "tol": 1e-3, "max_iter": 500, "prune": 0.0, "bias": False, "random_state": 0}
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
    model = LabelTreeClassifier(loss="logistic", **{**PRECISE, "normalize": False, "bias": True}).fit(
        X, sp.csr_matrix(y[:, None])
    )
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
