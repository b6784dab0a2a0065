"""Training in a given memory: what it needs, what is refused, and what goes to disk."""

from __future__ import annotations

import errno
import os
import re
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.training_parts import (
    N_LABELS,
    N_ROWS,
    SHAPE,
    are_same,
    enough_gb,
    is_mapped,
)

from labeltree import LabelTreeClassifier
from labeltree.engines import Task
from labeltree.labels.reading import read_labels
from labeltree.model import label_classifiers
from labeltree.model.feature_reader import FeatureReader
from labeltree.progress import Phases
from labeltree.training import column_plan, division, label_columns, memory_plan, workplace
from labeltree.training.array_folder import map_array, new_array
from labeltree.training.examples import Examples
from labeltree.training.memory_plan import Needs
from labeltree.training.workplace import Workplace

pytestmark = [pytest.mark.native, pytest.mark.usefixtures("small_tasks")]


@pytest.mark.parametrize("weights", ["float32", "bfloat16", "int8"])
def test_label_classifiers_are_trained_and_rounded_in_parts(
    weights: str, rows_in_parts: tuple[Any, Any], scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(column_plan, "CHUNK_GROUPS", 2)
    dense = np.random.default_rng(0).standard_normal((N_ROWS, 4)).astype(np.float32)
    settings = {**SHAPE, "rerank": 5, "weights": weights}
    whole = LabelTreeClassifier(**settings).fit((rows_in_parts[0], dense), rows_in_parts[1])
    monkeypatch.setattr(label_classifiers, "CHUNK", 100)
    limited = LabelTreeClassifier(memory_gb=enough_gb(), **settings).fit(
        (rows_in_parts[0], dense), rows_in_parts[1]
    )
    assert are_same(whole, limited)
    mapped = [name for name, array in limited.model_.forest.judges.arrays.items() if is_mapped(array)]
    assert sorted(mapped) == ["dense", "feature", "weight"]


def test_the_smallest_limit_that_is_named_does(
    rows_in_parts: tuple[Any, Any], scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_plan, "own_memory", lambda: 100_000_000)
    with pytest.raises(ValueError, match=r"at least memory_gb=[\d.]+, 0.1 GB that are in use") as raised:
        LabelTreeClassifier(memory_gb=0.01, **SHAPE).fit(*rows_in_parts)
    named = float(re.findall(r"at least memory_gb=([\d.]+)", str(raised.value))[0])
    assert are_same(
        LabelTreeClassifier(**SHAPE).fit(*rows_in_parts),
        LabelTreeClassifier(memory_gb=named, **SHAPE).fit(*rows_in_parts),
    )
    with pytest.raises(ValueError, match="does not suffice"):
        LabelTreeClassifier(memory_gb=named - 0.1, **SHAPE).fit(*rows_in_parts)


def test_a_least_limit_counts_every_stage(rows_in_parts: tuple[Any, Any]) -> None:
    features, labels = (
        FeatureReader.learn("a model", rows_in_parts[0], True)[1],
        read_labels(rows_in_parts[1]),
    )
    examples = Examples(features, labels)
    plain = Needs.of(examples, 1, has_trial=False)
    assert plain.trial == plain.labels == 0
    tried = Needs.of(examples, 1)
    assert tried.trial == plain.block + 128 * N_ROWS
    assert Needs.of(examples, 1, is_balanced=True).vectors == plain.vectors + 4 * 64 * N_LABELS
    few, many = (Needs.of(examples, 1, n_proposals=n).labels for n in (5, 10))
    assert 0 < few < many
    assert plain.vectors < 1_000_000  # no more labels are compared than there are
    assert all(
        two > one
        for two, one in zip(vars(Needs.of(examples, 2)).values(), vars(tried).values(), strict=True)
        if one
    )


def test_a_finished_part_is_let_go_before_the_next(tmp_path: Path) -> None:
    alive: list[weakref.ref[Any]] = []

    def part(progress: Any = None) -> Any:
        assert all(array() is None for array in alive)
        array = np.arange(5)
        alive.append(weakref.ref(array))
        return {"a": array}

    tasks = [Task(f"part {number}", part) for number in range(3)]
    place = Workplace(directory=tmp_path)
    assert len(place.joined("joined", "joining", tasks, Phases(None)).open()["a"]) == 15
    alive.clear()
    assert [len(arrays["a"]) for arrays in place.parts("kept", "keeping", tasks, Phases(None))] == [5, 5, 5]


def test_a_new_array_has_its_room_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, n_items in (("a", 3), ("b", 0), ("c", 1_000_000)):
        array = new_array(tmp_path / name, "x", n_items, np.float32)
        assert not array.any()
        array[:2] = 1
        assert map_array(tmp_path / name / "x.npy").sum() == min(n_items, 2)
        assert not new_array(tmp_path / name, "x", n_items, np.float32).any()
        assert array.sum() == min(n_items, 2)  # a model may map the old file
    monkeypatch.delattr(os, "posix_fallocate", raising=False)
    assert new_array(tmp_path, "d", 1_000_000, np.int32).shape == (1_000_000,)
    assert (tmp_path / "d.npy").stat().st_blocks * 512 >= 4_000_000  # no holes


def test_a_disk_that_is_full_of_label_classifiers_is_named(
    rows_in_parts: tuple[Any, Any], scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: Any) -> Any:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(label_columns, "new_array", full)
    with pytest.raises(OSError, match="No space left on device for the parts of a training: make room"):
        LabelTreeClassifier(memory_gb=enough_gb(), rerank=5, **SHAPE).fit(*rows_in_parts)


def test_a_limit_that_is_too_small_is_refused_before_training(
    rows_in_parts: tuple[Any, Any], scratch: Path
) -> None:
    with pytest.raises(
        ValueError, match=r"memory_gb=0.01 does not suffice: .* at least memory_gb=[\d.]+, .*raise memory_gb"
    ):
        LabelTreeClassifier(memory_gb=0.01, **SHAPE).fit(*rows_in_parts)


def test_a_smaller_limit_makes_more_tasks(rows_in_parts: tuple[Any, Any]) -> None:
    costs = {"n_entries": np.full(100, 3_000), "n_columns": np.full(100, 6)}
    few, many = (
        division.block_ranges(costs, Workplace(directory=Path(), memory=memory)) for memory in (None, 100_000)
    )
    assert len(few) < len(many) == 100
    assert division.block_ranges(costs, Workplace()) == [(0, 100, 300_000.0)]


def test_freed_memory_is_given_back_before_each_step(
    rows_in_parts: tuple[Any, Any], scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_back: list[int] = []
    monkeypatch.setattr(workplace, "give_back_freed_memory", lambda: given_back.append(1))
    LabelTreeClassifier(**SHAPE).fit(*rows_in_parts)
    assert given_back == []  # it costs time
    LabelTreeClassifier(memory_gb=enough_gb(), **SHAPE).fit(*rows_in_parts)
    assert len(given_back) > 3
    monkeypatch.undo()
    memory_plan.give_back_freed_memory()
    monkeypatch.setattr(memory_plan.ctypes, "CDLL", lambda name: object())
    memory_plan.give_back_freed_memory()  # where there is no such function


def test_a_directory_of_temporary_files_that_cannot_be_used_is_told(
    rows_in_parts: tuple[Any, Any], scratch: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = LabelTreeClassifier(memory_gb=enough_gb(), **SHAPE)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "typo"))
    with pytest.warns(
        UserWarning, match=rf"TMPDIR is .*typo, which is not .*: the parts .* go to {scratch}$"
    ):
        model.fit(*rows_in_parts)
    monkeypatch.setenv("TMPDIR", str(scratch))
    model.fit(*rows_in_parts)
