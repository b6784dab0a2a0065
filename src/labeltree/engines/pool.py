"""`ProcessPool`: the engine that runs tasks in processes on this machine."""

from __future__ import annotations

import os
import selectors
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from labeltree.engines.outcome import Outcome
from labeltree.engines.protocol import LocalPlace
from labeltree.engines.schedule import Schedule
from labeltree.engines.task import Task
from labeltree.engines.versions import own_versions
from labeltree.engines.worker_process import WorkerProcess
from labeltree.errors import WorkerError
from labeltree.validation import check_count, cpu_count

#: Workers that were killed one after the other before any became ready.
_MOST_FAILED_STARTS = 100


class ProcessPool:
    """Runs tasks in processes on this machine. They start with the first tasks and end with the engine.

    A worker that is killed is replaced, and its task runs again. A worker waits with its result until the program takes
    it, so at most `n_workers` results are in memory beside those that the program keeps.

    Parameters
    ----------
    n_workers : int, optional
        Number of processes; by default one for each core.
    max_retries : int
        Number of times that a task runs again after its worker died.

    Attributes
    ----------
    n_threads : int
        Number of threads for each task, so that all workers together use no more than all cores.

    Examples
    --------
    >>> from labeltree.engines import ProcessPool, Task
    >>> pool = ProcessPool(n_workers=2)
    >>> sorted(pool.run([Task(f"the square of {n}", pow, (n, 2)) for n in range(4)]))
    [(0, 0), (1, 1), (2, 4), (3, 9)]
    >>> pool.close()
    """

    def __init__(self, n_workers: int | None = None, max_retries: int = 2) -> None:
        if n_workers is not None:
            check_count("n_workers", n_workers, " or None")
        check_count("max_retries", max_retries, least=0)
        n_cores = cpu_count()
        self.n_workers = n_cores if n_workers is None else int(n_workers)
        self.n_threads = max(1, n_cores // self.n_workers)
        self._max_retries = max_retries
        self._versions = own_versions()
        self._workers: list[WorkerProcess] = []
        self._n_failed_starts = 0
        self._is_running = self._is_closed = False
        self._owner = os.getpid()

    def publish(self, directory: Path) -> LocalPlace:
        """Return the directory itself: all workers see it."""
        return LocalPlace.of(directory)

    def run(self, tasks: Sequence[Task]) -> Iterator[tuple[int, Any]]:
        """Run tasks, and yield the number and the result of each as it finishes."""
        self._check_open()
        if self._is_running:
            raise RuntimeError("this pool already runs tasks: take all their results before you run others")
        self._is_running = True
        schedule = Schedule(tasks, self.n_workers * self.n_threads)
        try:
            while schedule.n_left > 0:
                self._start_workers(schedule)
                self._give_tasks(schedule)
                for worker in _with_message(self._workers):
                    outcome = self._answer(worker, schedule)
                    if outcome is None:
                        continue
                    number, result = outcome
                    self._give_tasks(schedule)  # before the program is busy with the result
                    yield number, result.value()
                    self._check_open()
        finally:
            self._is_running = False
            self._end([worker for worker in self._workers if worker.number is not None])

    def close(self) -> None:
        """Kill all workers; in a process that was forked, only forget them."""
        self._is_closed = True
        if os.getpid() != self._owner:
            return
        self._end(list(self._workers))

    def pids(self) -> list[int]:
        """Return the ids of the processes that run now."""
        return [worker.pid for worker in self._workers]

    def _check_open(self) -> None:
        if self._is_closed:
            raise RuntimeError("this pool is closed: run tasks inside its with statement")
        if os.getpid() != self._owner:
            raise RuntimeError("this pool belongs to the process that was forked: make one in this process")

    def _start_workers(self, schedule: Schedule) -> None:
        n_busy = sum(worker.number is not None for worker in self._workers)
        for _ in range(len(self._workers), min(self.n_workers, n_busy + len(schedule.waiting))):
            self._workers.append(WorkerProcess(self.n_threads))

    def _give_tasks(self, schedule: Schedule) -> None:
        for worker in self._workers:
            if worker.is_ready and worker.number is None and schedule.has_next():
                worker.give(*schedule.next())

    def _answer(self, worker: WorkerProcess, schedule: Schedule) -> tuple[int, Outcome] | None:
        """Read the message of a worker. Return the outcome of its task, None if it had none or has died."""
        number = worker.number
        try:
            if not worker.is_ready:
                worker.greet(self._versions)
                self._n_failed_starts = 0
                return None
            outcome = worker.take()
        except (EOFError, OSError):
            self._replace(worker, schedule)
            return None
        assert number is not None
        schedule.finish(number)
        return number, outcome

    def _replace(self, worker: WorkerProcess, schedule: Schedule) -> None:
        """Remove a worker that has died. Raise an error if there is no hope for its task, or for another worker."""
        status = worker.status()
        self._end([worker])
        how = f"killed by signal {-status}" if status < 0 else f"exit status {status}"
        if worker.number is not None:
            schedule.return_task(worker.number, self._max_retries, how)
        elif not worker.is_ready:
            self._n_failed_starts += 1
            if status >= 0 or self._n_failed_starts >= _MOST_FAILED_STARTS:
                raise WorkerError(
                    f"a worker process ended while it started ({how}): its message is on standard error; check "
                    "that the memory suffices and that 'import labeltree' works in a new process"
                )

    def _end(self, workers: list[WorkerProcess]) -> None:
        for worker in workers:
            self._workers.remove(worker)
            worker.end()


def _with_message(workers: list[WorkerProcess]) -> list[WorkerProcess]:
    """Wait until some workers have sent something or have died, and return them."""
    with selectors.DefaultSelector() as selector:
        for worker in workers:
            selector.register(worker.connection, selectors.EVENT_READ, worker)
        return [key.data for key, _ in selector.select()]
