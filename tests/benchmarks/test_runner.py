import importlib
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks import inputs, peers, runner
from benchmarks.inputs import Inputs
from benchmarks.peers import Peer
from benchmarks.process import Ended

#: A system that predicts the most frequent labels, or misbehaves.
TOY = """
import os

import importlib

import numpy as np
import scipy.sparse as sp
from measure import K, System, main


class Toy(System):
    version = "1.2"

    def load(self):
        self.y = sp.load_npz(self.job.inputs["labels"])

    def train(self):
        if os.environ["TOY"] == "broken":
            raise RuntimeError("the toy is broken")
        self.tree_seconds = 0.25
        self.top = np.argsort(-self.y.getnnz(axis=0), kind="stable")[:K]

    def save(self):
        with open(self.job.model, "wb") as file:
            np.save(file, self.top)

    def open(self):
        self.top = np.load(self.job.model)

    def predict_batch(self, X):
        return np.tile(self.top, (X.shape[0], 1))

    def predict_one(self, row):
        return self.predict_batch(row)


main(Toy)
"""

TRAIN = "4 3 4\n0,3 0:1 2:0.5\n3 1:2\n1,3 0:3\n 2:1\n"
TEST = "2 3 4\n3 0:1\n0 1:1\n"


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """Measures the toy system, sound or broken."""
    monkeypatch.setattr(inputs, "CACHE", tmp_path / "cache")
    monkeypatch.setenv("PYTHONPATH", str(Path(peers.__file__).parent / "systems"))
    script = tmp_path / "toy_system.py"
    script.write_text(TOY)
    monkeypatch.setitem(
        peers.PEERS,
        "toy",
        Peer((), "", str(script), inputs=("labels",), messages=("tree_s", "building", "built")),
    )
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "train.txt").write_text(TRAIN)
    (folder / "test.txt").write_text(TEST)

    def measure(state="sound"):
        monkeypatch.setenv("TOY", state)
        return runner.measure(
            "toy",
            Inputs(folder / "train.txt", folder / "test.txt"),
            tmp_path,
            n_trees=1,
            threads=1,
            seed=0,
            limit_s=300,
        )

    return measure


def test_a_run_has_all_figures_and_the_predictions(toy):
    run, predictions = toy()
    assert run.complete
    assert run.version == "1.2"
    expected = {
        "load_s",
        "tree_s",
        "train_s",
        "train_cpu_s",
        "save_s",
        "total_s",
        "cpu_s",
        "memory_mb",
        "imports_mb",
        "load_memory_mb",
        "model_mb",
    }
    expected |= {
        "open_ms",
        "batch_ms",
        "later_batch_ms",
        "batch_cpu_ms",
        "single_p50_ms",
        "single_p99_ms",
        "single_rows",
        "load_average",
    }
    assert set(run.figures) == expected
    assert run.figures["tree_s"] == 0.25
    assert run.figures["total_s"] == pytest.approx(
        sum(run.figures[f"{stage}_s"] for stage in ("load", "train", "save"))
    )
    assert run.figures["memory_mb"] >= run.figures["load_memory_mb"] >= run.figures["imports_mb"] > 5
    assert run.figures["model_mb"] == pytest.approx((128 + 4 * 8) / 1e6)  # NumPy's header and the labels
    assert run.figures["single_rows"] == 2
    np.testing.assert_array_equal(np.load(predictions)[:, 0], [3, 3])


@pytest.mark.parametrize("stage", ["train", "predict"])
def test_what_was_known_before_a_stage_was_stopped_counts(toy, monkeypatch, stage):
    reports = {"train": {"version": "1.2", "load_s": 1.0}, "predict": {"version": "1.2", "open_ms": 7.0}}

    def run_process(command, folder, **options):
        stopped = command[2] == stage
        return Ended(-9 if stopped else 0, stopped, reports[command[2]], "", 0.0, None)

    monkeypatch.setattr(runner, "run_process", run_process)
    run, _ = toy()
    del run.figures["load_average"]
    assert (run.stopped, run.failure) == (stage, "")
    assert run.figures == ({"load_s": 1.0} if stage == "train" else {"load_s": 1.0, "open_ms": 7.0})


def test_memory_of_children_and_time_between_messages_are_added(toy, monkeypatch):
    def run_process(command, folder, **options):
        training = command[2] == "train"
        return Ended(0, False, {"memory_mb": 100.0} if training else {}, "", 20.0, 1.5 if training else None)

    monkeypatch.setattr(runner, "run_process", run_process)
    run, _ = toy()
    del run.figures["load_average"]
    assert run.figures == {"memory_mb": 120.0, "tree_s": 1.5}


def test_a_failure_tells_its_reason(toy):
    run, _ = toy("broken")
    assert not run.complete
    assert run.failure.startswith("train: exit code 1")
    assert "the toy is broken" in run.failure


def test_what_cannot_be_installed_fails_with_the_reason(toy, monkeypatch):
    def refuse(peer):
        raise peers.InstallationError("no such package")

    monkeypatch.setattr(runner, "python_of", refuse)
    run, _ = toy()
    assert "no such package" in run.failure


def test_predictions_are_judged_and_those_that_cannot_be_are_a_failure(tmp_path):
    path = tmp_path / "predictions.npy"
    y_test = sp.csr_matrix(np.array([[0, 1], [1, 0]]))
    np.save(path, [[1, 0], [1, 0]])
    good, bad = (runner.Run("toy", 1, 600.0) for _ in range(2))
    runner.judge(good, path, y_test, ["P@1"])
    assert good.figures == {"P@1": 0.5}
    np.save(path, [[1, 0]])
    runner.judge(bad, path, y_test, ["P@1"])
    assert bad.failure.startswith("predict: ")
    assert bad.figures == {}


def test_a_run_that_was_stopped_is_not_judged(tmp_path):
    stopped = runner.Run("toy", 1, 600.0, stopped="train")
    runner.judge(stopped, tmp_path / "missing.npy", None, ["P@1"])
    assert stopped.figures == {}


def test_rows_are_scaled_to_unit_length(monkeypatch):
    monkeypatch.syspath_prepend(Path(peers.__file__).parent / "systems")
    measure = importlib.import_module("measure")
    X = sp.csr_matrix(np.array([[3, 0, 4], [0, 0, 0], [0, 2, 0]], dtype=np.float32))
    scaled = measure.unit_rows(X)
    np.testing.assert_allclose(scaled.toarray(), [[0.6, 0, 0.8], [0, 0, 0], [0, 1, 0]], rtol=1e-6)
    assert scaled.dtype == np.float32
    assert scaled.has_sorted_indices
