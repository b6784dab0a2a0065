"""`GrowingForest`: an online tree with the interface of a forest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from labeltree import _native
from labeltree.labels.reading import LabelRows
from labeltree.model.explanation import Explanation, FeatureNames, Step, strongest
from labeltree.model.forest import RowAnswer, Search, TopAnswer, empty_answer
from labeltree.trees import LabelTree


class GrowingForest:
    """Answers questions; translates between the tree's numbers of labels and their positions in `classes_`.

    Parameters
    ----------
    tree : OnlineTree
    position : array
        The position in `classes_` of each label, by number.
    n_labels : int
        The length of `classes_`. Columns of y without any 1 have no leaf.
    names : sequence of str, optional
        The names of the features, if rows are dictionaries.
    """

    has_label_trees = True
    has_node_scores = False
    gives_probabilities = True
    n_trees = 1

    def __init__(
        self,
        tree: _native.OnlineTree,
        position: NDArray[np.int32],
        n_labels: int,
        names: Sequence[str] | None = None,
    ) -> None:
        self.n_labels = n_labels
        self._tree = tree
        self._position = position
        self._names = names or None

    @property
    def trees(self) -> list[LabelTree]:
        return [self.freeze(np.inf)[0]]

    def shapes(self) -> list[LabelTree]:
        return self.trees

    def freeze(self, prune: float) -> tuple[LabelTree, dict[str, Any]]:
        """Return the tree and the arrays of its blocks, without weights below `prune`."""
        if self._tree.n_labels == 0:
            raise ValueError("no example so far had a label: there is no tree yet")
        arrays: dict[str, Any] = self._tree.freeze(prune, self._position.tolist(), self.n_labels)
        return LabelTree(arrays.pop("child_begin"), arrays.pop("label")), arrays

    def top_k(self, features: Any, search: Search, evaluations: NDArray[np.int64] | None = None) -> TopAnswer:
        labels, probabilities = empty_answer(features.n_rows, search.k)
        self._tree.top_k(features, self._by_number(search), labels, probabilities, evaluations)
        found = labels >= 0
        labels[found] = self._position[labels[found]]
        if search.threshold == 0 and not found.all():
            self._fill_up(labels, search.allowed)
        return labels, probabilities

    def _fill_up(self, labels: NDArray[np.int32], allowed: NDArray[np.uint8] | None) -> None:
        """Add columns of y without any 1: they have no leaf, and the probability 0."""
        never = np.flatnonzero(self._numbers() < 0)
        if allowed is not None:
            never = never[allowed[never] != 0]
        for row in labels:
            n_found = int((row >= 0).sum())
            n_added = min(len(never), len(row) - n_found)
            row[n_found : n_found + n_added] = never[:n_added]

    def exact_best(self, search: Search) -> bool:
        return True

    def above(self, features: Any, search: Search, evaluations: NDArray[np.int64] | None = None) -> RowAnswer:
        indptr, labels, probabilities = self._tree.above(features, self._by_number(search), evaluations)
        return indptr, self._position[labels], probabilities

    def pairs(
        self, features: Any, rows: NDArray[np.int64], labels: NDArray[np.int32], search: Search
    ) -> NDArray[np.float32]:
        number = self._numbers()[labels]
        known = number >= 0  # a column of y without any 1 has no leaf
        found = np.empty(int(known.sum()), dtype=np.float32)
        self._tree.pairs(features, rows[known], number[known], search, found)
        probabilities = np.zeros(len(rows), dtype=np.float32)
        probabilities[known] = found
        return probabilities

    def enumerate(self, features: Any, search: Search) -> Iterator[tuple[int, float]]:
        """Return all labels at once: the tree may grow before the caller needs the last one."""
        _, labels, probabilities = self.above(features, search.replace(k=self.n_labels))
        return zip(labels.tolist(), probabilities.tolist(), strict=True)

    def explain(
        self, features: Any, label: int, search: Search, n_features: int, feature_names: FeatureNames
    ) -> Explanation:
        number = int(self._numbers()[label])
        if number < 0:
            raise ValueError("no example so far had this label: there is nothing to explain")
        names = self._names if feature_names is None else feature_names
        indices, values = (array.tolist() for array in features.row(0))
        steps, so_far = [], 1.0
        for node, n_labels, score, probability, bias, weights in self._tree.explain(
            features, 0, number, search.normalize_siblings
        ):
            so_far *= probability
            triples = zip(indices, values, weights.tolist(), strict=True)
            known = strongest(triples, n_features, names)
            steps.append(Step(node, n_labels, score, probability, so_far, bias, known))
        return Explanation(label, so_far, [steps])

    def node_scores(self, features: Any, labels: LabelRows, search: Search, seed: int) -> NoReturn:
        raise ValueError("an online tree does not give the scores of single nodes; freeze() the model first")

    def _numbers(self) -> NDArray[np.int32]:
        """Return the number of the label at each position, -1 for a label without a leaf."""
        numbers = np.full(self.n_labels, -1, dtype=np.int32)
        numbers[self._position] = np.arange(len(self._position), dtype=np.int32)
        return numbers

    def _by_number(self, search: Search) -> Search:
        """Return the search with its arrays in the order of the tree's numbers."""
        given: dict[str, Any] = {}
        for name in ("allowed", "label_weight", "label_threshold"):
            values = getattr(search, name)
            if values is not None:
                given[name] = np.ascontiguousarray(values[self._position])
        return search.replace(**given) if given else search
