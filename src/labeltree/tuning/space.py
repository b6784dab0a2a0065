"""The parameters that a search tries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any

import numpy as np

from labeltree.training.solvers import default_c

#: The names of the parameters of the classifier that are searched, and of those of the vectorizer.
SEARCHED = ("loss", "C", "arity", "max_leaves", "prune", "n_trees")
TEXT_SEARCHED = ("ngram_range", "min_df", "sublinear_tf", "max_features", "char_ngram_range")

#: Unless values of C are given: these factors, times the default of the loss.
_C_FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)

#: More combinations would take too much memory, and no search could try them.
_MOST_CANDIDATES = 100_000


@dataclass(frozen=True)
class SearchSpace:
    """The values to try for each parameter; a single value fixes a parameter.

    Attributes
    ----------
    loss : tuple of str
    C : tuple, optional
        By default a quarter to four times the default of the loss.
    arity, max_leaves, prune : tuple
    n_trees : tuple of int
        The numbers of trees to try. Only parameters that are best with the smallest number are tried with more trees.
    ngram_range, min_df, sublinear_tf, max_features, char_ngram_range : tuple
        Parameters of `TextVectorizer`. They only matter for texts. N-grams of characters are combined with other values
        only if they make the start clearly better.

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
    ngram_range: tuple[tuple[int, int], ...] = ((1, 1), (1, 2))
    min_df: tuple[int | float, ...] = (1, 2, 3)
    sublinear_tf: tuple[bool, ...] = (False, True)
    max_features: tuple[int | None, ...] = (None,)
    char_ngram_range: tuple[tuple[int, int] | None, ...] = (None, (3, 4))

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
        """Return `start` and all other combinations of its parameters, without the number of trees.

        Combinations that differ from `start` in one parameter of texts come first: the features of texts matter more
        than the shape of trees. The others are in random order.
        """
        names = tuple(start)
        others = [getattr(self, name) for name in names if name not in ("loss", "C")]
        n_combinations = prod(map(len, (self.loss, self.C or _C_FACTORS, *others)))
        if n_combinations > _MOST_CANDIDATES:
            raise ValueError(
                f"SearchSpace: {n_combinations:,} combinations are more than anyone can try; leave out values, so that "
                f"at most {_MOST_CANDIDATES:,} are left"
            )
        combinations = []
        for loss in self.loss:
            default = default_c(solver, loss, penalty)
            values = self.C or tuple(factor * default for factor in _C_FACTORS)
            for combination in product((loss,), values, *others):
                combinations.append(dict(zip(names, combination, strict=True)))
        first = [start, *self._changed_texts(start)]
        order = random.permutation(len(combinations))
        return [*first, *(combinations[i] for i in order if combinations[i] not in first)]

    def _changed_texts(self, start: dict[str, Any]) -> list[dict[str, Any]]:
        """Return `start` with another value of one parameter of texts."""
        return [
            {**start, name: value}
            for name in TEXT_SEARCHED
            if name in start
            for value in getattr(self, name)
            if value != start[name]
        ]
