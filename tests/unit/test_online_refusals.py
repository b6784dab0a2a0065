"""What an online model refuses, and says why."""

from __future__ import annotations

import numpy as np
import pytest
from tests.online_problem import online


def test_scores_of_single_nodes() -> None:
    model = online().partial_fit(np.eye(2), [["a"], ["b"]])
    with pytest.raises(ValueError, match=r"freeze\(\) the model first"):
        model.model_.forest.node_scores(None, None, None, 0)
