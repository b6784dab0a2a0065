"""The pool of processes: results, errors, deaths of workers, and nothing left behind."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests import engine_tasks as tasks
from tests.servers import wait_until

import labeltree
from labeltree.engines import InProcess, ProcessPool, Task, versions
from labeltree.engines import pool as pool_module
from labeltree.errors import WorkerError

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="kills processes")


@pytest.fixture(scope="module")
def shared_pool() -> Iterator[ProcessPool]:
    """A pool whose workers no test kills."""
    with labeltree.engine("pool", n_workers=2) as pool:
        assert isinstance(pool, ProcessPool)
        yield pool


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_forked_process_leaves_the_workers_alone() -> None:
    with labeltree.engine("pool", n_workers=1) as pool:
        assert isinstance(pool, ProcessPool)
        list(pool.run(tasks.squares(2)))
        child = os.fork()
        if child == 0:
            status = 1
            try:
                list(pool.run(tasks.squares(2)))
            except RuntimeError as error:
                status = 0 if "belongs to the process that was forked" in str(error) else 2
            finally:
                pool.close()
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        [worker] = pool.pids()
        assert is_alive(worker)
        assert len(list(pool.run(tasks.squares(2)))) == 2
        assert pool.pids() == [worker]


def test_results_are_those_of_this_process(shared_pool: ProcessPool) -> None:
    found = dict(shared_pool.run(tasks.squares(30)))
    expected = dict(InProcess().run(tasks.squares(30)))
    assert found.keys() == expected.keys()
    for number, array in expected.items():
        np.testing.assert_array_equal(found[number], array)
        found[number][0] = -1  # it may be changed


def test_no_tasks(shared_pool: ProcessPool) -> None:
    assert list(shared_pool.run([])) == []


def test_expensive_tasks_start_first(tmp_path: Path) -> None:
    log = str(tmp_path / "log")
    with labeltree.engine("pool", n_workers=1) as pool:
        found = dict(pool.run([Task(f"{cost}", tasks.append, (log,), cost=cost) for cost in (1, 3, 2, 3)]))
    assert found == {1: 1, 3: 2, 2: 3, 0: 4}


def test_tasks_run_at_once_in_processes_that_stay(shared_pool: ProcessPool) -> None:
    work = [Task("process", tasks.process)] * 10
    first, second = (dict(shared_pool.run(work)) for _ in range(2))
    assert set(first.values()) | set(second.values()) == set(shared_pool.pids())
    assert len(shared_pool.pids()) == 2


def test_a_task_that_needs_all_cores_runs_alone() -> None:
    pool = ProcessPool(n_workers=2)
    n_cores = pool.n_workers * pool.n_threads
    work = [
        Task("sleep", tasks.slept, (0.2,), cost=cost, n_threads=n)
        for cost, n in ((3, 1), (2, n_cores), (1, 1))
    ]
    try:
        times = {n: [float(word) for word in text.split()] for n, text in pool.run(work)}
    finally:
        pool.close()
    assert times[0][1] <= times[1][0] < times[1][1] <= times[2][0]


def test_a_task_that_needs_more_cores_than_there_are_runs(shared_pool: ProcessPool) -> None:
    assert list(shared_pool.run([Task("a square", pow, (3, 2), n_threads=10_000)])) == [(0, 9)]


def test_threads_of_libraries_are_limited(shared_pool: ProcessPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    assert shared_pool.n_threads == max(1, pool_module.cpu_count() // 2)
    with labeltree.engine("pool", n_workers=1) as pool:
        found = dict(pool.run([Task("threads", tasks.environment, ("OPENBLAS_NUM_THREADS",))]))
    assert found == {0: str(pool_module.cpu_count())}


def test_workers_have_no_engine_of_their_own(shared_pool: ProcessPool) -> None:
    with labeltree.engine(shared_pool):
        assert dict(shared_pool.run([Task("engine", tasks.engine_here)])) == {0: "InProcess"}


class TestErrors:
    def test_type_message_and_traceback_are_kept(self, shared_pool: ProcessPool) -> None:
        with pytest.raises(ValueError, match=r"^five, not six$") as caught:
            dict(shared_pool.run([*tasks.squares(3), Task("refuse", tasks.refuse, ("five, not six",))]))
        assert "in refuse" in str(caught.value.__cause__)
        assert len(dict(shared_pool.run(tasks.squares(3)))) == 3

    def test_an_error_that_cannot_be_pickled_is_told(self, shared_pool: ProcessPool) -> None:
        with pytest.raises(WorkerError, match="PoliteError: no: ask again"):
            dict(shared_pool.run([Task("refuse", tasks.refuse_politely)]))

    def test_a_result_that_cannot_be_pickled(self, shared_pool: ProcessPool) -> None:
        with pytest.raises(Exception, match="lambda"):
            dict(shared_pool.run([Task("lambda", tasks.not_picklable)]))

    def test_a_task_that_cannot_be_pickled(self, shared_pool: ProcessPool) -> None:
        with pytest.raises(Exception, match="lambda"):
            dict(shared_pool.run([Task("lambda", lambda: 0)]))
        assert len(dict(shared_pool.run(tasks.squares(3)))) == 3

    def test_a_function_that_workers_cannot_import(
        self, shared_pool: ProcessPool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        module = type(sys)("only_here")
        exec("def here(): pass", vars(module))
        monkeypatch.setitem(sys.modules, "only_here", module)
        with pytest.raises(ModuleNotFoundError, match="only_here"):
            dict(shared_pool.run([Task("import", module.here)]))

    def test_warnings_reach_the_program(self, shared_pool: ProcessPool) -> None:
        with pytest.warns(UserWarning, match="beware"):
            assert dict(shared_pool.run([Task("warn", tasks.warn, ("beware",))])) == {0: "beware"}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            dict(shared_pool.run([Task("warn", tasks.warn, ("beware",))]))

    @pytest.mark.parametrize("n_workers", [0, 1.5, -1])
    def test_numbers_of_workers(self, n_workers: int) -> None:
        with pytest.raises(ValueError, match="n_workers"):
            ProcessPool(n_workers=n_workers)

    def test_one_run_at_a_time(self, shared_pool: ProcessPool) -> None:
        results = shared_pool.run(tasks.squares(3))
        next(results)
        with pytest.raises(RuntimeError, match="already runs"):
            next(shared_pool.run(tasks.squares(3)))
        assert len(list(results)) == 2

    def test_a_closed_pool(self) -> None:
        with labeltree.engine("pool", n_workers=1) as pool:
            results = pool.run(tasks.squares(3))
            next(results)
        with pytest.raises(RuntimeError, match="closed"):
            next(results)
        with pytest.raises(RuntimeError, match="closed"):
            next(pool.run(tasks.squares(3)))

    def test_other_versions(self, monkeypatch: pytest.MonkeyPatch) -> None:
        ours = versions.own_versions()
        monkeypatch.setattr(pool_module, "own_versions", lambda: {**ours, "labeltree": "99.0"})
        with (
            labeltree.engine("pool", n_workers=1) as pool,
            pytest.raises(WorkerError, match=f"has labeltree {labeltree.__version__}, this program.* 99.0"),
        ):
            dict(pool.run(tasks.squares(1)))

    def test_a_worker_that_cannot_start(
        self, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(sys, "path", ["/nowhere"])
        with labeltree.engine("pool", n_workers=1) as pool, pytest.raises(WorkerError, match="exit status 1"):
            dict(pool.run(tasks.squares(1)))
        assert "Error" in capfd.readouterr().err


class TestDeaths:
    def test_a_task_whose_worker_dies_runs_again(self, tmp_path: Path) -> None:
        work = [Task("die twice", tasks.die, (str(tmp_path / "log"), 2)), *tasks.squares(5)]
        with labeltree.engine("pool", n_workers=2) as pool:
            found = dict(pool.run(work))
        assert len(found) == 6
        assert found[0] == 2

    def test_a_task_that_always_kills_its_worker_is_named(self, tmp_path: Path) -> None:
        work = [Task("training block 7", tasks.die, (str(tmp_path / "log"),)), *tasks.squares(2)]
        with (
            labeltree.engine("pool", n_workers=2) as pool,
            pytest.raises(WorkerError, match=r"training block 7: its worker died 3 times .*signal 9"),
        ):
            dict(pool.run(work))
        assert (tmp_path / "log").stat().st_size == 3

    def test_20_kills_at_random_moments(self) -> None:
        rng, n_killed, stop = random.Random(0), 0, threading.Event()

        def kill(pool: ProcessPool) -> None:
            nonlocal n_killed
            while n_killed < 20 and not stop.wait(rng.uniform(0.02, 0.5)):
                for pid in rng.sample(pool.pids(), min(1, len(pool.pids()))):
                    os.kill(pid, signal.SIGKILL)
                    n_killed += 1

        with labeltree.engine("pool", n_workers=3, max_retries=20) as pool:
            assert isinstance(pool, ProcessPool)
            killer = threading.Thread(target=kill, args=(pool,))
            killer.start()
            try:
                found: dict[int, object] = {}
                while n_killed < 20:
                    found = dict(pool.run(tasks.squares(40, 0.02)))
            finally:
                stop.set()
                killer.join()
        assert len(found) == 40
        for number in range(40):
            np.testing.assert_array_equal(found[number], tasks.square(number))


class TestNothingIsLeftBehind:
    def test_after_the_context(self) -> None:
        with labeltree.engine("pool", n_workers=2) as pool:
            assert isinstance(pool, ProcessPool)
            dict(pool.run(tasks.squares(4)))
            pids = pool.pids()
            assert all(map(is_alive, pids))
        assert len(pids) == 2
        assert not any(map(is_alive, pids))

    def test_after_an_error_of_the_program(self) -> None:
        pids = []
        with pytest.raises(KeyError), labeltree.engine("pool", n_workers=2) as pool:  # noqa: PT012
            assert isinstance(pool, ProcessPool)
            for _ in pool.run([*tasks.squares(1), Task("sleep", tasks.slept, (60.0,))]):
                pids = pool.pids()
                raise KeyError
        assert len(pids) == 2
        assert not any(map(is_alive, pids))

    def test_busy_workers_end_with_the_iterator(self, shared_pool: ProcessPool) -> None:
        results = shared_pool.run([Task("sleep", tasks.slept, (60.0,)), *tasks.squares(1)])
        assert next(results)[0] == 1
        pids = shared_pool.pids()
        results.close()  # type: ignore[attr-defined]
        assert sum(map(is_alive, pids)) == 1
        assert len(dict(shared_pool.run(tasks.squares(3)))) == 3

    @pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
    def test_after_a_signal_to_the_program(self, how: signal.Signals, tmp_path: Path) -> None:
        script = tmp_path / "script.py"  # without a guard: workers do not import it
        script.write_text(
            "import signal\n"
            "signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored\n"
            "import labeltree\n"
            "from labeltree.engines import Task\n"
            "from tests import engine_tasks as tasks\n"
            "with labeltree.engine('pool', n_workers=2) as pool:\n"
            "    dict(pool.run([Task('process', tasks.process)] * 4))\n"
            "    print(*pool.pids(), flush=True)\n"
            f"    dict(pool.run([Task('sleep', tasks.started, ({str(tmp_path / 'log')!r}, 600.0))] * 2))\n"
        )
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [os.getcwd(), *sys.path]))}
        with subprocess.Popen(
            [sys.executable, script],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            start_new_session=True,
        ) as program:
            assert program.stdout is not None
            pids = [int(pid) for pid in program.stdout.readline().split()]
            assert len(pids) == 2
            wait_until(lambda: (tmp_path / "log").exists() and (tmp_path / "log").stat().st_size == 2)
            began = time.monotonic()
            os.killpg(program.pid, how)  # as a terminal does on Ctrl-C
            _, errors = program.communicate()
        wait_until(lambda: not any(map(is_alive, pids)))
        assert time.monotonic() - began < 120
        assert errors.count("KeyboardInterrupt") == (how == signal.SIGINT)
        assert program.returncode == -how
