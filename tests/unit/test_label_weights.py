"""Weights of labels: how they may be given, and what they do. test_block_solver.py has the optima."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from tests.documents import documents
from tests.reference.search import decoded
from tests.small_models import NAMES, small_data, small_model

from labeltree import LabelTreeClassifier
from labeltree.metrics import inverse_propensity

X, Y = documents(200, 60, 20)


def weights_of(model: LabelTreeClassifier) -> np.ndarray:
    return np.hstack(decoded(model.weights_[0], model.n_features_in_)[0])


def test_propensity_is_the_inverse_propensity_of_the_labels() -> None:
    by_word = LabelTreeClassifier(label_weight="propensity", random_state=0).fit(X, Y)
    by_number = LabelTreeClassifier(label_weight=inverse_propensity(Y), random_state=0).fit(X, Y)
    np.testing.assert_array_equal(weights_of(by_word), weights_of(by_number))
    plain = LabelTreeClassifier(random_state=0).fit(X, Y)
    assert not np.array_equal(weights_of(by_word), weights_of(plain))


def test_a_dict_speaks_of_the_users_labels_and_may_leave_some_out() -> None:
    rows, y = small_data()
    order = small_model().classes_.tolist()
    array = np.ones(len(order))
    array[order.index(NAMES[3])], array[order.index(NAMES[7])] = 5.0, 0.5
    by_name = LabelTreeClassifier(label_weight={NAMES[3]: 5, NAMES[7]: 0.5}, random_state=0).fit(rows, y)
    for given in (array, array.tolist(), tuple(array)):
        by_place = LabelTreeClassifier(label_weight=given, random_state=0).fit(rows, y)
        np.testing.assert_array_equal(weights_of(by_name), weights_of(by_place))


def test_a_heavier_label_is_more_probable() -> None:
    plain = LabelTreeClassifier(loss="logistic", C=1.0, random_state=0).fit(X, Y)
    heavy = LabelTreeClassifier(loss="logistic", C=1.0, random_state=0, label_weight={11: 10.0}).fit(X, Y)
    rows, label = np.arange(X.shape[0]), np.full(X.shape[0], 11)
    found, before = heavy.predict_pairs(X, rows, label), plain.predict_pairs(X, rows, label)
    assert found.mean() > 1.5 * before.mean()
    assert (found > before).mean() > 0.9


@pytest.mark.parametrize("weight", [0.0, 1e-30, 1e30])
@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "squared", "exponential"])
def test_extreme_weights_give_finite_models(loss: str, weight: float) -> None:
    model = LabelTreeClassifier(loss=loss, label_weight=np.full(20, weight), prune=0.0, random_state=0)
    arrays = model.fit(X, Y).weights_[0].arrays
    assert np.isfinite(arrays["weight"]).all()
    assert np.isfinite(arrays["bias"]).all()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.ones(19), r"label_weight must have shape \(20,\), one weight per label, got \(19,\)"),
        (np.ones((20, 1)), r"got \(20, 1\)"),
        ([1.0] * 19 + [-1.0], "label_weight must be finite and at least 0, but is -1.0 for the label 19"),
        ({3: np.nan}, "label_weight must be finite and at least 0, but is nan for the label 3"),
        ({20: 1.0}, "20 is not a label of this model"),
        ({3: "much"}, "label_weight must hold numbers"),
        ("frequency", "the parameter 'label_weight' must be one of 'propensity', 'given', a Mapping"),
        (2.0, "the parameter 'label_weight' must be one of 'propensity', 'given', a Mapping"),
    ],
)
def test_wrong_weights_are_told(given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LabelTreeClassifier(label_weight=given).fit(X, Y)


def test_the_word_is_saved_and_of_numbers_that_they_were_given(tmp_path: Path) -> None:
    saved = [("propensity", "propensity"), (np.ones(20), "given"), ({3: 2.0}, "given"), (None, None)]
    for given, expected in saved:
        model = clone(LabelTreeClassifier(label_weight=given, random_state=0)).fit(X, Y)
        model.save(tmp_path / "model")
        opened = LabelTreeClassifier.load(tmp_path / "model")
        assert opened.label_weight == expected
        np.testing.assert_array_equal(weights_of(opened), weights_of(model))
