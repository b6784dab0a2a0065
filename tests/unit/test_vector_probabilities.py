"""Learned vectors of enough dimensions give the true probabilities of a known distribution."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from tests.reference.known_distribution import KnownDistribution, label_vectors
from tests.reference.pick_one_label import picked

from labeltree import ExtremeTextClassifier, FastTextClassifier, LabelTree
from labeltree.trees.huffman import huffman_tree

pytestmark = pytest.mark.native

KNOWN = KnownDistribution(np.random.default_rng(1).dirichlet(np.full(4 * 32, 0.3)).reshape(4, 32))
ONE_EACH = KnownDistribution(KNOWN.joint * (label_vectors(5).sum(axis=1) == 1))
TREES = {
    "flat": LabelTree.flat(5),
    "huffman": huffman_tree([5, 1, 1, 2, 3], 2),
    "nested": LabelTree.from_nested([[0, 3], [1, 2, 4]]),
}


def probabilities(model: Any, known: KnownDistribution) -> NDArray[np.float64]:
    """What a model says of every kind, [kind][label]: trained on each kind with each label vector, by its weight."""
    kind, vector = np.nonzero(known.joint)
    X = sp.csr_matrix(np.eye(known.n_kinds, dtype=np.float32))
    y = sp.csr_matrix(label_vectors(known.n_labels)[vector])
    model.fit(X[kind], y, known.joint[kind, vector] * 100)
    found: NDArray[np.float64] = model.predict_proba(X, top_k=None).toarray()
    return found


@pytest.mark.parametrize("loss", ["logistic", "softmax"])
@pytest.mark.parametrize("tree", TREES)
def test_extremetext_is_near_the_truth(tree: str, loss: str) -> None:
    settings = {"dropout": 0.0, "batch_size": 1000, "epochs": 1500, "vector_type": "float32"}
    model = ExtremeTextClassifier(8, tree=TREES[tree], loss=loss, random_state=0, **settings)
    truth = KNOWN.eta if loss == "logistic" else picked(KNOWN)
    assert np.ptp(truth) > 0.3
    np.testing.assert_allclose(probabilities(model, KNOWN), truth, atol=2e-3)


@pytest.mark.parametrize("loss", ["softmax", "hs", "ova"])
def test_fasttext_is_near_the_truth(loss: str) -> None:
    settings = {"solver": "adam", "learning_rate": 0.05, "batch_size": 1000, "epochs": 1500}
    model = FastTextClassifier(loss, dimension=8, vector_type="float32", random_state=0, **settings)
    np.testing.assert_allclose(probabilities(model, ONE_EACH), ONE_EACH.eta, atol=5e-3)


def test_rounded_vectors_are_near_them_too() -> None:
    settings = {"dropout": 0.0, "batch_size": 1000, "epochs": 1500, "tree": "flat", "random_state": 0}
    for vector_type, tolerance in (("bfloat16", 0.02), ("int8", 0.03)):
        model = ExtremeTextClassifier(8, vector_type=vector_type, **settings)
        np.testing.assert_allclose(probabilities(model, KNOWN), KNOWN.eta, atol=tolerance)


@pytest.mark.parametrize("solver", ["adam", "adagrad"])
def test_an_epsilon_of_nothing_is_refused(solver: str) -> None:
    """A number whose gradients are all 0 would become 0 / 0."""
    model = ExtremeTextClassifier(4, solver=solver, epsilon=0.0)
    with pytest.raises(ValueError, match="'epsilon' must be"):
        model.fit(np.eye(3), ["a", "b", "c"])
    model.set_params(epsilon=1e-20, random_state=0).fit(np.eye(3), ["a", "b", "c"])
    assert np.isfinite(model.word_vectors_).all()
