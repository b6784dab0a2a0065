"""`StoreWriter`: batches of any size and form, errors, and going on after an interruption."""

from __future__ import annotations

import errno
import json
import os
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_matrix, csc_matrix, csr_matrix
from tests.stores import files_of, random_rows, write_store

from labeltree.data import DataFormatError, Store, StoreWriter
from labeltree.data.store import unfinished
from labeltree.data.store import writer as writer_module
from labeltree.data.store.array_file import ArrayFile
from labeltree.data.store.progress_file import job_hash

X, Y = random_rows()
JOB = {"rows": "random"}


@settings(max_examples=20)  # each syncs twenty files
@given(st.lists(st.integers(0, 60), max_size=6))
def test_batches_do_not_matter(tmp_path_factory: pytest.TempPathFactory, cuts: list[int]) -> None:
    folder = tmp_path_factory.mktemp("stores")
    whole = write_store(folder / "whole", X, Y, batch=1000, job=JOB)
    places = [0, *sorted(cuts), 60]
    with StoreWriter(folder / "parts", n_features=20, n_labels=9, job=JOB) as writer:
        for begin, end in pairwise(places):
            writer.append(X[begin:end], Y[begin:end])
    assert files_of(folder / "parts") == files_of(whole.path)


@pytest.mark.parametrize("form", [csc_matrix, coo_matrix, lambda rows: rows.toarray().tolist()])
def test_rows_in_any_form(form: Any, tmp_path: Path) -> None:
    with StoreWriter(tmp_path / "s") as writer:
        writer.append(form(X), form(Y))
    assert (Store(tmp_path / "s").X != X).nnz == 0
    assert (Store(tmp_path / "s").y != Y).nnz == 0


def test_duplicates_are_summed_and_columns_sorted(tmp_path: Path) -> None:
    rows = csr_matrix((np.array([1.0, 2.0, 4.0]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3))
    with StoreWriter(tmp_path / "s") as writer:
        writer.append(rows, [[1, 0]])
    assert Store(tmp_path / "s").X.indices.tolist() == [0, 2]
    assert Store(tmp_path / "s").X.data.tolist() == [2, 5]


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1.0, np.nan]], [[1, 0]], "expected finite float32 numbers, got nan as feature 1"),
        ([[1e300, 0]], [[1, 0]], "expected finite float32 numbers, got inf as feature 0"),
        ([[0, 0, 0, 1]], [[1, 0]], "at most 3 features, as the store has, got number 3"),
        ([[1]], [[0, 0, 1]], "at most 2 labels, as the store has, got number 2"),
        ([[1]], [[2, 0]], "0 and 1 only"),
        ([[1], [1]], [[1, 0]], "the same number of rows, got 2 and 1"),
    ],
)
def test_wrong_rows_are_refused_and_nothing_is_written_of_them(
    tmp_path: Path, X: Any, y: Any, message: str
) -> None:
    with StoreWriter(tmp_path / "s", n_features=3, n_labels=2) as writer:
        writer.append([[1]], [[1, 0]])
        with pytest.raises(ValueError, match=message):
            writer.append(X, y)
        writer.append([[0, 1]], [[0, 1]])
    store = Store(tmp_path / "s")
    store.verify()
    assert store.X.toarray().tolist() == [[1, 0, 0], [0, 1, 0]]


def test_unknown_labels_and_labels_of_other_kinds_are_refused(tmp_path: Path) -> None:
    with (
        StoreWriter(tmp_path / "s", labels=["cat"]) as writer,
        pytest.raises(ValueError, match="'dog' is not"),
    ):
        writer.append([[1]], [["dog"]])
    with pytest.raises(ValueError, match=r"strings or integers, got 1\.5"):
        StoreWriter(tmp_path / "t", labels=["cat", 1.5])
    with pytest.raises(ValueError, match="fit into 64 bits"):
        StoreWriter(tmp_path / "u", labels=[2**70])


def test_a_store_exists_only_once_it_is_complete(tmp_path: Path) -> None:
    with StoreWriter(tmp_path / "s") as writer:
        writer.append(X, Y)
        with pytest.raises(
            DataFormatError, match="the store is not complete: run the command that writes it again"
        ):
            Store(tmp_path / "s")
    Store(tmp_path / "s").verify()
    assert not (tmp_path / "s" / "unfinished.json").exists()


def test_another_writer_waits_or_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labeltree.model_file.lock.WAIT_SECONDS", 0.0)
    monkeypatch.setattr(writer_module.ModelLock.__init__, "__defaults__", (0.0,))
    with StoreWriter(tmp_path / "s"), pytest.raises(DataFormatError, match="writes this store"):
        StoreWriter(tmp_path / "s")


def interrupted(path: Path, n_batches: int) -> None:
    """Write some batches of 10 rows, and fail."""

    def write() -> None:
        with StoreWriter(path, job=JOB, n_features=20, n_labels=9) as writer:
            for number in range(n_batches):
                rows = slice(10 * number, 10 * number + 10)
                writer.append(X[rows], Y[rows], {"batch": number})
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()


def test_a_writer_of_the_same_job_resumes(tmp_path: Path) -> None:
    whole = write_store(tmp_path / "whole", X, Y, job=JOB)
    interrupted(tmp_path / "s", 3)
    with StoreWriter(tmp_path / "s", job=JOB, n_features=20, n_labels=9) as writer:
        assert writer.n_rows == 30
        assert writer.note == {"batch": 2}
        writer.append(X[30:], Y[30:])
    assert files_of(tmp_path / "s") == files_of(whole.path)


def test_what_is_behind_the_last_checkpoint_is_cut_off(tmp_path: Path) -> None:
    whole = write_store(tmp_path / "whole", X, Y, job=JOB)
    interrupted(tmp_path / "s", 2)
    for name in ("features.indices.bin", "features.values.bin", "labels.indptr.bin"):
        with (tmp_path / "s" / name).open("ab") as file:
            file.write(b"half of an item")
    with StoreWriter(tmp_path / "s", job=JOB, n_features=20, n_labels=9) as writer:
        writer.append(X[writer.n_rows :], Y[writer.n_rows :])
    assert files_of(tmp_path / "s") == files_of(whole.path)


def test_other_jobs_do_not_resume(tmp_path: Path) -> None:
    interrupted(tmp_path / "s", 2)
    for job in ({"rows": "others"}, None):
        with pytest.raises(FileExistsError, match="unfinished store of other files or other options"):
            StoreWriter(tmp_path / "s", job=job)
    with StoreWriter(tmp_path / "s", job={"rows": "others"}, overwrite=True) as writer:
        assert writer.n_rows == 0


def test_a_damaged_unfinished_store_is_not_resumed(tmp_path: Path) -> None:
    interrupted(tmp_path / "s", 2)
    values = tmp_path / "s" / "features.values.bin"
    values.write_bytes(values.read_bytes()[:-4])
    with pytest.raises(DataFormatError, match=r"expected .* bytes in features.values.bin, got"):
        StoreWriter(tmp_path / "s", job=JOB)
    values.unlink()
    with pytest.raises(DataFormatError, match="got 0; start again with --overwrite"):
        StoreWriter(tmp_path / "s", job=JOB)
    (tmp_path / "s" / "unfinished.json").write_text('{"format": "labeltree unfinished store"')
    with pytest.raises(DataFormatError, match=r"not JSON.*start again with --overwrite"):
        StoreWriter(tmp_path / "s", job=JOB)
    with StoreWriter(tmp_path / "s", job=JOB, overwrite=True) as writer:
        assert writer.n_rows == 0


def test_an_unfinished_store_of_a_newer_version_is_not_resumed(tmp_path: Path) -> None:
    interrupted(tmp_path / "s", 2)
    path = tmp_path / "s" / "unfinished.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format_version": 2}))
    with pytest.raises(DataFormatError, match="install a newer labeltree"):
        StoreWriter(tmp_path / "s", job=JOB)


def test_stores_and_other_files_are_kept(tmp_path: Path) -> None:
    write_store(tmp_path / "s")
    before = files_of(tmp_path / "s")
    with pytest.raises(FileExistsError, match="has a store already"):
        StoreWriter(tmp_path / "s")
    assert files_of(tmp_path / "s") == before
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "thesis.txt").write_text("mine")
    for overwrite in (False, True):
        with pytest.raises(FileExistsError, match=r"has other files, such as thesis\.txt"):
            StoreWriter(tmp_path / "t", overwrite=overwrite)
    with pytest.raises(FileExistsError, match="is not a directory"):
        StoreWriter(tmp_path / "t" / "thesis.txt")
    assert (tmp_path / "t" / "thesis.txt").read_text() == "mine"


def test_overwriting_replaces_a_store(tmp_path: Path) -> None:
    write_store(tmp_path / "s", job=JOB)
    with StoreWriter(tmp_path / "s", job=JOB, overwrite=True) as writer:
        assert writer.n_rows == 0
        writer.append([[1]], [[1]])
    assert Store(tmp_path / "s").shape == (1, 1)


def test_a_store_stays_until_the_one_that_replaces_it_is_complete(tmp_path: Path) -> None:
    old = files_of(write_store(tmp_path / "s", job=JOB).path)
    new = files_of(write_store(tmp_path / "new", X, Y, job={"rows": "others"}).path)

    def begin(job: dict[str, str], n_rows: int) -> None:
        with suppress(RuntimeError), writing(job) as writer:
            writer.append(X[:n_rows], Y[:n_rows])
            raise RuntimeError

    def writing(job: dict[str, str]) -> StoreWriter:
        return StoreWriter(tmp_path / "s", job=job, n_features=20, n_labels=9, overwrite=True)

    begin({"rows": "others"}, 0)  # nothing to resume: nothing is left
    assert files_of(tmp_path / "s") == old
    begin({"rows": "again others"}, 5)
    begin({"rows": "others"}, 10)
    assert Store(tmp_path / "s").job == job_hash(JOB)
    assert old.items() <= files_of(tmp_path / "s").items()
    with pytest.raises(FileExistsError, match="has a store already"):
        StoreWriter(tmp_path / "s", job={"rows": "others"})
    with writing({"rows": "others"}) as writer:
        assert writer.n_rows == 10
        writer.append(X[10:], Y[10:])
    assert files_of(tmp_path / "s") == new
    assert sorted(path.name for path in (tmp_path / "s").iterdir()) == sorted(new)


@pytest.mark.parametrize("n_calls", range(20))
def test_a_replacement_that_was_interrupted_is_done_by_the_next_writer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_calls: int
) -> None:
    """Every call that changes the directory fails, one at a time: the old or the new store can be had."""
    with StoreWriter(tmp_path / "s", labels=["a", "b"], job=JOB) as first:
        first.append([[1], [2]], [["a"], ["b"]])
    old = files_of(tmp_path / "s")
    new = files_of(write_store(tmp_path / "new", X, Y, job={"rows": "others"}).path)
    left = [n_calls]

    def failing(function: Any) -> Any:
        def call(*arguments: Any) -> Any:
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt
            return function(*arguments)

        return call

    def write() -> None:
        with StoreWriter(
            tmp_path / "s", job={"rows": "others"}, n_features=20, n_labels=9, overwrite=True
        ) as writer:
            writer.append(X, Y)
            for name in ("replace", "unlink"):
                monkeypatch.setattr(unfinished.os, name, failing(getattr(os, name)))

    with suppress(KeyboardInterrupt):
        write()
    monkeypatch.undo()
    if left[0] < 0 and (tmp_path / "s" / "store.json").exists():
        found = files_of(tmp_path / "s").items()
        assert old.items() <= found or new.items() <= found
        return
    if left[0] < 0:
        with pytest.raises(DataFormatError, match="the store is not complete: run the command"):
            Store(tmp_path / "s")
        with pytest.raises(FileExistsError, match="has a store already"):
            StoreWriter(tmp_path / "s", job={"rows": "others"})
    Store(tmp_path / "s").verify()
    assert files_of(tmp_path / "s") == new


def test_a_full_disk_is_reported_and_what_was_safe_is_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = write_store(tmp_path / "whole", X, Y, job=JOB)

    def full(self: ArrayFile, values: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def write() -> None:
        with StoreWriter(tmp_path / "s", job=JOB, n_features=20, n_labels=9) as writer:
            writer.append(X[:20], Y[:20])
            writer.checkpoint()
            monkeypatch.setattr(ArrayFile, "append", full)
            writer.append(X[20:40], Y[20:40])

    message = "after 20 rows, which are safe: make room and run the same command again to resume"
    with pytest.raises(OSError, match=message) as raised:
        write()
    assert raised.value.errno == errno.ENOSPC
    monkeypatch.undo()
    with StoreWriter(tmp_path / "s", job=JOB, n_features=20, n_labels=9) as writer:
        assert writer.n_rows == 20
        writer.append(X[20:], Y[20:])
    assert files_of(tmp_path / "s") == files_of(whole.path)


def test_rows_are_made_safe_from_time_to_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer_module, "CHECKPOINT_BYTES", 300)
    writer = StoreWriter(tmp_path / "s", job=JOB)
    safe = []
    for number in range(6):
        writer.append(X[10 * number : 10 * number + 10], Y[10 * number : 10 * number + 10])
        document = json.loads((tmp_path / "s" / "unfinished.json").read_text())
        safe.append(document["items"].get("features.indptr", 1) - 1)
    writer.close()
    assert safe[-1] >= 40
    assert safe == sorted(safe)
    assert len(set(safe)) < 6
