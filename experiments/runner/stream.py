"""How good a model is along its stream: every example is predicted before it is learned."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree import OnlineLabelTreeClassifier
from labeltree.trees import LabelTree

#: P@1 is computed after every `STEP` examples, over the last `WINDOW` examples, or over all if there are fewer.
WINDOW, STEP = 4_000, 1_000

_PREFIX = "P@1 at "


def tree_of_stream(y: Any, arity: int, seed: int) -> LabelTree:
    """The complete tree that an online model of this seed grows; the features play no part in it."""
    model = OnlineLabelTreeClassifier(arity=arity, epochs=1, random_state=seed, verbose=-1)
    return model.fit(np.zeros((y.shape[0], 1), dtype=np.float32), y).tree_


def progress(model: OnlineLabelTreeClassifier, X: Any, y: Any, seed: int) -> dict[str, float]:
    """P@1 along one pass over shuffled rows, by the name of the figure.

    There is nothing to learn from a second pass: its examples have been seen.
    """
    order = np.random.default_rng(seed).permutation(y.shape[0])
    y = y[order]
    best = model.predict_then_learn(X[order], y, k=1).labels[:, 0]
    is_hit = np.zeros(len(best), dtype=bool)
    known = best >= 0  # at first there are no labels to predict
    is_hit[known] = np.asarray(y[np.flatnonzero(known), best[known]]).ravel() > 0
    return {f"{_PREFIX}{position}": mean for position, mean in moving_mean(is_hit, WINDOW, STEP).items()}


def moving_mean(values: NDArray[Any], window: int, step: int) -> dict[int, float]:
    """The means of the last `window` values after every `step`, by the number of values until then."""
    sums = np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
    positions = range(step, len(values) + 1, step)
    return {end: float(sums[end] - sums[max(0, end - window)]) / min(end, window) for end in positions}


def positions_of(figures: Iterable[str]) -> list[int]:
    """The positions in the stream that there are figures of, in order."""
    return sorted(int(name.removeprefix(_PREFIX)) for name in figures if name.startswith(_PREFIX))


def figure_at(position: int) -> str:
    """The name of the figure of a position."""
    return f"{_PREFIX}{position}"
