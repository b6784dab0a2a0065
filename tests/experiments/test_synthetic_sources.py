import numpy as np
import pytest
from experiments.runner.synthetic.sources import (
    DependentLabels,
    IndependentLabels,
    MultiClass,
    in_ball,
    on_sphere,
)
from scipy.stats import kstest, multivariate_normal

N_LABELS = 6
SOURCES = [
    MultiClass.at_random,
    IndependentLabels.at_random,
    lambda *size: DependentLabels.at_random(*size, noise=0.5),
    lambda *size: DependentLabels.at_random(*size, noise=0.25),
]


@pytest.mark.parametrize("n_dimensions", [1, 2, 3, 5])
def test_uniform_on_a_sphere_and_in_a_ball(n_dimensions):
    rng = np.random.default_rng(0)
    np.testing.assert_allclose(np.linalg.norm(on_sphere(500, n_dimensions, 2.5, rng), axis=1), 2.5)
    radius = np.linalg.norm(in_ball(5000, n_dimensions, rng), axis=1)
    assert kstest(radius**n_dimensions, "uniform").pvalue > 0.01


def test_a_sphere_is_uniform_along_every_axis_by_archimedes():
    points = on_sphere(5000, 3, 1.0, np.random.default_rng(1))
    for axis in points.T:
        assert kstest((axis + 1) / 2, "uniform").pvalue > 0.01


@pytest.mark.parametrize("make", SOURCES)
@pytest.mark.parametrize("scale", [0.5, 3.0])
def test_labels_are_as_frequent_as_they_are_probable(make, scale):
    rng = np.random.default_rng(2)
    source = make(N_LABELS, 3, scale, rng)
    n_draws = 20_000
    for x in in_ball(3, 3, rng):
        eta = source.marginals(x[None])[0]
        share = source.draw(np.tile(x, (n_draws, 1)), rng).mean(axis=0)
        assert (np.abs(share - eta) < 4.5 * np.sqrt(eta * (1 - eta) / n_draws) + 1e-9).all()


def test_one_label_for_each_row_of_multi_class_data():
    rng = np.random.default_rng(3)
    source = MultiClass.at_random(N_LABELS, 3, 1.0, rng)
    X = in_ball(200, 3, rng)
    assert (source.draw(X, rng).sum(axis=1) == 1).all()
    np.testing.assert_allclose(source.marginals(X).sum(axis=1), 1)


def pairs(source, rng):
    """How often two labels of one point are both there, and how often they would be if independent."""
    x = in_ball(1, 3, rng)
    y = source.draw(np.repeat(x, 40_000, axis=0), rng).astype(float)
    eta = source.marginals(x)[0]
    return y.T @ y / len(y), np.outer(eta, eta), x[0]


def test_independent_labels_know_nothing_of_each_other():
    rng = np.random.default_rng(4)
    found, product, _ = pairs(IndependentLabels.at_random(N_LABELS, 3, 1.0, rng), rng)
    apart = ~np.eye(N_LABELS, dtype=bool)
    np.testing.assert_allclose(found[apart], product[apart], atol=0.012)


def test_dependent_labels_share_their_noise():
    """Two of them are both there as often as two normal variables of that correlation are positive."""
    rng = np.random.default_rng(5)
    source = DependentLabels.at_random(N_LABELS, 3, 1.0, rng, noise=0.5)
    found, product, x = pairs(source, rng)
    scores = source.mixing @ (source.weights @ x)
    covariance = source.noise**2 * source.mixing @ source.mixing.T
    apart = np.argwhere(~np.eye(N_LABELS, dtype=bool))
    expected = [
        multivariate_normal(scores[[i, j]], covariance[np.ix_([i, j], [i, j])]).cdf(
            [np.inf, np.inf], lower_limit=[0, 0]
        )
        for i, j in apart
    ]
    np.testing.assert_allclose(found[tuple(apart.T)], expected, atol=0.012)
    assert np.abs(found - product)[tuple(apart.T)].max() > 0.05


def test_mixing_by_the_identity_makes_independent_labels():
    """As the paper says."""
    rng = np.random.default_rng(6)
    weights = on_sphere(N_LABELS, 3, 1.0, rng)
    found, product, _ = pairs(DependentLabels(weights, np.eye(N_LABELS), 0.5), rng)
    apart = ~np.eye(N_LABELS, dtype=bool)
    np.testing.assert_allclose(found[apart], product[apart], atol=0.012)
