"""ExtremeTextClassifier and FastTextClassifier keep the contract of all classifiers."""

from collections.abc import Callable
from typing import Any, ClassVar

import pytest
from tests.contract import ClassifierContract

from labeltree import ExtremeTextClassifier, FastTextClassifier

#: All rows in one step: then the weight of a row is exactly the number of its copies.
ONE_STEP = {"batch_size": 1024, "solver": "sgd", "learning_rate": 0.02, "vector_type": "float32"}


class TestExtremeTextClassifier(ClassifierContract):
    precise: ClassVar[dict[str, Any]] = {**ONE_STEP, "dropout": 0.0}
    endless: ClassVar[dict[str, Any]] = {"epochs": 10**6}

    @pytest.fixture
    def make_classifier(self) -> Callable[..., Any]:
        small = {"dimension": 8, "max_leaves": 4, "batch_size": 16, "epochs": 60, "dropout": 0.1}
        return lambda **parameters: ExtremeTextClassifier(**{**small, "random_state": 0, **parameters})


class TestFastTextClassifier(ClassifierContract):
    precise: ClassVar[dict[str, Any]] = ONE_STEP
    endless: ClassVar[dict[str, Any]] = {"epochs": 10**6}

    @pytest.fixture
    def make_classifier(self) -> Callable[..., Any]:
        small = {"loss": "ova", "dimension": 8, "epochs": 100, "learning_rate": 0.1}
        return lambda **parameters: FastTextClassifier(**{**small, "random_state": 0, **parameters})
