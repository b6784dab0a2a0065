"""What the kernel refuses when it is called directly, and answers that do not depend on how rows are asked."""

from __future__ import annotations

import numpy as np
import pytest
from tests.contract.problem import problem
from tests.online_problem import online

from labeltree import LabelTree, LabelTreeClassifier, _native

pytestmark = pytest.mark.native


@pytest.mark.parametrize("name", ["first_sample", "sample", "max_iter"])
@pytest.mark.parametrize("value", [0, -1])
def test_clustering_needs_samples_and_rounds(name: str, value: int) -> None:
    features = _native.FeatureMatrix.dense(np.eye(3, dtype=np.float32), False)
    examples = _native.Examples(features, np.arange(4), np.arange(3, dtype=np.int32), 3)
    vectors = _native.label_vectors(examples, 0.0, 1, _native.Progress())
    with pytest.raises(ValueError, match="must be 1 or more"):
        _native.cluster_labels(
            vectors, examples, _native.ClusteringOptions(**{name: value}), _native.Progress()
        )


@pytest.mark.parametrize("n_labels", [15, 16, 17, 63, 64, 65, 80, 100, 130])
def test_a_row_alone_has_the_answer_that_it_has_among_others(n_labels: int) -> None:
    """Dense features and wide nodes: products are computed for several rows or several panels at a time."""
    rng = np.random.default_rng(n_labels)
    X = rng.normal(size=(2 * n_labels, 12)).astype(np.float32)
    model = LabelTreeClassifier(tree=LabelTree.flat(n_labels), max_iter=2, random_state=0)
    model.fit(X, [[i % n_labels] for i in range(len(X))])
    assert model.dense_features_ == (0, 12)
    together = model.predict_proba(X, top_k=None).toarray()
    alone = np.vstack([model.predict_proba(X[[i]], top_k=None).toarray() for i in range(9)])
    np.testing.assert_array_equal(alone, together[:9])


def test_probabilities_of_pairs_of_an_online_tree() -> None:
    X, y = problem()
    model = online(arity=2).partial_fit(X, y)
    expected = model.predict_proba(X, top_k=None).toarray()
    n_rows, n_labels = expected.shape
    rows, labels = np.repeat(np.arange(n_rows), n_labels), np.tile(np.arange(n_labels), n_rows)
    found = model.predict_pairs(X, rows, model.classes_[labels]).reshape(n_rows, n_labels)
    np.testing.assert_array_equal(found, expected)


def test_prediction_of_an_online_tree_can_be_stopped() -> None:
    X, y = problem()
    model = online().partial_fit(X, y)
    features, search, tree = model.model_.read(X), _native.Search(2), model.model_.native
    labels = np.empty((X.shape[0], 2), dtype=np.int32)
    probabilities = np.empty((X.shape[0], 2), dtype=np.float32)
    progress = _native.Progress()
    tree.top_k(features, search, labels, probabilities, progress=progress)
    assert progress.done == progress.total == X.shape[0]
    progress.cancel()
    with pytest.raises(_native.Cancelled):
        tree.top_k(features, search, labels, probabilities, progress=progress)
