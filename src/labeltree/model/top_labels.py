"""What a search for the best labels returns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class TopLabels(NamedTuple):
    """The best labels of every row, best first, and their probabilities: two arrays of shape (n_rows, k).

    A row with fewer than k labels (because of a threshold or a mask) is filled up with probability 0 and the label -1,
    or None where labels are not numbers.
    """

    labels: NDArray[Any]
    probabilities: NDArray[np.float32]
