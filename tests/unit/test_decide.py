"""Decisions at the edges: few rows, no rows, and scores that are stored although they are 0."""

from __future__ import annotations

from typing import NoReturn

import numpy as np
import pytest
import scipy.sparse as sp

from labeltree.decisions import exact_threshold, ofo_threshold
from labeltree.decisions.decision import Tuning, decide
from labeltree.metrics import AM, FBeta


def no_pairs() -> NoReturn:
    raise AssertionError("a fixed threshold needs no validation rows")


@pytest.mark.parametrize(
    ("counts", "n_rows", "expected"),
    [([1, 0], 1, [1, 1]), ([2, 1], 2, [1, 0.5]), ([0, 0], 0, [1, 1]), ([3, 1], 4, [0.75, 0.25])],
)
def test_fixed_thresholds_of_few_rows(counts: list[int], n_rows: int, expected: list[float]) -> None:
    """A label without rows counts as if it had one."""
    decision = decide(AM("macro"), Tuning("fixed"), np.array(counts), n_rows, no_pairs)
    np.testing.assert_array_equal(decision.threshold, np.array(expected, dtype=np.float32))


def test_scores_of_0_may_be_stored() -> None:
    scores = sp.csr_array(([0.0, 1.0, 0.5], [0, 1, 0], [0, 2, 3]), shape=(2, 2))
    assert scores.nnz == 3
    truth = np.array([[0, 1], [1, 0]])
    assert exact_threshold(FBeta(), truth, scores) == 0.25
    assert 0 < ofo_threshold(FBeta(), truth, scores) < 1
