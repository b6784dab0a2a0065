"""`NodeScores`: the scores of single nodes, beside the truth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class NodeScores:
    """Scores of the nodes of one tree for rows that reach their parent, and whether the node is positive.

    Pairs of a row and a node are in the order of the rows. `weight` is the number of pairs that each stands for:
    1, or more where negative nodes are a sample.
    """

    node: NDArray[np.int32]
    level: NDArray[np.int64]
    score: NDArray[np.float32]
    probability: NDArray[np.float32]
    positive: NDArray[np.bool_]
    weight: NDArray[np.float64]
