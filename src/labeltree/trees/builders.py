"""The registry of tree builders: a function in this package registers itself by its word."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from labeltree import _native
from labeltree.labels.reading import LabelRows
from labeltree.trees.parameters import TREE_CONSTRAINTS

if TYPE_CHECKING:
    from labeltree.trees.tree import LabelTree

_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class TreeInput:
    """The training data and the settings of one run, which builders take by these names."""

    features: _native.FeatureMatrix
    labels: LabelRows
    sample_weight: NDArray[np.float32] | None
    random_state: int
    n_threads: int
    progress: _native.Progress

    @property
    def n_labels(self) -> int:
        return self.labels.n_labels

    @property
    def counts(self) -> NDArray[np.int64]:
        """The number of rows that have each label."""
        return np.bincount(self.labels.indices, minlength=self.n_labels)


@dataclass(frozen=True)
class Builder:
    """A function that makes a tree, and the arguments that it takes from the classifier and from its data."""

    build: Callable[..., LabelTree]
    parameters: tuple[str, ...]
    inputs: tuple[str, ...]
    fixed: dict[str, Any]

    @property
    def clusters(self) -> bool:
        """Whether it groups labels by their vectors."""
        return "label_vectors" in self.parameters

    def __call__(self, classifier: Any, data: TreeInput) -> LabelTree:
        """Return the tree for an object with the classifier's tree parameters."""
        given = {name: getattr(classifier, name) for name in self.parameters}
        return self.build(**given, **{name: getattr(data, name) for name in self.inputs}, **self.fixed)


#: All builders by their words, which are the values of the parameter `tree`.
BUILDERS: dict[str, Builder] = {}


def builder(word: str, **fixed: Any) -> Callable[[_Function], _Function]:
    """Register a function as the builder that ``LabelTreeClassifier(tree=word)`` calls.

    The names of its arguments say what it is called with: a tree parameter of the classifier (``arity``,
    ``max_leaves``, …) or an attribute of `TreeInput` (``counts``, ``random_state``, …).

    Parameters
    ----------
    word : str
        The value of the parameter `tree`. Write it as a literal: help pages read it from the source.
    **fixed
        Arguments that always have the same value.

    Examples
    --------
    >>> from labeltree.trees.builders import BUILDERS
    >>> BUILDERS["huffman"].parameters, BUILDERS["huffman"].inputs
    (('arity',), ('counts',))
    """

    def register(function: _Function) -> _Function:
        names = [name for name in signature(function).parameters if name not in fixed]
        parameters = tuple(name for name in names if name in TREE_CONSTRAINTS)
        inputs = tuple(name for name in names if name not in TREE_CONSTRAINTS)
        for name in inputs:
            if name not in TreeInput.__annotations__ and not hasattr(TreeInput, name):
                raise TypeError(
                    f"{function.__name__}: no tree parameter or training input is called {name!r}"
                )
        BUILDERS[word] = Builder(function, parameters, inputs, fixed)
        return function

    return register
