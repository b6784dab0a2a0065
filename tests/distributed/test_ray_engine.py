"""The engine on a real Ray cluster of several nodes, all on this machine."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests import engine_tasks as tasks
from tests.command_line import make_rows, run, run_json, write_rows, write_texts
from tests.documents import documents
from tests.servers import wait_until
from tests.training_parts import N_LABELS, SHAPE, are_same, divide_finely, training_data

import labeltree
from labeltree import LabelTreeClassifier
from labeltree.data import Store, StoreWriter
from labeltree.engines import BatchPredictor, RayEngine, Task, predict_topk, ray_connection, versions
from labeltree.engines.ray_place import RayPlace, read_chunk
from labeltree.errors import LabelTreeError, WorkerError
from labeltree.tuning import SearchSpace, tune

ray = pytest.importorskip("ray")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Three nodes: the one of this process and two others, with one core each."""
    from ray.cluster_utils import Cluster

    settings = {
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_worker_niceness": "0",  # on a busy machine, workers would hardly run
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),  # workers import the tests
    }
    memory = 100 << 20
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setenv(name, value)
        made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": memory})
        try:
            for _ in range(2):
                made.add_node(num_cpus=1, object_store_memory=memory)
            yield made
        finally:
            ray.shutdown()
            made.shutdown()


@pytest.fixture(scope="module")
def engine(cluster: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayEngine]:
    cache = tmp_path_factory.mktemp("cache")
    with labeltree.engine("ray", address=cluster.address, cache_directory=cache) as engine:
        assert isinstance(engine, RayEngine)
        yield engine
    assert not list(cache.iterdir()), "copies of directories are left"
    assert not ray.is_initialized()


@pytest.fixture
def published(engine: RayEngine, tmp_path: Path) -> RayPlace:
    """A directory, as nodes see it that have other files at its path."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "words").write_text("rows")
    (tmp_path / "empty").touch()
    place = engine.publish(tmp_path)
    assert isinstance(place, RayPlace)
    assert place.path() == tmp_path
    return replace(place, directory=str(tmp_path / "elsewhere"))


def hide_directories(engine: RayEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nodes not see the directories that are published."""
    publish = engine.publish

    def elsewhere(directory: Path) -> Any:
        return replace(publish(directory), directory=str(directory / "elsewhere"))

    monkeypatch.setattr(engine, "publish", elsewhere)


def test_results_are_those_of_this_process(engine: RayEngine) -> None:
    assert (engine.n_workers, engine.n_threads) == (3, 1)
    found = dict(engine.run(tasks.squares(30)))
    assert len(found) == 30
    for number, array in found.items():
        np.testing.assert_array_equal(array, tasks.square(number))


def test_the_dashboard_shows_the_names_of_tasks(engine: RayEngine) -> None:
    names = ["training block 7", "predicting rows 0 to 500"]
    found = dict(engine.run([Task(name, tasks.name_in_ray) for name in names]))
    assert [found[0], found[1]] == names


def test_errors_keep_their_type_and_are_not_retried(engine: RayEngine, tmp_path: Path) -> None:
    work = [
        Task("refuse", tasks.refuse, ("five, not six",)),
        Task("count", tasks.append, (str(tmp_path / "log"),)),
    ]
    with pytest.raises(ValueError, match=r"^five, not six$") as caught:
        dict(engine.run(work))
    assert "in refuse" in str(caught.value.__cause__)
    with pytest.warns(UserWarning, match="beware"):
        assert dict(engine.run([Task("warn", tasks.warn, ("beware",))])) == {0: "beware"}


def test_a_task_whose_worker_dies_runs_again(
    engine: RayEngine, tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "labeltree")
    work = [Task("die twice", tasks.die, (str(tmp_path / "log"), 2)), *tasks.squares(5)]
    found = dict(engine.run(work))
    assert len(found) == 6
    assert found[0] == 2
    wait_until(lambda: "A worker died" in caplog.text, 60)
    assert capfd.readouterr().out == ""  # where data may be written to


def test_a_task_that_always_kills_its_worker_is_named(engine: RayEngine, tmp_path: Path) -> None:
    work = [Task("training block 7", tasks.die, (str(tmp_path / "log"),))]
    with pytest.raises(WorkerError, match="training block 7: its worker died 3 times"):
        dict(engine.run(work))
    assert (tmp_path / "log").stat().st_size == 3


def test_tasks_stop_with_the_iterator(engine: RayEngine, tmp_path: Path) -> None:
    log = tmp_path / "log"
    work = [*tasks.squares(1), *[Task("sleep", tasks.started, (str(log), 600.0))] * 2]
    results = engine.run(work)
    next(results)
    with pytest.raises(RuntimeError, match="already runs"):
        next(engine.run(work))
    began = time.monotonic()
    results.close()  # type: ignore[attr-defined]
    assert len(dict(engine.run(tasks.squares(6)))) == 6
    assert time.monotonic() - began < 120


def test_a_task_that_needs_more_cores_than_a_node_has_runs(engine: RayEngine) -> None:
    assert list(engine.run([Task("a square", pow, (3, 2), n_threads=10_000)])) == [(0, 9)]


def test_other_versions(engine: RayEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = {**versions.own_versions(), "labeltree": "99.0", "NumPy": "7"}
    monkeypatch.setattr(engine, "_versions", theirs)
    with pytest.raises(
        WorkerError, match=r"has labeltree .*, NumPy .*, this program has labeltree 99.0, NumPy 7"
    ):
        dict(engine.run(tasks.squares(1)))


def test_a_function_that_workers_cannot_import(engine: RayEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    module = type(sys)("only_here")
    exec("def here(): pass", vars(module))
    monkeypatch.setitem(sys.modules, "only_here", module)
    with pytest.raises(WorkerError, match=r"import: a worker cannot run tasks.*only_here"):
        dict(engine.run([Task("import", module.here)]))


class TestDirectories:
    def test_a_node_copies_a_directory_once(self, engine: RayEngine, published: RayPlace) -> None:
        found = dict(engine.run([Task("read", tasks.read, (published, "deep/words"))] * 12))
        assert {text for _, text in found.values()} == {"rows"}
        copies = {Path(path) for path, _ in found.values()}
        assert published.cache_directory is not None
        assert all(copy.is_relative_to(published.cache_directory) for copy in copies)
        assert len(copies) == len({copy.parent for copy in copies})  # one for each node
        for copy in copies:
            assert (copy / "empty").stat().st_mtime_ns == Path(published.source, "empty").stat().st_mtime_ns
            assert not list(copy.parent.glob("*.partial"))

    def test_a_node_that_sees_the_directory_uses_it(self, engine: RayEngine, published: RayPlace) -> None:
        seen = replace(published, directory=published.source)
        assert dict(engine.run([Task("read", tasks.read, (seen, "deep/words"))])) == {
            0: (seen.source, "rows")
        }

    def test_a_file_that_has_changed(self, engine: RayEngine, published: RayPlace) -> None:
        Path(published.source, "deep", "words").write_text("other rows")
        with pytest.raises(LabelTreeError, match=r"words was changed while tasks needed it"):
            dict(engine.run([Task("read", tasks.read, (published, "deep/words"))]))

    def test_a_node_without_room(self, engine: RayEngine, published: RayPlace, tmp_path: Path) -> None:
        full = replace(published, cache_directory="/dev/full")
        with pytest.raises(OSError, match="/dev/full"):
            dict(engine.run([Task("read", tasks.read, (full, "deep/words"))]))

    def test_chunks(self, published: RayPlace, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("labeltree.engines.ray_place.CHUNK_BYTES", 3)
        words = published.files[0]
        assert [read_chunk(published.source, words, begin)[1].tobytes() for begin in (0, 3)] == [b"row", b"s"]


@pytest.mark.parametrize("rows", ["matrix", "store", "store that nodes do not see"])
def test_predictions_and_tuning(
    rows: str, engine: RayEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = documents(600, 40, 30, seed=1)
    model = LabelTreeClassifier(random_state=0).fit(X, y)
    model.save(tmp_path / "model")
    space = SearchSpace(
        loss=("squared_hinge",), C=(1.0,), arity=(2, 8), max_leaves=(4,), prune=(0.1,), n_trees=(1,)
    )
    estimator = LabelTreeClassifier(random_state=0)
    given: tuple[Any, Any] = X, y
    if rows != "matrix":
        with StoreWriter(tmp_path / "store") as writer:
            writer.append(X, y)
        given = Store(tmp_path / "store"), None
    if rows == "store that nodes do not see":
        hide_directories(engine, monkeypatch)
    expected = tune(*given, budget=600, space=space, estimator=estimator)
    with labeltree.engine(engine):
        found = predict_topk(tmp_path / "model", given[0], 3, batch_size=100)
        tuned = tune(*given, budget=600, space=space, estimator=estimator)
    np.testing.assert_array_equal(found.labels, model.predict_topk(X, 3).labels)
    assert [trial.score for trial in tuned.trials] == [trial.score for trial in expected.trials]


def test_commands(engine: RayEngine, tmp_path: Path) -> None:
    train, test = (
        write_texts(tmp_path / name, n_rows, seed)
        for name, n_rows, seed in (("a.jsonl", 90, 0), ("b.jsonl", 40, 1))
    )
    model, found = tmp_path / "model", tmp_path / "found.json"
    run("train", train, "--model", model)
    run("predict", model, test, "-o", tmp_path / "expected.txt")
    run("predict", model, test, "-o", tmp_path / "found.txt", "--ray", "auto", "--workers", 2)
    assert (tmp_path / "found.txt").read_bytes() == (tmp_path / "expected.txt").read_bytes()
    expected, report = run_json("evaluate", model, test), run_json("evaluate", model, test, "--ray", "auto")
    for name in ("metrics", "decided", "node_evaluations_per_row", "hints"):
        assert report[name] == expected[name]
    assert report["threads"] == engine.n_workers * engine.n_threads
    shape = ["--arity", 2, "--max-leaves", 3, "--prune", 0.1, "--random-state", 0]
    fixed = ["--loss", "logistic", "--C", 1, *shape]
    numbers = write_rows(tmp_path / "train.txt", make_rows(200, seed=1))
    tuned = [
        run_json("tune", numbers, *fixed, "--budget", 5, "--out", found, *options)["parameters"]
        for options in ([], ["--ray", "auto", "--max-retries", 5])
    ]
    assert tuned[0] == tuned[1]
    assert ray.is_initialized()  # as before


@pytest.mark.filterwarnings("ignore::DeprecationWarning:ray.data")  # of settings that it reads itself
def test_batch_predictor_in_a_pipeline_of_ray_data(engine: RayEngine, tmp_path: Path) -> None:
    pytest.importorskip("ray.data")
    X, y = documents(60, 40, 30, seed=1)
    model = LabelTreeClassifier(random_state=0).fit(X.toarray(), y)
    model.save(tmp_path / "model")
    ray.data.DataContext.get_current().enable_progress_bars = False
    rows = ray.data.from_numpy(X.toarray()).map_batches(
        BatchPredictor,
        fn_constructor_args=[engine.publish(tmp_path / "model")],
        fn_constructor_kwargs={"column": "data", "k": 2},
        concurrency=1,
        batch_size=16,
    )
    found = np.stack([row["labels"] for row in rows.take_all()])
    np.testing.assert_array_equal(found, model.predict_topk(X.toarray(), 2).labels)


def test_addresses(engine: RayEngine) -> None:
    with pytest.raises(ValueError, match="connected to a Ray cluster already"):
        RayEngine(address="local")
    with pytest.raises(ValueError, match="on a machine of the cluster"):
        RayEngine(address="ray://head:10001")
    with labeltree.engine("ray", n_workers=2) as other:
        assert other.n_workers == 2
        assert len(dict(other.run(tasks.squares(5)))) == 5
    assert ray.is_initialized()  # it was before


@pytest.mark.parametrize("sees_files", [True, False])
def test_a_model_trained_on_a_cluster_is_the_same(
    sees_files: bool, engine: RayEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    divide_finely(monkeypatch)
    X, y = training_data()
    with StoreWriter(tmp_path / "store", n_labels=N_LABELS) as writer:
        writer.append(X, y)
    if not sees_files:  # nodes copy the store and everything else
        hide_directories(engine, monkeypatch)
    with labeltree.engine(engine):
        model = LabelTreeClassifier(**SHAPE).fit(Store(tmp_path / "store"))
    assert are_same(LabelTreeClassifier(**SHAPE).fit(X, y), model)


def test_workers_and_a_node_that_are_killed_at_random_moments(
    engine: RayEngine, cluster: Any, tmp_path: Path
) -> None:
    rng, stop = random.Random(0), threading.Event()
    pids = tmp_path / "pids"
    pids.mkdir()

    def kill() -> None:
        for number in range(10):
            if stop.wait(rng.uniform(0.05, 0.3)):
                return
            for path in list(pids.iterdir())[:1]:
                path.unlink()
                tasks.kill(int(path.name))
            if number == 4:
                cluster.remove_node(cluster.list_all_nodes()[-1])

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        work = [Task(f"the square of {n}", tasks.registered_square, (n, str(pids))) for n in range(60)]
        persistent = RayEngine(max_retries=20)
        found = dict(persistent.run(work))
        persistent.close()
    finally:
        stop.set()
        killer.join()
    assert len(found) == 60
    for number, array in found.items():
        np.testing.assert_array_equal(array, tasks.square(number))


def test_a_local_cluster_that_cannot_start(monkeypatch: pytest.MonkeyPatch) -> None:
    class Busy:
        def init(self, **options: Any) -> None:
            assert options["address"] == "local"
            assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"
            raise Exception("The current node timed out")  # as Ray does

    monkeypatch.delenv("RAY_USAGE_STATS_ENABLED", raising=False)
    with pytest.raises(WorkerError, match=r"may be too busy: The current node timed out"):
        ray_connection._connect(Busy(), "local", 1)
    assert "RAY_USAGE_STATS_ENABLED" not in os.environ


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_local_cluster_ends_with_the_program_that_is_interrupted(
    number: signal.Signals, tmp_path: Path
) -> None:
    """In another process: Ray cannot be in two clusters at once."""
    log = tmp_path / "log"
    script = (
        "import os, signal, labeltree\n"
        f"signal.signal({int(number)}, signal.default_int_handler)\n"
        "from labeltree.engines import Task\n"
        "from tests import engine_tasks as tasks\n"
        "with labeltree.engine('ray', address='local', n_workers=1) as engine:\n"
        "    assert dict(engine.run([Task('a square', pow, (3, 2))])) == {0: 9}\n"
        f"    assert engine.publish(__import__('pathlib').Path({str(tmp_path)!r})).path()\n"
        f"    dict(engine.run([Task('sleep', tasks.started, ({str(log)!r}, 60.0))]))\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [os.getcwd(), *sys.path]))}
    with subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    ) as program:
        try:
            wait_until(lambda: log.exists() or program.poll() is not None, 120)
            assert log.exists(), program.communicate()
            children = tasks.children(program.pid)
            program.send_signal(number)
            output, errors = program.communicate(timeout=120)
        finally:
            program.kill()
    assert children
    assert program.returncode == -signal.SIGINT, errors
    assert output == ""
    assert errors.count("KeyboardInterrupt") == 1, errors
    wait_until(lambda: not any(map(tasks.is_running, children)), 60)
