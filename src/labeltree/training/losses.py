"""The losses of the node classifiers: their links, and what a small loss says about probabilities."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Loss:
    """A strongly proper composite loss of the margin, which is class (1 or -1) times score.

    Its proper link gives the true probability where the expected loss is as small as it can be. How far a score's
    probability is from the true one is bounded by how far its expected loss is from the smallest: see
    `probability_error_bound`.

    Attributes
    ----------
    name : str
        The parameter `loss` of `LabelTreeClassifier`.
    proper_link : str
        The name of the proper link.
    links : tuple of str
        The links that the classifier takes with this loss, its default first.
    default_c : float
        The parameter `C` by default.
    strong_properness : float
        The constant λ of the bound.
    default_c_l1 : float, optional
        The parameter `C` by default with the penalty "l1"; None if that penalty does not take the loss.
    learning_rate, regularization : dict of float
        These parameters by default, by incremental solver. A solver without a learning rate does not take the loss.

    Examples
    --------
    >>> from labeltree.training.losses import LOSSES
    >>> logistic = LOSSES["logistic"]
    >>> logistic.value([0.0, 2.0]).round(3)
    array([0.693, 0.127])
    >>> logistic.probability([0.0, 2.0]).round(3)
    array([0.5  , 0.881])
    """

    name: str
    proper_link: str
    links: tuple[str, ...]
    default_c: float
    strong_properness: float
    _value: Callable[[FloatArray], FloatArray] = field(repr=False)
    _probability: Callable[[FloatArray], FloatArray] = field(repr=False)
    default_c_l1: float | None = None
    learning_rate: Mapping[str, float] = field(default_factory=dict)
    regularization: Mapping[str, float] = field(default_factory=dict)

    def value(self, margin: ArrayLike) -> Any:
        """Return the loss at these margins."""
        return self._value(np.asarray(margin, dtype=np.float64))

    def probability(self, score: ArrayLike) -> Any:
        """Return the probabilities that scores stand for, by the proper link."""
        return self._probability(np.asarray(score, dtype=np.float64))

    def probability_error_bound(self, regret: float) -> float:
        """Bound the expected error of a node's probabilities by its regret.

        That is √(2 / λ) · √regret: the paper's bound for strongly proper composite losses, with λ the constant
        `strong_properness`.

        Parameters
        ----------
        regret : float
            The expected loss of the node's scores, less the smallest that any scores could have.

        Returns
        -------
        float
            What the expected absolute difference between the true probability and the estimated one, by the proper
            link, cannot exceed.

        Examples
        --------
        >>> from labeltree.training.losses import LOSSES
        >>> LOSSES["squared_hinge"].probability_error_bound(0.04)
        0.1
        """
        if not (math.isfinite(regret) and regret >= 0):
            raise ValueError(f"regret must be a finite number of at least 0, got {regret!r}")
        return math.sqrt(2 / self.strong_properness) * math.sqrt(regret)


def _sigmoid(score: FloatArray) -> FloatArray:
    # Never the exponential of a large number.
    small: FloatArray = np.exp(-np.abs(score))
    return np.where(score >= 0, 1 / (1 + small), small / (1 + small))


def _clip(score: FloatArray) -> FloatArray:
    clipped: FloatArray = np.clip((1 + score) / 2, 0, 1)
    return clipped


def _squared_hinge(margin: FloatArray) -> FloatArray:
    loss: FloatArray = np.maximum(0, 1 - margin) ** 2
    return loss


def _logistic(margin: FloatArray) -> FloatArray:
    loss: FloatArray = np.logaddexp(0, -margin)
    return loss


def _exponential(margin: FloatArray) -> FloatArray:
    loss: FloatArray = np.exp(-margin)
    return loss


#: All losses by name; native/training/loss_list.h has the same. docs/node-learners.md has the figures that the
#: defaults rest on.
LOSSES = {
    loss.name: loss
    for loss in (
        Loss(
            "squared_hinge",
            "clip",
            ("exp4", "exp5", "exp3", "exp2", "clip"),
            1.0,
            8.0,
            _squared_hinge,
            _clip,
            default_c_l1=1.0,
            learning_rate={"adagrad": 0.4, "sgd": 0.2, "fobos": 0.2},
            regularization={"sgd": 1e-5, "fobos": 1e-5},
        ),
        Loss(
            "logistic",
            "sigmoid",
            ("sigmoid",),
            8.0,
            4.0,
            _logistic,
            _sigmoid,
            default_c_l1=2.0,
            learning_rate={"adagrad": 3.0, "sgd": 3.0, "fobos": 3.0},
            regularization={"sgd": 1e-6, "fobos": 1e-6},
        ),
        Loss(
            "squared",
            "clip",
            ("exp4", "exp5", "exp3", "exp2", "clip"),
            0.7,
            8.0,
            lambda m: (1 - m) ** 2,
            _clip,
            default_c_l1=1.0,
        ),
        Loss("exponential", "sigmoid2", ("sigmoid2",), 2.0, 4.0, _exponential, lambda s: _sigmoid(2 * s)),
    )
}


def choose_link(link: str, loss: str, links: Sequence[str]) -> str:
    """Return the link of a loss: the first of its `links` for "auto"; raises `ValueError` if it has no such link."""
    if link == "auto":
        return links[0]
    if link not in links:
        raise ValueError(f"link {link!r} does not go with loss {loss!r}; expected one of {links}")
    return link
