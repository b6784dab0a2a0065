"""The life of an estimator: trained, copied, trained again, asked wrongly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.contract.problem import Contract, assert_same_answers, problem


class EstimatorContract(Contract):
    # -- training again ----------------------------------------------------------------------------------------

    @pytest.mark.parametrize("names", [None, list("abcdefgh")])
    def test_a_failed_fit_leaves_an_earlier_model_as_it_was(
        self, make_classifier: Callable[..., Any], names: list[str] | None
    ) -> None:
        X, y = problem()
        model = make_classifier().fit(X, y)
        before, attributes = model.predict_topk(X), sorted(vars(model))
        other = pd.DataFrame(np.eye(5, 8), columns=names) if names else np.eye(5, 8)
        for bad_y in ([["a"]] * 4, [[]] * 5, np.full((5, 3), 7), None):
            with pytest.raises(ValueError, match="y"):
                model.fit(other, bad_y)
        with pytest.raises(ValueError, match="sample_weight"):
            model.fit(other, [["a"], ["b"]] * 2 + [["c"]], sample_weight=[1, 2])
        after = model.predict_topk(X)
        np.testing.assert_array_equal(before.labels, after.labels)
        np.testing.assert_array_equal(before.probabilities, after.probabilities)
        assert sorted(vars(model)) == attributes
        assert model.n_features_in_ == X.shape[1]

    def test_training_again_forgets(self, make_classifier: Callable[..., Any]) -> None:
        X, y = problem()
        frame = pd.DataFrame(np.eye(5, 8, dtype=np.float32), columns=list("abcdefgh"))
        model = make_classifier().fit(frame, ["one", "two", "one", "two", "three"])
        assert model.feature_names_in_.tolist() == list("abcdefgh")
        model.predict(frame)
        model.fit(X, y)
        assert_same_answers(model, make_classifier().fit(X, y), X)
        assert not hasattr(model, "feature_names_in_")
        assert model.n_features_in_ == X.shape[1]
        assert model.classes_.tolist() == list(range(y.shape[1]))
