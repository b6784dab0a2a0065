"""Explanations add up: to the node's score, along the path, and over the trees."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.documents import documents
from tests.reference.search import LINKS, decoded
from tests.strategies import models_and_rows

from labeltree import LabelTreeClassifier


@given(models_and_rows(n_trees=st.integers(1, 3)), st.integers(0, 3), st.data())
def test_everything_adds_up(
    drawn: tuple[LabelTreeClassifier, NDArray[np.float32]], row: int, data: st.DataObject
) -> None:
    model, X = drawn
    label = data.draw(st.integers(0, model.tree_.n_labels - 1))
    explanation = model.explain(X[[row]], label, n_features=X.shape[1])
    assert explanation.label == label
    expected = model.predict_pairs(X[[row]], [0], [label])[0]
    assert explanation.probability == pytest.approx(expected, rel=1e-5, abs=1e-12)
    for path, weights in zip(explanation.paths, model.weights_, strict=True):
        W, bias = decoded(weights, X.shape[1])
        assert [step.node for step in path] == weights.tree.path(label).tolist()
        so_far = 1.0
        for step in path:
            so_far *= step.probability
            assert step.probability_so_far == pytest.approx(so_far)
            assert step.bias == bias[step.node]
            assert step.n_labels == len(weights.tree.labels_under(step.node))
            used = np.flatnonzero(W[step.node] * X[row])
            assert sorted(c.feature for c in step.contributions) == used.tolist()
            amounts = [abs(c.amount) for c in step.contributions]
            assert amounts == sorted(amounts, reverse=True)
            total = step.bias + sum(c.amount for c in step.contributions)
            assert step.score == pytest.approx(total, rel=1e-4, abs=1e-5)
            if not model.normalize_siblings:
                link = LINKS[model.link](np.float64(step.score))
                assert step.probability == pytest.approx(link, rel=1e-4, abs=1e-7)


def test_names_of_features() -> None:
    X, y = documents(60, 30, 8)
    words = [f"word {j}" for j in range(30)]
    named = LabelTreeClassifier(random_state=0).fit(pd.DataFrame(X.toarray(), columns=words), y)
    numbered = LabelTreeClassifier(random_state=0).fit(X, y)
    row = pd.DataFrame(X[:1].toarray(), columns=words)
    by_name = named.explain(row, 0).paths[0][-1].contributions
    by_number = numbered.explain(X[0], 0).paths[0][-1].contributions
    assert [c.feature for c in by_name] == [f"word {c.feature}" for c in by_number]
    given = numbered.explain(X[0], 0, feature_names=words, n_features=2).paths[0][-1].contributions
    assert given == by_name[:2]
    text = str(named.explain(row, 0))
    assert "0: probability" in text
    assert by_name[0].feature in text
    with pytest.raises(ValueError, match="feature_names must name all 30 features, got 2 names"):
        numbered.explain(X[0], 0, feature_names=["a", "b"])
    with pytest.raises(ValueError, match="n_features must be an integer of at least 1"):
        numbered.explain(X[0], 0, n_features=0)
