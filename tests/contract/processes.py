"""Threads and processes: the same answers from all of them, and a training that can be stopped."""

from __future__ import annotations

import atexit
import functools
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.contract.problem import N_LABELS, Contract, assert_same_answers, lists, problem
from tests.documents import documents

# A program that trains what is pickled in each file that it is told of, and leaves the best labels in another.
TRAINER = """
import pickle, sys
for line in sys.stdin:
    task, answer = line.rstrip("\\n").split("\\t")
    model, X, y = pickle.load(open(task, "rb"))
    with open(answer, "wb") as out:
        pickle.dump(tuple(model.fit(X, y).predict_topk(X, k=5)), out)
    print("trained", flush=True)
"""

# A program that trains what is pickled in its first argument, and says when it starts and when it was interrupted.
INTERRUPTED_TRAINER = """
import pathlib, pickle, sys, threading, time
model, X, y = pickle.load(open(sys.argv[1], "rb"))
started, stopped = map(pathlib.Path, sys.argv[2:])
started.write_text("")
try:
    model.fit(X, y)
except KeyboardInterrupt:
    told = f"{time.monotonic()} {threading.active_count()} {hasattr(model, 'classes_')}"
    stopped.with_suffix(".new").write_text(told)
    stopped.with_suffix(".new").rename(stopped)
"""


def start(program: str, *arguments: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-W", "error", "-c", program, *map(str, arguments)]
    return subprocess.Popen(command, cwd=arguments[0].parent)


@functools.cache
def trainers() -> dict[str, subprocess.Popen[str]]:
    """A process for each of three hash seeds, shared by all classes: imports take longer than trainings."""
    command = [sys.executable, "-W", "error", "-c", TRAINER]
    started = {}
    for seed in "012":
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        started[seed] = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
    atexit.register(end, started)
    return started


def end(processes: dict[str, subprocess.Popen[str]]) -> None:
    for process in processes.values():
        process.communicate(timeout=60)  # it ends where its input does


def wait_for(path: Path, process: subprocess.Popen[bytes], seconds: float = 60) -> None:
    """Wait for a file of a process; fail if the process ends without it, or does not write it in time."""
    end = time.monotonic() + seconds
    while not path.exists():
        status = process.poll()
        assert status is None or path.exists(), f"the process ended with status {status} without {path.name}"
        assert time.monotonic() < end, f"{path.name} did not come in {seconds} seconds"
        time.sleep(0.01)


def answer_in_child(model: Any, X: Any) -> Any:
    return tuple(model.predict_topk(X, k=N_LABELS))


class ProcessContract(Contract):
    @pytest.mark.native
    def test_the_same_seed_gives_the_same_model(
        self, make_classifier: Callable[..., Any], model: Any
    ) -> None:
        X, y = problem()
        assert_same_answers(make_classifier().fit(X, y), model, X)

    @pytest.mark.native
    @pytest.mark.parametrize("n_jobs", [2, 3, -1])
    def test_the_number_of_threads_changes_nothing(
        self, make_classifier: Callable[..., Any], n_jobs: int
    ) -> None:
        X, y = documents(200, 60, N_LABELS, unlabelled=0.1)
        one, several = make_classifier().fit(X, y), make_classifier(n_jobs=n_jobs).fit(X, y)
        assert_same_answers(one, several, X)
        for a, b in zip(one.predict_proba(X), several.predict_proba(X), strict=True):
            np.testing.assert_array_equal(a.toarray(), b.toarray())

    @pytest.mark.native
    def test_eight_threads_may_ask_at_once(self, make_classifier: Callable[..., Any]) -> None:
        X, y = problem()
        model = make_classifier(n_jobs=2).fit(X, y)
        questions: list[Callable[[], Any]] = [
            lambda: model.predict_topk(X, k=3).probabilities,
            lambda: model.predict_topk(X[[5]], k=N_LABELS).probabilities,
            lambda: model.predict_proba(X, threshold=0.1).toarray(),
            lambda: model.predict(X).toarray(),
        ]
        expected = [ask() for ask in questions]
        # An unpickled model has made nothing ready yet: the threads race for that too.
        model = pickle.loads(pickle.dumps(model))
        with ThreadPoolExecutor(8) as threads:
            answers = list(threads.map(lambda i: questions[i % 4](), range(120)))
        for i, answer in enumerate(answers):
            np.testing.assert_array_equal(answer, expected[i % 4])

    @pytest.mark.native
    def test_several_models_may_be_trained_at_once(
        self, make_classifier: Callable[..., Any], model: Any
    ) -> None:
        X, y = problem()
        with ThreadPoolExecutor(4) as threads:
            twins = list(threads.map(lambda n: make_classifier(n_jobs=n).fit(X, y), [1, 2, 1, 2]))
        for twin in twins:
            assert_same_answers(twin, model, X)

    def test_every_process_trains_the_same_model(
        self, make_classifier: Callable[..., Any], tmp_path: Path
    ) -> None:
        X, y = problem()
        # Sets of mixed labels: their order changes with the hash seed.
        named = [set(row) for row in lists(y, lambda j: j if j % 2 else f"label {j}")]
        task = tmp_path / "task"
        task.write_bytes(pickle.dumps((make_classifier(), X, [["first"], *named[1:]])))
        for seed, trainer in trainers().items():
            trainer.stdin.write(f"{task}\t{tmp_path / seed}\n")
            trainer.stdin.flush()
        assert [trainer.stdout.readline() for trainer in trainers().values()] == ["trained\n"] * 3
        answers = [pickle.loads((tmp_path / seed).read_bytes()) for seed in trainers()]
        expected = make_classifier().fit(X, [["first"], *named[1:]]).predict_topk(X, k=5)
        for labels, probabilities in answers:
            np.testing.assert_array_equal(probabilities, expected.probabilities)
            assert labels.tolist() == expected.labels.tolist()

    def test_a_forked_process_can_ask_and_train(self, make_classifier: Callable[..., Any]) -> None:
        X, y = problem()
        model = make_classifier(n_jobs=2).fit(X, y)
        expected = answer_in_child(model, X)
        method = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
        with multiprocessing.get_context(method).Pool(2) as pool:
            asked = pool.starmap_async(answer_in_child, [(model, X)] * 4).get(timeout=60)
            trained = pool.apply_async(make_classifier(n_jobs=2).fit, (X, y)).get(timeout=60)
        for labels, probabilities in asked:
            np.testing.assert_array_equal(labels, expected[0])
            np.testing.assert_array_equal(probabilities, expected[1])
        assert_same_answers(trained, model, X)

    def test_training_stops_when_interrupted(
        self, make_classifier: Callable[..., Any], tmp_path: Path
    ) -> None:
        X, y = documents(2000, 300, 200)
        task, started, stopped = tmp_path / "task", tmp_path / "started", tmp_path / "stopped"
        task.write_bytes(pickle.dumps((make_classifier(n_jobs=2, **self.endless), X, y)))
        process = start(INTERRUPTED_TRAINER, task, started, stopped)
        try:
            wait_for(started, process)
            time.sleep(0.5)
            assert process.poll() is None, "training was over before it could be interrupted"
            sent = time.monotonic()
            process.send_signal(signal.SIGINT)
            wait_for(stopped, process)
            assert process.wait(timeout=30) == 0
        finally:
            process.kill()
            process.wait()
        at, n_threads, trained = stopped.read_text().split()
        # Training takes minutes. A busy machine may let a process wait for seconds.
        assert float(at) - sent < 15, "it took too long to stop"
        assert n_threads == "1", "threads were left behind"
        assert trained == "False"
        assert {path.name for path in tmp_path.iterdir()} == {"task", "started", "stopped"}
