"""Weights of examples that a row may ask for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray


def one_over_labels(y: Any) -> NDArray[np.float64]:
    """One over the labels of the row, as if a row without any had one; times what makes their mean 1, so that C is not
    changed along with them."""
    n_labels: NDArray[np.int32] = np.diff(y.indptr)
    weight: NDArray[np.float64] = 1 / np.maximum(n_labels, 1)
    weight /= weight.mean()
    return weight


SAMPLE_WEIGHTS: dict[str, Callable[[Any], NDArray[np.float64]]] = {"1/labels, mean 1": one_over_labels}
