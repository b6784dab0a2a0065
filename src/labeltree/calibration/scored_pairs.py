"""What a model says about rows with known labels: pairs with a probability and the truth, sparse and sampled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labeltree.labels.reading import read_labels_of
from labeltree.validation import check_count

if TYPE_CHECKING:
    from labeltree.questions import Questions

#: The labels of a row that are looked at because the model finds them likely: at most so many, of at least that
#: probability.
MOST_LIKELY = 100
LEAST_LIKELY = 0.01

#: Pairs of a row and a label that is neither true nor likely: so many are drawn.
UNLIKELY_PAIRS = 200_000


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
    model: Questions,
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
    names = model.model_.names
    labels = read_labels_of(y, names.classes, model.model_.label_kind)
    n_rows, n_labels = labels.n_rows, labels.n_labels
    top = model.predict_topk(X, k=min(MOST_LIKELY, n_labels), threshold=LEAST_LIKELY)
    if len(top.labels) != n_rows:
        raise ValueError(f"X and y must have the same number of rows, got {len(top.labels)} and {n_rows}")
    likely = top.probabilities >= LEAST_LIKELY
    found = names.positions(top.labels[likely].tolist())
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
    probability = model.predict_pairs(X, rows, names.classes[positions].tolist())
    return ScoredPairs(probability, np.isin(pairs, is_true), weight, positions, n_rows)


def _draw_others(
    certain: NDArray[np.int64], n_pairs: int, n_wanted: int, random: np.random.Generator
) -> NDArray[np.int64]:
    """Numbers below `n_pairs` that are not among `certain`: all, if they are not too many, or some at random."""
    if n_pairs - len(certain) <= n_wanted:
        return np.setdiff1d(np.arange(n_pairs), certain, assume_unique=True)
    drawn = random.integers(n_pairs, size=n_wanted)
    return drawn[~np.isin(drawn, certain)]


def node_pairs(model: Questions, X: Any, y: Any, *, random_state: int = 0) -> ScoredPairs:
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
    asked = model.model_
    if not asked.forest.has_node_scores:
        raise ValueError(
            f"the nodes of a {type(model).__name__} cannot be asked one by one; for an online tree, ask "
            "model.freeze(prune=0.0), which has the same nodes"
        )
    labels = read_labels_of(y, asked.names.classes, asked.label_kind)
    parts = asked.forest.node_scores(asked.read(X), labels, model.make_search(), random_state)
    return ScoredPairs(
        np.concatenate([part.probability for part in parts]),
        np.concatenate([part.positive for part in parts]),
        np.concatenate([part.weight for part in parts]),
        np.concatenate([part.level for part in parts]),
        labels.n_rows,
    )
