"""The number that tells matrices of features apart: equal for equal rows in any form, else different."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from labeltree import _native

pytestmark = pytest.mark.native


def csr(rows: list[dict[int, float]], n_features: int = 4, dense: tuple[int, int] = (0, 0)) -> Any:
    indptr = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    indices = np.array([i for row in rows for i in sorted(row)], dtype=np.int64)
    values = np.array([row[i] for row in rows for i in sorted(row)], dtype=np.float32)
    return _native.FeatureMatrix.csr(indptr, indices, values, n_features, False, dense)


def dense(rows: NDArray[np.float32], features: tuple[int, int] = (0, 0)) -> Any:
    return _native.FeatureMatrix.dense(rows, False, features)


def fingerprint(matrix: Any) -> int:
    return int(_native.fingerprint(matrix, _native.Progress()))


def test_other_rows_have_other_numbers() -> None:
    matrices = {
        "empty": csr([]),
        "one empty row": csr([{}]),
        "two empty rows": csr([{}, {}]),
        "in the first row": csr([{1: 2.0}, {}]),
        "in the second row": csr([{}, {1: 2.0}]),
        "another feature": csr([{2: 2.0}, {}]),
        "another value": csr([{1: 3.0}, {}]),
        "another sign": csr([{1: -2.0}, {}]),
        "two in the first row": csr([{1: 2.0, 2: 3.0}, {}]),
        "one in each row": csr([{1: 2.0}, {2: 3.0}]),
        "more features": csr([{1: 2.0}, {}], n_features=5),
        "dense ones": csr([{1: 2.0}, {}], dense=(1, 3)),
        "other dense ones": csr([{1: 2.0}, {}], dense=(1, 4)),
        "dense ones from the first": csr([{1: 2.0}, {}], dense=(0, 3)),
        "a dense value": csr([{2: 2.0}, {}], dense=(1, 3)),
        "a dense value in another row": csr([{}, {2: 2.0}], dense=(1, 3)),
    }
    numbers = {name: fingerprint(matrix) for name, matrix in matrices.items()}
    assert len(set(numbers.values())) == len(numbers), numbers


def test_the_form_of_the_rows_does_not_matter() -> None:
    rows = np.array([[0, 2, 0, 0.5], [1, 0, 0, 0]], dtype=np.float32)
    sparse = [{1: 2.0, 3: 0.5}, {0: 1.0}]
    assert fingerprint(dense(rows)) == fingerprint(csr(sparse))
    assert fingerprint(dense(rows, (0, 2))) == fingerprint(csr(sparse, dense=(0, 2)))
