"""`Calibration`: a map from scores to probabilities for each level of each tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: The arrays of the maps of a tree, by method; see `native/model/level_maps.h`.
LEVEL_ARRAYS: dict[str, dict[str, str]] = {
    "platt": {"slope": "float32", "intercept": "float32"},
    "isotonic": {"knot_begin": "int64", "knot_score": "float32", "knot_probability": "float32"},
}

#: The arrays of one tree by name, as the kernel reads them.
LevelArrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Calibration:
    """The maps that `LabelTreeClassifier.fit` or `calibrate` fits. They replace the link.

    Attributes
    ----------
    method : {"isotonic", "platt"}
        The form of the maps: linear between knots, or the sigmoid of ``slope * score + intercept``.
    trees : sequence of dict
        The maps of each tree, by level from the root down. "platt" has arrays `slope` and `intercept`; "isotonic" has
        knots in `knot_score` and `knot_probability`, and `knot_begin` says where the knots of each level begin.
    labels : dict, optional
        The map of the label classifiers of a model with `rerank`: the same arrays, with one level.
    source : {"calibrate", "training"}
        Who fitted the maps: `calibrate` on rows that the model was not trained on, or `fit` on rows that it held out
        of the training of a sample of nodes.
    """

    method: str
    trees: Sequence[LevelArrays]
    labels: LevelArrays | None = None
    source: str = "calibrate"

    def n_levels(self, tree: int = 0) -> int:
        """Return the number of levels of a tree, which is its depth plus 1."""
        arrays = self.trees[tree]
        return len(arrays["slope"]) if self.method == "platt" else len(arrays["knot_begin"]) - 1

    def describe(self) -> str:
        """Return the form of the maps and who made them, in a few words.

        Examples
        --------
        >>> Calibration("isotonic", [], source="training").describe()
        'by fit, isotonic, level by level'
        """
        maker = "fit" if self.source == "training" else "calibrate"
        return f"by {maker}, {self.method}, level by level"

    def probability(self, score: ArrayLike, level: int, tree: int = 0) -> NDArray[np.float64]:
        """Return the probabilities of scores of nodes on a level.

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
            from scipy.special import expit

            mapped: NDArray[np.float64] = expit(arrays["slope"][level] * scores + arrays["intercept"][level])
            return mapped
        knots = slice(*arrays["knot_begin"][level : level + 2])
        return np.interp(scores, arrays["knot_score"][knots], arrays["knot_probability"][knots])
