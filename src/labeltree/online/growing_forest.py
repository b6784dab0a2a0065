"""`GrowingForest`: online trees with the interface of a forest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from labeltree import _native
from labeltree.labels.reading import LabelRows
from labeltree.model.candidates import is_exact
from labeltree.model.explanation import Explanation, FeatureNames, Step, strongest
from labeltree.model.forest import RowAnswer, Search, TopAnswer, empty_answer
from labeltree.trees import LabelTree


class GrowingForest:
    """Answers questions; translates between the trees' numbers of labels and their positions in `classes_`.

    Parameters
    ----------
    trees : sequence of OnlineTree
    native : OnlineForest
        The same trees, as the kernel asks them together.
    position : array
        The position in `classes_` of each label, by number.
    n_labels : int
        The length of `classes_`. Columns of y without any 1 have no leaf.
    names : sequence of str, optional
        The names of the features, if rows are dictionaries.
    reading : callable
        Returns a context in which the trees do not change.
    """

    has_label_trees = True
    has_node_scores = False
    gives_probabilities = True

    def __init__(
        self,
        trees: Sequence[_native.OnlineTree],
        native: _native.OnlineForest,
        position: NDArray[np.int32],
        n_labels: int,
        names: Sequence[str] | None,
        reading: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self.n_labels = n_labels
        self._trees = trees
        self.native = native
        self._position = position
        self._names = names or None
        self._reading = reading

    @property
    def n_trees(self) -> int:
        return len(self._trees)

    @property
    def trees(self) -> list[LabelTree]:
        return [tree for tree, _ in self.freeze(np.inf)]

    def shapes(self) -> list[LabelTree]:
        return self.trees

    def freeze(self, prune: float) -> list[tuple[LabelTree, dict[str, Any]]]:
        """Return each tree and the arrays of its blocks, without weights below `prune`."""
        if self._trees[0].n_labels == 0:
            raise ValueError("no example so far had a label: there is no tree yet")
        frozen = [tree.freeze(prune, self._position.tolist(), self.n_labels) for tree in self._trees]
        return [(LabelTree(arrays.pop("child_begin"), arrays.pop("label")), arrays) for arrays in frozen]

    def top_k(self, features: Any, search: Search, evaluations: NDArray[np.int64] | None = None) -> TopAnswer:
        labels, probabilities = empty_answer(features.n_rows, search.k)
        self.native.top_k(features, self._by_number(search), labels, probabilities, evaluations)
        found = labels >= 0
        labels[found] = self._position[labels[found]]
        if search.threshold == 0 and not found.all():
            self._fill_up(labels, search.allowed)
        return labels, probabilities

    def _fill_up(self, labels: NDArray[np.int32], allowed: NDArray[np.uint8] | None) -> None:
        """Add columns of y without any 1: they have no leaf, and the probability 0."""
        never = self._without_leaf(allowed)
        for row in labels:
            n_found = int((row >= 0).sum())
            n_added = min(len(never), len(row) - n_found)
            row[n_found : n_found + n_added] = never[:n_added]

    def _without_leaf(self, allowed: NDArray[np.uint8] | None) -> NDArray[np.int64]:
        never = np.flatnonzero(self._numbers() < 0)
        return never if allowed is None else never[allowed[never] != 0]

    def exact_best(self, search: Search) -> bool:
        return self.n_trees == 1 or is_exact(search, self.n_trees)

    def above(self, features: Any, search: Search, evaluations: NDArray[np.int64] | None = None) -> RowAnswer:
        indptr, labels, probabilities = self.native.above(features, self._by_number(search), evaluations)
        return indptr, self._position[labels], probabilities

    def pairs(
        self, features: Any, rows: NDArray[np.int64], labels: NDArray[np.int32], search: Search
    ) -> NDArray[np.float32]:
        number = self._numbers()[labels]
        known = number >= 0  # a column of y without any 1 has no leaf
        found = np.empty(int(known.sum()), dtype=np.float32)
        self.native.pairs(features, rows[known], number[known], search, found)
        probabilities = np.zeros(len(rows), dtype=np.float32)
        probabilities[known] = found
        return probabilities

    def enumerate(self, features: Any, search: Search) -> Iterator[tuple[int, float]]:
        """Return the labels one by one. If the trees change meanwhile, the next step raises `RuntimeError`."""
        found = _native.Enumeration(self.native, features, 0, self._by_number(search))
        return self._one_by_one(found, self._without_leaf(search.allowed))

    def _one_by_one(
        self, found: _native.Enumeration, never: NDArray[np.int64]
    ) -> Iterator[tuple[int, float]]:
        while True:
            with self._reading():
                answer = found.next()
            if answer is None:
                break
            yield int(self._position[answer[0]]), answer[1]
        yield from ((label, 0.0) for label in never.tolist())

    def explain(
        self, features: Any, label: int, search: Search, n_features: int, feature_names: FeatureNames
    ) -> Explanation:
        number = int(self._numbers()[label])
        if number < 0:
            raise ValueError("no example so far had this label: there is nothing to explain")
        names = self._names if feature_names is None else feature_names
        indices, values = (array.tolist() for array in features.row(0))
        paths = []
        for tree in self._trees:
            steps, so_far = [], 1.0
            for node, n_labels, score, probability, bias, weights in tree.explain(
                features, 0, number, search.normalize_siblings
            ):
                so_far *= probability
                triples = zip(indices, values, weights.tolist(), strict=True)
                known = strongest(triples, n_features, names)
                steps.append(Step(node, n_labels, score, probability, so_far, bias, known))
            paths.append(steps)
        return Explanation(label, float(np.mean([path[-1].probability_so_far for path in paths])), paths)

    def node_scores(self, features: Any, labels: LabelRows, search: Search, seed: int) -> NoReturn:
        raise ValueError("an online tree does not give the scores of single nodes; freeze() the model first")

    def _numbers(self) -> NDArray[np.int32]:
        """Return the number of the label at each position, -1 for a label without a leaf."""
        numbers = np.full(self.n_labels, -1, dtype=np.int32)
        numbers[self._position] = np.arange(len(self._position), dtype=np.int32)
        return numbers

    def _by_number(self, search: Search) -> Search:
        """Return the search with its arrays in the order of the trees' numbers."""
        given: dict[str, Any] = {}
        for name in ("allowed", "label_weight", "label_threshold"):
            values = getattr(search, name)
            if values is not None:
                given[name] = np.ascontiguousarray(values[self._position])
        return search.replace(**given) if given else search
