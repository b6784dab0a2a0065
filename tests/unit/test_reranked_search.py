"""Trees propose, label classifiers rank: every question is answered as the brute force of the twin answers it."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from tests.reference.reranking import Reranked, label_score
from tests.strategies import models_and_rows
from tests.unit.test_label_columns import random_classifiers

from labeltree import LabelTreeClassifier
from labeltree.model.label_classifiers import LabelClassifiers
from labeltree.model.reranked_forest import LEAST_PROPOSED, RerankedForest

pytestmark = pytest.mark.native


def reranked(
    model: LabelTreeClassifier, n_proposals: int, seed: int, flat: bool = False
) -> tuple[LabelTreeClassifier, LabelClassifiers]:
    """The model with random label classifiers. A flat map makes many labels equally probable."""
    rng = np.random.default_rng(seed)
    forest: Any = model.model_.forest
    judges = random_classifiers(forest.n_labels, forest.n_features, 0.5, rng)
    assert model.dense_features_ == (0, 0)
    if flat:
        steps = {"knot_score": [-0.5, 0.0, 0.5], "knot_probability": [0.2, 0.2, 0.6]}
        arrays: dict[str, Any] = {name: np.array(values, np.float32) for name, values in steps.items()}
        judges = LabelClassifiers(judges.arrays, {"knot_begin": np.array([0, 3]), **arrays})
    model.adopt(replace(model.model_, forest=RerankedForest(forest, judges, n_proposals)))
    return model, judges


def brute_force(model: LabelTreeClassifier, X: np.ndarray, **search: Any) -> list[Reranked]:
    """The twin's view of each row. It asks the trees for all labels, and scores every label itself."""
    forest: Any = model.model_.forest
    arrays, begin = forest.judges.arrays, forest.judges.arrays["begin"]
    features = model.model_.read(X)
    proposed, _ = forest.proposer.top_k(
        features,
        model.make_search(min(forest.n_proposals, forest.n_labels), threshold=LEAST_PROPOSED, **search),
    )
    found, probabilities = forest.proposer.top_k(features, model.make_search(forest.n_labels, **search))
    rows = []
    for x, proposals, labels, of_trees in zip(
        X, proposed.tolist(), found.tolist(), probabilities.tolist(), strict=True
    ):
        order = [label for label in labels if label >= 0]
        score = {
            label: float(
                label_score(
                    arrays["feature"][begin[label] : begin[label + 1]],
                    arrays["weight"][begin[label] : begin[label + 1]],
                    arrays["bias"][label],
                    x,
                )
            )
            for label in order
        }
        of_score = {label: forest.native.probability(s) for label, s in score.items()}
        known = dict(zip(order, of_trees[: len(order)], strict=True))
        rows.append(Reranked([label for label in proposals if label >= 0], known, score, of_score))
    return rows


cases = given(
    model_and_rows=models_and_rows(n_trees=st.integers(1, 3)),
    n_proposals=st.integers(1, 14),
    seed=st.integers(0, 2**32 - 1),
    flat=st.booleans(),
)


@cases
def test_the_best_labels(model_and_rows: Any, n_proposals: int, seed: int, flat: bool) -> None:
    X = model_and_rows[1]
    model, _ = reranked(model_and_rows[0], n_proposals, seed, flat)
    everything = model.predict_topk(X, k=model.model_.forest.n_labels)
    for row, twin in enumerate(brute_force(model, X)):
        assert everything.labels[row].tolist() == twin.ranking()
        assert everything.probabilities[row].tolist() == [twin.probability(i) for i in twin.ranking()]
    twins = brute_force(model, X)
    for k in range(1, model.model_.forest.n_labels + 1):
        found = model.predict_topk(X, k=k)
        assert np.array_equal(found.probabilities, everything.probabilities[:, :k])
        for row, twin in enumerate(twins):  # of others that tie, the trees choose
            n = min(k, len(twin.proposals))
            assert np.array_equal(found.labels[row, :n], everything.labels[row, :n])


@cases
def test_all_labels_above_a_threshold(model_and_rows: Any, n_proposals: int, seed: int, flat: bool) -> None:
    X = model_and_rows[1]
    model, _ = reranked(model_and_rows[0], n_proposals, seed, flat)
    forest, rng = model.model_.forest, np.random.default_rng(seed)
    features = model.model_.read(X)
    of_label = rng.random(forest.n_labels).astype(np.float32) ** 2
    twins = brute_force(model, X)
    for k in (1, 2, forest.n_labels):
        for wanted in ({"threshold": 0.2}, {"threshold": 0.0}, {"label_threshold": of_label}):
            indptr, labels, probabilities = forest.above(features, model.make_search(k, **wanted))
            bound = of_label if "label_threshold" in wanted else np.full(forest.n_labels, wanted["threshold"])
            for row, twin in enumerate(twins):
                expected = [i for i in twin.ranking() if twin.probability(i) >= np.float32(bound[i])][:k]
                assert labels[indptr[row] : indptr[row + 1]].tolist() == expected
                found = probabilities[indptr[row] : indptr[row + 1]].tolist()
                assert found == [twin.probability(i) for i in expected]


@cases
def test_pairs_and_labels_one_by_one(model_and_rows: Any, n_proposals: int, seed: int, flat: bool) -> None:
    X = model_and_rows[1]
    model, _ = reranked(model_and_rows[0], n_proposals, seed, flat)
    n_labels = model.model_.forest.n_labels
    twins = brute_force(model, X)
    rows, labels = np.divmod(np.random.default_rng(seed).permutation(len(X) * n_labels), n_labels)
    for chosen in (slice(None), slice(0, 3)):  # all rows, or some
        found = model.predict_pairs(X, rows[chosen], labels[chosen].tolist()).tolist()
        expected = [twins[i].probability(j) for i, j in zip(rows[chosen], labels[chosen], strict=True)]
        assert found == expected
    for row, twin in enumerate(twins):
        listed = list(model.iter_labels(X[row]))
        n_found = len(twin.proposals)
        assert [label for label, _ in listed[:n_found]] == twin.ranking()[:n_found]
        assert dict(listed) == {i: twin.probability(i) for i in twin.of_trees}
        assert all(a >= b for (_, a), (_, b) in itertools.pairwise(listed))


@given(
    model_and_rows=models_and_rows(),
    n_proposals=st.integers(1, 6),
    seed=st.integers(0, 2**32 - 1),
    threshold=st.sampled_from([0.0, 0.3]),
)
def test_weights_and_masks_choose_the_proposals(
    model_and_rows: Any, n_proposals: int, seed: int, threshold: float
) -> None:
    X = model_and_rows[1]
    model, _ = reranked(model_and_rows[0], n_proposals, seed)
    rng, n_labels = np.random.default_rng(seed), model.model_.forest.n_labels
    weight = rng.random(n_labels) * 4
    allow = np.flatnonzero(rng.random(n_labels) < 0.7).tolist() or [0]
    allowed = np.isin(np.arange(n_labels), allow).astype(np.uint8)
    twins = brute_force(model, X, label_weight=weight, allowed=allowed)
    top = model.predict_topk(X, k=n_labels, label_weight=weight, allow=allow, threshold=threshold)
    for row, twin in enumerate(twins):
        expected = [i for i in twin.ranking(weight) if twin.probability(i) >= np.float32(threshold)]
        found = top.labels[row].tolist()
        assert found == [*expected, *[-1] * (n_labels - len(expected))]


def test_the_map_is_a_sigmoid() -> None:
    from tests.small_models import small_model

    forest = small_model(rerank=3).model_.forest
    slope, intercept = (forest.judges.map[name][0] for name in ("slope", "intercept"))
    scores = np.linspace(-3, 3, 13)
    found = [forest.native.probability(score) for score in scores]
    np.testing.assert_allclose(found, expit(slope * scores + intercept), rtol=1e-5)


def test_evaluations_count_label_classifiers() -> None:
    from tests.small_models import small_data, small_model

    X, _ = small_data(1)
    model = small_model(rerank=4)
    alone = model.model_.forest.proposer
    counts = np.empty(X.shape[0], dtype=np.int64)
    proposed, _ = alone.top_k(model.model_.read(X), model.make_search(4, threshold=LEAST_PROPOSED), counts)
    *_, found = model.predict_topk(X, k=1, return_evaluations=True)
    np.testing.assert_array_equal(found, counts + (proposed >= 0).sum(axis=1))
