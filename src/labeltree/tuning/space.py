"""Which parameters are tried."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Any

import numpy as np

from labeltree.training.solvers import default_c

#: Unless C is given: these, times the default of the loss.
_C_FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)

#: Beyond this the list of all combinations would be longer than anyone can try.
_MOST_CANDIDATES = 100_000


@dataclass(frozen=True)
class SearchSpace:
    """The values that are tried of each parameter of `LabelTreeClassifier`; a single one is a fixed parameter.

    Attributes
    ----------
    loss : tuple of str
    C : tuple, optional
        By default a quarter to four times the default of the loss.
    arity, max_leaves, prune : tuple
    n_trees : tuple of int
        Models of so many trees are measured, of those parameters that were best for the least number.

    Examples
    --------
    >>> from labeltree.tuning import SearchSpace
    >>> space = SearchSpace(C=(1.0, 2.0), loss=("logistic",), n_trees=(1, 3))
    >>> space.fixed(prune=0.1).prune
    (0.1,)
    """

    loss: tuple[str, ...] = ("squared_hinge", "logistic")
    C: tuple[Any, ...] | None = None
    arity: tuple[int, ...] = (8, 16, 32, 64, 128)
    max_leaves: tuple[int, ...] = (25, 50, 100, 200, 400)
    prune: tuple[float, ...] = (0.05, 0.1, 0.2, 0.3)
    n_trees: tuple[int, ...] = (1, 2, 3)

    def __post_init__(self) -> None:
        for field in fields(self):
            values = getattr(self, field.name)
            if not (isinstance(values, tuple) and values) and not (field.name == "C" and values is None):
                raise ValueError(
                    f"SearchSpace: {field.name} must be a tuple of at least one value, got {values!r}"
                )

    def fixed(self, **parameters: Any) -> SearchSpace:
        """The same space with one value for each of these parameters."""
        return replace(self, **{name: (value,) for name, value in parameters.items()})

    def candidates(
        self, start: dict[str, Any], solver: str, penalty: str, random: np.random.RandomState
    ) -> list[dict[str, Any]]:
        """All combinations but for the number of trees, in a random order behind `start`."""
        combinations = list(self._combinations(solver, penalty))
        order = random.permutation(len(combinations))
        return [start, *(combinations[i] for i in order if combinations[i] != start)]

    def _combinations(self, solver: str, penalty: str) -> Iterator[dict[str, Any]]:
        n_combinations = (
            len(self.C or _C_FACTORS)
            * len(self.loss)
            * len(self.arity)
            * len(self.max_leaves)
            * len(self.prune)
        )
        if n_combinations > _MOST_CANDIDATES:
            raise ValueError(
                f"SearchSpace: {n_combinations:,} combinations are more than anyone can try; leave out values, so that "
                f"at most {_MOST_CANDIDATES:,} are left"
            )
        for loss in self.loss:
            default = default_c(solver, loss, penalty)
            values = self.C or tuple(factor * default for factor in _C_FACTORS)
            for C, arity, max_leaves, prune in product(values, self.arity, self.max_leaves, self.prune):
                yield {"loss": loss, "C": C, "arity": arity, "max_leaves": max_leaves, "prune": prune}


#: The parameters that are searched.
SEARCHED = tuple(field.name for field in fields(SearchSpace))
