"""Search in a tree for many rows at once, with probabilities that a learner computes on request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labeltree import _native
from labeltree import sparse as sp
from labeltree.exchange.blocks import NodeBlocks
from labeltree.labels.label_index import LabelIndex
from labeltree.labels.weights import weight_of_each
from labeltree.model.top_labels import TopLabels
from labeltree.trees import LabelTree
from labeltree.validation import check_count, check_threshold


class GuidedSearch:
    """Finds the best labels of many rows in parallel, and requests only the blocks that it needs.

    `wanted` returns the blocks to score next, and `give` takes their probabilities, until no block is wanted. So a
    learner scores batches of promising blocks and never the whole tree. The result is that of `LabelTreeClassifier`
    with the same probabilities, ties included.

    Parameters
    ----------
    tree : LabelTree
    n_rows : int
    k : int, optional
        Find the k best labels of each row. By default find all labels that reach the `threshold`.
    threshold : float or array of shape (n_labels,)
        Minimum probability of a label, one for all labels or one for each. With `beam` it must be one for all.
    beam : int, optional
        Number of best nodes to follow on every level, instead of exact search. Beam search and search without `k` call
        the learner once per level; exact search of the k best about as often as a row has promising blocks.
    allowed : array of shape (n_labels,), optional
        0 excludes a label.
    label_weight : array of shape (n_labels,), optional
        Weights, finite and at least 0. The best labels have the largest weight times probability. By default they are
        the most probable labels.
    normalize_siblings : bool
        Scale the probabilities of siblings that sum to less than 1.

    Attributes
    ----------
    n_evaluations : array of shape (n_rows,)
        The number of node probabilities that each row has received.

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
        for name, count in (("k", k), ("beam", beam)):
            if count is not None:
                check_count(name, count, " or None")
        per_label = np.ndim(threshold) > 0
        if beam is not None and k is None:
            raise ValueError("beam needs k: all labels above a threshold are found exactly")
        if beam is not None and per_label:
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
            weight = weight_of_each(label_weight, LabelIndex(np.arange(tree.n_labels)), np.float64)
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
        """Return the blocks to score next; it is empty at the end of the search."""
        if self._wanted is None:
            self._wanted = NodeBlocks.of(self.tree, *self._search.wanted())
        return self._wanted

    def give(self, probabilities: ArrayLike) -> None:
        """Continue with the probability of every entry of `wanted()`: of its node, given the node's parent.

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
        """Call ``ask(wanted)`` for probabilities until no block is wanted."""
        while len(wanted := self.wanted()) > 0:
            self.give(ask(wanted))
        return self

    def top_labels(self) -> TopLabels:
        """Return the labels of every row, best first, and their probabilities, filled up to k with -1 and 0."""
        indptr, labels, probabilities = self._search.found()
        top = TopLabels(
            np.full((len(indptr) - 1, self.k), -1, dtype=np.int32),
            np.zeros((len(indptr) - 1, self.k), dtype=np.float32),
        )
        there = np.arange(self.k) < np.diff(indptr)[:, np.newaxis]
        top.labels[there], top.probabilities[there] = labels, probabilities
        return top

    def matrix(self) -> sp.csr_matrix:
        """Return the probabilities of the labels found, shape (n_rows, n_labels); a row has its best label first."""
        indptr, labels, probabilities = self._search.found()
        return sp.csr_matrix((probabilities, labels, indptr), shape=(len(indptr) - 1, self.tree.n_labels))

    def _of_labels(self, name: str, values: Any, dtype: type) -> NDArray[Any]:
        """Return a value for each label, checked."""
        per_label: NDArray[Any] = np.ascontiguousarray(values, dtype=dtype)
        if per_label.shape != (self.tree.n_labels,) or np.isnan(per_label).any():
            raise ValueError(
                f"{name}: expected a number for each of {self.tree.n_labels} labels, "
                f"got an array of shape {per_label.shape}"
            )
        return per_label
