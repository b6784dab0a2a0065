"""FastXMLClassifier and PfastreXMLClassifier keep the contract of all classifiers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest
from tests.contract import ClassifierContract
from tests.contract.problem import problem

from labeltree import FastXMLClassifier, PfastreXMLClassifier


class TestFastXMLClassifier(ClassifierContract):
    endless: ClassVar[dict[str, Any]] = {"n_trees": 20_000}

    @pytest.fixture
    def make_classifier(self) -> Callable[..., Any]:
        return lambda **parameters: FastXMLClassifier(
            **{"n_trees": 6, "C": 10.0, "max_leaf": 3, "random_state": 0, **parameters}
        )

    def test_a_whole_weight_is_as_good_as_repetition(self, make_classifier: Callable[..., Any]) -> None:
        """In a leaf it is; above it, copies of a row are sent either way at first, each on its own."""
        X, y = problem()
        times = np.arange(X.shape[0]) % 3 + 1
        rows = np.repeat(np.arange(X.shape[0]), times)
        weighted = make_classifier(max_leaf=1000).fit(X, y, sample_weight=times)
        self._about_equal(weighted, make_classifier(max_leaf=1000).fit(X[rows], y[rows]))


class TestPfastreXMLClassifier(TestFastXMLClassifier):
    @pytest.fixture
    def make_classifier(self) -> Callable[..., Any]:
        return lambda **parameters: PfastreXMLClassifier(
            **{"n_trees": 6, "C": 10.0, "max_leaf": 3, "random_state": 0, **parameters}
        )

    def test_a_whole_weight_is_as_good_as_repetition(self, make_classifier: Callable[..., Any]) -> None:
        """Not in propensities, which count rows. But all weights may be multiplied by the same."""
        X, y = problem()
        weight = np.arange(X.shape[0]) % 3 + 1
        once = make_classifier().fit(X, y, sample_weight=weight)
        self._about_equal(once, make_classifier(C=5.0).fit(X, y, sample_weight=2 * weight))
