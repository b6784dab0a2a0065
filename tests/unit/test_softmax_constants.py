"""Nodes of a hierarchical softmax of which only one child has examples: it is always right."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from labeltree import HierarchicalSoftmaxClassifier, LabelTree

pytestmark = pytest.mark.native


@pytest.mark.parametrize("missing", range(4))
def test_of_two_children_with_examples_below_one(missing: int) -> None:
    rng = np.random.default_rng(0)
    present = [label for label in range(4) if label != missing]
    labels = rng.choice(present, 60)
    X = np.eye(4)[labels] + rng.normal(scale=0.1, size=(60, 4))
    y = sp.csr_matrix((np.ones(60, dtype=np.int8), (np.arange(60), labels)), shape=(60, 4))
    model = HierarchicalSoftmaxClassifier(tree=LabelTree.from_nested([[0, 1], [2, 3]]), random_state=0).fit(
        X, y
    )
    p = model.predict_proba(X, top_k=None).toarray()
    np.testing.assert_array_equal(p[:, missing], 0)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-5)
    assert (p.argmax(axis=1) == labels).mean() > 0.9


def test_labels_without_examples_beside_a_child_that_is_always_right() -> None:
    """Label 2 is the last child of its node, label 3 the first one of the next node."""
    rng = np.random.default_rng(0)
    labels = rng.choice([0, 1, 4], 60)
    X = np.eye(5)[labels] + rng.normal(scale=0.1, size=(60, 5))
    y = sp.csr_matrix((np.ones(60, dtype=np.int8), (np.arange(60), labels)), shape=(60, 5))
    model = HierarchicalSoftmaxClassifier(
        tree=LabelTree.from_nested([[0, 1, 2], [3, 4]]), random_state=0
    ).fit(X, y)
    p = model.predict_proba(X, top_k=None).toarray()
    np.testing.assert_array_equal(p[:, [2, 3]], 0)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-5)
