"""The way up: search in a tree for many rows at once, over probabilities that a learner gives when asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix

from labeltree import _native
from labeltree.exchange.blocks import NodeBlocks
from labeltree.labels.names import LabelNames
from labeltree.labels.weights import weight_of_each
from labeltree.model.top_labels import TopLabels
from labeltree.trees import LabelTree
from labeltree.validation import check_count, check_threshold


class GuidedSearch:
    """Finds the best labels of many rows in lock step, asking only for blocks that it needs.

    It says which blocks of which rows it wants, is given their probabilities, and says what it wants next, until it
    wants nothing. So a learner scores a batch of promising blocks at a time, and never the whole tree. What is found
    is what `LabelTreeClassifier` would find with these probabilities, ties included.

    Parameters
    ----------
    tree : LabelTree
    n_rows : int
    k : int, optional
        Find the k best labels of each row; by default all with at least the `threshold`.
    threshold : float or array of shape (n_labels,)
        Labels with a smaller probability are left out; one for each label takes a search without `beam`.
    beam : int, optional
        Instead of exact search follow only so many best nodes of every level. Then, as without `k`, the learner is
        asked once per level; in exact search of the k best about as often as a row has promising blocks.
    allowed : array of shape (n_labels,), optional
        Labels where this is 0 are not considered.
    label_weight : array of shape (n_labels,), optional
        Finite and at least 0. The best labels are those with the largest weight times probability; without it, the
        most probable.
    normalize_siblings : bool
        Scale the probabilities of siblings that sum to less than 1.

    Attributes
    ----------
    n_evaluations : array of shape (n_rows,)
        How many probabilities of nodes each row was given.

    Examples
    --------
    A learner that knows the probabilities of all nodes, here the same for every row:

    >>> import numpy as np
    >>> from labeltree.trees import LabelTree
    >>> tree = LabelTree.from_nested([[0, 1], [2, 3]])
    >>> known = np.array([1.0, 0.9, 0.2, 0.6, 0.7, 0.5, 0.5])
    >>> search = GuidedSearch(tree, n_rows=2, k=1)
    >>> while len(wanted := search.wanted()) > 0:
    ...     search.give(known[wanted.node])
    >>> search.top_labels()
    TopLabels(labels=array([[1], [1]], dtype=int32), probabilities=array([[0.63], [0.63]], dtype=float32))
    >>> search.n_evaluations
    array([5, 5])
    """

    def __init__(
        self,
        tree: LabelTree,
        n_rows: int,
        k: int | None = None,
        *,
        threshold: float | ArrayLike = 0.0,
        beam: int | None = None,
        allowed: ArrayLike | None = None,
        label_weight: ArrayLike | None = None,
        normalize_siblings: bool = False,
    ) -> None:
        strategies = _native.GuidedStrategy
        check_count("n_rows", n_rows, least=0)
        if k is not None:
            check_count("k", k, " or None")
        if beam is not None:
            check_count("beam", beam, " or None")
            if k is None:
                raise ValueError("beam needs k: all labels above a threshold are found exactly")
        per_label = np.ndim(threshold) > 0
        if per_label and beam is not None:
            raise ValueError("with beam, threshold must be one number for all labels")
        if not per_label:
            check_threshold(threshold)
        strategy = strategies.all_above if k is None or per_label else strategies.best_first
        self.tree = tree
        self.k = tree.n_labels if k is None else min(int(k), tree.n_labels)
        self.n_evaluations = np.zeros(n_rows, dtype=np.int64)
        self._normalize_siblings = normalize_siblings
        self._wanted: NodeBlocks | None = None
        weight = None
        if label_weight is not None:
            weight = weight_of_each(label_weight, LabelNames(np.arange(tree.n_labels)), np.float64)
        allow = None
        if allowed is not None:
            allow = (self._of_labels("allowed", allowed, np.float64) != 0).astype(np.uint8)
        search = _native.Search(
            self.k,
            threshold=0.0 if per_label else float(threshold),  # type: ignore[arg-type] # a number then
            label_threshold=self._of_labels("threshold", threshold, np.float32) if per_label else None,
            label_weight=weight,
            allowed=allow,
            beam=0 if beam is None else int(beam),
        )
        self._search = _native.GuidedSearch(
            tree.native, n_rows, strategy if beam is None else strategies.beam, search
        )

    def wanted(self) -> NodeBlocks:
        """The blocks to score next; none when the search is over."""
        if self._wanted is None:
            self._wanted = NodeBlocks.of(self.tree, *self._search.wanted())
        return self._wanted

    def give(self, probabilities: ArrayLike) -> None:
        """Go on with the probability of every entry of `wanted()`: of its node, given its node's parent.

        Parameters
        ----------
        probabilities : array of shape (n_entries,)
            From 0 to 1.
        """
        wanted = self.wanted()
        self._search.give(wanted.check_probabilities(probabilities, self._normalize_siblings))
        self.n_evaluations += np.bincount(wanted.row, minlength=len(self.n_evaluations))
        self._wanted = None

    def run(self, ask: Callable[[NodeBlocks], ArrayLike]) -> GuidedSearch:
        """Call ``ask(wanted)`` for the probabilities of what is wanted, until nothing is."""
        while len(wanted := self.wanted()) > 0:
            self.give(ask(wanted))
        return self

    def top_labels(self) -> TopLabels:
        """The labels of every row, best first, and their probabilities, filled up to k with -1 and 0."""
        indptr, labels, probabilities = self._search.found()
        top = TopLabels(
            np.full((len(indptr) - 1, self.k), -1, dtype=np.int32),
            np.zeros((len(indptr) - 1, self.k), dtype=np.float32),
        )
        there = np.arange(self.k) < np.diff(indptr)[:, np.newaxis]
        top.labels[there], top.probabilities[there] = labels, probabilities
        return top

    def matrix(self) -> csr_matrix:
        """The probabilities of the labels that were found, shape (n_rows, n_labels); rows are best first."""
        indptr, labels, probabilities = self._search.found()
        return csr_matrix((probabilities, labels, indptr), shape=(len(indptr) - 1, self.tree.n_labels))

    def _of_labels(self, name: str, values: Any, dtype: type) -> NDArray[Any]:
        """Return a value for each label, checked."""
        per_label: NDArray[Any] = np.ascontiguousarray(values, dtype=dtype)
        if per_label.shape != (self.tree.n_labels,) or np.isnan(per_label).any():
            raise ValueError(
                f"{name}: expected a number for each of {self.tree.n_labels} labels, "
                f"got an array of shape {per_label.shape}"
            )
        return per_label
