"""What every engine can do: make files readable by tasks, and run tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from labeltree.engines.fingerprint import FileStamp, file_stamps
from labeltree.engines.task import Task
from labeltree.errors import LabelTreeError


class Place(Protocol):
    """A directory that tasks can read, wherever they run. A place is small: pass it as an argument of a task."""

    def __hash__(self) -> int: ...

    def path(self) -> Path:
        """Return the directory, or its copy on this machine. Call it inside a task."""
        ...


@dataclass(frozen=True)
class LocalPlace:
    """A directory on a machine where all workers run.

    Two places are equal if the path and the files are: a worker keeps what it has opened for later tasks.

    Attributes
    ----------
    directory : str
    files : tuple of FileStamp
        The files when the directory was published.
    """

    directory: str
    files: tuple[FileStamp, ...]

    @classmethod
    def of(cls, directory: Path) -> LocalPlace:
        """Return the place of a directory; raise `FileNotFoundError` or `NotADirectoryError`."""
        source = published_directory(directory)
        return cls(str(source), file_stamps(source))

    def path(self) -> Path:
        for stamp in self.files:
            if not stamp.is_of(self.directory):
                raise changed_file(self.directory, stamp)
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


def changed_file(directory: str, stamp: FileStamp) -> LabelTreeError:
    """Return the error about a published file that is not what it was."""
    return LabelTreeError(f"{Path(directory, stamp.name)} was changed while tasks needed it: run them again")
