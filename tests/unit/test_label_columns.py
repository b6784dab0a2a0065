"""The kernel that scores pairs of a row and a label: the same bits as the twin, whichever way it looks features up."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.reranking import label_score

from labeltree import ModelFileError, _native
from labeltree.model import label_classifiers
from labeltree.model.label_classifiers import LabelClassifiers

MAP = {"slope": np.ones(1, dtype=np.float32), "intercept": np.zeros(1, dtype=np.float32)}


def matrix_of(X: Any, n_dense: int = 0) -> _native.FeatureMatrix:
    """Rows as the kernel reads them; the last features are dense ones."""
    rows = sp.csr_matrix(X, dtype=np.float32)
    n_features = rows.shape[1]
    dense = (n_features - n_dense, n_features) if n_dense > 0 else (0, 0)
    return _native.FeatureMatrix.csr(
        rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data, n_features, False, dense
    )


def random_classifiers(
    n_labels: int, n_features: int, density: float, rng: np.random.Generator, n_dense: int = 0
) -> LabelClassifiers:
    """Classifiers with random weights; the last features are dense ones."""
    columns = [np.flatnonzero(rng.random(n_features - n_dense) < density) for _ in range(n_labels)]
    feature = np.concatenate(columns).astype(np.int32)
    arrays = {
        "begin": np.cumsum([0, *map(len, columns)], dtype=np.int64),
        "feature": feature,
        "weight": rng.normal(size=len(feature)).astype(np.float32),
        "bias": rng.normal(size=n_labels).astype(np.float32),
    }
    if n_dense > 0:
        arrays["dense"] = rng.normal(size=n_labels * n_dense).astype(np.float32)
    return LabelClassifiers(arrays, MAP, (n_features - n_dense, n_features) if n_dense > 0 else (0, 0))


def scores(
    judges: LabelClassifiers, features: Any, rows: list[int], labels: list[int], n_threads: int = 1
) -> np.ndarray:
    out = np.empty(len(rows), dtype=np.float32)
    columns = judges.native(features.n_features)
    columns.scores(features, np.array(rows, dtype=np.int64), np.array(labels, dtype=np.int32), n_threads, out)
    return out


def all_scores(judges: LabelClassifiers, features: Any, n_threads: int = 1) -> np.ndarray:
    n_labels = len(judges.arrays["bias"])
    pairs = np.divmod(np.arange(features.n_rows * n_labels), n_labels)
    found = scores(judges, features, pairs[0].tolist(), pairs[1].tolist(), n_threads)
    return found.reshape(features.n_rows, n_labels)


@pytest.mark.native
@given(seed=st.integers(0, 2**32 - 1), n_features=st.sampled_from([1, 7, 40, 300]), density=st.floats(0, 1))
def test_scores_are_those_of_the_twin_to_the_last_bit(seed: int, n_features: int, density: float) -> None:
    rng = np.random.default_rng(seed)
    judges = random_classifiers(5, n_features, density, rng)
    # Rows of no, few and all features: both ways of looking up occur.
    share = np.array([[0.0], [2 / n_features], [0.3], [1.0]])
    X = (rng.normal(size=(4, n_features)) * (rng.random((4, n_features)) < share)).astype(np.float32)
    features = matrix_of(X)
    begin, arrays = judges.arrays["begin"], judges.arrays
    expected = [
        [
            label_score(
                arrays["feature"][begin[label] : begin[label + 1]],
                arrays["weight"][begin[label] : begin[label + 1]],
                arrays["bias"][label],
                x,
            )
            for label in range(5)
        ]
        for x in X
    ]
    np.testing.assert_array_equal(all_scores(judges, features), np.array(expected))


@pytest.mark.native
@pytest.mark.parametrize("n_features", [32, 33, 1_024, 1_025, 40_000, 3_000_000])
def test_few_features_of_a_row_are_found_among_any_number(n_features: int) -> None:
    rng = np.random.default_rng(n_features)
    # From labels with a few features, whose index has several levels, to labels with half of them, with one level.
    n_known = min(n_features // 2, 20_000)
    columns = [
        np.unique(np.append(rng.integers(0, n_features, n), [0, n_features - 1]))
        for n in (20, min(n_known, 300), n_known)
    ]
    feature = np.concatenate(columns).astype(np.int32)
    weight = rng.normal(size=len(feature)).astype(np.float32)
    begin = np.cumsum([0, *map(len, columns)])
    bias = np.zeros(3, dtype=np.float32)
    judges = LabelClassifiers(
        {"begin": begin, "feature": feature, "weight": weight, "bias": bias}, MAP, (0, 0)
    )
    # One feature a row: those of the labels, their neighbours and others. It is looked up at the label.
    asked = np.concatenate([column[:300] for column in columns])
    asked = np.unique(np.concatenate([asked, asked + 1, asked - 1, rng.integers(0, n_features, 300)]))
    asked = asked[(asked >= 0) & (asked < n_features)]
    values = np.ones(len(asked), dtype=np.float32)
    X = sp.csr_matrix((values, (range(len(asked)), asked)), shape=(len(asked), n_features))
    known = [dict(zip(c, weight[b : b + len(c)], strict=True)) for c, b in zip(columns, begin, strict=False)]
    expected = [[of_label.get(f, 0.0) for of_label in known] for f in asked]
    np.testing.assert_array_equal(all_scores(judges, matrix_of(X)), np.array(expected, dtype=np.float32))


def test_dense_features_count() -> None:
    rng = np.random.default_rng(0)
    judges = random_classifiers(6, 30, 0.5, rng, n_dense=11)
    X = np.hstack([rng.normal(size=(9, 19)) * (rng.random((9, 19)) < 0.4), rng.normal(size=(9, 11))])
    features = matrix_of(X, n_dense=11)
    W = np.zeros((6, 30))
    for label in range(6):
        column, weight = judges.native(30).column(label)
        W[label, column] = weight
    np.testing.assert_allclose(all_scores(judges, features), X @ W.T + judges.arrays["bias"], rtol=1e-4)


@pytest.mark.parametrize("n_dense", [0, 3])
@pytest.mark.parametrize(("name", "tolerance"), [("bfloat16", 2**-8), ("int8", 1 / 127)])
def test_smaller_weights_score_nearly_the_same(name: str, tolerance: float, n_dense: int) -> None:
    rng = np.random.default_rng(2)
    judges = random_classifiers(8, 50, 0.4, rng, n_dense)
    X = rng.normal(size=(20, 50)) * (rng.random((20, 50)) < 0.3)
    features = matrix_of(X / np.linalg.norm(X, axis=1, keepdims=True), n_dense)
    small = judges.with_weight_type(name)
    assert small.weight_type == name
    assert small.nbytes < judges.nbytes
    largest = max(np.abs(judges.arrays["weight"]).max(), np.abs(judges.arrays.get("dense", [0])).max())
    difference = np.abs(all_scores(small, features) - all_scores(judges, features))
    assert difference.max() <= tolerance * largest * np.sqrt(50)  # rows have unit length
    again = small.with_weight_type("float32").with_weight_type(name)
    assert all(np.array_equal(again.arrays[key], values) for key, values in small.arrays.items())


@pytest.mark.parametrize("chunk", [1, 7, 1 << 20])
def test_int8_weights_are_steps_of_their_label(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(label_classifiers, "CHUNK", chunk)
    wide = random_classifiers(9, 40, 0.2, np.random.default_rng(3), n_dense=5)
    begin = wide.arrays["begin"].copy()
    begin[3] = begin[4]  # a label without weights between others
    wide.arrays["begin"] = begin
    small = wide.with_weight_type("int8").arrays
    for label in range(9):
        parts = {
            ("weight", "scale"): slice(begin[label], begin[label + 1]),
            ("dense", "dense_scale"): slice(5 * label, 5 * label + 5),
        }
        for (weight, scale), part in parts.items():
            values = wide.arrays[weight][part]
            step = max(np.abs(values).max(initial=0) / np.float32(127), np.finfo(np.float32).tiny)
            assert small[scale][label] == step
            np.testing.assert_array_equal(small[weight][part], np.rint(values / step).astype(np.int8))
    assert wide.with_weight_type("int8").with_weight_type("float32").weight_type == "float32"


def test_rounding_needs_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(label_classifiers, "CHUNK", 1 << 12)
    n_weights = 1_000_000
    arrays = {
        "begin": np.linspace(0, n_weights, 1001).astype(np.int64),
        "feature": np.zeros(n_weights, np.int32),
        "weight": np.linspace(-1, 1, n_weights, dtype=np.float32),
        "bias": np.zeros(1000, np.float32),
    }
    rounded = np.empty(n_weights, np.int8)
    tracemalloc.start()
    try:
        small = LabelClassifiers(arrays, MAP).with_weight_type("int8", lambda *_: rounded)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert small.arrays["weight"] is rounded
    assert most < n_weights / 2


def test_weights_that_int8_cannot_hold_are_refused() -> None:
    judges = random_classifiers(4, 10, 0.5, np.random.default_rng(0))
    label = 2
    judges.arrays["weight"][judges.arrays["begin"][label]] = np.inf
    with pytest.raises(ValueError, match=f"the classifier of label {label} has a weight that is not finite"):
        judges.with_weight_type("int8")


def test_neither_threads_nor_the_order_of_pairs_matter() -> None:
    rng = np.random.default_rng(3)
    judges = random_classifiers(40, 200, 0.3, rng)
    X = sp.random(400, 200, 0.05, "csr", dtype=np.float32, random_state=4)
    features = matrix_of(X)
    expected = all_scores(judges, features)
    np.testing.assert_array_equal(all_scores(judges, features, n_threads=3), expected)
    rows, labels = rng.integers(400, size=1000), rng.integers(40, size=1000)
    found = scores(judges, features, rows.tolist(), labels.tolist())
    np.testing.assert_array_equal(found, expected[rows, labels])


def test_the_order_of_the_features_of_a_row_does_not_matter() -> None:
    judges = random_classifiers(3, 30, 0.9, np.random.default_rng(5))
    row = np.arange(0, 30, 3), np.linspace(1, 2, 10, dtype=np.float32)
    matrices = []
    for order in (np.arange(10), np.arange(10)[::-1]):
        indices = row[0][order].astype(np.int64)
        matrices.append(
            _native.FeatureMatrix.csr(np.array([0, 10]), indices, row[1][order], 30, False, (0, 0))
        )
    np.testing.assert_array_equal(*(all_scores(judges, matrix) for matrix in matrices))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"begin": np.array([0, 2])}, "begin has the wrong length"),
        ({"begin": np.array([1, 2, 3])}, "begin does not span the features"),
        ({"begin": np.array([0, 2, 2])}, "begin does not span the features"),
        ({"begin": np.array([0, 4, 3])}, "begin decreases"),
        ({"begin": np.array([0, -1, 3])}, "begin decreases"),
        ({"weight": np.ones(2, np.float32)}, "not as many weights as features"),
        ({"weight": np.ones(3, np.float64)}, "weight has the wrong type or shape"),
        ({"weight": np.ones(3, np.int8)}, "number of scales does not fit"),
        ({"scale": np.ones(2, np.float32)}, "number of scales does not fit"),
        ({"bias": np.zeros(0, np.float32)}, "number of biases is out of range"),
        ({"feature": np.zeros(3, np.int64)}, "feature has the wrong type or shape"),
        ({"dense": np.zeros(4, np.float32)}, "weights of dense features does not fit"),
    ],
)
def test_arrays_that_contradict_each_other_are_refused(change: dict[str, Any], message: str) -> None:
    arrays = {
        "begin": np.array([0, 2, 3]),
        "feature": np.array([1, 4, 2], np.int32),
        "weight": np.ones(3, np.float32),
        "bias": np.zeros(2, np.float32),
    }
    _native.LabelColumns(arrays, 5, (0, 0))
    with pytest.raises(ModelFileError, match=message):
        _native.LabelColumns({**arrays, **change}, 5, (0, 0))


@pytest.mark.parametrize(
    ("feature", "message"),
    [
        ([1, 5, 2], "a feature is out of range"),
        ([-1, 4, 2], "a feature is out of range"),
        ([4, 1, 2], "features are not ascending"),
        ([1, 1, 2], "features are not ascending"),
    ],
)
def test_a_damaged_column_is_found_when_it_is_used(feature: list[int], message: str) -> None:
    arrays = {
        "begin": np.array([0, 2, 3]),
        "feature": np.array(feature, np.int32),
        "weight": np.ones(3, np.float32),
        "bias": np.zeros(2, np.float32),
    }
    judges = LabelClassifiers(arrays, MAP)
    features = matrix_of(np.ones((1, 5)))
    assert scores(judges, features, [0], [1]) == 1.0
    for use in (lambda: scores(judges, features, [0], [0]), lambda: judges.native(5).verify()):
        with pytest.raises(ModelFileError, match=f"label classifier 0: {message}"):
            use()


@pytest.mark.parametrize(
    ("rows", "labels", "message"),
    [
        ([0, 0], [0], "of one length"),
        ([1], [0], "a row is out of range"),
        ([-1], [0], "a row is out of range"),
        ([0], [2], "a label is out of range"),
        ([0], [-1], "a label is out of range"),
    ],
)
def test_pairs_that_do_not_exist_are_refused(rows: list[int], labels: list[int], message: str) -> None:
    judges = random_classifiers(2, 5, 0.5, np.random.default_rng(0))
    features = matrix_of(np.ones((1, 5)))
    with pytest.raises(ValueError, match=message):
        scores(judges, features, rows, labels)
