"""Dense features: found in every form of X, learned as well as sparse ones, asked one by one as in a batch."""

from __future__ import annotations

import pickle
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.embeddings import embedded_documents, scaled_halves, side_by_side
from tests.reference.search import decoded, node_probabilities
from tests.reference.solver import node_problems
from tests.strategies import label_trees

from labeltree import LabelTree, LabelTreeClassifier

pytestmark = pytest.mark.native

SHAPE: dict[str, Any] = {"arity": 3, "max_leaves": 8, "frequent_share": 0.0, "random_state": 0}
PRECISE: dict[str, Any] = {**SHAPE, "tol": 1e-4, "max_iter": 10_000, "prune": 0.0, "weights": "float32"}


def assert_same_weights(one: LabelTreeClassifier, other: LabelTreeClassifier) -> None:
    for mine, theirs in zip(one.weights_, other.weights_, strict=True):
        assert mine.arrays.keys() == theirs.arrays.keys()
        for name, array in mine.arrays.items():
            np.testing.assert_array_equal(array, theirs.arrays[name], err_msg=name)


def assert_same_answers(one: Any, other: Any) -> None:
    np.testing.assert_array_equal(one.probabilities, other.probabilities)
    np.testing.assert_array_equal(one.labels, other.labels)


# -- which features are dense ------------------------------------------------------------------------------


def dense_features_of(X: Any) -> tuple[int, int]:
    y = [["a"], ["b"]] * (X.shape[0] // 2)
    return LabelTreeClassifier().fit(X, y).dense_features_


def test_the_range_of_dense_features_is_found() -> None:
    words, embedding, _ = embedded_documents()
    n = words.shape[1]
    assert dense_features_of(words) == (0, 0)
    assert dense_features_of(embedding) == (0, 12)
    assert dense_features_of(np.abs(embedding)) == (0, 12)
    assert dense_features_of(side_by_side(words, embedding)) == (n, n + 12)
    assert dense_features_of(sp.csr_matrix(sp.hstack([embedding, words]))) == (0, 12)
    # Of two runs the longer, of equal ones the last.
    assert dense_features_of(sp.csr_matrix(sp.hstack([embedding, words, embedding[:, :9]]))) == (0, 12)
    assert dense_features_of(sp.csr_matrix(sp.hstack([embedding, words, embedding]))) == (12 + n, 24 + n)


def test_what_is_not_dense() -> None:
    words, embedding, _ = embedded_documents()
    assert dense_features_of(embedding[:, :7]) == (0, 0)  # few
    assert dense_features_of(side_by_side(words, embedding[:, :7])) == (0, 0)
    # Frequent words: dense, but never below 0.
    assert dense_features_of(side_by_side(words, np.abs(embedding))) == (0, 0)
    half = embedding * (np.arange(200) % 2)[:, np.newaxis]
    assert dense_features_of(half) == (0, 0)
    # In the middle.
    assert dense_features_of(sp.csr_matrix(sp.hstack([words, embedding, words]))) == (0, 0)


@pytest.mark.parametrize(
    "form",
    [
        sp.csr_matrix,
        sp.csc_matrix,
        sp.coo_array,
        lambda X: X.toarray(),
        lambda X: X.toarray().astype(np.float64),
        lambda X: X.astype(np.float64),
        lambda X: np.asfortranarray(X.toarray()),
        lambda X: X.toarray().tolist(),
        lambda X: pd.DataFrame(X.toarray()),
    ],
)
@pytest.mark.parametrize("order", [1, -1])
def test_the_form_of_the_features_changes_nothing(form: Any, order: int) -> None:
    words, embedding, y = embedded_documents()
    X = sp.csr_matrix(sp.hstack([words, embedding][::order]))
    expected = LabelTreeClassifier(**SHAPE).fit(X, y)
    assert expected.dense_features_ == ((60, 72) if order > 0 else (0, 12))
    model = LabelTreeClassifier(**SHAPE).fit(form(X), y)
    assert_same_weights(model, expected)
    assert_same_answers(model.predict_topk(form(X)), expected.predict_topk(X))


@pytest.mark.parametrize("sparse", [sp.csr_matrix, sp.csc_array, lambda X: X.astype(np.float64)])
@pytest.mark.parametrize("dense", [np.asarray, np.asfortranarray, pd.DataFrame, lambda X: X.astype(float)])
def test_a_pair_is_the_same_as_side_by_side(sparse: Any, dense: Any) -> None:
    words, embedding, y = embedded_documents()
    X = side_by_side(words, embedding)
    expected = LabelTreeClassifier(**SHAPE).fit(X, y)
    pair = (sparse(words), dense(embedding))
    model = LabelTreeClassifier(**SHAPE).fit(pair, y)
    assert model.n_features_in_ == 72
    assert not hasattr(model, "feature_names_in_")
    assert_same_weights(model, expected)
    assert_same_answers(model.predict_topk(pair), expected.predict_topk(pair))
    assert_same_answers(model.predict_topk(X), expected.predict_topk(X))
    assert (model.predict(pair) != expected.predict(X)).nnz == 0


def test_the_dense_part_of_a_pair_is_dense_whatever_it_holds() -> None:
    words, embedding, y = embedded_documents()
    few = (words, np.maximum(embedding[:, :3], 0))
    model = LabelTreeClassifier(**SHAPE).fit(few, y)
    assert model.dense_features_ == (60, 63)
    assert_same_answers(model.predict_topk(few), model.predict_topk(side_by_side(*few)))


def test_a_pair_of_rows_with_duplicates() -> None:
    words, embedding, y = embedded_documents()
    indices = np.concatenate([words.indices, words.indices])
    rows = np.repeat(np.arange(200), np.diff(words.indptr))
    order = np.argsort(np.concatenate([rows, rows]), kind="stable")
    twice = sp.csr_matrix(
        (np.tile(words.data / 2, 2)[order], indices[order], 2 * words.indptr), shape=words.shape
    )
    model = LabelTreeClassifier(**SHAPE).fit((twice, embedding), y)
    assert_same_weights(model, LabelTreeClassifier(**SHAPE).fit((words, embedding), y))
    assert twice.nnz == 2 * words.nnz


def test_pairs_that_are_none() -> None:
    words, embedding, y = embedded_documents()
    model = LabelTreeClassifier(**SHAPE)
    with pytest.raises(ValueError, match="equally many rows, got 200 and 199"):
        model.fit((words, embedding[:-1]), y)
    with pytest.raises(ValueError, match="pair of two sparse matrices; the second one must be dense"):
        model.fit((words, sp.csr_matrix(embedding)), y)
    with pytest.raises(ValueError, match=r"X\[1\] contains NaN"):
        model.fit((words, np.where(embedding == 0, np.nan, embedding)), y)
    with pytest.raises(ValueError, match=r"X\[0\] contains infinity"):
        model.fit((words * np.inf, embedding), y)
    model.fit((words, embedding), y)
    with pytest.raises(ValueError, match="and features 60 to 71 must be dense"):
        model.predict((words, embedding[:, 1:]))
    with pytest.raises(ValueError, match="X has 60 features, but LabelTreeClassifier is expecting 72"):
        model.predict(words)
    with pytest.raises(ValueError, match="expecting 60 features as input, none of them dense"):
        LabelTreeClassifier(**SHAPE).fit(words, y).predict((words, embedding))
    # A tuple of two rows is an array as ever.
    assert LabelTreeClassifier().fit(([1.0, 0.0], [0.0, 1.0]), ["a", "b"]).n_features_in_ == 2


# -- training ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
@pytest.mark.parametrize(("n_children", "n_dense"), [(1, 8), (3, 13), (8, 8), (16, 9), (17, 8), (40, 13)])
def test_blocks_of_every_width_are_as_good_as_liblinear(loss: str, n_children: int, n_dense: int) -> None:
    words, embedding, y = embedded_documents(100, 40, n_dense, n_children)
    X = scaled_halves(words, embedding)
    model = LabelTreeClassifier(**{**PRECISE, "tree": "flat", "loss": loss, "C": 2.0})
    model.fit((words, embedding), y)
    W, bias = decoded(model.weights_[0], X.shape[1])
    problems = node_problems(model.tree_, X, y, normalize=False, bias=True)
    assert problems
    for problem in problems:
        w = np.append(W[problem.node], bias[problem.node])
        assert problem.objective(w, loss, 2.0) <= problem.optimum(loss, 2.0) * (1 + 1e-4)


@given(label_trees(max_labels=10), st.sampled_from(["squared_hinge", "logistic"]), st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_dense_features_learn_what_the_same_numbers_do_as_sparse_ones(
    tree: LabelTree, loss: str, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(2, 40))
    X = rng.standard_normal((n_rows, int(rng.integers(8, 20)))).astype(np.float32)
    labels = rng.random((n_rows, tree.n_labels)) < rng.uniform(0.05, 0.6)
    labels[0, 0] = True
    parameters = {**PRECISE, "tree": tree, "loss": loss, "C": 1.0, "tol": 1e-6}
    y = sp.csr_matrix(labels)
    dense = LabelTreeClassifier(**parameters).fit(X, y)
    assert dense.dense_features_ == (0, X.shape[1])
    # Between two columns of zeros nobody looks for dense features.
    sparse = LabelTreeClassifier(**parameters).fit(np.pad(X, ((0, 0), (1, 1))), y)
    assert sparse.dense_features_ == (0, 0)
    W, bias = decoded(dense.weights_[0], X.shape[1])
    twin, twin_bias = decoded(sparse.weights_[0], X.shape[1] + 2)
    np.testing.assert_allclose(W, twin[:, 1:-1], atol=2e-4)
    np.testing.assert_allclose(bias, twin_bias, atol=2e-4)


@pytest.mark.parametrize("solver", ["adagrad", "sgd", "fobos"])
def test_incremental_solvers_learn_dense_features(solver: str) -> None:
    """They see them as entries like the others, so they learn the same from the same numbers."""
    _, embedding, y = embedded_documents()
    parameters = {**SHAPE, "prune": 0.0, "solver": solver, "tree": "flat"}
    dense = LabelTreeClassifier(**parameters).fit(embedding, y)
    sparse = LabelTreeClassifier(**parameters).fit(np.pad(embedding, ((0, 0), (1, 1))), y)
    assert (dense.dense_features_, sparse.dense_features_) == ((0, 12), (0, 0))
    W, bias = decoded(dense.weights_[0], 12)
    twin, twin_bias = decoded(sparse.weights_[0], 14)
    np.testing.assert_array_equal(W, twin[:, 1:-1])
    np.testing.assert_array_equal(bias, twin_bias)
    assert np.abs(W).max() > 0.1


def test_labels_are_clustered_by_dense_vectors() -> None:
    words, embedding, y = embedded_documents()
    vectors = np.random.default_rng(0).standard_normal((30, 20)).astype(np.float32)
    trees = [
        LabelTreeClassifier(**SHAPE, label_vectors=given).fit(words, y).tree_
        for given in (vectors, np.pad(vectors, ((0, 0), (1, 1))))
    ]
    assert trees[0].to_nested() == trees[1].to_nested()
    for X in (embedding, (words, embedding)):
        tree = LabelTreeClassifier(**SHAPE).fit(X, y).tree_
        other = LabelTreeClassifier(**{**SHAPE, "random_state": 1}).fit(X, y).tree_
        assert tree.depth > 1
        assert tree.to_nested() != other.to_nested()


def test_dense_weights_are_not_pruned() -> None:
    words, embedding, y = embedded_documents()
    model = LabelTreeClassifier(**{**SHAPE, "prune": 0.5}, weights="float32").fit((words, embedding), y)
    arrays = model.weights_[0].arrays
    assert np.abs(arrays["weight"]).min() >= 0.5
    assert ((arrays["dense_weight"] != 0) & (np.abs(arrays["dense_weight"]) < 0.5)).any()
    assert model.weights_[0].n_weights == len(arrays["weight"]) + 12 * model.tree_.n_nodes
    # Nothing is dropped here, and nothing is warned of.
    LabelTreeClassifier(**{**SHAPE, "prune": 100.0}).fit(embedding, y)


def test_sparse_models_have_no_dense_arrays() -> None:
    words, _, y = embedded_documents()
    assert "dense_weight" not in LabelTreeClassifier(**SHAPE).fit(words, y).weights_[0].arrays


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_the_number_of_threads_does_not_change_a_bit(loss: str) -> None:
    words, embedding, y = embedded_documents(300, 60, 21, 80)
    tree = LabelTree.from_nested([*range(75), [75, 76], [77, [78, 79]]])
    models = [
        LabelTreeClassifier(**SHAPE, tree=tree, loss=loss, n_jobs=n).fit((words, embedding), y)
        for n in (1, 2, 5)
    ]
    for model in models[1:]:
        assert_same_weights(model, models[0])
        assert_same_answers(
            model.predict_topk((words, embedding)), models[0].predict_topk((words, embedding))
        )


# -- prediction --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tree", ["flat", "kmeans"])
@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_probabilities_are_those_of_the_twin(tree: str, loss: str) -> None:
    words, embedding, y = embedded_documents()
    model = LabelTreeClassifier(**SHAPE, tree=tree, loss=loss).fit((words, embedding), y)
    X = scaled_halves(words, embedding).toarray()
    rows, labels = np.divmod(np.arange(20 * 30), 30)
    found = model.predict_pairs((words, embedding), rows, labels).reshape(20, 30)
    for i in range(20):
        eta = node_probabilities(model.weights_[0], X[i], model.trained_link())
        expected = [np.prod(eta[model.tree_.path(label)]) for label in range(30)]
        np.testing.assert_allclose(found[i], expected, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"tree": "flat"},
        {"n_trees": 3},
        {"search": "beam", "beam": 3},
        {"normalize_siblings": True},
        {"normalize": False, "C": 0.01},
        {"arity": 2, "max_leaves": 2},
    ],
    ids=str,
)
def test_one_by_one_as_in_a_batch(parameters: dict[str, Any]) -> None:
    words, embedding, y = embedded_documents(300, 60, 25)
    model = LabelTreeClassifier(**{**SHAPE, **parameters}).fit((words, embedding), y)
    batch = (words, embedding)
    top, proba = model.predict_topk(batch, return_evaluations=True), model.predict_proba(batch, top_k=None)
    above = model.predict(batch)
    for i in [*range(0, 300, 13), 299]:
        row = (words[[i]], embedding[[i]])
        alone = model.predict_topk(row, return_evaluations=True)
        for one, many in zip(alone, top, strict=True):
            np.testing.assert_array_equal(one[0], many[i])
        assert (model.predict_proba(row, top_k=None) != proba[[i]]).nnz == 0
        assert (model.predict(row) != above[[i]]).nnz == 0


@given(st.integers(1, 70), st.integers(0, 3), st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_batches_of_every_size(n_rows: int, threads: int, seed: int) -> None:
    model, (words, embedding) = _model_for_batches()
    rows = np.random.default_rng(seed).integers(0, 200, n_rows)
    model.set_params(n_jobs=threads or None)
    expected = model.predict_topk((words, embedding), k=7)
    found = model.predict_topk((words[rows], embedding[rows]), k=7)
    np.testing.assert_array_equal(found.probabilities, expected.probabilities[rows])
    np.testing.assert_array_equal(found.labels, expected.labels[rows])


@cache
def _model_for_batches() -> Any:
    words, embedding, y = embedded_documents()
    return LabelTreeClassifier(**SHAPE).fit((words, embedding), y), (words, embedding)


def test_masks_and_thresholds() -> None:
    words, embedding, y = embedded_documents()
    model = LabelTreeClassifier(**SHAPE).fit((words, embedding), y)
    all_of_them = model.predict_proba((words, embedding), top_k=None).toarray()
    allowed = [1, 5, 20]
    top = model.predict_topk((words, embedding), k=30, allow=allowed, threshold=0.2)
    for i in range(200):
        expected = {label: all_of_them[i, label] for label in allowed if all_of_them[i, label] >= 0.2}
        found = {
            int(label): p for label, p in zip(top.labels[i], top.probabilities[i], strict=True) if label >= 0
        }
        assert found == expected
    threshold = np.linspace(0, 0.5, 30, dtype=np.float32)
    found = model.predict_proba((words, embedding), top_k=None, threshold=threshold).toarray()
    np.testing.assert_array_equal(found, np.where(all_of_them >= threshold, all_of_them, 0))


def test_explanations_and_enumerations() -> None:
    words, embedding, y = embedded_documents()
    model = LabelTreeClassifier(**SHAPE).fit((words, embedding), y)
    row = (words[[7]], embedding[[7]])
    top = model.predict_topk(row, k=30)
    assert list(model.iter_labels(row)) == list(
        zip(top.labels[0], top.probabilities[0].tolist(), strict=True)
    )
    explanation = model.explain(row, int(top.labels[0, 0]), n_features=72)
    assert explanation.probability == pytest.approx(top.probabilities[0, 0], rel=1e-6)
    step = explanation.paths[0][-1]
    assert step.score == pytest.approx(step.bias + sum(c.amount for c in step.contributions), abs=1e-4)
    assert {c.feature for c in step.contributions} >= set(range(60, 72))


def test_pickles_hold_dense_weights() -> None:
    words, embedding, y = embedded_documents()
    model = LabelTreeClassifier(**SHAPE).fit((words, embedding), y)
    again = pickle.loads(pickle.dumps(model))
    assert again.dense_features_ == (60, 72)
    assert_same_answers(again.predict_topk((words, embedding)), model.predict_topk((words, embedding)))
