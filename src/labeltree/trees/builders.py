"""The registry of tree builders: a function in this package registers itself by its word."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from labeltree.trees.parameters import TREE_CONSTRAINTS

if TYPE_CHECKING:
    from labeltree.training.examples import Examples
    from labeltree.training.run import Run
    from labeltree.trees.tree import LabelTree

_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class TreeInput:
    """The training data and the context of a training, as builders get them."""

    examples: Examples
    random_state: int
    run: Run

    @property
    def n_labels(self) -> int:
        return self.examples.labels.n_labels

    @property
    def counts(self) -> NDArray[np.int64]:
        """The number of rows that have each label."""
        return self.examples.labels.counts


@dataclass(frozen=True)
class Builder:
    """A function that makes a tree: the arguments that it needs, and arguments that are always the same."""

    build: Callable[..., LabelTree]
    needs: frozenset[str]
    fixed: dict[str, Any]

    @property
    def clusters(self) -> bool:
        """Whether it groups labels by their vectors."""
        return "label_vectors" in self.needs

    def __call__(self, recipe: Any, data: TreeInput) -> LabelTree:
        """Return the tree for an object with the classifier's tree parameters."""
        given = {name: getattr(recipe if name in TREE_CONSTRAINTS else data, name) for name in self.needs}
        return self.build(**given, **self.fixed)


#: All builders by their words, which are the values of the parameter `tree`.
BUILDERS: dict[str, Builder] = {}


def builder(word: str, **fixed: Any) -> Callable[[_Function], _Function]:
    """Register a function as the builder that ``LabelTreeClassifier(tree=word)`` calls.

    The function gets its arguments by name. A name is a tree parameter of the classifier (``arity``, ``max_leaves``, …)
    or an attribute of `TreeInput` (``counts``, ``random_state``, …).

    Parameters
    ----------
    word : str
        The value of the parameter `tree`. Write it as a literal: help pages read it from the source.
    **fixed
        Arguments that always have the same value.

    Examples
    --------
    >>> from labeltree.trees.builders import BUILDERS
    >>> sorted(BUILDERS["huffman"].needs)
    ['arity', 'counts']
    """

    def register(function: _Function) -> _Function:
        needs = frozenset(signature(function).parameters) - fixed.keys()
        for name in needs - TREE_CONSTRAINTS.keys() - TreeInput.__annotations__.keys():
            if not hasattr(TreeInput, name):
                raise TypeError(f"{function.__name__}: no tree parameter or input has the name {name!r}")
        BUILDERS[word] = Builder(function, needs, fixed)
        return function

    return register
