"""Features whose row offsets have 64 bits and whose column numbers have 32: the arrays of a data store, mapped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from labeltree import _native

pytestmark = pytest.mark.native


def csr(X: Any, offset: type, index: type, value: type, normalize: bool, dense: Any) -> _native.FeatureMatrix:
    return _native.FeatureMatrix.csr(
        X.indptr.astype(offset), X.indices.astype(index), X.data.astype(value), X.shape[1], normalize, dense
    )


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([np.float32, np.float64]),
    st.booleans(),
    st.sampled_from([None, (0, 0), (0, 4), (7, 12)]),
)
def test_rows_do_not_depend_on_the_type_of_numbers(
    seed: int, value: type, normalize: bool, dense: Any
) -> None:
    rng = np.random.default_rng(seed)
    X = sp.random(9, 12, rng.random(), "csr", np.float64, rng, data_rvs=rng.standard_normal)
    expected = csr(X, np.int32, np.int32, value, normalize, dense)
    found = csr(X, np.int64, np.int32, value, normalize, dense)
    assert found.dense_features == expected.dense_features
    assert found.canonical == expected.canonical
    for row in range(9):
        for ours, theirs in zip(found.row(row), expected.row(row), strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_arrays_that_are_mapped_and_read_only(tmp_path: Path) -> None:
    X = sp.random(20, 12, 0.5, "csr", np.float32, np.random.default_rng(0))
    mapped = []
    for name, array in (("indptr", X.indptr.astype(np.int64)), ("indices", X.indices), ("data", X.data)):
        array.tofile(tmp_path / name)
        mapped.append(np.memmap(tmp_path / name, array.dtype, "r"))
    features = _native.FeatureMatrix.csr(*mapped, 12, False)
    for row in range(20):
        index, value = features.row(row)
        np.testing.assert_array_equal(index, X[[row]].indices)
        np.testing.assert_array_equal(value, X[[row]].data)


@pytest.mark.parametrize(
    ("indptr", "indices", "message"),
    [
        ([0, 2**40], [0], "row 0: indptr is not ascending within the length of indices"),
        ([0, 1, 0], [0], "row 1: indptr is not ascending"),
        ([1, 1], [0], "indptr must start with 0"),
        ([0, 1], [3], r"row 0: feature 3 is outside 0\.\.2"),
        ([0, 1], [-1], "row 0: feature -1 is outside"),
    ],
)
def test_arrays_that_do_not_fit_together(indptr: list[int], indices: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _native.FeatureMatrix.csr(
            np.array(indptr, np.int64),
            np.array(indices, np.int32),
            np.ones(len(indices), np.float32),
            3,
            False,
        )
