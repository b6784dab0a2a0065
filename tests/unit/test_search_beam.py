"""Beam search: as its literal twin, and exact when the beam is wide enough."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.documents import documents
from tests.kernel import kernel_probabilities
from tests.reference.search import beam_search
from tests.strategies import models_and_rows

from labeltree import LabelTreeClassifier

pytestmark = pytest.mark.native

Drawn = tuple[LabelTreeClassifier, NDArray[np.float32]]


@given(models_and_rows(search="beam"), st.integers(1, 6), st.integers(1, 14), st.data())
def test_beam_search_is_its_twin(drawn: Drawn, beam: int, k: int, data: st.DataObject) -> None:
    model, X = drawn
    model.beam = beam
    n_labels = model.tree_.n_labels
    allow = data.draw(st.none() | st.sets(st.integers(0, n_labels - 1)))
    labels, probabilities, evaluations = model.predict_topk(X, k, allow=allow, return_evaluations=True)
    for i in range(len(X)):
        eta = kernel_probabilities(model, X, i)
        expected, cost = beam_search(model.tree_, eta, k, beam, allow)
        missing = [(-1, 0.0)] * (labels.shape[1] - len(expected))
        assert list(zip(labels[i].tolist(), probabilities[i], strict=True)) == expected + missing
        assert evaluations[i] == cost


@given(models_and_rows(), st.integers(1, 14), st.floats(0, 1, width=32))
def test_a_wide_beam_is_exact(drawn: Drawn, k: int, threshold: float) -> None:
    model, X = drawn
    exact = model.predict_topk(X, k, threshold=threshold)
    model.set_params(search="beam", beam=model.tree_.n_nodes)
    wide = model.predict_topk(X, k, threshold=threshold)
    np.testing.assert_array_equal(wide.probabilities, exact.probabilities)
    sure = exact.probabilities > exact.probabilities[:, -1:]  # the last may be one of several equal ones
    np.testing.assert_array_equal(wide.labels[sure], exact.labels[sure])


def test_a_wider_beam_finds_more_and_costs_more() -> None:
    X, y = documents(200, 150, 60)
    model = LabelTreeClassifier(arity=2, max_leaves=2, frequent_share=0, random_state=0).fit(X, y)
    exact = model.predict_topk(X, k=5).probabilities.astype(np.float64)
    model.search = "beam"
    found, costs = [], []
    for beam in (1, 2, 5, 10, 60):
        _, probabilities, evaluations = model.set_params(beam=beam).predict_topk(
            X, 5, return_evaluations=True
        )
        # What a beam finds are true probabilities, so it never does better than exact search.
        assert (probabilities <= exact).all()
        found.append(probabilities.sum(dtype=np.float64))
        costs.append(evaluations.mean())
    assert found == sorted(found)
    assert costs == sorted(costs)
    assert found[0] < found[-1] == exact.sum()
