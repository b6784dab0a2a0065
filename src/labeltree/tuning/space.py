"""The parameters that a search tries."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from itertools import product
from math import prod
from typing import Any

import numpy as np

from labeltree.training.solvers import default_c

#: Unless values of C are given: these factors, times the default of the loss.
_C_FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)

#: More combinations would take too much memory, and no search could try them.
_MOST_CANDIDATES = 100_000


@dataclass(frozen=True)
class SearchSpace:
    """The values to try for each parameter of `LabelTreeClassifier`; a single value fixes a parameter.

    Attributes
    ----------
    loss : tuple of str
    C : tuple, optional
        By default a quarter to four times the default of the loss.
    arity, max_leaves, prune : tuple
    n_trees : tuple of int
        The numbers of trees to try. Only parameters that are best with the smallest number are tried with more trees.

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
        for name, values in vars(self).items():
            if not (isinstance(values, tuple) and values) and not (name == "C" and values is None):
                raise ValueError(f"SearchSpace: {name} must be a tuple of at least one value, got {values!r}")

    def fixed(self, **parameters: Any) -> SearchSpace:
        """Return the same space with a single value for each of these parameters."""
        return replace(self, **{name: (value,) for name, value in parameters.items()})

    def candidates(
        self, start: dict[str, Any], solver: str, penalty: str, random: np.random.RandomState
    ) -> list[dict[str, Any]]:
        """Return `start` and all other combinations in random order, without the number of trees."""
        shapes = (self.arity, self.max_leaves, self.prune)
        n_combinations = prod(map(len, (self.loss, self.C or _C_FACTORS, *shapes)))
        if n_combinations > _MOST_CANDIDATES:
            raise ValueError(
                f"SearchSpace: {n_combinations:,} combinations are more than anyone can try; leave out values, so that "
                f"at most {_MOST_CANDIDATES:,} are left"
            )
        combinations = []
        for loss in self.loss:
            default = default_c(solver, loss, penalty)
            values = self.C or tuple(factor * default for factor in _C_FACTORS)
            for combination in product((loss,), values, *shapes):
                combinations.append(dict(zip(SEARCHED, combination, strict=False)))
        order = random.permutation(len(combinations))
        return [start, *(combinations[i] for i in order if combinations[i] != start)]


#: The names of the parameters that are searched.
SEARCHED = tuple(field.name for field in fields(SearchSpace))
