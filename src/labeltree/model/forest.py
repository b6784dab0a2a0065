"""`Forest`: the questions that every trained model answers, whatever trained it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from labeltree import _native
from labeltree.labels.reading import LabelRows
from labeltree.model.explanation import Explanation, FeatureNames
from labeltree.model.node_scores import NodeScores
from labeltree.trees import LabelTree

#: The options of a search, an object of the kernel. Every question takes one.
Search: TypeAlias = _native.Search

#: The best labels of every row: positions and probabilities, each of shape (n_rows, k), filled up with -1 and 0.
TopAnswer: TypeAlias = tuple[NDArray[np.int32], NDArray[np.float32]]

#: Labels by row, best first: indptr, positions and probabilities.
RowAnswer: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]


class TreeShape(Protocol):
    """The size of a tree."""

    @property
    def n_nodes(self) -> int: ...

    @property
    def depth(self) -> int: ...

    @property
    def arity(self) -> int: ...


class Features(Protocol):
    """Rows in the form that a forest reads. Each kind of forest has its own form."""

    @property
    def n_rows(self) -> int: ...

    def take(self, rows: NDArray[np.int64], /) -> Features:
        """Return some of the rows, in this order."""


class Forest(Protocol):
    """Anything trained that answers these questions. Labels are positions in `classes_`.

    A forest never changes while it answers: any number of threads may ask it at once.

    Attributes
    ----------
    has_label_trees : bool
        Whether the labels are the leaves of trees, and `trees` lists these trees.
    has_node_scores : bool
        Whether `node_scores` returns scores rather than raising `ValueError`.
    gives_probabilities : bool
        Whether answers are probabilities, rather than scores that only rank.
    n_labels, n_trees : int
        The numbers of labels and of trees.
    """

    @property
    def has_label_trees(self) -> bool: ...

    @property
    def has_node_scores(self) -> bool: ...

    @property
    def gives_probabilities(self) -> bool: ...

    @property
    def n_labels(self) -> int: ...

    @property
    def n_trees(self) -> int: ...

    @property
    def trees(self) -> Sequence[LabelTree]:
        """The label trees; raises `AttributeError` if there are none."""

    def shapes(self) -> Sequence[TreeShape]:
        """Return the shape of every tree, of labels or of examples."""

    def top_k(self, features: Any, search: Search, evaluations: NDArray[np.int64] | None = None) -> TopAnswer:
        """Return the `search.k` best labels of every row; fill `evaluations` with the node classifiers asked."""

    def exact_best(self, search: Search) -> bool:
        """Return whether `top_k` finds the same best label with k = 1 as with a larger k."""

    def above(self, features: Any, search: Search, evaluations: NDArray[np.int64] | None = None) -> RowAnswer:
        """Return all labels that reach their threshold, at most `search.k` for each row."""

    def pairs(
        self, features: Any, rows: NDArray[np.int64], labels: NDArray[np.int32], search: Search
    ) -> NDArray[np.float32]:
        """Return the probability of each pair of a row and a label; rows ascend."""

    def enumerate(self, features: Any, search: Search) -> Iterator[tuple[int, float]]:
        """Return the labels of the only row one by one, best first."""

    def explain(
        self,
        features: Any,
        label: int,
        search: Search,
        n_features: int,
        feature_names: FeatureNames,
    ) -> Explanation:
        """Explain the probability of a label for the only row; raises `ValueError` if that is not possible."""

    def node_scores(self, features: Any, labels: LabelRows, search: Search, seed: int) -> list[NodeScores]:
        """Return the scores of the nodes of each tree, for rows with known labels."""


def empty_answer(n_rows: int, k: int) -> TopAnswer:
    """Return arrays for the kernel to fill."""
    return np.empty((n_rows, k), dtype=np.int32), np.empty((n_rows, k), dtype=np.float32)
