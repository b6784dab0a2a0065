"""How the trials of a job are run: in this process, or several jobs at once by the workers of an engine."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any, NamedTuple, Protocol

import joblib

from labeltree.classifier import LabelTreeClassifier
from labeltree.engines.protocol import Engine, Place
from labeltree.engines.task import Task
from labeltree.tuning.halving import Job, Rung, SuccessiveHalving
from labeltree.tuning.problem import Problem
from labeltree.tuning.result import Trial

_PROBLEM = "problem.joblib"


class TrialRunner(Protocol):
    """Runs the trials of jobs. `seconds` has the times of jobs that did not take the time that passed meanwhile."""

    seconds: dict[Job, float]

    def trials(self, job: Job) -> Iterator[Trial]: ...


class OwnTrials:
    """Runs the trials of one job after another."""

    def __init__(
        self,
        problem: Problem,
        base: LabelTreeClassifier,
        candidates: list[dict[str, Any]],
        rungs: list[Rung],
    ) -> None:
        self.seconds: dict[Job, float] = {}
        self._problem, self._base, self._candidates, self._rungs = problem, base, candidates, rungs

    def trials(self, job: Job) -> Iterator[Trial]:
        return self._problem.trials(self._base, self._candidates[job.candidate], self._rungs[job.rung])


class Ended(NamedTuple):
    """What a job has ended with in a worker, and after how many seconds."""

    trials: list[Trial]
    error: ValueError | None
    seconds: float


class EngineTrials:
    """Runs a job together with jobs that will probably be next, so that all workers of an engine are busy.

    The search asks for the same jobs in the same order as without an engine: a job that has run already is answered at
    once. Only jobs that are not longer than the one that is asked for are run ahead.
    """

    def __init__(
        self,
        engine: Engine,
        problem: Problem,
        base: LabelTreeClassifier,
        candidates: list[dict[str, Any]],
        rungs: list[Rung],
        halving: SuccessiveHalving,
    ) -> None:
        self.seconds: dict[Job, float] = {}
        self._engine, self._candidates, self._rungs, self._halving = engine, candidates, rungs, halving
        self._base = copy(base).set_params(n_jobs=engine.n_threads)
        self._ended: dict[Any, Ended] = {}
        self._folder = tempfile.TemporaryDirectory(prefix="labeltree-", ignore_cleanup_errors=True)
        shared = replace(problem, samples=problem.samples.shared(engine))
        joblib.dump(shared, Path(self._folder.name, _PROBLEM))
        self._place = engine.publish(Path(self._folder.name))

    def __enter__(self) -> EngineTrials:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._folder.cleanup()

    def trials(self, job: Job) -> Iterator[Trial]:
        if self._key(job) not in self._ended:
            jobs = [job, *self._likely_after(job)]
            tasks = [
                Task(
                    f"trial of candidate {one.candidate} on {self._rungs[one.rung].n_rows:,} rows",
                    _try,
                    (self._place, self._base, self._candidates[one.candidate], self._rungs[one.rung]),
                    cost=self._rungs[one.rung].cost,
                    n_threads=self._engine.n_threads,
                )
                for one in jobs
            ]
            for number, ended in self._engine.run(tasks):
                self._ended[self._key(jobs[number])] = ended
        found = self._ended.pop(self._key(job))
        self.seconds[job] = found.seconds
        yield from found.trials
        if found.error is not None:
            raise found.error

    def _likely_after(self, job: Job) -> list[Job]:
        """Return jobs that the search may ask for next and that have not run, one for each other worker at most."""
        possible = list(self._halving.jobs())
        first = max((one.candidate for one in (job, *possible) if one.rung == 0), default=-1) + 1
        possible += [Job(candidate, 0) for candidate in range(first, self._halving.n_candidates)]
        likely = [
            one
            for one in dict.fromkeys(possible)
            if one != job and one.rung <= job.rung and self._key(one) not in self._ended
        ]
        return likely[: self._engine.n_workers - 1]

    def _key(self, job: Job) -> Any:
        """Return what identifies a job: numbers of candidates change when others are left out."""
        return job.rung, *self._candidates[job.candidate].items()


def _try(place: Place, base: LabelTreeClassifier, parameters: dict[str, Any], rung: Rung) -> Ended:
    began, trials, failure = monotonic(), [], None
    try:
        for trial in _problem(place.path()).trials(base, parameters, rung):
            trials.append(trial)
    except ValueError as error:  # the search decides whether it matters
        failure = error
    return Ended(trials, failure, monotonic() - began)


@lru_cache(maxsize=1)
def _problem(folder: Path) -> Problem:
    """Return the data of all trials, mapped once for all tasks of this process."""
    problem: Problem = joblib.load(folder / _PROBLEM, mmap_mode="r")
    return replace(problem, samples=problem.samples.opened())
