"""OnlineLabelTreeClassifier keeps the contract of all classifiers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from tests.contract import ClassifierContract
from tests.contract.estimator import QUESTIONS
from tests.contract.problem import assert_same_answers, problem

from labeltree import OnlineLabelTreeClassifier


class TestOnlineLabelTreeClassifier(ClassifierContract):
    endless: ClassVar[dict[str, Any]] = {"epochs": 2**31 - 1}

    @pytest.fixture
    def make_classifier(self) -> Callable[..., Any]:
        return lambda **parameters: OnlineLabelTreeClassifier(
            **{"arity": 3, "epochs": 10, "random_state": 0, **parameters}
        )

    # -- what is another thing online ------------------------------------------------------------------------------

    def test_a_weight_of_zero_is_as_good_as_no_row(self, make_classifier: Callable[..., Any]) -> None:
        X, y = problem()
        kept = np.arange(X.shape[0]) % 5 > 0
        weighted, without = make_classifier(), make_classifier()
        # Labels of rows that do not count are known all the same: let them be so.
        weighted.partial_fit(X, y).partial_fit(X, y, sample_weight=kept)
        without.partial_fit(X, y).partial_fit(X[kept], y[kept])
        assert_same_answers(weighted, without, X)

    def test_a_whole_weight_is_as_good_as_repetition(self, make_classifier: Callable[..., Any]) -> None:
        """Not so: one step with a gradient three times as large is another than three steps. But it is larger."""
        X, y = problem()
        rates = {}
        for weight in (0.5, 1, 3):
            model = make_classifier(solver="sgd", learning_rate=1e-3, regularization=0.0)
            model.partial_fit(X[:1], y[:1], sample_weight=[weight])
            explanation = model.explain(X[:1], int(y[:1].indices[0]))
            rates[weight] = explanation.paths[0][0].bias
        np.testing.assert_allclose([rates[0.5], rates[3]], [0.5 * rates[1], 3 * rates[1]], rtol=1e-5)

    @pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csc_array])
    @pytest.mark.parametrize("question", QUESTIONS)
    def test_questions_need_the_features_of_training(
        self, model: Any, form: Callable[[Any], Any], question: str
    ) -> None:
        """An array must have as many; a sparse matrix may be of any width."""
        for width in (39, 41):
            if form is np.asarray:
                with pytest.raises(
                    ValueError, match=f"X has {width} features, but .* is expecting 40 features"
                ):
                    QUESTIONS[question](model, form(np.ones((2, width))))
            else:
                QUESTIONS[question](model, form(np.ones((2, width))))


class TestSeveralTrees(TestOnlineLabelTreeClassifier):
    @pytest.fixture
    def make_classifier(self) -> Callable[..., Any]:
        return lambda **parameters: OnlineLabelTreeClassifier(
            **{"n_trees": 2, "policy": "random", "arity": 3, "epochs": 10, "random_state": 0, **parameters}
        )
