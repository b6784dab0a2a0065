"""`Workplace`: runs the tasks of a training on an engine, and keeps finished parts in memory or on disk."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from labeltree.data.atomic_file import naming_full_disk
from labeltree.engines import Engine, InProcess, Task, current_engine
from labeltree.progress import Phases
from labeltree.training.array_folder import Arrays, ArrayWriter, map_arrays, write_arrays
from labeltree.training.checkpoint import Checkpoint, locked_checkpoint
from labeltree.training.memory_plan import give_back_freed_memory, memory_of_run
from labeltree.training.shared_arrays import FiledArrays, HeldArrays, SharedArrays

T = TypeVar("T")


class SharedOnce:
    """Handles of objects, so that each object is shared once."""

    def __init__(self) -> None:
        self._handles: dict[int, tuple[object, Any]] = {}

    def once(self, owner: object, share: Callable[[], T]) -> T:
        """Return the handle of an object; `share` makes it when it is first asked for."""
        if id(owner) not in self._handles:
            # The owner is kept too, so that no other object gets its id.
            self._handles[id(owner)] = owner, share()
        handle: T = self._handles[id(owner)][1]
        return handle


@dataclass(frozen=True)
class Workplace:
    """Where a training is done.

    A stage of a training is a list of tasks, whose results are dictionaries of arrays. Without a directory, a stage is
    one task for all threads, and its result stays in memory. With a directory, stages are divided into tasks, and their
    results go to disk.

    Attributes
    ----------
    engine : Engine
        Runs the tasks.
    directory : path, optional
        Results are written here, and mapped.
    identity : mapping, optional
        Everything that the results depend on: a training resumes only from results of the same training. None if it
        does not resume.
    memory : int, optional
        Number of bytes that each task may use, beside what cannot be divided.
    shared : SharedOnce
        What is shared with the tasks of several stages.
    """

    engine: Engine = field(default_factory=InProcess)
    directory: Path | None = None
    identity: Mapping[str, Any] | None = None
    memory: int | None = None
    shared: SharedOnce = field(default_factory=SharedOnce)

    @property
    def is_here(self) -> bool:
        """Whether tasks run in this process."""
        return isinstance(self.engine, InProcess)

    @property
    def is_divided(self) -> bool:
        """Whether stages are divided into tasks."""
        return self.directory is not None

    def inside(self, name: str) -> Workplace:
        """Return the workplace for a part of the training, such as one of several trees."""
        return self if self.directory is None else replace(self, directory=self.directory / name)

    def result(self, title: str, task: Task, phases: Phases) -> Arrays:
        """Run one task; its result is not kept for a training that resumes."""
        [(_, arrays)] = self._run(title, [task], phases)
        return arrays

    def kept(self, stage: str, compute: Callable[[], Arrays]) -> Arrays:
        """Return what `compute` returns, in this process; what an earlier run has finished is not computed again."""
        checkpoint = self._checkpoint(stage, [])
        found = None if checkpoint is None else checkpoint.read(0)
        if found is not None:
            return {name: array.copy() for name, array in found.items()}
        arrays = compute()
        if checkpoint is not None:
            checkpoint.write(0, arrays)
        return arrays

    def parts(self, stage: str, title: str, tasks: Sequence[Task], phases: Phases) -> list[Arrays]:
        """Run the tasks of a stage; return the result of each, mapped if there is a directory.

        Results that an earlier run has finished are not computed again.
        """
        checkpoint = self._checkpoint(stage, tasks)
        results: dict[int, Arrays] = {}
        for number in range(len(tasks)):
            arrays = None if checkpoint is None else checkpoint.read(number)
            if arrays is not None:
                results[number] = arrays
        missing = [number for number in range(len(tasks)) if number not in results]
        for done, arrays in self._run(title, [tasks[number] for number in missing], phases):
            number = missing[done]
            if checkpoint is not None:
                arrays = checkpoint.write(number, arrays)
            elif self.directory is not None:
                arrays = write_arrays(self._parts_folder(stage) / str(number), arrays)
            results[number] = arrays
            del arrays
        return [results[number] for number in range(len(tasks))]

    def joined(
        self,
        stage: str,
        title: str,
        tasks: Sequence[Task],
        phases: Phases,
        offsets: tuple[str, ...] = (),
    ) -> SharedArrays:
        """Run the tasks of a stage; return its arrays, each concatenated from the results in the order of the tasks.

        The arrays named in `offsets` have offsets: those of each result follow the ones before.
        """
        if self.directory is None:
            [arrays] = self.parts(stage, title, tasks, phases)
            return HeldArrays(arrays)
        folder = self.directory / stage
        with ArrayWriter(folder, offsets) as writer:
            if self.is_here and self.identity is None:
                # Results come in order and are needed only once: they are not written twice.
                for _, arrays in self._run(title, tasks, phases):
                    writer.append(arrays)
                    del arrays  # before the next task needs the memory
            else:
                for arrays in self.parts(stage, title, tasks, phases):
                    writer.append(arrays)
        if self.identity is None:
            shutil.rmtree(self._parts_folder(stage), ignore_errors=True)
        return self._published(folder)

    def share(self, name: str, arrays: Arrays) -> SharedArrays:
        """Return a handle of arrays that every task can open; they go to disk if there is a directory."""
        if self.directory is None:
            return HeldArrays(arrays)
        write_arrays(self.directory / name, arrays)
        return self._published(self.directory / name)

    def make_room(self) -> None:
        """Before a step that needs memory: give back what earlier steps have left, if there is a limit."""
        if self.memory is not None:
            give_back_freed_memory()

    def _published(self, folder: Path) -> SharedArrays:
        return HeldArrays(map_arrays(folder)) if self.is_here else FiledArrays(self.engine.publish(folder))

    def _parts_folder(self, stage: str) -> Path:
        assert self.directory is not None
        return self.directory / f"{stage}-parts"

    def _checkpoint(self, stage: str, tasks: Sequence[Task]) -> Checkpoint | None:
        if self.directory is None or self.identity is None:
            return None
        names = hashlib.sha256("\n".join(task.name for task in tasks).encode()).hexdigest()
        run = {**self.identity, "stage": stage, "division into tasks": names}
        return Checkpoint(self._parts_folder(stage), run)

    def _run(self, title: str, tasks: Sequence[Task], phases: Phases) -> Iterator[tuple[int, Arrays]]:
        if not self.is_here:
            yield from phases.count(title, self.engine.run(tasks), len(tasks))
            return
        for number, task in enumerate(tasks):
            self.make_room()
            # The kernel counts the work within a task: its bar moves, and Ctrl-C stops it.
            yield (
                number,
                phases.run(title + part_text(number, len(tasks)), partial(task.run, *task.arguments)),
            )


def part_text(number: int, n_parts: int) -> str:
    """Return the text that names one of several parts in a title."""
    return "" if n_parts == 1 else f", part {number + 1} of {n_parts}"


@contextmanager
def workplace(
    memory: int | None = None, checkpoint: Any = None, identity: Mapping[str, Any] | None = None
) -> Iterator[Workplace]:
    """Make the workplace of one training, for the current engine.

    Parameters
    ----------
    memory : int, optional
        Number of bytes that each task may use.
    checkpoint : path, optional
        A directory to resume from.
    identity : mapping, optional
        What the training depends on, for a checkpoint.
    """
    engine = current_engine()
    if checkpoint is not None:
        advice = "finished parts are safe; make room and train again to resume"
        with (
            naming_full_disk(checkpoint, f"the parts of a training: {advice}"),
            locked_checkpoint(Path(checkpoint), identity or {}) as opened,
        ):
            yield Workplace(engine, opened.directory, identity, memory_of_run(memory, opened))
    elif memory is None and isinstance(engine, InProcess):
        yield Workplace(engine)
    else:
        # A model goes on to map files that are removed here; Windows keeps them.
        _check_temporary_directory()
        advice = "make room, or set TMPDIR to a directory on a larger disk"
        with (
            naming_full_disk(tempfile.gettempdir(), f"the parts of a training: {advice}"),
            tempfile.TemporaryDirectory(prefix="labeltree-", ignore_cleanup_errors=True) as folder,
        ):
            yield Workplace(engine, Path(folder), None, memory)


def _check_temporary_directory() -> None:
    """Warn if temporary files do not go where the user wants them, which may be the only large disk."""
    wanted = os.environ.get("TMPDIR")
    if wanted and not (os.path.isdir(wanted) and os.access(wanted, os.W_OK | os.X_OK)):
        warnings.warn(
            f"TMPDIR is {wanted}, which is not a directory that can be written to: the parts of the training go to "
            f"{tempfile.gettempdir()}",
            UserWarning,
            stacklevel=2,
        )
