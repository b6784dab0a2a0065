"""Weights of labels: of their positive examples in training, and of their probabilities in a ranking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from labeltree.labels.label_index import LabelIndex
from labeltree.labels.reading import LabelRows
from labeltree.metrics.propensity import inverse_propensity_of_counts

if TYPE_CHECKING:
    from labeltree.model.model import Model

_Float = TypeVar("_Float", np.float32, np.float64)


def read_label_weight(label_weight: Any, labels: LabelRows) -> NDArray[np.float32] | None:
    """Return a finite weight of at least 0 for each label, in the order of the classes; None stays None.

    Parameters
    ----------
    label_weight : None, "propensity", array of shape (n_labels,) or mapping from label to weight
        The parameter of `LabelTreeClassifier`.
    labels : LabelRows
        The labels of the training rows.

    Raises
    ------
    ValueError
        If a weight is not a finite number of at least 0, if the number of weights is not the number of labels, or if
        a mapping has an unknown label.
    """
    if label_weight is None:
        return None
    if isinstance(label_weight, str) and label_weight == "given":
        raise ValueError(
            "label_weight is 'given': a saved model does not keep weights that were an array or a dictionary; set it "
            "to them again, or to None"
        )
    if isinstance(label_weight, str):
        return inverse_propensity_of_counts(labels.counts, labels.n_rows).astype(np.float32)
    return weight_of_each(label_weight, LabelIndex(labels.classes), np.float32)


def ranking_weight(label_weight: Any, model: Model, allowed: NDArray[np.uint8] | None) -> NDArray[np.float64]:
    """Return the weight of each label in a ranking; 0 for labels that are not allowed, so that searches skip them."""
    if not isinstance(label_weight, str):
        weight = weight_of_each(label_weight, model.label_index, np.float64)
    elif label_weight == "propensity":
        weight = inverse_propensity_of_counts(model.label_counts, model.n_samples_fit)
    else:
        raise ValueError(
            "label_weight must be 'propensity', one weight per label, a dictionary from labels to weights, or "
            f"None; got {label_weight!r}"
        )
    return weight if allowed is None else weight * allowed


def weight_of_each(label_weight: Any, index: LabelIndex, dtype: type[_Float]) -> NDArray[_Float]:
    """Return the weight of each label from an array or a mapping; labels that a mapping leaves out weigh 1."""
    if isinstance(label_weight, Mapping):
        weight = np.ones(len(index), dtype=dtype)
        weight[index.positions(label_weight)] = _numbers(list(label_weight.values()), dtype)
    else:
        weight = _numbers(label_weight, dtype)
        if weight.shape != (len(index),):
            raise ValueError(
                f"label_weight must have shape ({len(index)},), one weight per label, got {weight.shape}; "
                "a dictionary may leave labels out"
            )
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        at = int(np.argmax(bad))
        (label,) = index.classes[at : at + 1].tolist()
        raise ValueError(
            f"label_weight must be finite and at least 0, but is {weight[at]} for the label {label!r}"
        )
    return weight


def _numbers(values: Any, dtype: type[_Float]) -> NDArray[_Float]:
    try:
        return np.asarray(values, dtype=dtype, order="C")
    except (TypeError, ValueError) as error:
        raise ValueError(f"label_weight must hold numbers: {error}") from None
