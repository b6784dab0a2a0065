"""`RerankedForest`: label trees propose labels, and one classifier for each label ranks the proposals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree import _native
from labeltree.calibration.level_maps import Calibration
from labeltree.labels.reading import LabelRows
from labeltree.model.block_weights import BlockWeights
from labeltree.model.explanation import Explanation, FeatureNames, LabelStep, strongest
from labeltree.model.forest import Search
from labeltree.model.kernel_forest import KernelForest
from labeltree.model.label_classifiers import LabelClassifiers
from labeltree.model.linear_forest import LinearForest
from labeltree.model.node_scores import NodeScores
from labeltree.trees import LabelTree

#: Trees do not propose labels that are less probable. Such labels are many, hardly ever right, and slow to find.
LEAST_PROPOSED = 1e-4


class RerankedForest(KernelForest):
    """Label trees with a classifier for each label.

    The proposals for a row are the labels that the trees rank highest, among those that the search allows and that have
    a probability of at least `least` there, by the weights of the search. The probability of a proposal is
    that of its classifier. Any other label has the probability that the trees give it, but at most that of the least
    probable proposal.

    Parameters
    ----------
    proposer : LinearForest
        The trees.
    judges : LabelClassifiers
        The classifiers of the labels.
    n_proposals : int
        The maximum number of proposals for each row.
    least : float
        The smallest probability in the trees of a label that they propose.
    """

    has_label_trees = True
    has_node_scores = True
    gives_probabilities = True

    def __init__(
        self,
        proposer: LinearForest,
        judges: LabelClassifiers,
        n_proposals: int,
        least: float = LEAST_PROPOSED,
    ) -> None:
        self.proposer = proposer
        self.judges = judges
        self.n_proposals = n_proposals
        self.least = least
        self.columns = judges.native(proposer.n_features)
        calibration = proposer.calibration
        fitted = None if calibration is None else calibration.labels
        self.native = _native.RerankedForest(
            proposer.native,
            self.columns,
            dict(judges.map if fitted is None else fitted),
            n_proposals,
            least,
        )

    # -- the trees ---------------------------------------------------------------------------------------------------

    def exact_best(self, search: Search) -> bool:
        return self.proposer.exact_best(search)

    @property
    def n_labels(self) -> int:
        return self.proposer.n_labels

    @property
    def n_trees(self) -> int:
        return self.proposer.n_trees

    @property
    def n_features(self) -> int:
        return self.proposer.n_features

    @property
    def trees(self) -> list[LabelTree]:
        return self.proposer.trees

    @property
    def weights(self) -> list[BlockWeights]:
        return self.proposer.weights

    @property
    def stores(self) -> list[_native.BlockStore]:
        return self.proposer.stores

    @property
    def calibration(self) -> Calibration | None:
        return self.proposer.calibration

    def shapes(self) -> list[LabelTree]:
        return self.trees

    def answering(self, link: str, tree_weight: Sequence[float]) -> RerankedForest:
        """Return the forest with this link and these weights of its trees; this forest if nothing changes."""
        return self._with(self.proposer.answering(link, tree_weight))

    def calibrated(self, calibration: Calibration | None) -> RerankedForest:
        """Return the forest with the maps of a calibration, for the trees and for the label classifiers."""
        return self._with(self.proposer.calibrated(calibration))

    def first_tree(self) -> LinearForest:
        """Return the first tree alone, without the label classifiers."""
        return self.proposer.first_tree()

    def node_scores(self, features: Any, labels: LabelRows, search: Search, seed: int) -> list[NodeScores]:
        return self.proposer.node_scores(features, labels, search, seed)

    def _with(self, proposer: LinearForest) -> RerankedForest:
        if proposer is self.proposer:
            return self
        return RerankedForest(proposer, self.judges, self.n_proposals, self.least)

    # -- the label classifiers ---------------------------------------------------------------------------------------

    def verify(self) -> None:
        """Check the inside of every block and of every label classifier; raises `ModelFileError` if one is damaged."""
        self.proposer.verify()
        self.columns.verify()

    def label_scores(self, features: Any, labels: LabelRows, search: Search) -> NodeScores:
        """Return the scores of the classifiers of all proposals, for rows with known labels; all are on level 0."""
        found = self._proposals(features, search)
        rows, places = np.nonzero(found >= 0)
        return proposal_scores(
            self.columns, features, rows.astype(np.int64), found[rows, places], labels, search.n_threads
        )

    def _proposals(self, features: Any, search: Search) -> NDArray[np.int32]:
        """Return the proposals for each row, filled up with -1."""
        k = min(self.n_proposals, self.n_labels)
        wanted = search.replace(k=k, threshold=self.least, label_weight=None)
        return self.proposer.top_k(features, wanted)[0]

    def enumerate(self, features: Any, search: Search) -> Iterator[tuple[int, float]]:
        n_found = int((self._proposals(features, search) >= 0).sum())
        found, probabilities = self.top_k(
            features, search.replace(k=max(n_found, 1), threshold=0.0, label_weight=None)
        )
        proposed = dict(zip(found[0, :n_found].tolist(), probabilities[0, :n_found].tolist(), strict=True))
        lowest = min(proposed.values(), default=1.0)

        def labels() -> Iterator[tuple[int, float]]:
            yield from proposed.items()
            for label, probability in self.proposer.enumerate(features, search):
                if label not in proposed:
                    yield label, min(probability, lowest)

        return labels()

    def explain(
        self, features: Any, label: int, search: Search, n_features: int, feature_names: FeatureNames
    ) -> Explanation:
        """Explain a label by its paths through the trees, and by its classifier if the trees propose it."""
        of_trees = self.proposer.explain(features, label, search, n_features, feature_names)
        rows, labels = np.zeros(1, dtype=np.int64), np.array([label], dtype=np.int32)
        (probability,) = self.pairs(features, rows, labels, search).tolist()
        found = self._proposals(features, search)
        score = np.empty(1, dtype=np.float32)
        self.columns.scores(features, rows, labels, 1, score)
        values = dict(zip(*(array.tolist() for array in features.row(0)), strict=True))
        known = zip(*(array.tolist() for array in self.columns.column(label)), strict=True)
        triples = ((feature, values[feature], weight) for feature, weight in known if feature in values)
        step = LabelStep(
            proposed=bool((found[0] == label).any()),
            score=float(score[0]),
            probability=float(self.native.probability(float(score[0]))),
            bias=float(self.judges.arrays["bias"][label]),
            contributions=strongest(triples, n_features, feature_names),
        )
        return Explanation(label, probability, of_trees.paths, classifier=step)

    def __reduce__(self) -> tuple[Any, ...]:
        return RerankedForest, (self.proposer, self.judges, self.n_proposals, self.least)


def proposal_scores(
    columns: _native.LabelColumns,
    features: _native.FeatureMatrix,
    rows: NDArray[np.int64],
    labels: NDArray[np.int32],
    truth: LabelRows,
    n_threads: int,
) -> NodeScores:
    """Return the scores of pairs of a row and a label beside the truth; all are on level 0."""
    score = np.empty(len(rows), dtype=np.float32)
    columns.scores(features, rows, labels, n_threads, score)
    pairs = rows * truth.n_labels + labels
    true = np.repeat(np.arange(truth.n_rows), np.diff(truth.indptr)) * truth.n_labels + truth.indices
    return NodeScores(
        labels,
        np.zeros(len(rows), dtype=np.int64),
        score,
        np.zeros(len(rows), dtype=np.float32),
        np.isin(pairs, true),
        np.ones(len(rows)),
    )
