"""The small problem that the contract's tests train on, and what all of them need."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from tests.documents import documents

N_LABELS = 12


@lru_cache
def problem(seed: int = 0) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """X and y, both CSR; nobody may change them."""
    X, y = documents(80, 40, N_LABELS, unlabelled=0.1, seed=seed)
    for array in (X.data, X.indices, X.indptr, y.data, y.indices, y.indptr):
        array.flags.writeable = False
    return X, y


def lists(y: sp.csr_matrix, names: Callable[[int], Any] = int) -> list[list[Any]]:
    """The rows of y as lists of labels."""
    return [[names(j) for j in y[[i]].indices.tolist()] for i in range(y.shape[0])]


def assert_same_answers(one: Any, other: Any, X: Any) -> None:
    """Two models give the same labels and probabilities, bit for bit."""
    a, b = one.predict_topk(X, k=N_LABELS), other.predict_topk(X, k=N_LABELS)
    np.testing.assert_array_equal(a.probabilities, b.probabilities)
    np.testing.assert_array_equal(a.labels, b.labels)


class Contract:
    """What a subclass says about its classifier."""

    #: Parameters that make training as precise as it gets.
    precise: ClassVar[dict[str, Any]] = {}
    #: Parameters that make training take minutes.
    endless: ClassVar[dict[str, Any]] = {}

    @pytest.fixture
    def make_classifier(self) -> Callable[..., Any]:
        """Make an untrained classifier; parameters are passed on. The same seed each time."""
        raise NotImplementedError

    @pytest.fixture
    def model(self, make_classifier: Callable[..., Any]) -> Any:
        """A classifier trained on the problem."""
        return make_classifier().fit(*problem())
