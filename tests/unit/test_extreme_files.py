"""write_extreme: the data of make_extreme in files, complete or not at all, whatever their size."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from labeltree.data import read_xmlc, row_writer
from labeltree.datasets import make_extreme, write_extreme


def test_files_are_what_is_made_in_memory(tmp_path: Path) -> None:
    settings = {"labels_per_row": 3, "features_per_row": 30, "exponent": 0.8, "arity": 5, "noise": 0.3}
    train, test = write_extreme(tmp_path / "new" / "set", 700, 5_000, 40, 900, **settings, random_state=3)
    made = make_extreme(700, 5_000, 40, 900, **settings, random_state=3)
    assert (train, test) == (tmp_path / "new" / "set" / "train.txt", tmp_path / "new" / "set" / "test.txt")
    for wanted, found in zip(made[:4], (*read_xmlc(train), *read_xmlc(test)), strict=True):
        assert wanted.shape == found.shape
        np.testing.assert_array_equal(wanted.indptr, found.indptr)
        np.testing.assert_array_equal(wanted.indices, found.indices)
        np.testing.assert_array_equal(wanted.data, found.data)


def test_values_are_short(tmp_path: Path) -> None:
    train, _ = write_extreme(tmp_path, 100, 20, random_state=0)
    values = [
        word.partition(":")[2] for line in train.read_text().splitlines()[1:] for word in line.split()[1:]
    ]
    assert max(map(len, values)) == len("0.12345")


def test_no_test_rows(tmp_path: Path) -> None:
    _, test = write_extreme(tmp_path, 100, 20, 0, 500, random_state=0)
    assert test.read_text() == "0 500 100\n"
    made = make_extreme(100, 20, 0, 500, random_state=0)
    assert made.X_test.shape == (0, 500)
    assert made.y_test.shape == (0, 100)


def test_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    peaks, sizes = [], []
    for n_rows in (4_000, 20_000):
        tracemalloc.start()
        train, _ = write_extreme(
            tmp_path, 1_000, n_rows, 0, features_per_row=60, random_state=0, overwrite=True
        )
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        sizes.append(train.stat().st_size)
    assert sizes[1] > 4.9 * sizes[0]
    assert peaks[1] < 1.1 * peaks[0]


def test_files_are_not_replaced_unasked(tmp_path: Path) -> None:
    for name in ("train.txt", "test.txt"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / name).write_text("mine")
        with pytest.raises(FileExistsError, match=f"{name} already exists: choose another folder, or use"):
            write_extreme(folder, 100, 10, 5, random_state=0)
        assert [path.name for path in folder.iterdir()] == [name]
        assert (folder / name).read_text() == "mine"
        write_extreme(folder, 100, 10, 5, random_state=0, overwrite=True)
        assert (folder / "train.txt").read_text().startswith("10 1660 100\n")
        assert (folder / "test.txt").read_text().startswith("5 1660 100\n")


def test_failure_leaves_no_part_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> bytes:
        raise KeyboardInterrupt

    monkeypatch.setattr(row_writer, "format_text_rows", fail)
    with pytest.raises(KeyboardInterrupt):
        write_extreme(tmp_path, 100, 10, 5, random_state=0)
    assert list(tmp_path.iterdir()) == []


def test_wrong_parameters_write_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="noise must be a finite number of at least 0 and at most 1, got 2"):
        write_extreme(tmp_path / "new", noise=2)
    assert list(tmp_path.iterdir()) == []
