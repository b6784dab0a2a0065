"""Training that is stopped, in any way, goes on where it was and gives the same model, bit for bit."""

from __future__ import annotations

import json
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.documents import documents
from tests.unit.test_one_vs_rest import assert_same_weights, trained

import labeltree
from labeltree import OneVsRestClassifier
from labeltree.rivals.one_vs_rest import training
from labeltree.training import column_plan

N_CHUNKS = 7

# 213 of the labels have examples.
X, y = documents(300, 100, 400, unlabelled=0.1)


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_plan, "CHUNK_GROUPS", 1)


@pytest.fixture(scope="module")
def model() -> OneVsRestClassifier:
    """What comes of it without a checkpoint."""
    return trained(X, y)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A checkpoint that is complete."""
    trained(X, y, checkpoint=tmp_path / "run")
    return tmp_path / "run"


def chunk_names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("chunk-*.safetensors"))


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}


# -- resuming ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_a_checkpoint_changes_nothing(model: OneVsRestClassifier, tmp_path: Path, n_jobs: int) -> None:
    kept = trained(X, y, checkpoint=str(tmp_path / "a" / "run"), n_jobs=n_jobs)
    assert_same_weights(kept, model)
    assert kept.training_report_ == model.training_report_
    assert len(chunk_names(tmp_path / "a" / "run")) == N_CHUNKS


def test_what_is_complete_is_not_trained_again(
    model: OneVsRestClassifier, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = snapshot(folder)

    def fail(*_: Any) -> None:
        raise AssertionError("a chunk was trained again")

    monkeypatch.setattr(training._Chunks, "add", fail)
    again = trained(X, y, checkpoint=folder)
    assert_same_weights(again, model)
    assert again.training_report_ == model.training_report_
    assert snapshot(folder) == before


@pytest.mark.parametrize("lost", [[0], [6], [1, 2, 5], range(7)])
def test_what_is_missing_is_trained(model: OneVsRestClassifier, folder: Path, lost: Any) -> None:
    names = chunk_names(folder)
    for number in lost:
        (folder / names[number]).unlink()
    before = snapshot(folder)
    assert_same_weights(trained(X, y, checkpoint=folder, n_jobs=2), model)
    after = snapshot(folder)
    assert sorted(after) == [*names, "run.json"]
    assert {name: after[name] for name in before} == before


def test_the_form_of_the_examples_does_not_matter(folder: Path) -> None:
    before = snapshot(folder)
    trained(X.toarray().astype(np.float64), y.toarray(), checkpoint=folder)
    assert snapshot(folder) == before


# A program that trains what is pickled in its first argument with small chunks. After two of them it is slow enough to
# be stopped before the last, however late the signal is sent.
SLOW_TRAINER = """
import pickle, sys, time
from labeltree.rivals.one_vs_rest import training
from labeltree.training import column_plan
column_plan.CHUNK_GROUPS = 1
write = training.Checkpoint.write
n_written = 0
def write_slowly(*arguments):
    global n_written
    time.sleep(0.1 if n_written < 2 else 2)
    n_written += 1
    return write(*arguments)
training.Checkpoint.write = write_slowly
model, X, y = pickle.load(open(sys.argv[1], "rb"))
model.fit(X, y)
"""


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_run_that_was_stopped_goes_on(
    model: OneVsRestClassifier, tmp_path: Path, sent: signal.Signals, n_jobs: int
) -> None:
    folder, task = tmp_path / "run", tmp_path / "task"
    untrained = OneVsRestClassifier(random_state=0, checkpoint=folder, n_jobs=n_jobs)
    task.write_bytes(pickle.dumps((untrained, X, y)))
    process = subprocess.Popen([sys.executable, "-c", SLOW_TRAINER, task], stderr=subprocess.PIPE)
    try:
        end = time.monotonic() + 60
        while len(chunk_names(folder)) < 2:
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.005)
        process.send_signal(sent)
        assert process.wait(timeout=60) != 0
    finally:
        process.kill()
        process.communicate()
    before = {name: content for name, content in snapshot(folder).items() if not name.startswith(".")}
    assert 2 <= len(chunk_names(folder)) < N_CHUNKS
    resumed = trained(X, y, checkpoint=folder)
    assert_same_weights(resumed, model)
    after = snapshot(folder)
    assert len(after) == N_CHUNKS + 1  # nothing half-written is left
    assert {name: after[name] for name in before} == before


def test_what_was_left_half_written_is_removed(model: OneVsRestClassifier, folder: Path) -> None:
    for name in (".chunk-000003.safetensors.0123abcd.tmp", ".run.json.0123abcd.tmp"):
        (folder / name).write_bytes(b"half")
    (folder / "notes.txt").write_text("mine")
    assert_same_weights(trained(X, y, checkpoint=folder), model)
    assert sorted(set(os.listdir(folder)) - set(chunk_names(folder))) == ["notes.txt", "run.json"]


def test_a_run_killed_before_it_began_leaves_a_usable_directory(
    model: OneVsRestClassifier, tmp_path: Path
) -> None:
    (tmp_path / ".run.json.0123abcd.tmp").write_bytes(b"half")
    assert_same_weights(trained(X, y, checkpoint=tmp_path), model)


# -- damage ------------------------------------------------------------------------------------------------------------


def _flip_weight(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)


def _flip_header(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[200] ^= 1
    path.write_bytes(content)


DAMAGES: dict[str, Any] = {
    "a bit of the data": _flip_weight,
    "a bit of the header": _flip_header,
    "truncated": lambda path: path.write_bytes(path.read_bytes()[:-100]),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"x"),
    "empty": lambda path: path.write_bytes(b""),
    "another chunk": lambda path: shutil.copy(path.with_name("chunk-000005.safetensors"), path),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_chunk_is_trained_again(model: OneVsRestClassifier, folder: Path, damage: str) -> None:
    before = {name: content for name, (content, _) in snapshot(folder).items()}
    DAMAGES[damage](folder / "chunk-000003.safetensors")
    with pytest.warns(
        UserWarning, match=r"chunk-000003.safetensors is damaged \(.+\); what it had is trained again"
    ):
        assert_same_weights(trained(X, y, checkpoint=folder), model)
    assert {name: content for name, (content, _) in snapshot(folder).items()} == before


def test_a_chunk_of_another_run_is_not_taken(
    model: OneVsRestClassifier, folder: Path, tmp_path: Path
) -> None:
    trained(X, y, checkpoint=tmp_path / "other", C=2.0)
    shutil.copy(tmp_path / "other" / "chunk-000002.safetensors", folder)
    with pytest.warns(
        UserWarning, match=r"chunk-000002.safetensors is damaged \(it belongs to another run\)"
    ):
        assert_same_weights(trained(X, y, checkpoint=folder), model)


# -- other runs --------------------------------------------------------------------------------------------------------


def _fewer_rows() -> dict[str, Any]:
    return {"X": X[:-1], "y": y[:-1]}


def _another_value() -> dict[str, Any]:
    changed = X.copy()
    changed.data[-1] *= 1.01
    return {"X": changed}


def _another_label() -> dict[str, Any]:
    changed = y.copy()
    changed.indices[0] = (changed.indices[0] + 1) % 400
    changed.sort_indices()
    return {"y": changed}


OTHERS: dict[str, tuple[dict[str, Any], str]] = {
    "rows": (_fewer_rows(), "another X, .*another y"),
    "a value of X": (_another_value(), "another X"),
    "a label": (_another_label(), "another y"),
    "weights": ({"sample_weight": np.linspace(1, 2, 300)}, "sample_weight=None instead of '"),
    "C": ({"C": 2.0}, "C=1.0 instead of 2.0"),
    "loss": ({"loss": "logistic"}, "loss='squared_hinge' instead of 'logistic'"),
    "bias": ({"bias": False}, "bias=1.0 instead of 0.0"),
    "normalize": ({"normalize": False}, "another X"),
    "prune": ({"prune": 0.1, "tol": 0.1}, "prune=0.01 instead of 0.1, tol=0.01 instead of 0.1"),
    "seed": ({"random_state": 1}, "seed=209652396 instead of 1791095845"),
}


@pytest.mark.parametrize("other", OTHERS)
def test_a_checkpoint_of_another_run_is_refused(folder: Path, other: str) -> None:
    changed, message = OTHERS[other]
    before = snapshot(folder)
    with pytest.raises(
        ValueError, match=f"belongs to another run, with .*{message}.*; choose another directory"
    ):
        trained(**{"X": X, "y": y, "checkpoint": folder, **changed})
    assert snapshot(folder) == before


def test_a_checkpoint_of_another_version_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labeltree, "__version__", "99.0")
    with pytest.raises(ValueError, match=r"with library_version='[^']+' instead of '99\.0'"):
        trained(X, y, checkpoint=folder)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"{}", b'{"format": "labeltree"}', b"\xff", json.dumps({"a": 1}).encode()]
)
def test_a_run_that_cannot_be_read_is_refused(folder: Path, content: bytes) -> None:
    (folder / "run.json").write_bytes(content)
    with pytest.raises(ValueError, match=r"run.json cannot be used \(.+\); choose another directory"):
        trained(X, y, checkpoint=folder)
    assert (folder / "run.json").read_bytes() == content


def test_what_is_no_checkpoint_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ValueError, match=re.escape(f"{tmp_path} has files, but no run.json")):
        trained(X, y, checkpoint=tmp_path)
    with pytest.raises(ValueError, match="is not a directory"):
        trained(X, y, checkpoint=tmp_path / "file")
    assert snapshot(tmp_path).keys() == {"file"}


def test_a_saved_model_does_not_say_where_it_was_trained(folder: Path, tmp_path: Path) -> None:
    model = trained(X, y, checkpoint=folder)
    model.save(tmp_path / "model")
    assert OneVsRestClassifier.load(tmp_path / "model").checkpoint is None
    assert str(folder) not in (tmp_path / "model" / "model.json").read_text()


def test_a_checkpoint_says_nothing_of_parameters_that_its_solver_does_not_read(folder: Path) -> None:
    parameters = json.loads((folder / "run.json").read_text())["parameters"]
    assert parameters["solver"] == "descent"
    assert "l1" not in parameters  # which checkpoints of earlier versions do not have
