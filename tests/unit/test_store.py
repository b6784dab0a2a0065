"""`Store`: what it gives, and that it reads nothing that it need not."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.stores import random_rows, write_store

from labeltree import LabelTreeClassifier, OneVsRestClassifier, metrics
from labeltree.data import Store, StoreWriter
from labeltree.tuning import SearchSpace, tune

X, Y = random_rows()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return write_store(tmp_path / "rows", X, Y)


def saved(model: Any, path: Path) -> dict[str, bytes]:
    model.save(path)
    return {file.name: file.read_bytes() for file in path.iterdir()}


def test_matrices_are_those_that_were_written(store: Store) -> None:
    assert store.shape == X.shape
    assert (store.X != X).nnz == 0
    assert (store.y != Y).nnz == 0
    assert store.n_entries == X.nnz
    assert store.n_pairs == Y.nnz
    assert len(store) == X.shape[0]
    assert store.X.dtype == np.float32
    assert store.X.has_canonical_format
    store.verify()


def test_rows_are_taken_in_any_order(store: Store) -> None:
    rows = np.array([5, 3, 3, 59, 0])
    taken = store.take(rows)
    assert taken.shape == (5, X.shape[1])
    assert (taken.matrix() != X[rows]).nnz == 0
    assert (taken.labels.matrix() != Y[rows]).nnz == 0
    assert (taken.take([4, 0]).matrix() != X[rows[[4, 0]]]).nnz == 0
    assert (store.take(slice(7, 11)).matrix() != X[7:11]).nnz == 0
    assert (store.take(np.arange(60) % 2 == 0).matrix() != X[::2]).nnz == 0
    assert store.take([]).shape == (0, X.shape[1])
    with pytest.raises(ValueError, match=r"a mask of rows must have the shape \(60,\), got \(2,\)"):
        store.take([True, False])


@pytest.mark.parametrize("rows", [[60], [-1], [[1, 2]], [0.5]])
def test_rows_that_are_not_there_are_refused(store: Store, rows: Any) -> None:
    with pytest.raises(ValueError, match="rows must be"):
        store.take(rows)


def test_arrays_are_mapped_and_not_copied(store: Store) -> None:
    """The matrices, and what the kernel reads, are the files themselves."""
    for array in (store.X.indices, store.X.data, store.y.indices):
        while isinstance(array.base, np.ndarray):
            array = array.base
        assert isinstance(array, np.memmap) or type(array.base).__name__ == "mmap"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_opening_and_training_hold_no_copy_of_the_rows(tmp_path: Path) -> None:
    """Anonymous memory grows by far less than the size of indices and values."""
    n_rows, per_row = 20_000, 400
    with StoreWriter(tmp_path / "rows", n_features=per_row, n_labels=2) as writer:
        for _ in range(10):
            X = np.ones((n_rows // 10, per_row), dtype=np.float32)
            y = np.zeros((len(X), 2))
            y[::2, 0], y[1::2, 1] = 1, 1
            writer.append(X, y)
    program = f"""
from labeltree import LabelTreeClassifier
from labeltree.data import Store
def anonymous():
    lines = open("/proc/self/status").read().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(("RssAnon", "RssShmem")))
LabelTreeClassifier(max_iter=1, C=1.0).fit([[1.0], [0.0]], [[0], [1]])
before = anonymous()
store = Store({str(tmp_path / "rows")!r})
assert anonymous() - before < 1_000, "opening"
features = store.features(normalize=True)
assert anonymous() - before < 4_000, "reading"
print(store.n_bytes, store.take(range(10)).features(True).n_rows, features.n_rows)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[0]) > 60_000_000


@pytest.mark.parametrize(
    "make",
    [
        lambda: LabelTreeClassifier(random_state=0),
        lambda: LabelTreeClassifier(random_state=0, n_trees=2, C="auto", arity=3),
        lambda: OneVsRestClassifier(random_state=0),
    ],
)
def test_models_are_those_of_the_matrices_bit_for_bit(make: Any, store: Store, tmp_path: Path) -> None:
    assert saved(make().fit(store), tmp_path / "a") == saved(make().fit(X, Y), tmp_path / "b")


def test_every_question_takes_a_store(store: Store) -> None:
    model = LabelTreeClassifier(random_state=0).fit(X, Y)
    rows = np.arange(10, 30)
    some = store.take(rows)
    assert np.array_equal(model.predict_topk(some).probabilities, model.predict_topk(X[rows]).probabilities)
    assert (model.predict(store) != model.predict(X)).nnz == 0
    assert (model.predict_proba(store) != model.predict_proba(X)).nnz == 0
    decided = model.decide_for("micro_f1", store).decision_.summary()
    assert decided == model.decide_for("micro_f1", X, Y).decision_.summary()
    other = LabelTreeClassifier(random_state=0).fit(X, Y)
    probabilities = model.calibrate(store).predict_topk(X).probabilities
    assert np.array_equal(probabilities, other.calibrate(X, Y).predict_topk(X).probabilities)


def test_fit_for_and_more_trees_and_trees_without_training(store: Store) -> None:
    one, other = LabelTreeClassifier(random_state=0), LabelTreeClassifier(random_state=0)
    one.fit_for("micro_f1", store)
    other.fit_for("micro_f1", X, Y)
    assert one.decision_.summary() == other.decision_.summary()
    one.add_trees(store)
    other.add_trees(X, Y)
    assert [tree.to_json() for tree in one.trees_] == [tree.to_json() for tree in other.trees_]
    assert one.build_tree(store).to_json() == other.build_tree(X, Y).to_json()


def test_labels_of_another_store_are_compared_by_name(tmp_path: Path) -> None:
    with StoreWriter(tmp_path / "a", labels=["cat", "dog", "pet"]) as writer:
        writer.append(np.eye(3), [["cat", "pet"], ["dog", "pet"], ["pet"]])
    with StoreWriter(tmp_path / "b", labels=["bird", "dog"]) as writer:
        writer.append(np.eye(3)[:2], [["bird"], ["dog"]])
    model = LabelTreeClassifier(random_state=0).fit(Store(tmp_path / "a"))
    other = Store(tmp_path / "b")
    expected = LabelTreeClassifier(random_state=0).fit(Store(tmp_path / "a"))
    lists = [["bird"], ["dog"]]
    decided = model.decide_for("micro_f1", other).decision_.summary()
    assert decided == expected.decide_for("micro_f1", other.matrix(), lists).decision_.summary()


def test_a_search_for_parameters_takes_a_store(store: Store) -> None:
    space = SearchSpace(arity=(2, 4), max_leaves=(4,), prune=(0.1,), n_trees=(1,), C=(1.0,))
    settings: dict[str, Any] = {
        "budget": 60,
        "space": space,
        "estimator": LabelTreeClassifier(random_state=0),
    }
    one, other = tune(store, **settings), tune(X, Y, **settings)
    assert [trial.score for trial in one.trials] == [trial.score for trial in other.trials]
    valid = store.take(range(20))
    assert tune(store, None, valid, **settings).n_valid_rows == 20


def test_labels_of_texts_are_those_of_lists(tmp_path: Path) -> None:
    labels = [["b", 3], [10, "a"], [], ["é"]]
    with StoreWriter(tmp_path / "s", labels={label for row in labels for label in row}) as writer:
        writer.append(np.eye(4), labels)
    store = Store(tmp_path / "s")
    expected = LabelTreeClassifier(random_state=0).fit(np.eye(4), labels)
    model = LabelTreeClassifier(random_state=0).fit(store)
    assert model.classes_.tolist() == expected.classes_.tolist() == [3, 10, "a", "b", "é"]
    assert model.predict(np.eye(4)) == expected.predict(np.eye(4))
    store.verify()


def test_labels_that_are_all_integers_are_an_array_of_them(tmp_path: Path) -> None:
    with StoreWriter(tmp_path / "s", labels=[70, -3, 2**62]) as writer:
        writer.append(np.eye(2), [[70, -3, 70], [2**62]])
    store = Store(tmp_path / "s")
    assert store.classes.dtype == np.int64
    assert store.classes.tolist() == [-3, 70, 2**62]
    assert store.labels.indices.tolist() == [0, 1, 2]


def test_stores_are_pickled_by_their_path(store: Store) -> None:
    assert (pickle.loads(pickle.dumps(store)).X != X).nnz == 0
    assert len(pickle.dumps(store)) < 1000


def test_widths_are_compared(store: Store) -> None:
    model = LabelTreeClassifier(random_state=0).fit(X[:, :7], Y)
    with pytest.raises(
        ValueError, match="X has 20 features, but LabelTreeClassifier is expecting 7 features"
    ):
        model.predict(store)


def test_an_empty_store_can_be_opened_but_not_learned(tmp_path: Path) -> None:
    with StoreWriter(tmp_path / "s", n_features=3, n_labels=2):
        pass
    store = Store(tmp_path / "s")
    store.verify()
    assert store.shape == (0, 3)
    with pytest.raises(ValueError, match="at least 1 row"):
        LabelTreeClassifier().fit(store)
    assert LabelTreeClassifier().fit(np.eye(3), [[0], [1], [0]]).predict_topk(store).labels.shape == (0, 2)


def test_y_is_still_required_for_other_rows() -> None:
    with pytest.raises(ValueError, match="fit requires y to be passed"):
        LabelTreeClassifier().fit(X)


@pytest.mark.parametrize("names", [None, ["a", "b", "c"]])
def test_metrics_take_a_store_as_true_labels(names: list[str] | None, tmp_path: Path) -> None:
    y = np.array([[1, 0, 1], [0, 1, 0], [1, 0, 0], [0, 0, 0]])
    labels: list[Any] = [0, 1, 2] if names is None else names
    rows: Any = y if names is None else [[names[j] for j in np.flatnonzero(row)] for row in y]
    with StoreWriter(tmp_path / "s", labels=names) as writer:
        writer.append(np.ones((4, 2)), rows)
        writer.add_arrays({"filtered.rows": np.empty(0, np.int64), "filtered.labels": np.empty(0, np.int64)})
    store = Store(tmp_path / "s")
    ranking = [[labels[0], labels[1]]] * 4
    assert metrics.evaluate(store, ranking, (1, 2)) == metrics.evaluate(rows, ranking, (1, 2))
    some = store.take([1, 0])
    assert metrics.precision_at_k(some, ranking[:2], 1) == 0.5
    with pytest.raises(
        ValueError, match=r"y_pred must be a sparse matrix, a 2-d array or a list .* got Store"
    ):
        metrics.precision_at_k(rows, store, 1)


def test_metrics_do_not_count_what_a_filter_leaves_out(tmp_path: Path) -> None:
    with StoreWriter(tmp_path / "s") as writer:
        writer.append(np.ones((2, 2)), np.eye(2))
        writer.add_arrays({"filtered.rows": np.array([0]), "filtered.labels": np.array([1])})
    store = Store(tmp_path / "s")
    for rows in (store, store.take([1, 0])):
        with pytest.raises(
            ValueError, match=r"y_true is a store with pairs that do not count .*labeltree evaluate"
        ):
            metrics.evaluate(rows, [[0], [1]], (1,))
