"""The three sources of the paper's synthetic data: labels whose probabilities are known for every point.

Weight vectors are uniform on a sphere in d dimensions with the `scale` as its radius, points in the unit ball.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr, softmax

Array = NDArray[np.float64]


def on_sphere(n: int, n_dimensions: int, radius: float, rng: np.random.Generator) -> Array:
    """Points that are uniform on the surface of a sphere: normal vectors, which know no direction, scaled."""
    points = rng.normal(size=(n, n_dimensions))
    return np.asarray(points * (radius / np.linalg.norm(points, axis=1, keepdims=True)))


def in_ball(n: int, n_dimensions: int, rng: np.random.Generator) -> Array:
    """Points that are uniform within the unit ball: volume grows with the d-th power of the radius."""
    return on_sphere(n, n_dimensions, 1.0, rng) * rng.random((n, 1)) ** (1 / n_dimensions)


class Source(Protocol):
    """Labels of points at random."""

    def marginals(self, X: Array) -> Array:
        """P(y_j = 1 | x), [row][label]."""

    def draw(self, X: Array, rng: np.random.Generator) -> NDArray[np.bool_]:
        """The labels of rows, [row][label]."""


@dataclass(frozen=True)
class MultiClass:
    """One label for each point, by a softmax of its scores; `weights` are [label][dimension]."""

    weights: Array

    @classmethod
    def at_random(
        cls, n_labels: int, n_dimensions: int, scale: float, rng: np.random.Generator
    ) -> MultiClass:
        return cls(on_sphere(n_labels, n_dimensions, scale, rng))

    def marginals(self, X: Array) -> Array:
        return np.asarray(softmax(X @ self.weights.T, axis=1))

    def draw(self, X: Array, rng: np.random.Generator) -> NDArray[np.bool_]:
        # The largest of scores with Gumbel noise is distributed by their softmax.
        scores = X @ self.weights.T
        drawn = np.argmax(scores + rng.gumbel(size=scores.shape), axis=1)
        return np.asarray(drawn[:, None] == np.arange(len(self.weights)))


@dataclass(frozen=True)
class IndependentLabels:
    """Each label by a logistic function of its score, whatever the others are."""

    weights: Array

    @classmethod
    def at_random(
        cls, n_labels: int, n_dimensions: int, scale: float, rng: np.random.Generator
    ) -> IndependentLabels:
        return cls(on_sphere(n_labels, n_dimensions, scale, rng))

    def marginals(self, X: Array) -> Array:
        return np.asarray(expit(X @ self.weights.T))

    def draw(self, X: Array, rng: np.random.Generator) -> NDArray[np.bool_]:
        probability = self.marginals(X)
        return np.asarray(rng.random(probability.shape) < probability)


@dataclass(frozen=True)
class DependentLabels:
    """y = [M (W'x + e) > 0]: labels share the noise e, normal of standard deviation `noise`, through a matrix M."""

    weights: Array
    mixing: Array
    noise: float

    @classmethod
    def at_random(
        cls, n_labels: int, n_dimensions: int, scale: float, rng: np.random.Generator, *, noise: float
    ) -> DependentLabels:
        weights = on_sphere(n_labels, n_dimensions, scale, rng)
        return cls(weights, rng.uniform(-1, 1, size=(n_labels, n_labels)), noise)

    def marginals(self, X: Array) -> Array:
        # A mixture of normal noise is normal: of a row m of M, its deviation is |m| times that of the noise.
        deviation = self.noise * np.linalg.norm(self.mixing, axis=1)
        return np.asarray(ndtr(X @ (self.mixing @ self.weights).T / deviation))

    def draw(self, X: Array, rng: np.random.Generator) -> NDArray[np.bool_]:
        scores = X @ self.weights.T
        noisy = scores + self.noise * rng.normal(size=scores.shape)
        return np.asarray(noisy @ self.mixing.T > 0)
