"""Features of online models: by name, new at any time, always in one form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from tests.contract.problem import lists, problem
from tests.online_problem import KINDS, named_rows, online, state_of


@pytest.mark.parametrize("kind", ["map", "dense"])
def test_named_features_are_as_good_as_numbers(kind: str) -> None:
    X, y = problem()
    rows = named_rows(X)
    named = online(**KINDS[kind]).partial_fit(rows, y)
    np.testing.assert_allclose(
        named.predict_topk(rows, k=12).probabilities,
        online(**KINDS[kind]).partial_fit(X, y).predict_topk(X, k=12).probabilities,
        rtol=1e-4,
        atol=1e-6,
    )
    assert named.n_features_in_ == len({name for row in rows for name in row})
    # A name that was never learned changes only the length of the row.
    unscaled = online(normalize=False, **KINDS[kind]).partial_fit(rows, y)
    np.testing.assert_allclose(
        unscaled.predict_topk([{**row, "never seen": 5.0} for row in rows]).probabilities,
        unscaled.predict_topk(rows).probabilities,
        rtol=1e-4,
        atol=1e-6,
    )
    label = lists(y)[0][0]
    words = {part.feature for step in named.explain(rows[0], label).paths[0] for part in step.contributions}
    assert words <= set(rows[0])
    assert words


@pytest.mark.parametrize("kind", ["hashed", "shared"])
def test_names_are_not_kept_where_memory_is_bounded(kind: str) -> None:
    X, y = problem()
    rows = named_rows(X)
    model = online(epochs=20, **KINDS[kind]).fit(rows, y)
    assert model._model.features.names == []
    labelled = np.flatnonzero(np.diff(y.indptr))
    assert y[labelled, model.predict_topk(rows, k=1).labels.ravel()[labelled]].mean() > 0.9


def test_texts_as_values_are_features() -> None:
    rows = [{"colour": "red", "size": 2}, {"colour": "blue", "size": 2, "flat": True}] * 20
    model = online().partial_fit(rows, [["fire"], ["sea"]] * 20)
    assert model.predict(rows[:2]) == [["fire"], ["sea"]]
    assert model.n_features_in_ == 4


@pytest.mark.parametrize(
    ("first", "then", "message"),
    [
        ([{"a": 1.0}], np.ones((1, 2)), "must be a list of dictionaries"),
        (np.ones((1, 2)), [{"a": 1.0}], "learning began with numbered features"),
        ([{"a": 1.0}], [{"a": np.nan}], "row 0: the feature 'a' is NaN"),
        ([{"a": 1.0}], [{"a": 1.0}, {3: 1.0}], None),
        ([{"a": 1.0}], [{"a": [1.0]}], "must be a number or a text"),
        ([{"a": 1.0}], [{"\ud800": 1.0}], "must be valid Unicode"),
        (np.ones((1, 2)), (sp.csr_matrix(np.ones((1, 2))), np.ones((1, 2))), "pair of sparse and dense"),
    ],
)
def test_features_in_another_form(first: Any, then: Any, message: str | None) -> None:
    model = online().partial_fit(first, [["x"]])
    n_rows = 2 if message is None else 1
    before = state_of(model)
    with pytest.raises(ValueError, match=message or "names of features must be strings, got 3"):
        model.partial_fit(then, [["x"]] * n_rows)
    for name, values in state_of(model).items():
        np.testing.assert_array_equal(values, before[name])


@pytest.mark.parametrize("kind", KINDS)
def test_half_of_a_surrogate_pair_in_a_name(kind: str) -> None:
    """Where names are stored it cannot be learned; nowhere does it hinder prediction."""
    model = online(**KINDS[kind]).partial_fit([{"a": 1.0}], [["x"]])
    assert model.predict_topk([{"a": 1.0, "\ud800": 1.0}], k=1).labels.tolist() == [["x"]]
    if kind in ("hashed", "shared"):
        model.partial_fit([{"\ud800": 1.0}], [["x"]])
        assert model.n_examples_ == 2


def test_labels_in_another_form() -> None:
    model = online().partial_fit(np.ones((2, 2)), [["a"], ["b"]])
    with pytest.raises(
        ValueError, match=r"y was a sequence of collections of labels .* now is a sparse matrix"
    ):
        model.partial_fit(np.ones((1, 2)), sp.csr_matrix([[1, 0]]))
    with pytest.raises(ValueError, match="one class per row"):
        model.partial_fit(np.ones((1, 2)), ["a"])
    # What could be taken for a matrix is not, once labels have come as lists.
    model.partial_fit(np.ones((1, 2)), [[0, 1]])
    assert set(model.classes_.tolist()) == {"a", "b", 0, 1}
