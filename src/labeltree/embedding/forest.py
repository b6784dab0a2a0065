"""`EmbeddingForest`: word vectors, and a label tree over their sums."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree import _native
from labeltree.calibration.level_maps import Calibration
from labeltree.embedding.node_vectors import NodeVectors
from labeltree.embedding.vectors import Vectors
from labeltree.labels.reading import LabelRows
from labeltree.model.explanation import Explanation, FeatureNames, Step, strongest
from labeltree.model.forest import RowAnswer, Search, TopAnswer
from labeltree.model.label_forest import LabelForest
from labeltree.model.linear_forest import LinearForest
from labeltree.model.node_scores import NodeScores


class EmbeddingForest(LabelForest):
    """A row becomes the sum of the vectors of its words; a linear tree over the dimensions of this vector answers.

    Parameters
    ----------
    words : Vectors
        The vector of each feature.
    nodes : NodeVectors
    link : str
        How scores become probabilities: "sigmoid" or "softmax".
    mean : bool
        Divide the values of a row by their sum, so that its vector is the mean of its words' vectors.
    calibration : Calibration, optional
        Maps from scores to probabilities, which replace the link.
    """

    def __init__(
        self,
        words: Vectors,
        nodes: NodeVectors,
        link: str,
        mean: bool = False,
        calibration: Calibration | None = None,
    ) -> None:
        self.words = words
        self.nodes = nodes
        self.link = link
        self.mean = mean
        self.calibration = calibration
        self.weights = [nodes]
        self.n_features = words.n_vectors
        self._tree = LinearForest([nodes], words.dimension, link, None, calibration)  # type: ignore[list-item]

    def answering(self, link: str, tree_weight: Sequence[float]) -> EmbeddingForest:
        """Return this forest: the loss decides its link, and it has one tree."""
        return self

    def calibrated(self, calibration: Calibration | None) -> EmbeddingForest:
        """Return the forest with these maps in place of its link."""
        return EmbeddingForest(self.words, self.nodes, self.link, self.mean, calibration)

    def first_tree(self) -> EmbeddingForest:
        """Return this forest: it has one tree."""
        return self

    def verify(self) -> None:
        """Check the tree; raises `ModelFileError` if it is damaged. Vectors may have any numbers."""
        self._tree.verify()

    def hidden(self, features: _native.FeatureMatrix) -> _native.FeatureMatrix:
        """Return the hidden vectors of rows, computed when they are read."""
        return features.hidden(self.words.values, self.words.scale, self.mean)

    def top_k(
        self,
        features: Any,
        search: Search,
        evaluations: NDArray[np.int64] | None = None,
        progress: _native.Progress | None = None,
    ) -> TopAnswer:
        return self._tree.top_k(self.hidden(features), search, evaluations, progress)

    def above(self, features: Any, search: Search, evaluations: NDArray[np.int64] | None = None) -> RowAnswer:
        return self._tree.above(self.hidden(features), search, evaluations)

    def pairs(
        self, features: Any, rows: NDArray[np.int64], labels: NDArray[np.int32], search: Search
    ) -> NDArray[np.float32]:
        return self._tree.pairs(self.hidden(features), rows, labels, search)

    def enumerate(self, features: Any, search: Search) -> Iterator[tuple[int, float]]:
        return self._tree.enumerate(self.hidden(features), search)

    def node_scores(self, features: Any, labels: LabelRows, search: Search, seed: int) -> list[NodeScores]:
        return self._tree.node_scores(self.hidden(features), labels, search, seed)

    def explain(
        self, features: Any, label: int, search: Search, n_features: int, feature_names: FeatureNames
    ) -> Explanation:
        """Explain a label by words: what a word adds to the score of a node is its vector times the node's."""
        found = self._tree.explain(self.hidden(features), label, search, 0, None)
        words, values = features.row(0)
        if self.mean:
            values = values / max(float(np.abs(values).sum()), np.finfo(np.float32).tiny)
        vectors = self.words.rows(words)

        def by_words(step: Step) -> Step:
            with np.errstate(over="ignore", invalid="ignore"):  # the vectors of a file may have any numbers
                weights = vectors @ self.nodes.vectors.rows(step.node)
            triples = zip(words.tolist(), values.tolist(), weights.tolist(), strict=True)
            return replace(step, contributions=strongest(triples, n_features, feature_names))

        return replace(found, paths=[[by_words(step) for step in path] for path in found.paths])

    def __reduce__(self) -> tuple[Any, ...]:
        return EmbeddingForest, (self.words, self.nodes, self.link, self.mean, self.calibration)
