"""Successive halving: many candidates on few rows, the best of them on more, the best of those on all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from labeltree.tuning.pareto import layers

#: One in so many candidates goes up, and has so many times the rows there.
REDUCTION = 3
#: Too small a sample says nothing about the whole.
_FEWEST_ROWS = 2_000
_MOST_SAMPLES = 4


@dataclass(frozen=True)
class Rung:
    """How much a trial may learn from, and of how many trees the models are that it measures, ascending."""

    n_rows: int
    n_trees: tuple[int, ...]

    @property
    def cost(self) -> int:
        return self.n_rows * self.n_trees[-1]


def ladder(n_rows: int, n_trees: tuple[int, ...]) -> list[Rung]:
    """Samples with few trees up to all rows, then all rows with more trees.

    Examples
    --------
    >>> [(rung.n_rows, rung.n_trees) for rung in ladder(18_000, (1, 2, 3))]
    [(2000, (1,)), (6000, (1,)), (18000, (1,)), (18000, (2, 3))]
    """
    fewest, *more = sorted(set(n_trees))
    sizes = [n_rows]
    while len(sizes) < _MOST_SAMPLES and sizes[0] // REDUCTION >= _FEWEST_ROWS:
        sizes.insert(0, sizes[0] // REDUCTION)
    rungs = [Rung(size, (fewest,)) for size in sizes]
    return [*rungs, Rung(n_rows, tuple(more))] if more else rungs


@dataclass(frozen=True)
class Job:
    """A candidate, by its number, that is to be tried on a rung."""

    candidate: int
    rung: int


class SuccessiveHalving:
    """Says what to try next, in a sequence that may be cut off anywhere.

    A candidate goes up as soon as it is in the best third of those on its rung; only if none can, a new one is tried
    on the lowest. Candidate 0 follows whoever is the first on a rung, so that there is something to compare with.

    The best are those that no other beats in both score and size, then those that none of the rest does; among equals
    in this the score decides. So smaller models go up beside the most precise ones.
    """

    def __init__(self, n_rungs: int, n_candidates: int) -> None:
        self._n_candidates = n_candidates
        self._results: list[dict[int, tuple[float, float]]] = [{} for _ in range(n_rungs)]

    def record(self, job: Job, score: float, size: float) -> None:
        """Take what a trial found."""
        self._results[job.rung][job.candidate] = (score, size)

    def next_job(self, fits: Callable[[Job], bool]) -> Job | None:
        """What to try next of that which `fits` into the time left; None if there is no such thing."""
        return next(filter(fits, self._jobs()), None)

    def _jobs(self) -> Iterator[Job]:
        """What could be tried now, the most advanced first."""
        n_tried = len(self._results[0])
        is_last = n_tried == self._n_candidates
        for rung in reversed(range(len(self._results) - 1)):
            here, above = self._results[rung], self._results[rung + 1]
            if above and 0 in here and 0 not in above:
                yield Job(0, rung + 1)
            # Of the last that are left one goes up at least.
            n_up = max(len(here) // REDUCTION, int(is_last))
            for candidate in _best_first(here)[:n_up]:
                if candidate not in above:
                    yield Job(candidate, rung + 1)
        if not is_last:
            yield Job(n_tried, 0)


def _best_first(results: dict[int, tuple[float, float]]) -> list[int]:
    layer = dict(zip(results, layers([(-score, size) for score, size in results.values()]), strict=True))
    return sorted(results, key=lambda candidate: (layer[candidate], -results[candidate][0]))
