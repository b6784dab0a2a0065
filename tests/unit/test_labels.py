"""Reading y: every form it may have, and what is said about forms it may not have."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from labeltree.labels import read_labels


def csr_with(indices: list[int], indptr: list[int], n_labels: int = 3) -> sp.csr_matrix:
    """A matrix of ones that is changed after it was made: SciPy never sees the numbers."""
    y = sp.csr_matrix(np.eye(len(indptr) - 1, n_labels))
    y.data = np.ones(len(indices))
    y.indices = np.array(indices, dtype=np.int32)
    y.indptr = np.array(indptr, dtype=np.int32)
    return y


class TestSparse:
    @pytest.mark.parametrize("column", [-1, 3, 500_000_000])
    def test_a_column_that_is_not_there_is_refused(self, column: int) -> None:
        with pytest.raises(ValueError, match=rf"y, row 1: column {column} is outside 0\.\.2"):
            read_labels(csr_with([0, 1, column], [0, 1, 3]))

    @pytest.mark.parametrize("indptr", [[0, 2, 1, 3], [0, 1, 2, 9], [1, 1, 2, 3]])
    def test_offsets_that_lead_astray_are_refused(self, indptr: list[int]) -> None:
        with pytest.raises(ValueError, match="indptr must ascend from 0 to the length of indices"):
            read_labels(csr_with([0, 1, 2], indptr))

    def test_one_dimension_is_not_enough(self) -> None:
        with pytest.raises(ValueError, match=r"a row per example and a column per label, got shape \(4,\)"):
            read_labels(sp.coo_array(np.ones(4)))
