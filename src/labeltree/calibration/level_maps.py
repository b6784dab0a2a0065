"""A `Calibration`: for each level of each tree the map from a node's score to its probability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

#: The arrays of the maps of a tree, by the method that fits them; see `native/model/level_maps.h`.
LEVEL_ARRAYS: dict[str, dict[str, str]] = {
    "platt": {"slope": "float32", "intercept": "float32"},
    "isotonic": {"knot_begin": "int64", "knot_score": "float32", "knot_probability": "float32"},
}

#: What the kernel takes: the arrays of one tree by name.
LevelArrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Calibration:
    """What `LabelTreeClassifier.calibrate` has fitted. It takes the place of the link.

    Attributes
    ----------
    method : {"isotonic", "platt"}
        Straight lines between knots, or the sigmoid of ``slope * score + intercept``.
    trees : sequence of dict
        The maps of each tree. Per level, from the root's on, `slope` and `intercept`; or the range of its knots in
        `knot_score` and `knot_probability`, which begins at `knot_begin`.
    """

    method: str
    trees: Sequence[LevelArrays]

    def n_levels(self, tree: int = 0) -> int:
        """The levels of a tree: one more than its depth."""
        arrays = self.trees[tree]
        return len(arrays["slope"]) if self.method == "platt" else len(arrays["knot_begin"]) - 1

    def probability(self, score: ArrayLike, level: int, tree: int = 0) -> NDArray[np.float64]:
        """The probabilities that scores of nodes on this level stand for.

        Examples
        --------
        >>> import numpy as np
        >>> from labeltree.calibration import Calibration
        >>> maps = {"slope": np.array([0.0, 2.0]), "intercept": np.array([3.0, 0.0])}
        >>> Calibration("platt", [maps]).probability([-1.0, 0.0, 1.0], level=1).round(2)
        array([0.12, 0.5 , 0.88])
        """
        if not 0 <= level < self.n_levels(tree):
            raise ValueError(f"level must be from 0 to {self.n_levels(tree) - 1}, got {level}")
        arrays, scores = self.trees[tree], np.asarray(score, dtype=np.float64)
        if self.method == "platt":
            mapped: NDArray[np.float64] = expit(arrays["slope"][level] * scores + arrays["intercept"][level])
            return mapped
        knots = slice(*arrays["knot_begin"][level : level + 2])
        return np.interp(scores, arrays["knot_score"][knots], arrays["knot_probability"][knots])
