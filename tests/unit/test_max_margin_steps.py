"""The steps of the max-margin solver: exact where nothing couples the rows."""

from __future__ import annotations

import numpy as np
import pytest

from labeltree import OneVsRestClassifier

pytestmark = pytest.mark.native


def test_orthogonal_rows_need_few_steps() -> None:
    X = np.eye(6)
    y = np.arange(6)
    model = OneVsRestClassifier(
        solver="max_margin", C=0.3, l1=0.0, bias=False, tol=1e-6, max_iter=10, prune=0.0, random_state=0
    ).fit(X, y)
    assert model.training_report_[0]["n_unconverged"] == 0
    assert abs(model.duality_gap_) < 1e-6
