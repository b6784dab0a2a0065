"""Hierarchical softmax: what it estimates, how it is stored, and when it is a label tree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import normalize
from tests.documents import documents
from tests.reference.softmax import HierarchicalSoftmax, pick_one_label

from labeltree import HierarchicalSoftmaxClassifier, LabelTreeClassifier
from labeltree.trees import LabelTree

PRECISE: dict[str, Any] = {"tol": 1e-5, "max_iter": 3000, "prune": 0, "weights": "float32", "random_state": 0}

TREES: dict[str, dict[str, Any]] = {
    "binary": {"tree": "complete", "arity": 2},
    "clustered": {"arity": 3, "max_leaves": 5},
    "huffman of five": {"tree": "huffman", "arity": 5},
    "one softmax of 45": {"tree": "flat"},
}


@pytest.mark.native
@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("weighted", [False, True])
def test_probabilities_are_those_of_repeated_examples(tree: str, weighted: bool) -> None:
    X, y = documents(150, 60, 45, unlabelled=0.1, seed=1)
    weight = np.random.default_rng(0).uniform(0.2, 3, X.shape[0]) if weighted else None
    model = HierarchicalSoftmaxClassifier(C=3, **PRECISE, **TREES[tree]).fit(X, y, weight)
    twin = HierarchicalSoftmax(model.tree_, C=3).fit(normalize(X), y, weight)
    expected = twin.predict_proba(normalize(X))
    np.testing.assert_allclose(model.predict_proba(X, None).toarray(), expected, atol=2e-3)


def test_the_user_may_repeat_the_examples_as_well() -> None:
    X, y = documents(80, 40, 12, seed=3)
    rows, labels, weight = pick_one_label(y)
    one_each = sp.csr_matrix((np.ones(len(rows)), (np.arange(len(rows)), labels)), shape=(len(rows), 12))
    parameters = {"tree": "random", "arity": 3, "max_leaves": 3, **PRECISE}
    picked = HierarchicalSoftmaxClassifier(**parameters).fit(X[rows], one_each, weight)
    model = HierarchicalSoftmaxClassifier(**parameters).fit(X, y)
    np.testing.assert_allclose(
        model.predict_proba(X, None).toarray(), picked.predict_proba(X, None).toarray(), atol=1e-3
    )


@pytest.mark.native
@pytest.mark.parametrize("n_trees", [1, 2])
@pytest.mark.parametrize("dense", [False, True])
def test_all_labels_sum_to_one(n_trees: int, dense: bool) -> None:
    X, y = documents(120, 50, 40, unlabelled=0.2, seed=5)
    given: Any = (X[:, :30], X[:, 30:].toarray()) if dense else X
    model = HierarchicalSoftmaxClassifier(n_trees, arity=4, max_leaves=6, random_state=0).fit(given, y)
    sums = model.predict_topk(given, k=40).probabilities.sum(axis=1)
    np.testing.assert_allclose(sums, 1, atol=1e-5)


def test_dense_features_are_learned_as_sparse_ones() -> None:
    X, y = documents(100, 30, 20, seed=7)
    parameters = {"arity": 4, "max_leaves": 5, "normalize": False, **PRECISE}
    tree = HierarchicalSoftmaxClassifier(**parameters).fit(X, y).tree_
    sparse, dense = (
        HierarchicalSoftmaxClassifier(**parameters | {"tree": tree}).fit(given, y).predict_topk(given, k=20)
        for given in (X, X.toarray())
    )
    np.testing.assert_allclose(sparse.probabilities, dense.probabilities, atol=1e-3)


# -- multi-class: section 4.5 of the paper ---------------------------------------------------------------------------


def multi_class() -> tuple[sp.csr_matrix, np.ndarray]:
    X, y = documents(300, 40, 17, unlabelled=0, seed=2)
    return X, np.array([labels[0] for labels in np.split(y.indices, y.indptr[1:-1])])


@pytest.mark.native
@pytest.mark.parametrize("tree", ["complete", "huffman", "kmeans"])
@pytest.mark.parametrize("tol", [0.2, 1e-4])
def test_of_one_label_and_a_binary_tree_it_is_a_label_tree(tree: str, tol: float) -> None:
    X, y = multi_class()
    shape = {"tree": tree, "arity": 2, "max_leaves": 2, "frequent_share": 0}
    both = {"C": 5, "tol": tol, "max_iter": 200, "prune": 0.05, "random_state": 3, **shape}
    softmax = HierarchicalSoftmaxClassifier(**both).fit(X, y)
    label_tree = LabelTreeClassifier(loss="logistic", **both).fit(X, y)
    assert softmax.tree_ == label_tree.tree_
    for k in (1, len(softmax.classes_)):
        ours, theirs = softmax.predict_topk(X, k=k), label_tree.predict_topk(X, k=k)
        np.testing.assert_array_equal(ours.labels, theirs.labels)
        np.testing.assert_array_equal(ours.probabilities, theirs.probabilities)  # to the last bit
    # One classifier instead of two that mirror each other.
    assert 2 * softmax.weights_[0].n_weights == label_tree.weights_[0].n_weights


def test_of_several_labels_it_is_not() -> None:
    X, y = documents(200, 40, 17, unlabelled=0, seed=2)
    shape = {"tree": "complete", "arity": 2, "C": 5, "random_state": 3, **PRECISE}
    softmax = HierarchicalSoftmaxClassifier(**shape).fit(X, y).predict_proba(X, None).toarray()
    label_tree = LabelTreeClassifier(loss="logistic", **shape).fit(X, y).predict_proba(X, None).toarray()
    assert np.abs(softmax - label_tree).max() > 0.1


# -- edges -----------------------------------------------------------------------------------------------------------


def test_labels_without_examples_are_never_given() -> None:
    X = np.eye(4, 6)
    y = np.zeros((4, 7))
    y[[0, 1, 2, 3], [1, 1, 4, 6]] = 1
    for shape in ({"arity": 2, "tree": "complete"}, {"arity": 3, "tree": "complete"}, {"tree": "flat"}):
        model = HierarchicalSoftmaxClassifier(random_state=0, **shape).fit(X, y)
        probabilities = model.predict_proba(X).toarray()
        np.testing.assert_allclose(probabilities[:, [1, 4, 6]].sum(axis=1), 1, atol=1e-6)
        assert (probabilities[:, [0, 2, 3, 5]] == 0).all()


def test_a_single_label_is_certain() -> None:
    model = HierarchicalSoftmaxClassifier().fit(np.eye(3), [["only"], [], ["only"]])
    assert model.predict_topk(np.eye(3), k=1).probabilities.tolist() == [[1.0]] * 3


def test_a_node_with_one_child_passes_on_what_it_has() -> None:
    #           0
    #         /   \
    #        1     2
    #        |     | \
    #        3     4  5
    tree = LabelTree([1, 3, 4, 6, 6, 6, 6], [-1, -1, -1, 0, 1, 2])
    X, y = np.eye(3), [[0], [1], [2]]
    model = HierarchicalSoftmaxClassifier(tree=tree, C=50, random_state=0).fit(X, y)
    top = model.predict_topk(X, k=3)
    assert top.labels[:, 0].tolist() == [0, 1, 2]
    np.testing.assert_allclose(top.probabilities.sum(axis=1), 1, atol=1e-6)


@pytest.mark.native
def test_huge_features_do_no_harm() -> None:
    X, y = documents(60, 20, 9, seed=1)
    for shape in ({"arity": 2, "max_leaves": 2}, {"tree": "flat"}):
        model = HierarchicalSoftmaxClassifier(normalize=False, random_state=0, **shape).fit(X * 1e18, y)
        top = model.predict_topk(X * 1e18, k=9)
        assert np.isfinite(top.probabilities).all()


@pytest.mark.parametrize("weights", ["float32", "bfloat16", "int8"])
def test_saved_models_are_as_small_as_asked(tmp_path: Path, weights: str) -> None:
    X, y = documents(100, 60, 20, seed=4)
    model = HierarchicalSoftmaxClassifier(arity=2, max_leaves=4, weights="float32", random_state=0).fit(X, y)
    model.save(tmp_path / "model", weights=weights)
    opened = HierarchicalSoftmaxClassifier.load(tmp_path / "model", verify=True)
    ours, theirs = model.predict_proba(X, None).toarray(), opened.predict_proba(X, None).toarray()
    np.testing.assert_allclose(ours, theirs, atol={"float32": 0, "bfloat16": 0.02, "int8": 0.03}[weights])


def test_explanations_add_up_at_either_child() -> None:
    X, y = multi_class()
    model = HierarchicalSoftmaxClassifier(tree="complete", arity=2, prune=0, random_state=0).fit(X, y)
    for label in model.classes_.tolist():
        (path,) = model.explain(X[[5]], label, n_features=1000).paths
        for step in path[1:]:
            score = step.bias + sum(c.amount for c in step.contributions)
            assert score == pytest.approx(step.score, abs=1e-4)
            assert step.probability == pytest.approx(1 / (1 + np.exp(-step.score)), abs=1e-5)
        assert path[-1].probability_so_far == pytest.approx(
            float(model.predict_pairs(X, [5], [label])[0]), abs=1e-6
        )


def test_it_can_be_calibrated_and_decided_for(tmp_path: Path) -> None:
    X, y = documents(200, 60, 15, seed=8)
    model = HierarchicalSoftmaxClassifier(arity=3, max_leaves=5, random_state=0).fit(X[:120], y[:120])
    model.calibrate(X[120:160], y[120:160]).decide_for("micro_f1", X[160:], y[160:])
    model.save(tmp_path / "model")
    opened = HierarchicalSoftmaxClassifier.load(tmp_path / "model")
    assert (opened.predict(X) != model.predict(X)).nnz == 0
    assert model.fit_for("micro_f1", X, y).decision_.metric == "micro_f1"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0}, "'C' must be"),
        ({"C": "auto"}, "'C' must be"),
        ({"tol": -1}, "'tol' must be"),
        ({"tree": "oak"}, "'tree' must be"),
        ({"prune": -0.1}, "'prune' must be"),
        ({"n_trees": 2, "tree_weight": [1]}, "tree_weight"),
    ],
)
def test_parameters_are_checked(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        HierarchicalSoftmaxClassifier(**parameters).fit(np.eye(2), ["a", "b"])
