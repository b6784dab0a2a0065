"""`InProcess`: the engine that runs tasks here, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from labeltree.engines.protocol import LocalPlace
from labeltree.engines.task import Task, most_expensive_first
from labeltree.validation import cpu_count


class InProcess:
    """Runs tasks in this process, one after the other: the engine if no other is chosen.

    Examples
    --------
    >>> from labeltree.engines import InProcess, Task
    >>> dict(InProcess().run([Task("a square", pow, (3, 2)), Task("a cube", pow, (3, 3))]))
    {0: 9, 1: 27}
    """

    n_workers = 1

    @property
    def n_threads(self) -> int:
        return cpu_count()

    def publish(self, directory: Path) -> LocalPlace:
        return LocalPlace.of(directory)

    def run(self, tasks: Sequence[Task]) -> Iterator[tuple[int, Any]]:
        for number in most_expensive_first(tasks):
            yield number, tasks[number].run(*tasks[number].arguments)

    def close(self) -> None:
        """Do nothing: nothing runs between tasks."""
