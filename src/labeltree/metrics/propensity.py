"""Propensities: the probability that a true label is recorded, after Jain, Prabhu and Varma (2016)."""

import math
from collections.abc import Hashable, Mapping
from typing import TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labeltree.metrics.label_sets import LabelSets
from labeltree.metrics.reading import LabelMatrix, LabelRows, Labels, read_true

InversePropensity: TypeAlias = ArrayLike | Mapping[Hashable, float]

FEWEST_ROWS = 3
"""With fewer rows, log(N) - 1 is negative and rare labels would weigh less than frequent labels."""


class LabelWeights(dict[Hashable, float]):
    """Weights by label; other labels have the weight `unseen`."""

    def __init__(self, weights: Mapping[Hashable, float], unseen: float) -> None:
        super().__init__(weights)
        self.unseen = unseen

    def __missing__(self, label: Hashable) -> float:
        return self.unseen


@overload
def inverse_propensity(y_train: LabelRows, A: float = 0.55, B: float = 1.5) -> LabelWeights: ...
@overload
def inverse_propensity(y_train: LabelMatrix, A: float = 0.55, B: float = 1.5) -> NDArray[np.float64]: ...
def inverse_propensity(
    y_train: Labels, A: float = 0.55, B: float = 1.5
) -> NDArray[np.float64] | LabelWeights:
    """Weight labels by their rarity in the training data, for `psprecision_at_k` and `psndcg_at_k`.

    The data has N rows, and N_l of them have the label l. The weight of l is
    ``1 / p_l = 1 + C * (N_l + B) ** -A``, where ``C = (log(N) - 1) * (B + 1) ** A``.

    Parameters
    ----------
    y_train : sparse matrix, 2-d array or list of lists
        Labels of the training rows, at least three rows.
    A, B : float, default 0.55 and 1.5
        Both positive. The literature uses 0.5 and 0.4 for data from Wikipedia, 0.6 and 2.6 for data from
        Amazon, and the defaults for everything else.

    Returns
    -------
    numpy.ndarray of shape (n_labels,) or LabelWeights
        An array for a matrix; a dictionary from label to weight for lists, which also has a weight for labels
        that do not occur.

    Examples
    --------
    >>> from labeltree.metrics import inverse_propensity
    >>> weights = inverse_propensity([["cat"], ["cat", "dog"], ["cat"], ["cat"]])
    >>> round(weights["cat"], 3), round(weights["dog"], 3), round(weights["never seen"], 3)
    (1.25, 1.386, 1.512)
    """
    sets, names = read_true(y_train, "y_train")
    counts = np.bincount(sets.labels, minlength=sets.n_labels)
    if names is None:
        return inverse_propensity_of_counts(counts, sets.n_rows, A, B)
    *weights, unseen = inverse_propensity_of_counts(np.append(counts, 0), sets.n_rows, A, B).tolist()
    return LabelWeights(dict(zip(names, weights, strict=True)), unseen)


def inverse_propensity_of_counts(
    counts: ArrayLike, n_rows: int, A: float = 0.55, B: float = 1.5
) -> NDArray[np.float64]:
    """Weight labels as `inverse_propensity` does, from the number of training rows of each label.

    Parameters
    ----------
    counts : array of shape (n_labels,)
        The number of training rows with each label: `label_counts_` of a model.
    n_rows : int
        The number of training rows, at least three: `n_samples_fit_` of a model.
    A, B : float, default 0.55 and 1.5
        As for `inverse_propensity`.

    Returns
    -------
    numpy.ndarray of shape (n_labels,)

    Examples
    --------
    >>> from labeltree.metrics import inverse_propensity_of_counts
    >>> inverse_propensity_of_counts([4, 1, 0], n_rows=4).round(3)
    array([1.25 , 1.386, 1.512])
    """
    for name, value in (("A", A), ("B", B)):
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f"{name} must be a positive number, got {value}")
    if n_rows < FEWEST_ROWS:
        raise ValueError(
            f"y_train must have at least {FEWEST_ROWS} rows to estimate propensities, got {n_rows}"
        )
    with np.errstate(over="ignore", invalid="ignore"):
        scale = (math.log(n_rows) - 1) * np.float64(B + 1) ** A
        weights: NDArray[np.float64] = 1 + scale * (np.asarray(counts, dtype=np.float64) + B) ** -A
    if not np.isfinite(weights).all():
        raise ValueError(
            f"propensities with A={A} and B={B} are beyond the range of numbers: choose a smaller A"
        )
    return weights


def weights_of(
    truth: LabelSets, names: list[Hashable] | None, inverse_propensity: InversePropensity
) -> NDArray[np.float64]:
    """Return checked inverse propensities in the order of the labels of `truth`."""
    if names is None:
        if isinstance(inverse_propensity, Mapping):
            raise ValueError(
                "inverse_propensity is a mapping, but y_true a matrix; pass one weight per column"
            )
        weights = np.asarray(inverse_propensity, dtype=np.float64)
        if weights.shape != (truth.n_labels,):
            raise ValueError(
                f"inverse_propensity must have shape ({truth.n_labels},), one weight per column of y_true, "
                f"got {weights.shape}"
            )
    else:
        if not isinstance(inverse_propensity, Mapping):
            raise ValueError(
                "inverse_propensity must map labels to weights, because y_true is a list of labels"
            )
        weights = np.ones(truth.n_labels)
        for label in np.flatnonzero(np.bincount(truth.labels)):
            try:
                weights[label] = inverse_propensity[names[label]]
            except KeyError:
                raise ValueError(f"inverse_propensity has no weight for the label {names[label]!r}") from None
    if (wrong := np.flatnonzero(~((weights > 0) & np.isfinite(weights)))).size:
        at = wrong[0]
        raise ValueError(
            "inverse_propensity must be positive and finite, "
            f"got {weights[at]} for label {at if names is None else repr(names[at])}"
        )
    return weights
