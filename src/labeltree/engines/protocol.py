"""What every engine can do: make files readable by tasks, and run tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from labeltree.engines.task import Task


class Place(Protocol):
    """A directory that tasks can read, wherever they run. A place is small: pass it as an argument of a task."""

    def path(self) -> Path:
        """Return the directory, or its copy on this machine. Call it inside a task."""
        ...


@dataclass(frozen=True)
class LocalPlace:
    """A directory on a machine where all workers run."""

    directory: str

    def path(self) -> Path:
        return Path(self.directory)


@runtime_checkable
class Engine(Protocol):
    """Runs tasks: in this process, in other processes, or on other machines."""

    @property
    def n_workers(self) -> int:
        """Number of tasks that run at once."""
        ...

    @property
    def n_threads(self) -> int:
        """Number of threads that each task may use while all workers are busy."""
        ...

    def publish(self, directory: Path) -> Place:
        """Make the files of a directory readable by tasks until the engine is closed; the files must not change."""
        ...

    def run(self, tasks: Sequence[Task]) -> Iterator[tuple[int, Any]]:
        """Run tasks, and yield the number and the result of each as it finishes, in any order.

        A task whose worker dies is run again. An error of a task is raised here, as it was, and ends the others. An
        engine may hand over read-only arrays.
        """
        ...

    def close(self) -> None:
        """Stop all workers, and remove what the engine has made. The engine cannot be used afterwards."""
        ...


def published_directory(directory: Path) -> Path:
    """Return the absolute path of a directory to publish; raise `FileNotFoundError` or `NotADirectoryError`."""
    if not directory.exists():
        raise FileNotFoundError(f"expected a directory to publish, but {directory} does not exist")
    if not directory.is_dir():
        raise NotADirectoryError(f"expected a directory to publish, but {directory} is a file")
    return directory.resolve()
