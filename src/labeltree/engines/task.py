"""`Task`: a piece of work that any engine can run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Task:
    """A call of a function, which may happen in another process or on another machine.

    The result may only depend on the arguments: a task whose worker dies is run again.

    Attributes
    ----------
    name : str
        What the task does, such as "training blocks 120 to 240". Errors and Ray's dashboard show it.
    run : callable
        A function of a module: it is pickled by its name.
    arguments : tuple
        Arguments of the function. They are sent to a worker with the task, so keep them small: large data belong in a
        directory that is published.
    cost : float
        Expected time, in any unit. Expensive tasks start first.
    n_threads : int
        Number of cores that the task uses.
    """

    name: str
    run: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    cost: float = 1.0
    n_threads: int = 1


def most_expensive_first(tasks: Sequence[Task]) -> list[int]:
    """Return the numbers of tasks in the order to start them; tasks of the same cost keep their order.

    Examples
    --------
    >>> most_expensive_first([Task("a", len), Task("b", len, cost=3.0), Task("c", len)])
    [1, 0, 2]
    """
    return sorted(range(len(tasks)), key=lambda number: -tasks[number].cost)
