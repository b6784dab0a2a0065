"""The losses of the node classifiers: their links, and how a small loss bounds the error of probabilities."""

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

    Its proper link maps the score with the smallest expected loss to the true probability. For any other score,
    `probability_error_bound` bounds the error of the probability by the excess of the expected loss.

    Attributes
    ----------
    name : str
        Value of the parameter `loss` of `LabelTreeClassifier`.
    proper_link : str
        Name of the proper link.
    links : tuple of str
        The links that the classifier accepts with this loss, the default first.
    default_c : float
        Default of the parameter `C`.
    strong_properness : float
        The constant λ of the bound.
    default_c_l1 : float, optional
        Default of the parameter `C` with the penalty "l1"; None if the loss does not support that penalty.
    learning_rate : dict of float
        Default learning rate by incremental solver. A solver without a value does not support the loss.
    regularization : dict of float
        Default weight of the penalty by incremental solver.
    initial_accumulator : float
        Default initial value of AdaGrad's sums of squared gradients.

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
    initial_accumulator: float = 1.0

    def value(self, margin: ArrayLike) -> Any:
        """Return the loss at these margins."""
        return self._value(np.asarray(margin, dtype=np.float64))

    def probability(self, score: ArrayLike) -> Any:
        """Return the probabilities of scores by the proper link."""
        return self._probability(np.asarray(score, dtype=np.float64))

    def probability_error_bound(self, regret: float) -> float:
        """Bound the expected error of a node's probabilities by its regret.

        The bound is √(2 / λ) · √regret, as the paper proves for strongly proper composite losses; λ is
        `strong_properness`.

        Parameters
        ----------
        regret : float
            The expected loss of the node's scores minus the smallest expected loss of any scores.

        Returns
        -------
        float
            The maximum of the expected absolute difference between the true probability and the probability that the
            proper link gives.

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
    from scipy.special import expit

    probability: FloatArray = expit(score)
    return probability


def _clip(score: FloatArray) -> FloatArray:
    clipped: FloatArray = np.clip((1 + score) / 2, 0, 1)
    return clipped


#: Links of losses whose scores are near -1 and 1.
_MARGIN_LINKS = ("exp4", "exp5", "exp3", "exp2", "clip")

#: All losses by name; native/training/loss_list.h has the same. docs/node-learners.md has the measurements behind the
#: defaults.
LOSSES = {
    loss.name: loss
    for loss in (
        Loss(
            "squared_hinge",
            "clip",
            _MARGIN_LINKS,
            1.0,
            8.0,
            lambda m: np.maximum(0, 1 - m) ** 2,
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
            lambda m: np.logaddexp(0, -m),
            _sigmoid,
            default_c_l1=2.0,
            learning_rate={"adagrad": 3.0, "sgd": 3.0, "fobos": 3.0},
            regularization={"sgd": 1e-6, "fobos": 1e-6},
        ),
        Loss("squared", "clip", _MARGIN_LINKS, 0.7, 8.0, lambda m: (1 - m) ** 2, _clip, default_c_l1=1.0),
        Loss(
            "exponential",
            "sigmoid2",
            ("sigmoid2",),
            2.0,
            4.0,
            lambda m: np.exp(-m),
            lambda s: _sigmoid(2 * s),
        ),
    )
}


def choose_link(link: str, loss: str, links: Sequence[str]) -> str:
    """Return the link for a loss: for "auto" the first of `links`; raise `ValueError` for a link not in `links`."""
    if link == "auto":
        return links[0]
    if link not in links:
        raise ValueError(f"link {link!r} does not work with loss {loss!r}; expected one of {links}")
    return link
