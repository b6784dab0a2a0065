"""Training in parts, on disk or in memory, interrupted or not: always the same model, bit for bit."""

from __future__ import annotations

import errno
import os
import random
import re
import shutil
import signal
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from tests import engine_tasks
from tests.training_parts import (
    N_LABELS,
    N_ROWS,
    SHAPE,
    are_same,
    enough_gb,
)

import labeltree
from labeltree import LabelTreeClassifier
from labeltree.data import Store, StoreWriter
from labeltree.engines import InProcess
from labeltree.engines.schedule import Schedule
from labeltree.engines.shared_rows import publish_store
from labeltree.engines.worker_process import WorkerProcess
from labeltree.errors import DataFormatError, LabelTreeError
from labeltree.model_file import lock
from labeltree.training import block_tasks, division, linear_learner, memory_plan, shared_features
from labeltree.training.array_folder import ArrayWriter, map_arrays
from labeltree.training.ranges import ranges_of
from labeltree.trees import kmeans_tasks, label_vectors

pytestmark = [pytest.mark.native, pytest.mark.usefixtures("small_tasks")]


VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "balanced": {"tree": "kmeans"},
    "exact": {"tree": "exact_kmeans"},
    "both vectors": {"label_vectors": "both"},
    "two trees": {"n_trees": 2},
    "huffman": {"tree": "huffman"},
    "wide nodes": {"tree": "flat", "max_arity": 5},
    "logistic": {"loss": "logistic", "C": 1.0},
    "l1": {"penalty": "l1"},
    "adagrad": {"solver": "adagrad"},
    "joint": {"siblings": "joint", "loss": "logistic", "arity": 3, "max_leaves": 3},
    "weighted labels": {"label_weight": "propensity"},
    "rerank": {"rerank": 5},
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_memory_limit_does_not_change_the_model(
    variant: str, rows_in_parts: tuple[Any, Any], scratch: Path
) -> None:
    parameters = {**SHAPE, **VARIANTS[variant]}
    whole = LabelTreeClassifier(**parameters).fit(*rows_in_parts)
    limited = LabelTreeClassifier(memory_gb=enough_gb(), n_jobs=2, **parameters).fit(*rows_in_parts)
    assert are_same(whole, limited)
    rows = rows_in_parts[0][:20]
    assert np.array_equal(
        whole.predict_topk(rows, 3).probabilities, limited.predict_topk(rows, 3).probabilities
    )


@pytest.mark.parametrize("is_divided", [False, True])
def test_trees_share_their_label_vectors(
    is_divided: bool, rows_in_parts: tuple[Any, Any], scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    compute = label_vectors.vectors_in_range

    def counted(examples: Any, kind: str, *others: Any) -> Any:
        asked.append(kind)
        return compute(examples, kind, *others)

    monkeypatch.setattr(label_vectors, "vectors_in_range", counted)
    limit = {"memory_gb": enough_gb()} if is_divided else {}
    one = LabelTreeClassifier(**SHAPE, **limit).fit(*rows_in_parts)
    of_one = len(asked)
    three = LabelTreeClassifier(**SHAPE, **limit, n_trees=3).fit(*rows_in_parts)
    assert len(asked) == 2 * of_one > 0
    assert three.trees_[0] == one.trees_[0]
    assert len({tree.to_json() for tree in three.trees_}) == 3


@pytest.mark.parametrize("form", ["dense", "pair", "float64"])
def test_every_form_of_x_can_be_trained_in_parts(
    form: str, rows_in_parts: tuple[Any, Any], scratch: Path
) -> None:
    sparse, y = rows_in_parts
    dense = np.random.default_rng(0).standard_normal((N_ROWS, 4)).astype(np.float32)
    X: Any = {"dense": sparse[:, :40].toarray(), "pair": (sparse, dense), "float64": sparse.astype(float)}[
        form
    ]
    weight = np.linspace(0.5, 2, N_ROWS)
    whole = LabelTreeClassifier(**SHAPE).fit(X, y, weight)
    assert are_same(whole, LabelTreeClassifier(memory_gb=enough_gb(), **SHAPE).fit(X, y, weight))


def test_training_was_divided(
    rows_in_parts: tuple[Any, Any], scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranges: list[tuple[int, int]] = []
    train = block_tasks.blocks_in_range

    def watched(*arguments: Any) -> Any:
        ranges.append(arguments[6:8])
        return train(*arguments)

    monkeypatch.setattr(block_tasks, "blocks_in_range", watched)
    model = LabelTreeClassifier(memory_gb=enough_gb(), **SHAPE).fit(*rows_in_parts)
    assert len(ranges) > 3
    assert ranges[0][0] == 0
    assert ranges[-1][1] == len(model.tree_.inner_nodes) + 1
    assert all(before[1] == after[0] for before, after in pairwise(ranges))


def test_a_trained_model_outlives_its_temporary_files(
    rows_in_parts: tuple[Any, Any], scratch: Path, tmp_path: Path
) -> None:
    model = LabelTreeClassifier(memory_gb=enough_gb(), **SHAPE).fit(*rows_in_parts)
    assert list(scratch.iterdir()) == []
    model.save(tmp_path / "model")
    assert are_same(LabelTreeClassifier.load(tmp_path / "model"), model)
    assert "memory_gb" not in (tmp_path / "model" / "model.json").read_text()


class StoppedError(Exception):
    """What a test raises in the middle of a training."""


def test_a_training_resumes_from_its_finished_parts(
    rows_in_parts: tuple[Any, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = LabelTreeClassifier(**SHAPE).fit(*rows_in_parts)
    computed: list[tuple[int, int]] = []
    train, stop_at = block_tasks.blocks_in_range, [4]

    def watched(*arguments: Any) -> Any:
        if len(computed) == stop_at[0]:
            raise StoppedError
        computed.append(arguments[6:8])
        return train(*arguments)

    monkeypatch.setattr(block_tasks, "blocks_in_range", watched)
    model = LabelTreeClassifier(checkpoint=tmp_path / "run", **SHAPE)
    with pytest.raises(StoppedError):
        model.fit(*rows_in_parts)
    assert not hasattr(model, "classes_")
    first, stop_at[0] = list(computed), 10**9
    model.fit(*rows_in_parts)
    assert are_same(whole, model)
    assert len(set(computed)) == len(computed) > len(first)  # nothing was computed twice


@pytest.mark.parametrize("n_trees", [1, 2])
def test_the_choice_of_c_and_the_calibration_are_parts(
    rows_in_parts: tuple[Any, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_trees: int
) -> None:
    settings = {**SHAPE, "C": "auto", "n_trees": n_trees}
    whole = LabelTreeClassifier(**settings).fit(*rows_in_parts)
    assert whole.C_scores_ is not None

    def fail(*arguments: Any) -> Any:
        raise StoppedError

    model = LabelTreeClassifier(checkpoint=tmp_path / "run", **settings)
    with monkeypatch.context() as patch:
        patch.setattr(block_tasks, "blocks_in_range", fail)
        with pytest.raises(StoppedError):
            model.fit(*rows_in_parts)
    with monkeypatch.context() as patch:
        patch.setattr(linear_learner, "choose_c", fail)
        if n_trees == 1:  # a second tree has maps of its own
            patch.setattr(linear_learner, "level_maps_of_trial", fail)
        model.fit(*rows_in_parts)
    assert are_same(whole, model)
    assert model.C_ == whole.C_
    np.testing.assert_equal(model.C_scores_, whole.C_scores_)
    for found, expected in zip(model.calibration_.trees, whole.calibration_.trees, strict=True):
        np.testing.assert_equal(dict(found), dict(expected))


def test_a_trial_without_a_result_is_a_part(rows_in_parts: tuple[Any, Any], tmp_path: Path) -> None:
    """Too few pairs to choose C or to calibrate by: nothing is kept, and that is known the next time."""
    X, y = rows_in_parts
    once = csr_matrix(([1.0], ([0], [0])), shape=y.shape)
    settings = {**SHAPE, "C": "auto", "frequent_share": 0.0}
    whole = LabelTreeClassifier(**settings).fit(X, once)
    for _ in range(2):
        model = LabelTreeClassifier(checkpoint=tmp_path / "run", **settings).fit(X, once)
        assert are_same(whole, model)
        assert (model.C_, model.C_scores_) == (whole.C_, whole.C_scores_)


@pytest.mark.parametrize(
    ("resource", "advice"),
    [("memory_gb", "set TMPDIR to a directory on a larger disk"), ("checkpoint", "train again to resume")],
)
def test_a_full_disk_is_named(
    rows_in_parts: tuple[Any, Any],
    scratch: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    resource: str,
    advice: str,
) -> None:
    value = enough_gb() if resource == "memory_gb" else tmp_path / "run"
    model = LabelTreeClassifier(**{resource: value}, **SHAPE)

    def full(*arguments: Any) -> Any:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(block_tasks, "blocks_in_range", full)
        with pytest.raises(
            OSError, match=f"No space left on device for the parts of a training: .*{advice}"
        ) as raised:
            model.fit(*rows_in_parts)
    expected = scratch if resource == "memory_gb" else tmp_path / "run"
    assert (raised.value.errno, raised.value.filename) == (errno.ENOSPC, str(expected))
    assert list(scratch.iterdir()) == []
    assert are_same(model.fit(*rows_in_parts), LabelTreeClassifier(**SHAPE).fit(*rows_in_parts))


def test_another_engine_finishes_a_training(
    rows_in_parts: tuple[Any, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = LabelTreeClassifier(**SHAPE).fit(*rows_in_parts)
    model = LabelTreeClassifier(checkpoint=tmp_path / "run", **SHAPE).fit(*rows_in_parts)
    assert are_same(whole, model)

    def fail(*arguments: Any) -> Any:
        raise StoppedError

    monkeypatch.setattr(block_tasks, "blocks_in_range", fail)
    monkeypatch.setattr(kmeans_tasks, "top_of_tree", fail)
    monkeypatch.setattr(kmeans_tasks, "subtrees_in_range", fail)
    with labeltree.engine("pool", n_workers=2):
        assert are_same(whole, model.fit(*rows_in_parts))  # every part was there


def test_a_checkpoint_of_another_training_is_refused(rows_in_parts: tuple[Any, Any], tmp_path: Path) -> None:
    X, y = rows_in_parts
    LabelTreeClassifier(checkpoint=tmp_path / "run", **SHAPE).fit(X, y)
    with pytest.raises(ValueError, match="belongs to another run, with arity=6 instead of 7"):
        LabelTreeClassifier(checkpoint=tmp_path / "run", **{**SHAPE, "arity": 7}).fit(X, y)
    with pytest.raises(ValueError, match="belongs to another run, with another X"):
        LabelTreeClassifier(checkpoint=tmp_path / "run", **SHAPE).fit(2 * X.tocsc()[:, ::-1].tocsr(), y)
    # What only changes speed or answers may change.
    LabelTreeClassifier(checkpoint=tmp_path / "run", n_jobs=2, beam=3, **SHAPE).fit(X, y)


def test_a_checkpoint_names_the_directory_to_choose(rows_in_parts: tuple[Any, Any], tmp_path: Path) -> None:
    run, used, file = tmp_path / "run", tmp_path / "used", tmp_path / "file"
    LabelTreeClassifier(checkpoint=run, **SHAPE).fit(*rows_in_parts)
    with pytest.raises(ValueError, match=rf"checkpoint: {re.escape(str(run))} belongs to another run"):
        LabelTreeClassifier(checkpoint=run, **{**SHAPE, "random_state": 4}).fit(*rows_in_parts)
    used.mkdir()
    (used / "thesis.txt").touch()
    with pytest.raises(ValueError, match=r"used has files, but no run.json: it is not a checkpoint"):
        LabelTreeClassifier(checkpoint=used, **SHAPE).fit(*rows_in_parts)
    assert [path.name for path in used.iterdir()] == ["thesis.txt"]
    file.touch()
    with pytest.raises(ValueError, match="file is not a directory; choose another name"):
        LabelTreeClassifier(checkpoint=file, **SHAPE).fit(*rows_in_parts)


def test_two_trainings_do_not_share_a_checkpoint(
    rows_in_parts: tuple[Any, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock.ModelLock.__init__, "__defaults__", (0.0,))
    with (
        lock.ModelLock(tmp_path / "run", "trains with this checkpoint"),
        pytest.raises(ValueError, match="trains with this checkpoint; wait until it is done"),
    ):
        LabelTreeClassifier(checkpoint=tmp_path / "run", **SHAPE).fit(*rows_in_parts)
    assert not (tmp_path / "run").exists()


def test_a_limited_training_resumes_when_the_process_has_another_size(
    rows_in_parts: tuple[Any, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(division, "ENTRIES_OF_BLOCKS", 1e9)
    monkeypatch.setattr(division, "TASK_BYTES_PER_ENTRY", 10_000)  # the limit decides about the division
    monkeypatch.setattr(memory_plan, "own_memory", lambda: 100_000_000)
    limited = LabelTreeClassifier(checkpoint=tmp_path / "run", memory_gb=0.2, **SHAPE).fit(*rows_in_parts)
    parts = sorted(path.stat().st_ino for path in tmp_path.rglob("chunk-*"))
    monkeypatch.setattr(memory_plan, "own_memory", lambda: 107_654_321)
    assert are_same(
        limited, LabelTreeClassifier(checkpoint=tmp_path / "run", memory_gb=0.2, **SHAPE).fit(*rows_in_parts)
    )
    assert are_same(limited, LabelTreeClassifier(checkpoint=tmp_path / "run", **SHAPE).fit(*rows_in_parts))
    assert (
        sorted(path.stat().st_ino for path in tmp_path.rglob("chunk-*")) == parts
    )  # nothing was computed again
    LabelTreeClassifier(checkpoint=tmp_path / "large", **SHAPE).fit(*rows_in_parts)
    with pytest.raises(ValueError, match=r"may use 4.8 GB each, but memory_gb leaves only 0.1 GB now"):
        LabelTreeClassifier(checkpoint=tmp_path / "large", memory_gb=0.2, **SHAPE).fit(*rows_in_parts)


def test_more_memory_than_there_can_be_is_no_limit(rows_in_parts: tuple[Any, Any], scratch: Path) -> None:
    whole = LabelTreeClassifier(**SHAPE).fit(*rows_in_parts)
    assert are_same(whole, LabelTreeClassifier(memory_gb=1e300, **SHAPE).fit(*rows_in_parts))


def test_what_cannot_be_limited_is_refused(rows_in_parts: tuple[Any, Any]) -> None:
    with pytest.raises(ValueError, match="memory_gb limits the training of linear classifiers only"):
        LabelTreeClassifier(memory_gb=1.0, node_estimator=LogisticRegression()).fit(*rows_in_parts)
    with pytest.raises(ValueError, match="checkpoint needs an integer for random_state"):
        LabelTreeClassifier(checkpoint="run").fit(*rows_in_parts)


def test_ranges_cover_all_items_and_are_not_too_expensive() -> None:
    cost = np.random.default_rng(0).integers(1, 50, size=1000)
    ranges = ranges_of(cost, 120)
    assert [first for first, _ in ranges] == [0, *(last for _, last in ranges[:-1])]
    assert ranges[-1][1] == 1000
    assert all(cost[first:last].sum() <= 120 for first, last in ranges)
    assert all(cost[a[0] : b[1]].sum() > 60 for a, b in pairwise(ranges))


def test_a_failed_writer_leaves_nothing(tmp_path: Path) -> None:
    def write(*pieces: Any) -> None:
        with ArrayWriter(tmp_path) as writer:
            for piece in pieces:
                writer.append({"a": piece})

    with pytest.raises(ValueError, match="must be of type int64, got one of float64"):
        write(np.arange(3), np.arange(3.0))
    assert list(tmp_path.iterdir()) == []
    (tmp_path / ".a.0123abcd.tmp").touch()  # of a process that was killed
    write(np.arange(3), np.empty(0, dtype=np.int64), np.arange(2))
    assert map_arrays(tmp_path)["a"].tolist() == [0, 1, 2, 0, 1]
    assert [path.name for path in tmp_path.iterdir()] == ["a.npy"]


@pytest.mark.parametrize("variant", ["default", "balanced", "two trees", "rerank"])
def test_processes_train_the_same_model(variant: str, rows_in_parts: tuple[Any, Any], scratch: Path) -> None:
    parameters = {**SHAPE, **VARIANTS[variant]}
    whole = LabelTreeClassifier(**parameters).fit(*rows_in_parts)
    with labeltree.engine("pool", n_workers=2):
        assert are_same(whole, LabelTreeClassifier(n_jobs=2, **parameters).fit(*rows_in_parts))


def test_processes_map_a_store(rows_in_parts: tuple[Any, Any], scratch: Path, tmp_path: Path) -> None:
    with StoreWriter(tmp_path / "store", n_labels=N_LABELS) as writer:
        writer.append(*rows_in_parts)
    store = Store(tmp_path / "store")
    whole = LabelTreeClassifier(**SHAPE).fit(*rows_in_parts)
    rows = np.arange(0, N_ROWS, 2)
    some = LabelTreeClassifier(**SHAPE).fit(rows_in_parts[0][rows], rows_in_parts[1][rows])
    with labeltree.engine("pool", n_workers=2):
        assert are_same(whole, LabelTreeClassifier(**SHAPE).fit(store))
        assert are_same(some, LabelTreeClassifier(**SHAPE).fit(store.take(rows)))


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="kills processes")
def test_workers_that_are_killed_at_random_moments(
    rows_in_parts: tuple[Any, Any], scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, n_lost = random.Random(0), 0
    killers: list[threading.Timer] = []
    give, return_task = WorkerProcess.give, Schedule.return_task

    def deadly_give(worker: WorkerProcess, *arguments: Any) -> None:
        give(worker, *arguments)
        if len(killers) < 5 and rng.random() < 0.4:
            killers.append(threading.Timer(rng.choice([0.0, 0.005, 0.05]), engine_tasks.kill, [worker.pid]))
            killers[-1].start()

    def counted(*arguments: Any) -> None:
        nonlocal n_lost
        n_lost += 1
        return_task(*arguments)

    monkeypatch.setattr(WorkerProcess, "give", deadly_give)
    monkeypatch.setattr(Schedule, "return_task", counted)
    with labeltree.engine("pool", n_workers=2, max_retries=10):
        model = LabelTreeClassifier(**SHAPE).fit(*rows_in_parts)
        for killer in killers:
            killer.join()
    assert are_same(LabelTreeClassifier(**SHAPE).fit(*rows_in_parts), model)
    assert len(killers) == 5
    assert n_lost > 0


def test_a_worker_does_not_take_old_files_for_new_ones(
    rows_in_parts: tuple[Any, Any], scratch: Path, tmp_path: Path
) -> None:
    """Other examples of the same shape, in files of the same names, are trained by the same worker."""
    X, y = rows_in_parts
    other = X.tocsc()[:, ::-1].tocsr().sorted_indices()
    with labeltree.engine("pool", n_workers=1):
        for rows in (X, other):
            model = LabelTreeClassifier(checkpoint=tmp_path / "run", **SHAPE).fit(rows, y)
            shutil.rmtree(tmp_path / "run")
            with StoreWriter(tmp_path / "store", n_labels=N_LABELS, overwrite=True) as writer:
                writer.append(rows, y)
            stored = LabelTreeClassifier(**SHAPE).fit(Store(tmp_path / "store"))
            expected = LabelTreeClassifier(**SHAPE)
            with labeltree.engine(InProcess()):
                expected.fit(rows, y)
            assert are_same(expected, model)
            assert are_same(expected, stored)


def test_a_store_that_is_replaced_while_it_is_trained_on(
    rows_in_parts: tuple[Any, Any], scratch: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = rows_in_parts
    for name, rows in (("store", X), ("other", X[::-1])):
        with StoreWriter(tmp_path / name, n_labels=N_LABELS) as writer:
            writer.append(rows, y)
    store = Store(tmp_path / "store")

    def published(store: Any, engine: Any) -> Any:
        place = publish_store(store, engine)
        shutil.rmtree(store.directory)
        shutil.copytree(tmp_path / "other", store.directory)
        return place

    monkeypatch.setattr(shared_features, "publish_store", published)
    with (
        labeltree.engine("pool", n_workers=1),
        pytest.raises(LabelTreeError, match=r"store.* was changed while tasks needed it: run them again"),
    ):
        LabelTreeClassifier(**SHAPE).fit(store)


def test_a_store_that_was_replaced_after_it_was_opened(
    rows_in_parts: tuple[Any, Any], scratch: Path, tmp_path: Path
) -> None:
    """The program has the labels of the old store, and workers would read the rows of the new one."""
    X, y = rows_in_parts
    for rows in (X, X[::-1]):
        with StoreWriter(tmp_path / "store", n_labels=N_LABELS, overwrite=True) as writer:
            writer.append(rows, y)
        if rows is X:
            store = Store(tmp_path / "store")
    for given in (store, store.take(slice(0, 900))):
        with (
            labeltree.engine("pool", n_workers=1),
            pytest.raises(
                DataFormatError, match=r"store: the store was replaced after it was opened: open it"
            ),
        ):
            LabelTreeClassifier(**SHAPE).fit(given)
