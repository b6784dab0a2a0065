"""A link that is set after `fit` takes the place of the maps of `fit`, and gives it back."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from tests.documents import documents

from labeltree import LabelTreeClassifier
from labeltree.training import linear_learner


@pytest.fixture(autouse=True)
def trials_of_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trials need many rows, which tests do not have the time for."""
    monkeypatch.setattr(linear_learner, "FEWEST_ROWS", 200)


pytestmark = pytest.mark.native

X, Y = documents(300, 100, 30)


def probabilities(model: LabelTreeClassifier) -> np.ndarray:
    return model.predict_topk(X, k=5).probabilities


@pytest.fixture(params=[{}, {"n_trees": 2}, {"rerank": 5}], ids=["tree", "trees", "rerank"])
def model(request: pytest.FixtureRequest) -> Any:
    return LabelTreeClassifier(arity=4, max_leaves=4, random_state=0, **request.param).fit(X, Y)


def test_auto_brings_the_maps_of_fit_back(model: Any) -> None:
    before, source = probabilities(model), model.calibration_.source
    model.set_params(link="exp2")
    probabilities(model)
    assert not hasattr(model, "calibration_")
    again = pickle.loads(pickle.dumps(model)).set_params(link="auto")
    np.testing.assert_array_equal(probabilities(again), before)
    assert again.calibration_.source == source == "training"
    assert again.set_params(link="exp3").model_.training.maps is not None


def test_maps_that_were_deleted_or_replaced_stay_away(model: Any) -> None:
    model.set_params(link="exp2")
    del model.calibration_
    assert not hasattr(model.set_params(link="auto"), "calibration_")
    model = model.fit(X, Y).set_params(link="exp2").calibrate(X, Y)
    assert model.set_params(link="auto").calibration_.source == "calibrate"


def test_trees_that_are_added_with_a_set_link_have_no_maps(model: Any) -> None:
    model.set_params(link="exp2").add_trees(X, Y)
    assert not hasattr(model.set_params(link="auto"), "calibration_")
