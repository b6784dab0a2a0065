"""make_extreme: what the data look like, that they are the same every time, and that they can be learned."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from tests.reference.extreme_rows import Twin

from labeltree import LabelTreeClassifier
from labeltree.datasets import ExtremeMatrices, make_extreme
from labeltree.datasets.extreme import rows
from labeltree.metrics import precision_at_k
from labeltree.trees import LabelTree


@pytest.fixture(scope="module")
def data() -> ExtremeMatrices:
    return make_extreme(3_000, random_state=0)


def same(first: csr_matrix, second: csr_matrix) -> bool:
    return (
        first.shape == second.shape
        and np.array_equal(first.indptr, second.indptr)
        and np.array_equal(first.indices, second.indices)
        and np.array_equal(first.data, second.data)
    )


def test_matrices(data: ExtremeMatrices) -> None:
    assert data.X_train.shape == (2196, 9092)
    assert data.y_train.shape == (2196, 3000)
    assert data.X_test.shape == (1000, 9092)
    assert data.y_test.shape == (1000, 3000)
    for X, y in ((data.X_train, data.y_train), (data.X_test, data.y_test)):
        assert X.dtype == y.dtype == np.float32
        assert X.has_canonical_format
        assert y.has_canonical_format
        assert (y.data == 1).all()
        assert (X.data > 0).all()
        np.testing.assert_allclose(np.sqrt(X.multiply(X).sum(axis=1)), 1, atol=1e-4)
        assert np.diff(y.indptr).min() >= 1
        assert np.diff(y.indptr).mean() == pytest.approx(4.9, rel=0.03)
        assert np.diff(X.indptr).mean() == pytest.approx(90, rel=0.03)
        assert np.diff(X.indptr).std() == pytest.approx(90 * 0.42, rel=0.1)


@pytest.mark.parametrize(
    ("n_labels", "arity", "noise", "exponent"), [(70, 4, 0.3, 1.0), (64, 8, 0.0, 0.5), (9, 50, 1.0, 0.0)]
)
def test_rows_like_the_twin(n_labels: int, arity: int, noise: float, exponent: float) -> None:
    sizes: dict[str, Any] = {"n_labels": n_labels, "n_features": 300}
    settings: dict[str, Any] = {
        "labels_per_row": 3.5, "features_per_row": 20, "exponent": exponent, "arity": arity, "noise": noise,
    }  # fmt: skip
    made = make_extreme(**sizes, n_rows=60, n_test=20, **settings, random_state=7)
    twin = Twin(**sizes, **settings, seed=np.random.RandomState(7).randint(2**31 - 1))
    for part, (X, y) in enumerate(((made.X_train, made.y_train), (made.X_test, made.y_test))):
        for i in range(X.shape[0]):
            labels, features = twin.row(part, i)
            assert y[i].indices.tolist() == labels
            assert X[i].indices.tolist() == list(features)
            np.testing.assert_array_equal(X[i].data, np.array(list(features.values()), dtype=np.float32))
    leaves = made.hierarchy.label[made.hierarchy.label >= 0]
    assert leaves.tolist() == twin.label_at


def test_labels_are_a_power_law() -> None:
    for exponent in (0.5, 0.9):
        y = make_extreme(3_000, 60_000, 0, exponent=exponent, features_per_row=1, random_state=0).y_train
        counts = np.sort(np.bincount(y.indices, minlength=3_000))[::-1]
        ranks = np.arange(1, 3_001)
        expected = ranks**-exponent * (y.nnz / (ranks**-exponent).sum())
        # The very first are in fewer rows, because a row has a label only once.
        for rank in (30, 100, 300, 1_000, 2_000):
            assert counts[rank - 1] == pytest.approx(expected[rank - 1], rel=0.15)


def test_words_are_zipfs_law() -> None:
    """Of words without a topic, the r-th is drawn with a probability as 1 / (r + 2)."""
    n = 20_000
    X = make_extreme(50, n, 0, 1_000, features_per_row=1, noise=1, random_state=0).X_train
    frequency = np.sort(np.bincount(X.indices, minlength=1_000))[::-1] / X.nnz
    probability = np.diff(np.log(np.arange(1_001) + 2)) / np.log(1 + 1_000 / 2)
    np.testing.assert_allclose(frequency[:20], probability[:20], rtol=0.1)
    assert frequency[:500].sum() == pytest.approx(probability[:500].sum(), rel=0.02)


def test_rare_words_weigh_more(data: ExtremeMatrices) -> None:
    X = data.X_train
    frequency = np.bincount(X.indices, minlength=X.shape[1])
    common, rare = frequency > 0.25 * X.shape[0], frequency < 0.01 * X.shape[0]
    assert 20 < common.sum() < 100
    assert rare.sum() > 0.75 * X.shape[1]
    assert X.data[rare[X.indices]].mean() > 2.5 * X.data[common[X.indices]].mean()


def test_labels_of_a_row_are_near_each_other(data: ExtremeMatrices) -> None:
    group = data.hierarchy.parent[data.hierarchy.leaf_of_label]
    y = data.y_train
    together = pairs = 0
    for i in range(y.shape[0]):
        groups = group[y.indices[y.indptr[i] : y.indptr[i + 1]]]
        together += int((groups[:, None] == groups).sum()) - len(groups)
        pairs += len(groups) * (len(groups) - 1)
    assert 0.35 < together / pairs < 0.65  # of labels drawn alone, 8 in 3,000 would be


def test_labels_near_each_other_share_words(data: ExtremeMatrices) -> None:
    seen = np.flatnonzero(np.bincount(data.y_train.indices, minlength=3_000) >= 5)
    vectors = (data.y_train[:, seen].T @ data.X_train).tocsr()
    vectors = vectors.multiply(1 / np.sqrt(vectors.multiply(vectors).sum(axis=1))).tocsr()
    likeness = (vectors @ vectors.T).toarray()
    group = data.hierarchy.parent[data.hierarchy.leaf_of_label[seen]]
    siblings = group[:, None] == group
    strangers = ~siblings
    np.fill_diagonal(siblings, False)
    assert likeness[siblings].mean() > 2 * likeness[strangers].mean()


@pytest.mark.parametrize(
    ("n_labels", "arity", "shape"), [(5, 8, [5]), (8, 8, [8]), (9, 8, [2, 9]), (30, 3, [2, 4, 10, 30])]
)
def test_hierarchy(n_labels: int, arity: int, shape: list[int]) -> None:
    tree = make_extreme(n_labels, n_rows=1, labels_per_row=2, arity=arity, random_state=0).hierarchy
    assert np.bincount(tree.depth_of_node).tolist() == [1, *shape]
    assert tree.arity <= arity
    assert sorted(tree.label[tree.label >= 0]) == list(range(n_labels))


def test_same_seed_same_data(data: ExtremeMatrices) -> None:
    again = make_extreme(3_000, random_state=np.random.RandomState(0))
    assert all(same(first, second) for first, second in zip(data[:4], again[:4], strict=True))
    assert again.hierarchy == data.hierarchy
    other = make_extreme(3_000, random_state=1)
    assert not any(same(first, second) for first, second in zip(data[:4], other[:4], strict=True))
    assert other.hierarchy != data.hierarchy


@pytest.mark.parametrize("entries", [1, 3_000])
def test_blocks_do_not_matter(entries: int, data: ExtremeMatrices, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "_BLOCK_ENTRIES", entries)
    part = make_extreme(3_000, 200, 0, random_state=0)
    assert same(part.X_train, data.X_train[:200])
    assert same(part.y_train, data.y_train[:200])


def test_train_and_test_are_different_rows(data: ExtremeMatrices) -> None:
    assert not same(data.y_train[:100], data.y_test[:100])


def test_learnable(data: ExtremeMatrices) -> None:
    """As hard as real data: k-means finds a tree that is far better than chance, and the tail is hard."""
    balanced = LabelTreeClassifier(tree="kmeans", arity=32, max_leaves=100, random_state=0)
    model = balanced.fit(data.X_train, data.y_train)
    found = model.predict_topk(data.X_test).labels
    assert 0.65 < precision_at_k(data.y_test, found, k=1) < 0.85
    assert 0.35 < precision_at_k(data.y_test, found, k=5) < 0.55

    shuffled = np.array(model.tree_.label)
    shuffled[shuffled >= 0] = np.random.default_rng(0).permutation(3_000)
    chance = LabelTree(model.tree_.child_begin, shuffled)
    random = LabelTreeClassifier(tree=chance, random_state=0).fit(data.X_train, data.y_train)
    without_tree = random.predict_topk(data.X_test).labels
    for k in (1, 5):
        better = precision_at_k(data.y_test, found, k=k) - precision_at_k(data.y_test, without_tree, k=k)
        assert better > 0.05

    counts = np.bincount(data.y_train.indices, minlength=3_000)
    most_frequent = np.tile(np.argsort(-counts)[:5], (1_000, 1))
    assert precision_at_k(data.y_test, most_frequent, k=1) < 0.1

    owner = np.repeat(np.arange(1_000), np.diff(data.y_test.indptr))
    is_found = (found[owner] == data.y_test.indices[:, None]).any(axis=1)
    is_tail = counts[data.y_test.indices] <= 2
    assert is_found[is_tail].mean() < 0.6 * is_found[~is_tail].mean()


def test_noise_makes_it_harder() -> None:
    precision = []
    for noise in (0.2, 0.5, 0.8, 1.0):
        X, y, X_test, y_test, _ = make_extreme(1_000, noise=noise, random_state=0)
        model = LabelTreeClassifier(random_state=0).fit(X, y)
        precision.append(precision_at_k(y_test, model.predict_topk(X_test).labels, k=1))
    assert all(np.diff(precision) < -0.1)
    assert precision[-1] < 0.05


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_labels": 1}, "n_labels must be an integer of at least 2"),
        ({"n_labels": 1e6}, "n_labels must be an integer"),
        ({"n_rows": 0}, "n_rows must be an integer of at least 1"),
        ({"n_test": -1}, "n_test must be an integer of at least 0"),
        ({"n_features": 0}, "n_features must be an integer of at least 1"),
        ({"labels_per_row": 0.5}, "labels_per_row must be a finite number of at least 1 and at most 100, got 0.5"),
        ({"labels_per_row": 101}, "labels_per_row must be a finite number of at least 1 and at most 100, got 101"),
        ({"n_features": 50}, "features_per_row must be a finite number of at least 1 and at most 50, got 90.0"),
        ({"features_per_row": np.nan}, "features_per_row must be a finite number"),
        ({"exponent": -1}, "exponent must be a finite number of at least 0 and at most 10, got -1"),
        ({"arity": 1}, "arity must be an integer of at least 2"),
        ({"noise": 1.5}, "noise must be a finite number of at least 0 and at most 1, got 1.5"),
        ({"noise": "much"}, "noise must be a finite number of at least 0 and at most 1, got 'much'"),
        ({"random_state": "seed"}, "'seed' cannot be used to seed"),
    ],
)  # fmt: skip
def test_wrong_parameters(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_extreme(**{"n_labels": 100, **wrong})
