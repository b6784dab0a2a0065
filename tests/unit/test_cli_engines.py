"""`evaluate`, `predict` and `tune` by the workers of an engine print what they print without."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from tests.command_line import make_rows, run, run_json, write_rows, write_texts

from labeltree.engines import ProcessPool, prediction

#: Figures that differ from run to run, or that an engine does not know.
MEASURED = ("batch_ms_per_row", "batch_rows_per_second", "single_row_ms", "threads", "peak_memory_bytes")

#: Leaves a few values of C to search.
FIXED = ["--loss", "logistic", "--arity", 2, "--max-leaves", 3, "--prune", 0.1, "--n-trees", 1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("engines")
    write_rows(folder / "train.txt", make_rows(300, seed=1))
    write_rows(folder / "test.txt", make_rows(60, seed=2))
    write_texts(folder / "train.jsonl", 200, seed=1)
    write_texts(folder / "test.jsonl", 60, seed=2)
    shape = ["--arity", 2, "--max-leaves", 3, "--frequent-share", 0]
    run("train", folder / "train.txt", "--model", folder / "numbers", *shape)
    run("train", folder / "train.jsonl", "--model", folder / "texts", *shape)
    run("train", folder / "train.txt", "--model", folder / "decided", *shape)
    run("decide", folder / "decided", folder / "test.txt", "--metric", "macro_f1")
    run("learn", folder / "train.txt", "--model", folder / "online")
    run("data", "import", folder / "test.txt", "--to", folder / "test.store", "--n-features", 30)
    run("data", "import", folder / "test.txt", "--to", folder / "narrow.store")
    run("data", "import", folder / "train.jsonl", "--to", folder / "train.store")
    like = ["--like", folder / "train.store"]
    run("data", "import", folder / "test.jsonl", "--to", folder / "texts.store", *like)
    run("train", folder / "train.store", "--model", folder / "stored", *shape)
    (folder / "pairs.txt").write_text("0 3\n1 2\n7 7\n")
    return folder


@pytest.fixture
def tasks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the tasks that pools run, of at most 7 rows."""
    names: list[str] = []
    run_tasks = ProcessPool.run

    def recorded(self: ProcessPool, tasks: Any) -> Any:
        names.extend(task.name for task in tasks)
        return run_tasks(self, tasks)

    monkeypatch.setattr(ProcessPool, "run", recorded)
    monkeypatch.setattr(prediction, "_FEWEST_ROWS", 1)
    monkeypatch.setattr(prediction, "_MOST_ROWS", 7)
    return names


def without_times(report: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in report.items() if name not in MEASURED}


@pytest.mark.parametrize(
    ("workers", "arguments"),
    [
        (2, ("numbers", "test.store", "--search", "beam", "--beam", 1)),
        (1, ("numbers", "test.txt", "--label-weight", "propensity")),
        (1, ("decided", "test.txt", "--filter-labels", "pairs.txt")),
        (1, ("texts", "test.jsonl")),
        (1, ("stored", "texts.store")),
        (1, ("numbers", "narrow.store")),
    ],
)
def test_evaluate(
    workers: int, arguments: tuple[Any, ...], folder: Path, tasks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    expected = run_json("evaluate", *arguments)
    assert tasks == []
    found = run_json("evaluate", *arguments, "--workers", workers)
    assert without_times(found) == without_times(expected)
    assert len(tasks) >= 2 * 9
    assert found["threads"] % workers == 0
    assert found["peak_memory_bytes"] is None


@pytest.mark.parametrize(("model", "store"), [("numbers", "test.store"), ("stored", "texts.store")])
def test_evaluate_publishes_a_store(
    model: str, store: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rows do not travel with the tasks."""
    published: list[Path] = []
    publish = ProcessPool.publish

    def recorded(self: ProcessPool, directory: Path) -> Any:
        published.append(directory)
        return publish(self, directory)

    monkeypatch.setattr(ProcessPool, "publish", recorded)
    run("evaluate", folder / model, folder / store, "--workers", 1)
    assert set(published) == {folder / model, folder / store}


@pytest.mark.parametrize(
    ("workers", "arguments"),
    [
        (2, ("numbers", "test.txt", "--output-format", "xmlc", "--search", "beam", "--beam", 1)),
        (1, ("decided", "test.store")),
        (1, ("texts", "test.jsonl", "-k", 2, "--id", "text", "--json")),
        (1, ("texts", "test.jsonl", "-o", "found.gz")),
    ],
)
def test_predict(
    workers: int, arguments: tuple[Any, ...], folder: Path, tasks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def predicted(*more: Any) -> bytes:
        printed = run("predict", *arguments, *more).stdout_bytes
        return gzip.decompress(Path("found.gz").read_bytes()) if "-o" in arguments else printed

    monkeypatch.chdir(folder)
    expected = predicted()
    assert tasks == []
    assert predicted("--workers", workers) == expected
    assert len(tasks) == 9


def test_the_search_matters(folder: Path) -> None:
    """So the tests above see whether options of the search reach the workers."""
    narrow = run("predict", folder / "numbers", folder / "test.txt", "--search", "beam", "--beam", 1)
    assert narrow.stdout != run("predict", folder / "numbers", folder / "test.txt").stdout


def test_tune(folder: Path, tmp_path: Path, tasks: list[str]) -> None:
    options = [*FIXED, "--budget", 5, "--random-state", 0]

    def tuned(*more: Any) -> dict[str, Any]:
        return run_json("tune", folder / "train.txt", *options, "--out", tmp_path / "found.json", *more)

    expected = tuned()
    parameters = json.loads((tmp_path / "found.json").read_text())
    assert tasks == []
    for workers in (1, 2):
        found = tuned("--workers", workers)
        assert all(name.startswith("trial of candidate") for name in tasks)
        assert json.loads((tmp_path / "found.json").read_text()) == parameters
        assert (found["trials"], found["parameters"]) == (expected["trials"], expected["parameters"])
        assert found["chosen"]["score"] == expected["chosen"]["score"]
        assert len(tasks) >= found["trials"]
        tasks.clear()


def test_train_with_a_search(folder: Path, tmp_path: Path, tasks: list[str]) -> None:
    arguments = ["train", folder / "train.txt", "--tune", 5, "--model", tmp_path / "model", *FIXED]
    run(*arguments)
    model = (tmp_path / "model" / "model.json").read_bytes()
    run(*arguments, "--workers", 2)
    assert (tmp_path / "model" / "model.json").read_bytes() == model
    assert any(name.startswith("trial of candidate") for name in tasks)
    assert any(name.startswith("blocks") for name in tasks)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("predict", "numbers", "-", "--workers", 2), "standard input are answered one by one"),
        (("predict", "online", "test.txt", "--workers", 2), "an online model answers in one process"),
        (("evaluate", "online", "test.txt", "--workers", 2), "an online model answers in one process"),
        (("evaluate", "online", "test.txt", "--ray", "local"), "leave out --ray"),
        (("evaluate", "numbers", "test.txt", "--workers", 2, "--report", "page.html"), "leave out --workers"),
        (("evaluate", "numbers", "test.txt", "--workers", 2, "--n-jobs", 1), "leave out --n-jobs"),
        (("predict", "numbers", "test.txt", "--ray", "local", "--n-jobs", 1), "leave out --n-jobs"),
        (
            ("tune", "train.txt", "--budget", 1, "--out", "p.json", "--workers", 2, "--n-jobs", 2),
            "leave out --n-jobs",
        ),
        (("predict", "numbers", "test.txt", "--max-retries", 3), "works only with --workers or --ray"),
        (
            ("train", "train.txt", "--model", "other", "--max-retries", 3),
            "works only with --workers or --ray",
        ),
    ],
)
def test_what_engines_cannot_do(
    arguments: tuple[Any, ...], message: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    refused = run(*arguments, exit_code=2).stderr
    assert message in " ".join(refused.replace("│", " ").split())


def test_workers_that_die_too_often(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prediction, "_answer", _die)
    failed = run(
        *("predict", folder / "numbers", folder / "test.txt", "--workers", 1, "--max-retries", 1), exit_code=1
    )
    assert "its worker died 2 times" in failed.stderr


def _die(*_: Any) -> None:
    import os
    import signal

    os.kill(os.getpid(), signal.SIGKILL)
