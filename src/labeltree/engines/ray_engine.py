"""`RayEngine`: the engine that runs tasks on a Ray cluster."""

from __future__ import annotations

import os
import uuid
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from joblib import cpu_count

from labeltree.engines.fingerprint import file_stamps
from labeltree.engines.outcome import Outcome
from labeltree.engines.protocol import LocalPlace, Place, published_directory
from labeltree.engines.ray_connection import RayConnection
from labeltree.engines.ray_place import NAMESPACE, Publisher, RayPlace, remove_node_cache
from labeltree.engines.ray_task import run_task
from labeltree.engines.schedule import raise_if_hopeless
from labeltree.engines.task import Task, most_expensive_first
from labeltree.engines.versions import own_versions
from labeltree.errors import WorkerError
from labeltree.validation import check_count

#: How long tasks may take to be cancelled, and nodes to remove their copies, in seconds.
_CLEANING_SECONDS = 30.0


class RayEngine:
    """Runs tasks on the machines of a Ray cluster, or in a local one that starts and ends with the engine.

    A task whose worker or node dies runs again. Ray's dashboard shows tasks by their names. All machines need the same
    versions of labeltree and Python. Results are arrays in Ray's object store: they are read-only, and take room there
    as long as the program keeps them.

    Parameters
    ----------
    address : str, optional
        "auto" for the cluster that runs on this machine, "host:port" for another one that this machine has joined,
        "local" to start one on this machine. By default the cluster that this process is connected to, or the one that
        runs on this machine, or else a local one.
    n_workers : int, optional
        Maximum number of tasks at once; by default one for each core of the cluster.
    max_retries : int
        Number of times that a task runs again after its worker or node died.
    cache_directory : path, optional
        Where nodes keep copies of published directories that they do not see; by default the directory of temporary
        files. Copies are removed at the end.

    Attributes
    ----------
    n_threads : int
        Number of threads for each task, so that all workers together use no more than all cores.
    """

    def __init__(
        self,
        address: str | None = None,
        n_workers: int | None = None,
        max_retries: int = 2,
        cache_directory: str | os.PathLike[str] | None = None,
    ) -> None:
        if n_workers is not None:
            check_count("n_workers", n_workers, " or None")
        check_count("max_retries", max_retries, least=0)
        self._connection = RayConnection(address, max(n_workers or 1, int(cpu_count())))
        self._ray = self._connection.ray
        n_cores = self._connection.n_cores
        self.n_workers = n_cores if n_workers is None else int(n_workers)
        self.n_threads = max(1, n_cores // self.n_workers)
        # If the cluster itself limits the tasks at once, others wait at its nodes: no core waits for the program.
        self._most_in_flight = 2 * self.n_workers if self.n_workers >= n_cores else self.n_workers
        self._max_retries = max_retries
        self._versions = own_versions()
        self._remote = self._ray.remote(run_task)
        self._in_flight: dict[Any, int] = {}
        self._name = f"labeltree-{uuid.uuid4().hex}"
        self._publisher: Any = None
        self._cache_directory = None if cache_directory is None else os.fspath(cache_directory)
        self._is_closed = False

    def publish(self, directory: Path) -> Place:
        """Make a directory readable by tasks.

        Nodes where its path leads to files of the same sizes and times use them. Others copy the files once, through
        Ray's object store.
        """
        self._check_open()
        if self._connection.is_local:
            return LocalPlace.of(directory)
        source = str(published_directory(directory))
        if self._publisher is None:
            actor = self._ray.remote(Publisher).options(
                name=self._name,
                namespace=NAMESPACE,
                num_cpus=0,
                max_restarts=-1,
                max_task_retries=-1,
                max_concurrency=4,
                scheduling_strategy=self._connection.on_node(self._connection.own_node),
            )
            self._publisher = actor.remote()
        return RayPlace(source, source, file_stamps(Path(source)), self._name, self._cache_directory)

    def run(self, tasks: Sequence[Task]) -> Iterator[tuple[int, Any]]:
        """Run tasks, and yield the number and the result of each as it finishes."""
        self._check_open()
        if self._in_flight:
            raise RuntimeError("this engine already runs tasks: take all their results before you run others")
        waiting = deque(most_expensive_first(tasks))
        n_deaths: Counter[int] = Counter()
        try:
            while waiting or self._in_flight:
                self._submit(tasks, waiting)
                (finished,), _ = self._ray.wait(list(self._in_flight), num_returns=1)
                number = self._in_flight.pop(finished)
                outcome = self._outcome(finished, tasks[number])
                del finished  # Ray keeps a result as long as something refers to it
                if isinstance(outcome, str):
                    n_deaths[number] += 1
                    raise_if_hopeless(tasks[number], n_deaths[number], self._max_retries, outcome)
                    waiting.appendleft(number)
                    continue
                self._submit(tasks, waiting)  # before the program is busy with the result
                yield number, outcome.value()
                del outcome
                self._check_open()
        finally:
            self._cancel()

    def close(self) -> None:
        """Cancel tasks, remove copies of directories, and stop a cluster that was started for this engine."""
        if self._is_closed:
            return
        self._is_closed = True
        try:
            self._cancel()
            if self._publisher is not None:
                self._ray.kill(self._publisher)
                self._on_all_nodes(remove_node_cache, self._name, self._cache_directory)
        finally:
            self._connection.close()

    def _check_open(self) -> None:
        if self._is_closed:
            raise RuntimeError("this engine is closed: run tasks inside its with statement")

    def _submit(self, tasks: Sequence[Task], waiting: deque[int]) -> None:
        while waiting and len(self._in_flight) < self._most_in_flight:
            task = tasks[waiting[0]]
            # Deaths are counted here: Ray would retry a task that needs too much memory for ever.
            remote = self._remote.options(
                name=task.name,
                num_cpus=min(task.n_threads, self._connection.most_cores_of_a_node),
                max_retries=0,
            )
            self._in_flight[remote.remote(self._versions, task.run, task.arguments)] = waiting.popleft()

    def _outcome(self, finished: Any, task: Task) -> Outcome | str:
        """Return what a task has ended with, or how its worker has died."""
        errors = self._ray.exceptions
        died = (
            errors.WorkerCrashedError,
            errors.NodeDiedError,
            errors.ObjectLostError,
            errors.OutOfMemoryError,
        )
        try:
            outcome: Outcome = self._ray.get(finished)
        except died as error:
            return str(error).partition("\n")[0]
        except errors.RayTaskError as error:  # it has not even begun
            raise WorkerError(
                f"{task.name}: a worker cannot run tasks of this program; install the same versions of labeltree and "
                f"of your own modules on all machines. It said: {error.cause}"
            ) from error
        return outcome

    def _cancel(self) -> None:
        if not self._in_flight or not self._ray.is_initialized():
            return
        for task in self._in_flight:
            self._ray.cancel(task, force=True)
        unfinished = list(self._in_flight)
        self._in_flight.clear()
        self._ray.wait(unfinished, num_returns=len(unfinished), timeout=_CLEANING_SECONDS, fetch_local=False)

    def _on_all_nodes(self, function: Callable[..., None], *arguments: Any) -> None:
        remote = self._ray.remote(function)
        calls = [
            remote.options(num_cpus=0, scheduling_strategy=self._connection.on_node(node)).remote(*arguments)
            for node in self._connection.nodes()
        ]
        self._ray.wait(calls, num_returns=len(calls), timeout=_CLEANING_SECONDS)
