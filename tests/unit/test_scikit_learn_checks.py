"""scikit-learn's own checks of estimators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import SkipTest

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from labeltree import (
    ExtremeTextClassifier,
    FastTextClassifier,
    FastXMLClassifier,
    HierarchicalSoftmaxClassifier,
    LabelTreeClassifier,
    OneVsRestClassifier,
    OnlineLabelTreeClassifier,
    PfastreXMLClassifier,
)

_WEIGHTS = (
    "the order in which a solver meets the rows differs once rows are removed or repeated, and it stops at a "
    "tolerance; that the models agree to that tolerance is part of the contract's tests"
)
_SPARSE = (
    "probabilities of several labels per row are a sparse matrix, whatever the number of labels, and the check accepts "
    "arrays only"
)
EXPECTED_FAILURES = {
    "check_classifiers_multilabel_output_format_predict_proba": _SPARSE,
    "check_sample_weight_equivalence_on_dense_data": _WEIGHTS,
    "check_sample_weight_equivalence_on_sparse_data": _WEIGHTS,
}
NOT_FOR_US = (
    "SCIPY_ARRAY_API is not set",
    "LabelTreeClassifier does not have a decision_function method",
    "HierarchicalSoftmaxClassifier does not have a decision_function method",
    "OneVsRestClassifier does not have a decision_function method",
    "OnlineLabelTreeClassifier does not have a decision_function method",
    "FastXMLClassifier does not have a decision_function method",
    "PfastreXMLClassifier does not have a decision_function method",
    "ExtremeTextClassifier does not have a decision_function method",
    "FastTextClassifier does not have a decision_function method",
)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [
        LabelTreeClassifier(),
        LabelTreeClassifier(n_trees=2, max_leaves=2, arity=2, loss="logistic", search="beam"),
        OnlineLabelTreeClassifier(epochs=20),
        OnlineLabelTreeClassifier(epochs=20, n_trees=2, policy="random"),
        HierarchicalSoftmaxClassifier(),
        OneVsRestClassifier(),
        OneVsRestClassifier(negatives="tree", n_negatives=2),
        FastXMLClassifier(n_trees=5),
        PfastreXMLClassifier(n_trees=5),
        OneVsRestClassifier(solver="sparse"),
        OneVsRestClassifier(solver="max_margin"),
        ExtremeTextClassifier(dimension=8, epochs=60, batch_size=16, dropout=0.0),
        FastTextClassifier(dimension=8, epochs=60),
        FastTextClassifier("hs", dimension=8, epochs=60),
        FastTextClassifier("ova", dimension=8, epochs=60),
    ],
    expected_failed_checks=lambda _: EXPECTED_FAILURES,
)
def test_scikit_learn_check(estimator: Any, check: Callable[[Any], None]) -> None:
    try:
        check(estimator)
    except SkipTest as reason:
        assert str(reason).startswith(NOT_FOR_US)  # noqa: PT017 # a new skip is a failure
