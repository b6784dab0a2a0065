"""`ScoredPairs`: pairs of a row and a label or node, with probability and outcome, as a weighted sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labeltree.labels.reading import read_held_out_labels
from labeltree.validation import check_count, check_same_rows
from labeltree.wording import with_article

if TYPE_CHECKING:
    from labeltree.questions import Questions

#: Likely labels have at least this probability; at most MOST_LIKELY labels of a row count as likely.
LEAST_LIKELY = 0.01
MOST_LIKELY = 100

#: Size of the sample of unlikely pairs: pairs of a row and a label that is neither true nor likely.
UNLIKELY_PAIRS = 200_000


@dataclass(frozen=True)
class ScoredPairs:
    """Pairs of a row and a label or node, with the probability of the model and the true outcome.

    Attributes
    ----------
    probability : array of shape (n_pairs,), float32
    outcome : array of shape (n_pairs,), bool
    weight : array of shape (n_pairs,)
        Number of pairs that each pair represents: 1, or more in a sample.
    group : array of shape (n_pairs,)
        The position of the label in `classes_`, or the level of the node; the root is on level 0.
    n_rows : int
        Number of rows of the pairs.
    """

    probability: NDArray[np.float32]
    outcome: NDArray[np.bool_]
    weight: NDArray[np.float64]
    group: NDArray[np.int64]
    n_rows: int

    def __len__(self) -> int:
        return len(self.probability)

    def where(self, chosen: NDArray[np.bool_]) -> ScoredPairs:
        """Return some of the pairs."""
        return ScoredPairs(
            self.probability[chosen],
            self.outcome[chosen],
            self.weight[chosen],
            self.group[chosen],
            self.n_rows,
        )


def label_pairs(
    model: Questions, X: Any, y: Any, *, n_unlikely: int = UNLIKELY_PAIRS, random_state: int = 0
) -> ScoredPairs:
    """Return pairs of a row and a label with their probabilities, without a matrix of all pairs.

    The result has all true labels and all likely labels (with a probability of at least 0.01, at most 100 for each
    row). The other pairs are many and similar, so a weighted sample represents them; if they are few, all are included.

    Parameters
    ----------
    model : a trained classifier of this library
    X, y
        Held-out rows and their labels, in any form that `fit` takes. Labels that the model does
        not know are ignored.
    n_unlikely : int
        Size of the sample of the other pairs.
    random_state : int
        Seed of the sample.

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
    index = model.model_.label_index
    labels = read_held_out_labels(y, index, model.model_.label_kind)
    n_rows, n_labels = labels.n_rows, labels.n_labels
    top = model.predict_topk(X, k=min(MOST_LIKELY, n_labels), threshold=LEAST_LIKELY)
    check_same_rows(len(top.labels), n_rows)
    likely = top.probabilities >= LEAST_LIKELY
    found = index.positions(top.labels[likely].tolist())
    # A pair is one number below 2^63, which is enough for any data.
    is_true = np.repeat(np.arange(n_rows), np.diff(labels.indptr)) * n_labels + labels.indices
    is_likely = np.nonzero(likely)[0] * n_labels + found
    certain = np.union1d(is_true, is_likely)
    others = _draw_others(certain, n_rows * n_labels, n_unlikely, np.random.default_rng(random_state))
    n_others = n_rows * n_labels - len(certain)
    pairs = np.concatenate([certain, others])
    weight = np.ones(len(pairs))
    weight[len(certain) :] = n_others / max(len(others), 1)
    rows, positions = np.divmod(pairs, n_labels)
    probability = model.predict_pairs(X, rows, index.classes[positions].tolist())
    return ScoredPairs(probability, np.isin(pairs, is_true), weight, positions, n_rows)


def _draw_others(
    certain: NDArray[np.int64], n_pairs: int, n_wanted: int, random: np.random.Generator
) -> NDArray[np.int64]:
    """Return numbers below `n_pairs` that are not in `certain`: all, or a random sample of about `n_wanted`."""
    if n_pairs - len(certain) <= n_wanted:
        return np.setdiff1d(np.arange(n_pairs), certain, assume_unique=True)
    drawn = random.integers(n_pairs, size=n_wanted)
    return drawn[~np.isin(drawn, certain)]


def node_pairs(model: Questions, X: Any, y: Any, *, random_state: int = 0) -> ScoredPairs:
    """Return pairs of a row and a node of all trees, with the probability of the node given its parent.

    These are the pairs that nodes are trained on: the root, and the children of all nodes with a label of the row
    below. If there are millions of negative pairs, the result has a weighted sample of them.

    Parameters
    ----------
    model : a trained classifier of this library
        For an online model, pass ``model.freeze(prune=0.0)`` instead.
    X, y
        Held-out rows and their labels, in any form that `fit` takes. Labels that the model does
        not know are ignored.
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
            f"{with_article(type(model).__name__)} does not give the scores of single nodes; for an online tree, use "
            "model.freeze(prune=0.0), which has the same nodes"
        )
    labels = read_held_out_labels(y, asked.label_index, asked.label_kind)
    parts = asked.forest.node_scores(asked.read(X), labels, model.make_search(), random_state)
    return ScoredPairs(
        np.concatenate([part.probability for part in parts]),
        np.concatenate([part.positive for part in parts]),
        np.concatenate([part.weight for part in parts]),
        np.concatenate([part.level for part in parts]),
        labels.n_rows,
    )
