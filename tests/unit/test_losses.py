"""The losses: what the paper says about them, found again by numbers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from tests.reference import search, solver

from labeltree import LabelTreeClassifier
from labeltree.training.losses import LOSSES, Loss

ALL = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
#: True probabilities, and those that are estimated.
SHARES = np.linspace(0.02, 0.98, 49)


def conditional_risk(loss: Loss, share: float, score: float) -> float:
    return float(share * loss.value(score) + (1 - share) * loss.value(-score))


def best_score(loss: Loss, share: float) -> float:
    found = minimize_scalar(
        lambda s: conditional_risk(loss, share, s), bounds=(-6, 6), method="bounded", options={"xatol": 1e-10}
    )
    return float(found.x)


def smallest_risk(loss: Loss, share: float) -> float:
    return conditional_risk(loss, share, best_score(loss, share))


def test_they_are_those_of_the_estimator() -> None:
    model = LabelTreeClassifier()
    for name, loss in LOSSES.items():
        assert loss.name == name
        assert loss.proper_link in loss.links
        for link in loss.links:
            model.set_params(loss=name, link=link).check_parameters()


@ALL
def test_values_and_links_are_what_they_are_called(loss: Loss) -> None:
    margins = np.linspace(-30, 30, 121)
    np.testing.assert_allclose(loss.value(margins), solver.LOSSES[loss.name](margins), rtol=1e-12)
    np.testing.assert_allclose(
        loss.probability(margins), search.LINKS[loss.proper_link](margins), rtol=1e-12, atol=1e-30
    )
    assert loss.probability(-1e4) == pytest.approx(0)


@ALL
def test_the_link_is_proper(loss: Loss) -> None:
    for share in SHARES:
        assert loss.probability(best_score(loss, share)) == pytest.approx(share, abs=1e-5)


@ALL
def test_strong_properness_is_the_least_curvature_of_the_smallest_risk(loss: Loss) -> None:
    step = 0.01
    curvatures = [
        abs(smallest_risk(loss, p + step) - 2 * smallest_risk(loss, p) + smallest_risk(loss, p - step))
        / step**2
        for p in SHARES
    ]
    # A difference over a step is a mean of curvatures near by, so never below the least.
    assert min(curvatures) >= loss.strong_properness * (1 - 1e-4)
    assert min(curvatures) == pytest.approx(loss.strong_properness, rel=2e-3)


@ALL
def test_the_error_of_probabilities_is_within_the_bound(loss: Loss) -> None:
    tightest = np.inf
    for share in SHARES:
        smallest = smallest_risk(loss, share)
        for score in np.linspace(-3, 3, 61):
            regret = max(0.0, conditional_risk(loss, share, score) - smallest)
            error = abs(share - float(loss.probability(score)))
            bound = loss.probability_error_bound(regret)
            assert error <= bound + 1e-5
            if error > 0.05:
                tightest = min(tightest, bound / error)
    assert tightest < 1.05  # a larger constant would not do


@pytest.mark.parametrize("regret", [-0.1, np.nan, np.inf])
def test_a_regret_that_cannot_be_is_refused(regret: float) -> None:
    with pytest.raises(ValueError, match="regret must be a finite number of at least 0"):
        LOSSES["logistic"].probability_error_bound(regret)
