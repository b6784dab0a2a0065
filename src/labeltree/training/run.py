"""`Run`: the context of one training."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from labeltree import _native
from labeltree.engines import Task
from labeltree.progress import Phases
from labeltree.training.array_folder import Arrays
from labeltree.training.shared_arrays import SharedArrays
from labeltree.training.workplace import Workplace

_T = TypeVar("_T")


@dataclass(frozen=True)
class Run:
    """The context of one training.

    Attributes
    ----------
    n_threads : int
        Number of threads.
    phases : Phases
        Shows progress.
    prefix : str
        Put before the title of every phase, such as "tree 2 of 3: ".
    seconds : dict
        Duration of each step that does not count as clustering or training.
    workplace : Workplace
        Runs tasks, and keeps what they have finished.
    label_vectors : dict, optional
        Computed label vectors, for all trees of the same examples; None if they are not kept for another tree.
    """

    n_threads: int
    phases: Phases
    prefix: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    workplace: Workplace = field(default_factory=Workplace)
    label_vectors: dict[Any, Any] | None = None

    @property
    def task_threads(self) -> int:
        """Number of threads of a task: all of them here, one in a process among others.

        A task that is alone in its stage has `n_threads`.
        """
        return self.n_threads if self.workplace.is_here else 1

    def parts(self, stage: str, title: str, tasks: Sequence[Task]) -> list[Arrays]:
        """Return the results of the tasks of a stage, and show progress meanwhile."""
        return self.workplace.parts(stage, self.prefix + title, tasks, self.phases)

    def joined(
        self, stage: str, title: str, tasks: Sequence[Task], offsets: tuple[str, ...] = ()
    ) -> SharedArrays:
        """Return the concatenated results of the tasks of a stage, and show progress meanwhile."""
        return self.workplace.joined(stage, self.prefix + title, tasks, self.phases, offsets)

    def result(self, title: str, task: Task) -> Arrays:
        """Return the result of one task, which is not kept."""
        return self.workplace.result(self.prefix + title, task, self.phases)

    def phase(self, title: str, compute: Callable[[_native.Progress], _T]) -> _T:
        """Return ``compute(progress)``, and show its progress meanwhile."""
        self.workplace.make_room()
        return self.phases.run(self.prefix + title, compute)
