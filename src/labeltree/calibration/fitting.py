"""Platt's and isotonic calibration of the scores of nodes, on held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from labeltree.calibration.level_maps import Calibration, LevelArrays
from labeltree.calibration.monotone_map import ScoreBins, fit_knots
from labeltree.labels.reading import read_held_out_labels
from labeltree.model.node_scores import NodeScores
from labeltree.model.reranked_forest import RerankedForest

if TYPE_CHECKING:
    from labeltree.model.forest import Search
    from labeltree.model.model import Model

FloatArray = NDArray[np.float64]

#: The absolute score of constant nodes, whose examples are all of one class.
CERTAIN_SCORE = 1000.0

#: The map of label classifiers increases at least so much: scores of constant labels give 0 or 1.
LEAST_SLOPE = 0.1

#: A level with fewer pairs uses a common map of all levels below the root.
FEWEST_PAIRS = 30


def can_be_calibrated(model: Any) -> bool:
    """Return whether a trained model can be calibrated: it has label trees, and does not learn any more."""
    return hasattr(model, "calibrate") and hasattr(model.model_.forest, "calibration")


def fit_calibration(model: Model, X: Any, y: Any, method: str, seed: int, search: Search) -> Calibration:
    """Fit a map for each level of each tree; raise `ValueError` for a model that cannot be calibrated."""
    if method not in _METHODS:
        raise ValueError(f"method must be one of {', '.join(map(repr, _METHODS))}, got {method!r}")
    forest: Any = model.forest
    forest.calibrated(None)  # raises for a forest without linear nodes
    labels = read_held_out_labels(y, model.label_index, model.label_kind)
    if len(labels.indices) == 0:
        raise ValueError("y has no label in any row: there is nothing to calibrate by")
    features = model.read(X)
    scores = forest.node_scores(features, labels, search, seed)
    n_levels = [tree.depth + 1 for tree in forest.trees]
    trees = list(map(_METHODS[method], scores, n_levels))
    if not isinstance(forest, RerankedForest):
        return Calibration(method, trees)
    # The calibrated trees may propose other labels.
    calibrated = forest.calibrated(Calibration(method, trees))
    return Calibration(method, trees, _METHODS[method](calibrated.label_scores(features, labels, search), 1))


def fit_map(scores: NodeScores) -> LevelArrays:
    """Return the map of the scores of label classifiers, which are all on level 0: a sigmoid that increases.

    Scores of the squared hinge have their margins at -1 and 1. So few pairs get the sigmoid of twice the score.
    """
    known = np.isfinite(scores.score) & (scores.weight > 0)
    slope, intercept = 2.0, 0.0
    if known.sum() >= FEWEST_PAIRS:
        score = scores.score[known].astype(np.float64)
        slope, intercept = fit_sigmoid(score, scores.positive[known], scores.weight[known])
    slope = max(slope, LEAST_SLOPE)
    return {"slope": np.array([slope], np.float32), "intercept": np.array([intercept], np.float32)}


class LevelScores(Protocol):
    """Scores of nodes on levels of a tree, and whether the nodes are positive."""

    @property
    def level(self) -> NDArray[np.int64]: ...

    @property
    def score(self) -> NDArray[np.float32]: ...

    @property
    def positive(self) -> NDArray[np.bool_]: ...

    @property
    def weight(self) -> NDArray[np.float64]: ...


def level_maps_of_trial(scores: LevelScores, n_levels: int, n_rows: int) -> LevelArrays | None:
    """Return the maps of a tree by the scores of a trial; None if there are too few pairs to fit any.

    Nodes that need no training are not in a trial. Those that no example has get the probability 0, and those that all
    have a probability near 1.
    """
    if len(scores.level) < FEWEST_PAIRS:
        return None
    nearly_certain = 1 - 1 / (n_rows + 2)
    maps = []
    for level, (knots, values) in enumerate(_by_level(scores, n_levels, fit_steps)):
        if level == 0 and not (scores.level == 0).any():
            knots, values = np.array([0.0]), np.array([nearly_certain])
        if knots[-1] < CERTAIN_SCORE:
            knots, values = (
                np.append(knots, CERTAIN_SCORE),
                np.append(values, max(nearly_certain, values[-1])),
            )
        maps.append((np.append(-CERTAIN_SCORE, knots), np.append(0.0, values)))
    return _knot_arrays(maps)


def _by_level(scores: LevelScores, n_levels: int, fit: Callable[..., Any]) -> list[Any]:
    """Return the result of `fit` on the scores, classes and weights of each level."""
    known = np.isfinite(scores.score)  # huge features make infinite scores

    def fit_those(chosen: NDArray[np.bool_]) -> Any:
        return fit(scores.score[chosen].astype(np.float64), scores.positive[chosen], scores.weight[chosen])

    levels = [known & (scores.level == level) for level in range(n_levels)]
    # The root has its own map: it differs from other nodes, and is often positive for all rows.
    few = [
        (level > 0 or not chosen.any()) and int(chosen.sum()) < FEWEST_PAIRS
        for level, chosen in enumerate(levels)
    ]
    together = fit_those(known & (scores.level > 0)) if any(few) else None
    return [together if too_few else fit_those(chosen) for chosen, too_few in zip(levels, few, strict=True)]


def fit_sigmoid(score: FloatArray, positive: NDArray[np.bool_], weight: FloatArray) -> tuple[float, float]:
    """Return slope and intercept of Platt's calibration: the sigmoid with the smallest log loss, by Newton's method.

    As Platt proposed, targets are smoothed as if each class had one more example. So no map gives 0 or 1, even if
    scores separate the classes perfectly. The slope is at least 0. Scores of constant nodes are outliers; they count
    only if there are no other scores.
    """
    from scipy.special import expit

    varies = np.abs(score) < CERTAIN_SCORE
    if varies.any():
        score, positive, weight = score[varies], positive[varies], weight[varies]
    n_positive, n_negative = float(weight @ positive), float(weight @ ~positive)
    target = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    total = weight.sum()
    constant = float(weight @ target / total)
    mean = float(weight @ score / total)
    scale = float(np.sqrt(weight @ (score - mean) ** 2 / total))
    parameters = np.array([0.0, np.log(constant / (1 - constant))])
    flat = 0.0, float(parameters[1])
    if scale <= 1e-6 * abs(mean) or scale == 0:
        return flat
    standard = (score - mean) / scale

    def loss(at: FloatArray) -> float:
        margin = at[0] * standard + at[1]
        return float(weight @ (np.logaddexp(0, margin) - target * margin))

    lost = loss(parameters)
    for _ in range(100):
        p = expit(parameters[0] * standard + parameters[1])
        error, curvature = weight * (p - target), weight * p * (1 - p)
        gradient = np.array([error @ standard, error.sum()])
        cross = curvature @ standard
        hessian = np.array([[curvature @ standard**2, cross], [cross, curvature.sum()]])
        step = np.linalg.solve(hessian + 1e-12 * np.trace(hessian) * np.eye(2), gradient)
        while (lower := loss(parameters - step)) > lost and np.abs(step).max() > 1e-12:
            step /= 2
        if lower > lost:
            break
        parameters, lost = parameters - step, lower
        if np.abs(step).max() < 1e-8:
            break
    if parameters[0] <= 0:  # the scores have no information
        return flat
    slope = float(parameters[0] / scale)
    return slope, float(parameters[1] - slope * mean)


def fit_steps(
    score: FloatArray, positive: NDArray[np.bool_], weight: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the knots of isotonic calibration.

    Scores of constant nodes, far from all others, are knots of their own.
    """
    varies = np.abs(score) < CERTAIN_SCORE
    if varies.any():
        knots, values = fit_knots(ScoreBins.of(score[varies], positive[varies], weight[varies]))
    else:
        knots, values = np.array([0.0]), np.array([0.5])
    lowest, highest = score <= -CERTAIN_SCORE, score >= CERTAIN_SCORE
    if lowest.any():
        knots = np.append(-CERTAIN_SCORE, knots)
        values = np.append(min(_share(positive[lowest], weight[lowest]), values[0]), values)
    if highest.any():
        knots = np.append(knots, CERTAIN_SCORE)
        values = np.append(values, max(_share(positive[highest], weight[highest]), values[-1]))
    return knots, values


def _share(positive: NDArray[np.bool_], weight: FloatArray) -> float:
    """Return the share of positive pairs, as if each class had one more."""
    return float((weight @ positive + 1) / (weight.sum() + 2))


def _platt(scores: LevelScores, n_levels: int) -> LevelArrays:
    fitted = np.array(_by_level(scores, n_levels, fit_sigmoid), dtype=np.float32)
    return {"slope": fitted[:, 0].copy(), "intercept": fitted[:, 1].copy()}


def _isotonic(scores: LevelScores, n_levels: int) -> LevelArrays:
    return _knot_arrays(_by_level(scores, n_levels, fit_steps))


def _knot_arrays(fitted: Sequence[tuple[FloatArray, FloatArray]]) -> LevelArrays:
    return {
        "knot_begin": np.cumsum([0, *(len(knots) for knots, _ in fitted)], dtype=np.int64),
        "knot_score": np.concatenate([knots for knots, _ in fitted]).astype(np.float32),
        "knot_probability": np.concatenate([values for _, values in fitted]).astype(np.float32),
    }


_METHODS: dict[str, Callable[[LevelScores, int], LevelArrays]] = {"isotonic": _isotonic, "platt": _platt}
