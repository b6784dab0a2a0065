"""Products with stored node vectors and sums of stored word vectors, of every type, beside NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from tests.reference.embedding import sigmoid, softmax

from labeltree import LabelTree, _native
from labeltree.embedding.node_vectors import NodeVectors
from labeltree.embedding.vectors import Vectors
from labeltree.errors import ModelFileError

pytestmark = pytest.mark.native

TYPES = ["float32", "bfloat16", "int8"]
DIMENSIONS = [1, 15, 16, 17, 100, 113]


def random_vectors(n: int, dimension: int, type_: str, seed: int = 0) -> Vectors:
    values = np.random.default_rng(seed).normal(size=(n, dimension)).astype(np.float32)
    return Vectors(values).with_type(type_)


def decoded(vectors: Vectors) -> np.ndarray:
    """The vectors as float64, from their bits."""
    if vectors.values.dtype == np.uint16:
        return (vectors.values.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    wide = vectors.values.astype(np.float64)
    return wide if vectors.scale is None else wide * vectors.scale[:, None]


def csr_features(X: Any, normalize: bool = False) -> _native.FeatureMatrix:
    csr = sp.csr_matrix(X)
    return _native.FeatureMatrix.csr(csr.indptr, csr.indices, csr.data, X.shape[1], normalize)


def words_of_rows(seed: int = 0, n_words: int = 60) -> np.ndarray:
    """Rows of no, one, some and all words: one asks for vectors ahead from nine on."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(8, n_words)).astype(np.float32)
    for row, n in zip(X, [0, 1, 2, 8, 9, 10, 30, n_words], strict=True):
        row[rng.choice(n_words, n_words - n, replace=False)] = 0
    return X


# -- sums of word vectors --------------------------------------------------------------------------------------------


def hidden_values(hidden: _native.FeatureMatrix, row: int) -> np.ndarray:
    values = np.zeros(hidden.n_features)
    index, found = hidden.row(row)
    values[index] = found
    return values


@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("dimension", [*DIMENSIONS, 31, 48, 64, 80, 96, 112, 128, 130, 200])
def test_hidden_vectors_are_sums(dimension: int, type_: str) -> None:
    X, vectors = words_of_rows(), random_vectors(60, dimension, type_)
    sparse, dense = csr_features(X), _native.FeatureMatrix.dense(X, False)
    for mean in (False, True):
        total = np.abs(X).sum(axis=1, keepdims=True) if mean else 1.0
        expected = np.divide(X, total, out=np.zeros(X.shape), where=X != 0) @ decoded(vectors)
        for features in (sparse, dense):
            hidden = features.hidden(vectors.values, vectors.scale, mean)
            assert (hidden.n_rows, hidden.n_features) == (8, dimension)
            assert hidden.dense_features == (0, dimension)
            found = np.array([hidden_values(hidden, row) for row in range(8)])
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=2e-5)


def test_hidden_vectors_of_scaled_and_of_chosen_rows() -> None:
    X, vectors = words_of_rows(), random_vectors(60, 20, "float32")
    length = np.linalg.norm(X, axis=1, keepdims=True)
    unit = np.divide(X, length, out=np.zeros(X.shape), where=length > 0)
    hidden = csr_features(X, normalize=True).hidden(vectors.values, None, False)
    rows = np.array([7, 0, 3, 3])
    # Chosen before or after.
    before = csr_features(X, normalize=True).take(rows).hidden(vectors.values, None, False)
    for chosen in (hidden.take(rows), before):
        found = np.array([hidden_values(chosen, row) for row in range(4)])
        np.testing.assert_allclose(found, unit[rows] @ vectors.values, rtol=1e-5, atol=1e-5)


def test_hidden_vectors_outlive_their_arrays() -> None:
    X = words_of_rows()
    expected = X @ random_vectors(60, 17, "float32").values
    hidden = csr_features(X.copy()).hidden(random_vectors(60, 17, "float32").values, None, False)
    _ = [np.full((60, 17), np.nan, dtype=np.float32) for _ in range(50)]  # where the arrays were
    np.testing.assert_allclose(hidden_values(hidden, 7), expected[7], rtol=1e-5, atol=1e-5)


def test_hidden_vectors_refuse_what_does_not_fit() -> None:
    features = csr_features(words_of_rows())
    small = random_vectors(60, 5, "int8")
    scale, wide = small.scale, random_vectors(60, 5, "float32").values
    assert scale is not None
    for vectors, of, message in (
        (wide[:59].copy(), None, "one entry per feature"),
        (np.vstack([wide, wide[:1]]), None, "one entry per feature"),
        (np.empty((60, 0), dtype=np.float32), None, "dimension"),
        (wide, scale, "only these, have scales"),
        (small.values, None, "only these, have scales"),
        (random_vectors(60, 5, "bfloat16").values, scale, "only these, have scales"),
        (small.values, scale[:59].copy(), "scale"),
        (small.values, np.append(scale, scale[:1]), "scale"),
    ):
        with pytest.raises(ValueError, match=message):
            features.hidden(vectors, of, False)
    for wrong in (wide.astype(np.float64), wide.astype(np.int32), wide.ravel(), wide[:, ::2], wide.T):
        with pytest.raises(TypeError):
            features.hidden(wrong, None, False)


# -- products with node vectors --------------------------------------------------------------------------------------

#: Blocks of 1 to 70 columns.
TREE = LabelTree.from_nested(
    [*range(60), [60], [61, 62], [63, 64, 65], [*range(66, 71)], *([n] for n in range(71, 77))]
)


def store_of(
    tree: LabelTree, vectors: Vectors, bias: Any, dimension: int | None = None, link: str = "sigmoid"
) -> _native.BlockStore:
    nodes = NodeVectors(tree, vectors, np.asarray(bias, dtype=np.float32))
    return nodes.store(vectors.dimension if dimension is None else dimension, link)


@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_scores_are_products(dimension: int, type_: str) -> None:
    rng = np.random.default_rng(dimension)
    vectors = random_vectors(TREE.n_nodes, dimension, type_, seed=1)
    bias, X = rng.normal(size=TREE.n_nodes), rng.normal(size=(5, dimension)).astype(np.float32)
    store = store_of(TREE, vectors, bias)
    features = _native.FeatureMatrix.dense(X, False, (0, dimension))
    expected = X @ decoded(vectors).T + bias
    siblings = [range(1), *(TREE.children(node) for node in TREE.inner_nodes.tolist())]
    for row in range(5):
        for block, nodes in enumerate(siblings):
            of_nodes = expected[row, nodes.start : nodes.stop]
            found = store.scores(features, row, block)
            np.testing.assert_allclose(found, of_nodes, rtol=1e-5, atol=5e-5)
            found = store.probabilities(features, row, block, False)
            np.testing.assert_allclose(found, sigmoid(of_nodes), atol=5e-5)
    for block, nodes in enumerate(siblings):
        for column, node in enumerate(nodes):
            index, weights = store.column(block, column)
            wide = np.zeros(dimension)
            wide[index] = weights
            np.testing.assert_allclose(wide, decoded(vectors)[node], rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("type_", TYPES)
def test_rows_asked_together_have_the_scores_of_rows_asked_alone(type_: str) -> None:
    """Rows and columns are multiplied several at a time, and the rest one by one."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(11, 37)).astype(np.float32)
    vectors = random_vectors(TREE.n_nodes, 37, type_, seed=2)
    bias = rng.normal(size=TREE.n_nodes)
    forest = _native.Forest([store_of(TREE, vectors, bias)], [1.0])
    n_labels = TREE.n_labels

    def answers(rows: np.ndarray) -> list[dict[int, float]]:
        features = _native.FeatureMatrix.dense(rows, False, (0, 37))
        labels = np.empty((len(rows), n_labels), dtype=np.int32)
        found = np.empty((len(rows), n_labels), dtype=np.float32)
        forest.top_k(features, _native.Search(n_labels), labels, found)
        return [dict(zip(a, b, strict=True)) for a, b in zip(labels.tolist(), found.tolist(), strict=True)]

    together = answers(X)
    assert together == [answers(X[i : i + 1])[0] for i in range(11)]
    probability = sigmoid(X @ decoded(vectors).T + bias)
    for row, label in np.ndindex(11, n_labels):
        expected = probability[row, TREE.path(label)].prod()
        assert together[row][label] == pytest.approx(expected, rel=1e-3, abs=1e-6)


def test_softmax_of_node_vectors() -> None:
    """Of two siblings the first alone has a score; the second mirrors it, whatever its vector."""
    rng = np.random.default_rng(3)
    vectors, X = random_vectors(TREE.n_nodes, 9, "float32"), rng.normal(size=(4, 9)).astype(np.float32)
    bias = rng.normal(size=TREE.n_nodes)
    store = store_of(TREE, vectors, bias, link="softmax")
    features = _native.FeatureMatrix.dense(X, False, (0, 9))
    scores = X @ vectors.values.T + bias
    for block, node in enumerate(TREE.inner_nodes.tolist(), start=1):
        children = TREE.children(node)
        for row in range(4):
            of_nodes = scores[row, children.start : children.stop].astype(np.float64)
            expected = softmax(of_nodes)
            if len(children) == 2:
                expected = np.array([sigmoid(of_nodes[0]), sigmoid(-of_nodes[0])])
            found = store.probabilities(features, row, block, False)
            np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_a_flat_tree_is_multiplied_in_parts() -> None:
    tree, dimension = LabelTree.flat(30_000), 113
    vectors = random_vectors(tree.n_nodes, dimension, "int8")
    X = np.random.default_rng(1).normal(size=(2, dimension)).astype(np.float32)
    store = store_of(tree, vectors, np.zeros(tree.n_nodes))
    features = _native.FeatureMatrix.dense(X, False, (0, dimension))
    for row in range(2):
        expected = (decoded(vectors) @ X[row])[1:]
        np.testing.assert_allclose(store.scores(features, row, 1), expected, rtol=1e-4, atol=1e-4)


def test_node_vectors_that_do_not_fit_are_refused() -> None:
    n, small = TREE.n_nodes, random_vectors(TREE.n_nodes, 5, "int8")
    assert small.scale is not None
    wide, zeros = random_vectors(n, 5, "float32"), np.zeros(n)
    for vectors, dimension in (
        (random_vectors(n - 1, 5, "float32"), 5),
        (random_vectors(n + 1, 5, "float32"), 5),
        (wide, 4),
        (wide, 6),
        (Vectors(wide.values, small.scale), 5),
        (Vectors(small.values), 5),
        (Vectors(small.values, small.scale[:-1].copy()), 5),
        (Vectors(small.values, np.append(small.scale, small.scale[:1])), 5),
        (Vectors(wide.values.astype(np.float64)), 5),
        (Vectors(wide.values[:, :0]), 5),
    ):
        nodes = NodeVectors(TREE, vectors, zeros.astype(np.float32))
        nodes.dense_features = (0, dimension)
        with pytest.raises(ModelFileError):
            nodes.store(dimension, "sigmoid").verify()
    for bias in (zeros[1:], np.append(zeros, 0)):
        with pytest.raises(ModelFileError):
            store_of(TREE, wide, bias).verify()
    features = _native.FeatureMatrix.dense(np.zeros((1, 6), dtype=np.float32), False, (0, 6))
    with pytest.raises(ValueError, match="features"):
        store_of(TREE, wide, zeros).scores(features, 0, 0)
