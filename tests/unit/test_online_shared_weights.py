"""One table of weights for all nodes: every feature of a row has its place there."""

from __future__ import annotations

import numpy as np
import pytest
from tests.online_problem import online

pytestmark = pytest.mark.native


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("n_features", [1, 3])
def test_rows_that_differ_in_one_feature_are_told_apart(bias: bool, n_features: int) -> None:
    """Whichever it is: the first, one in the middle, or the last."""
    for position in range(n_features):
        rows = np.zeros((4, 4 * n_features))
        for i in range(4):
            columns = [4 * place + (i if place == position else 0) for place in range(n_features)]
            rows[i, columns] = 1
        names = [["a"], ["b"], ["c"], ["d"]]
        model = online(weights="shared", memory_mb=1, bias=bias, arity=4)
        for _ in range(30):
            model.partial_fit(rows, names)
        assert model.predict_topk(rows, 1).labels.tolist() == names
