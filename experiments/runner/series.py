"""A series of runs: those that are not finished are run, each in a process of its own."""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.inputs import Inputs
from benchmarks.peers import PEERS
from benchmarks.process import run_process
from benchmarks.runner import Run as Measured
from benchmarks.runner import run_stages

from experiments.runner.data import files_of
from experiments.runner.estimates import Estimates
from experiments.runner.features import read_problem
from experiments.runner.figures import COSTS, PROCESSOR_COSTS
from experiments.runner.judgement import judge_ranking
from experiments.runner.run import Run
from experiments.runner.store import Store
from experiments.runner.table import BASELINE, BASELINE_OF_DESCENT, SEEDS, SOFTMAX, TREES

#: Seconds after which a run is stopped, and those of large sets.
LIMIT_S, LARGE_LIMIT_S = 1_800, 6 * 3_600


def limit_of(data: str) -> float:
    """The seconds after which a run on a set is stopped."""
    return LARGE_LIMIT_S if data in SEEDS else LIMIT_S


class RunError(Exception):
    """A run that failed; the message is the last thing that it said. `limit_s` is the limit that stopped it."""

    def __init__(self, message: str, limit_s: float | None = None) -> None:
        super().__init__(message)
        self.limit_s = limit_s


@dataclass
class Series:
    """Runs that are wanted; `failures` has the reasons of those that failed, which are tried again next time.

    `limit_s` stops a run; without, the size of the set decides. A run that was stopped is kept as such; it and its
    other seeds are tried again with a longer limit only. No run begins that will probably not end before `deadline`, by
    the monotonic clock.
    """

    store: Store
    limit_s: float | None
    execute: Callable[[Run, float], dict[str, Any]]
    deadline: float | None = None
    failures: dict[str, str] = field(default_factory=dict)

    def finish(self, runs: Iterable[Run]) -> None:
        """Run what has not been finished, once each, the first seeds of all before the second ones."""
        waiting = {run.key(): run for run in sorted(runs, key=lambda run: run.seed)}
        waiting = {key: run for key, run in waiting.items() if not self._is_done(run)}
        for number, (key, run) in enumerate(waiting.items(), 1):
            if key not in self.failures and not self._is_done(run) and self._is_in_time(run):
                print(f"run {number} of {len(waiting)}: {describe(run)}", file=sys.stderr, flush=True)
                self._run(key, run)

    def _run(self, key: str, run: Run) -> None:
        limit_s = self._limit(run)
        started, used = time.perf_counter(), _cpu_seconds_of_children()
        try:
            figures = self.execute(run, limit_s)
            self.store.keep(run, figures, time.perf_counter() - started, _cpu_seconds_of_children() - used)
        except RunError as error:
            if error.limit_s is not None:
                self.store.keep_stopped(run, limit_s, _cpu_seconds_of_children() - used)
            self.failures[key] = str(error)
            print(f"  failed: {error}", file=sys.stderr, flush=True)

    def _limit(self, run: Run) -> float:
        return self.limit_s if self.limit_s is not None else limit_of(run.data)

    def _is_done(self, run: Run) -> bool:
        """Whether it is finished on the data as they are, or its limit has stopped it or its first seed before."""
        records = (self.store.record(one) for one in (run, replace(run, seed=0)))
        own, first = (one if one and one.contents == run.contents() else None for one in records)
        if own is not None and own.figures is not None:
            return True
        return any(one is not None and (one.stopped_after or 0.0) >= self._limit(run) for one in (own, first))

    def _is_in_time(self, run: Run) -> bool:
        if self.deadline is None:
            return True
        return time.monotonic() + Estimates(self.store).seconds(run) <= self.deadline

    def figures(self, runs: Iterable[Run]) -> list[dict[str, Any]]:
        """The figures of those runs that are finished."""
        found = (self.store.find(run) for run in runs)
        return [figures for figures in found if figures is not None]

    def failure(self, runs: Iterable[Run]) -> str:
        """Why the first of those runs failed that did; nothing if none did."""
        for run in runs:
            if run.key() in self.failures:
                return self.failures[run.key()]
            record = self.store.record(run)
            if record is not None and record.stopped_after is not None:
                return f"stopped after {record.stopped_after:g} s"
        return ""


def _cpu_seconds_of_children() -> float:
    """Processor time of all processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def describe(run: Run) -> str:
    """A line about a run, with what is not of the baseline."""
    usual = {**BASELINE, **BASELINE_OF_DESCENT} if run.system in (TREES, SOFTMAX) else {}
    others = [f"{name}={value}" for name, value in run.parameters.items() if usual.get(name) != value]
    about = [
        run.data,
        *([run.system] if run.system != TREES else []),
        run.features,
        *others,
        *(f"{name}={value}" for name, value in (run.decide or {}).items()),
        *([f"weights {run.sample_weight}"] if run.sample_weight else []),
        *(["development rows"] if run.part == "dev" else []),
        f"seed {run.seed}",
    ]
    return ", ".join(about)


def execute(run: Run, limit_s: float) -> dict[str, Any]:
    """Run in fresh processes; raises `RunError`. Making the data set on its first use is no part of the limit."""
    files_of(run.data, run.n_rows, run.part)
    with tempfile.TemporaryDirectory() as folder:
        return (_run_ours if run.is_ours else _run_peer)(run, Path(folder), limit_s)


def _run_ours(run: Run, folder: Path, limit_s: float) -> dict[str, Any]:
    command = [
        sys.executable,
        "-m",
        "experiments.runner.trial",
        json.dumps(run.as_json()),
        str(folder / "model"),
    ]
    ended = run_process(command, folder, limit_s=limit_s, threads=run.threads)
    if ended.timed_out:
        raise RunError(f"stopped after {limit_s:g} s", limit_s)
    if ended.exit_code != 0:
        raise RunError(ended.last_messages.rpartition("\n")[2] or f"exit code {ended.exit_code}")
    return ended.report


def _run_peer(run: Run, folder: Path, limit_s: float) -> dict[str, Any]:
    inputs = Inputs(*files_of(run.data, run.n_rows, run.part))
    n_trees = run.parameters.get("n_trees", 1)
    others = {name: value for name, value in run.parameters.items() if name != "n_trees"}
    peer = replace(PEERS[run.system], settings={**PEERS[run.system].settings, **others})
    told = {
        "n_trees": n_trees,
        "threads": run.threads,
        "seed": run.seed,
        "batch_sizes": list(run.batch_sizes),
    }
    measured = Measured(run.system, n_trees, limit_s)
    predictions = run_stages(measured, peer, inputs, folder, told)
    if measured.stopped:
        raise RunError(f"stopped in {measured.stopped} after {limit_s:g} s", limit_s)
    if measured.failure:
        raise RunError(measured.failure.rpartition("\n")[2].strip())
    problem = read_problem(run.data, run.n_rows, "words", run.threads, run.part)
    costs = [*COSTS, *PROCESSOR_COSTS, *(f"batch_{size}_ms" for size in run.batch_sizes)]
    return {
        **judge_ranking(problem.y_train, problem.y_test, np.load(predictions)),
        **{name: measured.figures[name] for name in costs},
    }
