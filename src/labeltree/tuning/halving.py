"""Successive halving: many candidates on few rows, the best of them on more, the best of those on all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from labeltree.tuning.pareto import layers

#: One in this many candidates is promoted to the next rung, which has this many times the rows.
REDUCTION = 3
#: Smaller samples tell too little about all rows.
_FEWEST_ROWS = 2_000
_MOST_SAMPLES = 4


class Rung(NamedTuple):
    """The size of the sample that trials train on, and the ascending numbers of trees of the models they measure."""

    n_rows: int
    n_trees: tuple[int, ...]

    @property
    def cost(self) -> int:
        return self.n_rows * self.n_trees[-1]


def ladder(n_rows: int, n_trees: tuple[int, ...]) -> list[Rung]:
    """Return samples with few trees up to all rows, then all rows with more trees.

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


class Job(NamedTuple):
    """A candidate, by its number, to try on a rung."""

    candidate: int
    rung: int


class SuccessiveHalving:
    """Chooses the next job, in a sequence that may end anywhere.

    A candidate is promoted as soon as it is in the best third of its rung; a new candidate starts on the lowest rung
    only if none can be promoted. When a rung gets its first candidate, candidate 0 follows, as a baseline.

    The best candidates are on the Pareto front of score and size, then on the front of the other candidates, and so
    on; ties are broken by score. So small models are promoted as well as precise ones.
    """

    def __init__(self, n_rungs: int, n_candidates: int) -> None:
        self.n_candidates = n_candidates  # may become smaller if later candidates are left out
        self._results: list[dict[int, tuple[float, float]]] = [{} for _ in range(n_rungs)]

    def record(self, job: Job, score: float, size: float) -> None:
        """Store the result of a trial."""
        self._results[job.rung][job.candidate] = (score, size)

    def next_job(self, fits: Callable[[Job], bool]) -> Job | None:
        """Return the next job that `fits` into the time left, or None."""
        return next(filter(fits, self.jobs()), None)

    def jobs(self) -> Iterator[Job]:
        """Yield the possible jobs, highest rung first."""
        n_tried = len(self._results[0])
        is_last = n_tried == self.n_candidates
        for rung in reversed(range(len(self._results) - 1)):
            here, above = self._results[rung], self._results[rung + 1]
            if above and 0 in here and 0 not in above:
                yield Job(0, rung + 1)
            # When all candidates were tried, at least one is promoted.
            n_up = max(len(here) // REDUCTION, int(is_last))
            for candidate in _best_first(here)[:n_up]:
                if candidate not in above:
                    yield Job(candidate, rung + 1)
        if not is_last:
            yield Job(n_tried, 0)


def _best_first(results: dict[int, tuple[float, float]]) -> list[int]:
    layer = dict(zip(results, layers([(-score, size) for score, size in results.values()]), strict=True))
    return sorted(results, key=lambda candidate: (layer[candidate], -results[candidate][0]))
