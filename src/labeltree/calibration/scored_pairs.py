"""What a model says about rows with known labels: pairs with a probability and the truth, sparse and sampled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree import _native
from labeltree.exchange import node_targets
from labeltree.labels.reading import LabelRows, read_labels_of
from labeltree.node_estimators.estimators import NodeEstimators
from labeltree.prediction import LabelTreePredictor
from labeltree.trees import LabelTree
from labeltree.validation import check_count

#: The labels of a row that are looked at because the model finds them likely: at most so many, of at least that
#: probability.
MOST_LIKELY = 100
LEAST_LIKELY = 0.01

#: Pairs of a row and a label that is neither true nor likely: so many are drawn.
UNLIKELY_PAIRS = 200_000

#: Of the pairs of a row and a node that is negative for it, at most about so many are looked at for each tree.
NEGATIVE_NODES = 1_000_000


@dataclass(frozen=True)
class ScoredPairs:
    """Pairs of a row and a label, or a node: what the model says about them, and what is true.

    Attributes
    ----------
    probability : array of shape (n_pairs,), float32
    outcome : array of shape (n_pairs,), bool
    weight : array of shape (n_pairs,)
        How many pairs each stands for: 1, or more for those that were drawn from many.
    group : array of shape (n_pairs,)
        The position of the label in `classes_`, or the level of the node: the root's is 0.
    n_rows : int
        The rows that the pairs are of.
    """

    probability: NDArray[np.float32]
    outcome: NDArray[np.bool_]
    weight: NDArray[np.float64]
    group: NDArray[np.int64]
    n_rows: int

    def __len__(self) -> int:
        return len(self.probability)

    def where(self, chosen: NDArray[np.bool_]) -> ScoredPairs:
        """Some of the pairs."""
        return ScoredPairs(
            self.probability[chosen],
            self.outcome[chosen],
            self.weight[chosen],
            self.group[chosen],
            self.n_rows,
        )


def label_pairs(
    model: LabelTreePredictor,
    X: Any,
    y: Any,
    *,
    n_unlikely: int = UNLIKELY_PAIRS,
    random_state: int = 0,
) -> ScoredPairs:
    """Pairs of a row and a label with the probability that the model gives them, without a matrix of all.

    All true labels and all likely ones (of a probability of 0.01 or more, at most 100 for each row) are there; of the
    other pairs, which are many and all alike, some are drawn, and each stands for many. If they are few, all are there.

    Parameters
    ----------
    model : a trained classifier of this library
    X, y
        Rows that it was not trained on and their labels, in any form that `fit` takes; labels must be known to it.
    n_unlikely : int
        How many of the other pairs to draw.
    random_state : int
        The seed.

    Examples
    --------
    >>> from labeltree import LabelTreeClassifier
    >>> from labeltree.calibration import label_pairs
    >>> X, y = [[1.0, 0.0], [0.0, 1.0], [0.9, 0.1]], [["cat"], ["dog"], ["cat", "pet"]]
    >>> pairs = label_pairs(LabelTreeClassifier(random_state=0).fit(X, y), X, y)
    >>> len(pairs), int(pairs.outcome.sum())
    (9, 4)
    """
    check_count("n_unlikely", n_unlikely)
    model._check_trained()
    labels = read_labels_of(y, model.classes_, model.label_kind_)
    n_rows, n_labels = labels.n_rows, labels.n_labels
    top = model.predict_topk(X, k=min(MOST_LIKELY, n_labels), threshold=LEAST_LIKELY)
    if len(top.labels) != n_rows:
        raise ValueError(f"X and y must have the same number of rows, got {len(top.labels)} and {n_rows}")
    likely = top.probabilities >= LEAST_LIKELY
    found = model._label_names().positions(top.labels[likely].tolist())
    # A pair is one number; 2^63 of them are more than any data has.
    is_true = np.repeat(np.arange(n_rows), np.diff(labels.indptr)) * n_labels + labels.indices
    is_likely = np.nonzero(likely)[0] * n_labels + found
    certain = np.union1d(is_true, is_likely)
    others = _draw_others(certain, n_rows * n_labels, n_unlikely, np.random.default_rng(random_state))
    n_others = n_rows * n_labels - len(certain)
    pairs = np.concatenate([certain, others])
    weight = np.ones(len(pairs))
    weight[len(certain) :] = n_others / max(len(others), 1)
    rows, positions = np.divmod(pairs, n_labels)
    probability = model.predict_pairs(X, rows, model.classes_[positions].tolist())
    return ScoredPairs(probability, np.isin(pairs, is_true), weight, positions, n_rows)


def _draw_others(
    certain: NDArray[np.int64], n_pairs: int, n_wanted: int, random: np.random.Generator
) -> NDArray[np.int64]:
    """Numbers below `n_pairs` that are not among `certain`: all, if they are not too many, or some at random."""
    if n_pairs - len(certain) <= n_wanted:
        return np.setdiff1d(np.arange(n_pairs), certain, assume_unique=True)
    drawn = random.integers(n_pairs, size=n_wanted)
    return drawn[~np.isin(drawn, certain)]


@dataclass(frozen=True)
class NodeScores:
    """What the nodes of one tree say about rows at whose parent they are, and what is true: by row."""

    node: NDArray[np.int32]
    level: NDArray[np.int64]
    score: NDArray[np.float32]
    probability: NDArray[np.float32]
    positive: NDArray[np.bool_]
    weight: NDArray[np.float64]


def node_pairs(model: LabelTreePredictor, X: Any, y: Any, *, random_state: int = 0) -> ScoredPairs:
    """Pairs of a row and a node, of all trees, with the probability of the node given its parent.

    These are the pairs that nodes learn from: the root, and the children of all nodes that have a label of the row
    below. Of those that are negative some are drawn, if there are millions.

    Parameters
    ----------
    model : a trained classifier of this library
        Not an online one: ask ``model.freeze(prune=0.0)`` instead.
    X, y
        Rows that it was not trained on and their labels, in any form that `fit` takes; labels must be known to it.
    random_state : int
        The seed.

    Examples
    --------
    >>> from labeltree import LabelTreeClassifier
    >>> from labeltree.calibration import node_pairs
    >>> X, y = [[1.0, 0.0], [0.0, 1.0], [0.9, 0.1]], [["cat"], ["dog"], ["cat", "pet"]]
    >>> pairs = node_pairs(LabelTreeClassifier(random_state=0).fit(X, y), X, y)
    >>> pairs.group, int(pairs.outcome.sum())
    (array([0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1]), 7)
    """
    model._check_trained()
    if not has_node_probabilities(model):
        raise ValueError(
            "the nodes of trees over examples, and those of an online tree, cannot be asked one by one; of the latter, "
            "ask model.freeze(prune=0.0), which has the same"
        )
    labels = read_labels_of(y, model.classes_, model.label_kind_)
    parts = scores_of_trees(model, X, labels, random_state)
    return ScoredPairs(
        np.concatenate([part.probability for part in parts]),
        np.concatenate([part.positive for part in parts]),
        np.concatenate([part.weight for part in parts]),
        np.concatenate([part.level for part in parts]),
        labels.n_rows,
    )


def has_node_probabilities(model: LabelTreePredictor) -> bool:
    """Whether single nodes can be asked: those of online trees, and of trees over examples, cannot."""
    return "weights_" in vars(model)


def scores_of_trees(model: LabelTreePredictor, X: Any, labels: LabelRows, seed: int) -> list[NodeScores]:
    """What the nodes of each tree say, whatever classifiers they have."""
    if model._has_node_estimators:
        return _estimator_scores(model, X, labels)
    return node_scores(model, X, labels, seed)


def node_scores(model: LabelTreePredictor, X: Any, labels: LabelRows, seed: int) -> list[NodeScores]:
    """What the linear classifiers of each tree say."""
    features = model._features(X)
    stores = model._forest_and_stores()[1]
    return [
        _scores_of_tree(model, store, tree, features, labels, seed)
        for store, tree in zip(stores, model.trees_, strict=True)
    ]


def _scores_of_tree(
    model: LabelTreePredictor,
    store: _native.BlockStore,
    tree: LabelTree,
    features: _native.FeatureMatrix,
    labels: LabelRows,
    seed: int,
) -> NodeScores:
    n_nodes = _n_scored_nodes(tree, labels, model._n_threads)
    share = min(1.0, NEGATIVE_NODES / n_nodes)
    examples = _native.Examples(features, labels.indptr, labels.indices, labels.n_labels)
    found = store.held_out_nodes(examples, model._normalizes_siblings, share, seed, model._n_threads)
    positive = found["positive"].astype(bool)
    n_negative = n_nodes - int(positive.sum())
    n_drawn = len(positive) - int(positive.sum())
    return NodeScores(
        found["node"],
        tree.depth_of_node[found["node"]].astype(np.int64),
        found["score"],
        found["probability"],
        positive,
        np.where(positive, 1.0, n_negative / max(n_drawn, 1)),
    )


def _n_scored_nodes(tree: LabelTree, labels: LabelRows, n_threads: int) -> int:
    """The pairs of a row and the root, or a child of a node that is positive for the row."""
    begin, _ = _native.assign_to_nodes(tree.native, labels.indptr, labels.indices, n_threads)
    return labels.n_rows + int(np.diff(begin) @ np.diff(tree.child_begin).astype(np.int64))


def _estimator_scores(model: LabelTreePredictor, X: Any, labels: LabelRows) -> list[NodeScores]:
    """What the node estimators of each tree say, which have no scores but probabilities."""
    rows: Any = model._features(X)
    parts = []
    for nodes in model.weights_:
        assert isinstance(nodes, NodeEstimators)
        lists = np.split(labels.indices, labels.indptr[1:-1])
        targets = node_targets(nodes.tree, [part.tolist() for part in lists])
        probability = targets.check_probabilities(
            nodes.probabilities(rows.X, targets), model._normalizes_siblings
        )
        level = nodes.tree.depth_of_node[targets.node].astype(np.int64)
        parts.append(
            NodeScores(
                targets.node.astype(np.int32),
                level,
                probability,
                probability,
                targets.target > 0,
                np.ones(len(probability)),
            )
        )
    return parts
