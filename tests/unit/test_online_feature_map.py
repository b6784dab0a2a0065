"""The map from features to rows of weights: whatever the features are, a map finds as a dense table does."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from tests.online_problem import online

pytestmark = pytest.mark.native


@pytest.mark.parametrize("seed", range(4))
def test_a_map_finds_all_that_was_put_in(seed: int) -> None:
    """Thousands of features that come in any order; a feature that is lost would start from nothing again."""
    rng = np.random.default_rng(seed)
    n_rows, n_features = 300, 4000
    rows = [np.sort(rng.choice(n_features, 60, replace=False)) for _ in range(n_rows)]
    indices = np.concatenate(rows)
    X = sp.csr_matrix(
        (rng.random(len(indices)), indices, np.arange(0, len(indices) + 1, 60)), (n_rows, n_features)
    )
    y = rng.integers(0, 4, (n_rows, 1)).tolist()
    models = [online(arity=4, weights=weights).partial_fit(X, y) for weights in ("map", "dense")]
    by_map, by_table = (model.predict_proba(X, top_k=None).toarray() for model in models)
    np.testing.assert_array_equal(by_map, by_table)
