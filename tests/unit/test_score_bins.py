"""Bins of scores and isotonic regression, beside NumPy and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference import score_bins as slow

from labeltree import _native

pytestmark = pytest.mark.native


@given(st.integers(0, 10_000), st.integers(0, 300), st.integers(0, 40))
def test_sums_of_bins(seed: int, n_pairs: int, n_edges: int) -> None:
    random = np.random.default_rng(seed)
    edges = np.unique(random.integers(-9, 9, n_edges) / 2)
    score = random.integers(-20, 20, n_pairs) / 4  # many are equal to an edge
    positive = (random.random(n_pairs) < 0.3).astype(np.uint8)
    weight = random.exponential(size=n_pairs)
    found = _native.bin_scores(score, positive, weight, edges)
    for one, other in zip(found, slow.bin_scores(score, positive, weight, edges), strict=True):
        np.testing.assert_array_equal(one, other)


@given(st.integers(0, 10_000), st.integers(0, 60), st.sampled_from([-1.0, 0.0, 0.2, 3.0]))
def test_pools_are_those_of_scikit_learn(seed: int, n: int, slope: float) -> None:
    random = np.random.default_rng(seed)
    value = slope * np.arange(n) + random.normal(size=n)
    weight = random.exponential(size=n) + 0.01
    begin, values = _native.pool(value, weight)
    if n == 0:
        assert len(begin) == len(values) == 0
        return
    expected, expected_values = slow.pool(value, weight)
    assert begin.tolist() == expected.tolist()
    np.testing.assert_allclose(values, expected_values, rtol=1e-12, atol=1e-12)
    assert (np.diff(values) > 0).all()


def test_equal_values_are_one_pool() -> None:
    begin, values = _native.pool(np.array([1.0, 1.0, 2.0, 2.0]), np.array([1.0, 3.0, 1.0, 2.0]))
    assert (begin.tolist(), values.tolist()) == ([0, 2], [1.0, 2.0])


def test_arrays_of_other_lengths_and_edges_in_disorder_are_refused() -> None:
    two, three, edges = np.zeros(2), np.zeros(3), np.array([1.0, 0.0])
    with pytest.raises(ValueError, match="positive must have one entry per score: expected 2, got 3"):
        _native.bin_scores(two, np.zeros(3, np.uint8), two, two)
    with pytest.raises(ValueError, match="weight must have one entry per score: expected 2, got 3"):
        _native.bin_scores(two, np.zeros(2, np.uint8), three, two)
    with pytest.raises(ValueError, match="edges must ascend"):
        _native.bin_scores(two, np.zeros(2, np.uint8), two, edges)
    with pytest.raises(ValueError, match="weight must have one entry per value: expected 2, got 3"):
        _native.pool(two, three)
