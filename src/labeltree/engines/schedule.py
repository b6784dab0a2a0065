"""`Schedule`: which task a free worker gets next, and how often the workers of a task have died."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence

from labeltree.engines.task import Task, most_expensive_first
from labeltree.errors import WorkerError
from labeltree.wording import count_text


class Schedule:
    """The tasks that wait for a worker, and the cores that are free for them."""

    def __init__(self, tasks: Sequence[Task], n_cores: int) -> None:
        self.n_left = len(tasks)
        self.waiting = deque(most_expensive_first(tasks))
        self._tasks = tasks
        self._n_cores = self._n_free = n_cores
        self._n_deaths: Counter[int] = Counter()

    def has_next(self) -> bool:
        """Return whether a task waits and there are cores for it. Tasks do not overtake one that needs many cores."""
        return bool(self.waiting) and self._cores_of(self.waiting[0]) <= self._n_free

    def next(self) -> tuple[int, Task]:
        number = self.waiting.popleft()
        self._n_free -= self._cores_of(number)
        return number, self._tasks[number]

    def finish(self, number: int) -> None:
        self._n_free += self._cores_of(number)
        self.n_left -= 1

    def return_task(self, number: int, max_retries: int, how: str) -> None:
        """Let a task wait again because its worker has died, or raise an error if that has happened too often."""
        self._n_free += self._cores_of(number)
        self.waiting.appendleft(number)
        self._n_deaths[number] += 1
        raise_if_hopeless(self._tasks[number], self._n_deaths[number], max_retries, how)

    def _cores_of(self, number: int) -> int:
        return min(self._tasks[number].n_threads, self._n_cores)


def raise_if_hopeless(task: Task, n_deaths: int, max_retries: int, how: str) -> None:
    """Raise `WorkerError` if the workers of a task have died more often than it may be retried."""
    if n_deaths > max_retries:
        raise WorkerError(
            f"{task.name}: its worker died {count_text(n_deaths, 'time')} (the last time: {how}); a task that needs "
            "more memory than there is gets killed by the system: use fewer workers or smaller tasks"
        )
