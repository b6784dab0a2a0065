"""OneVsRestClassifier keeps the contract of all classifiers."""

from collections.abc import Callable
from typing import Any, ClassVar

import pytest
from tests.contract import ClassifierContract

from labeltree import OneVsRestClassifier


class TestOneVsRestClassifier(ClassifierContract):
    precise: ClassVar[dict[str, Any]] = {"tol": 1e-6, "max_iter": 2000, "prune": 0.0}
    endless: ClassVar[dict[str, Any]] = {"tol": 1e-30, "max_iter": 2**31 - 1, "C": 1e4}

    @pytest.fixture
    def make_classifier(self) -> Callable[..., Any]:
        return lambda **parameters: OneVsRestClassifier(**{"random_state": 0, **parameters})


class TestMaxMargin(ClassifierContract):
    precise: ClassVar[dict[str, Any]] = {"tol": 1e-6, "max_iter": 2000, "prune": 0.0}
    endless: ClassVar[dict[str, Any]] = {"tol": 1e-30, "max_iter": 2**31 - 1, "C": 1e4}

    @pytest.fixture
    def make_classifier(self) -> Callable[..., Any]:
        return lambda **parameters: OneVsRestClassifier(
            **{"solver": "max_margin", "random_state": 0, **parameters}
        )


class TestSparse(ClassifierContract):
    precise: ClassVar[dict[str, Any]] = {"tol": 1e-6, "max_iter": 2000, "prune": 0.0}
    endless: ClassVar[dict[str, Any]] = {"tol": 1e-30, "max_iter": 2**31 - 1, "C": 1e4}

    @pytest.fixture
    def make_classifier(self) -> Callable[..., Any]:
        return lambda **parameters: OneVsRestClassifier(
            **{"solver": "sparse", "random_state": 0, **parameters}
        )
