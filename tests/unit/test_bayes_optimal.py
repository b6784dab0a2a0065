"""Trained on samples of known distributions, decisions and rankings come near the best that there can be."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from tests.reference import known_distribution as reference
from tests.reference.known_distribution import KnownDistribution, Value

from labeltree import LabelTree, LabelTreeClassifier
from labeltree.metrics import AM, FBeta, Hamming, Jaccard, ThresholdMetric

pytestmark = pytest.mark.native

N_KINDS, N_LABELS = 40, 6
FEW, MANY = 1_000, 40_000
TREE = LabelTree.from_nested([[0, 1], [2, [3, 4]], 5])
PRECISE = {"loss": "logistic", "C": 10.0, "tol": 1e-3, "max_iter": 500, "prune": 0.0, "bias": False}

#: What is decided for, what it is by its definition, and the methods that are there for it.
DECISIONS: list[tuple[ThresholdMetric, Value, tuple[str, ...]]] = [
    (Hamming(), reference.hamming(), ("fixed", "exact")),
    (Hamming("micro", 1.0, 3.0), reference.hamming(1, 3), ("fixed", "exact")),
    *(
        case
        for average in ("micro", "macro")
        for case in [
            (AM(average), reference.am(), ("fixed", "exact")),
            (FBeta(average), reference.f_beta(1), ("ofo", "exact")),
            (FBeta(average, 2.0), reference.f_beta(2), ("ofo", "exact")),
            (Jaccard(average), reference.jaccard(), ("ofo", "exact")),
        ]
    ),
]


@cache
def known() -> KnownDistribution:
    """Kinds of rows that are not equally frequent, each with label vectors of its own, far from independent."""
    rng = np.random.default_rng(5)
    vectors = reference.label_vectors(N_LABELS)
    # The last labels are rarer.
    favoured = np.exp(-(vectors @ np.linspace(0.3, 1.5, N_LABELS)))
    given_kind = np.array([rng.dirichlet(favoured / favoured.sum() * 6) for _ in range(N_KINDS)])
    return KnownDistribution(rng.dirichlet(np.full(N_KINDS, 5.0))[:, None] * given_kind)


@cache
def trained(n_rows: int) -> LabelTreeClassifier:
    # The link of the loss, not a map: its probabilities are right if the model is.
    model = LabelTreeClassifier(tree=TREE, link="sigmoid", random_state=0, **PRECISE)
    return model.fit(*known().draw(n_rows, np.random.default_rng(0)))


def decided_model(metric: ThresholdMetric, method: str, n_rows: int) -> LabelTreeClassifier:
    """Return a model trained on `n_rows` rows, with thresholds tuned on half as many other rows."""
    X, y = known().draw(n_rows // 2, np.random.default_rng(1))
    return trained(n_rows).decide_for(metric, X, y, method=method)


def true_value(metric: ThresholdMetric, value: Value, model: LabelTreeClassifier) -> float:
    """The metric of what a model decides, in expectation."""
    decided = model.predict(np.eye(N_KINDS)).toarray().astype(float)
    parts = decided.T if metric.average == "macro" else decided.reshape(1, -1)
    of_cells = zip(reference.cells(known(), metric.average), parts, strict=True)
    return float(np.mean([reference.value_of(value, *part, h[None, :]) for part, h in of_cells]))


def best_value(metric: ThresholdMetric, value: Value) -> float:
    """The Bayes-optimal value; thresholds on true probabilities are enough for it, as test_bounds.py shows."""
    of_cells = reference.cells(known(), metric.average)
    return float(np.mean([reference.best_value_of_thresholds(value, *part) for part in of_cells]))


@pytest.mark.parametrize(
    ("metric", "value", "methods"), DECISIONS, ids=lambda case: getattr(case, "name", "")
)
def test_decisions_come_near_the_best(
    metric: ThresholdMetric, value: Value, methods: tuple[str, ...]
) -> None:
    best = best_value(metric, value)
    for method in methods:
        # Thresholds are chosen with the errors of the sample: of one for each label most, of none least.
        nearest = 0.003 if method == "exact" else 0.001
        assert 0 <= best - true_value(metric, value, decided_model(metric, method, MANY)) < nearest
        assert 0.007 < best - true_value(metric, value, decided_model(metric, method, FEW)) < 0.035


@pytest.mark.parametrize(
    ("metric", "value", "methods"), DECISIONS, ids=lambda case: getattr(case, "name", "")
)
def test_thresholds_come_near_those_of_theory(
    metric: ThresholdMetric, value: Value, methods: tuple[str, ...]
) -> None:
    of_cells = reference.cells(known(), metric.average)
    best = np.array([reference.best_value_of_thresholds(value, *part) for part in of_cells])
    alpha = metric.optimal_threshold(best, np.array([mass @ eta for mass, eta in of_cells]))
    decision = decided_model(metric, methods[0], MANY).decision_
    np.testing.assert_allclose(np.atleast_1d(decision.threshold), alpha, atol=0.01)
    assert decision.is_per_label == (metric.average == "macro")


@pytest.mark.parametrize("k", [1, 2, 3])
def test_rankings_come_near_the_best(k: int) -> None:
    best = known().mass @ [reference.best_precision(eta, k) for eta in known().eta]
    for n_rows, low, high in ((MANY, 0, 0.001), (FEW, 0.008, 0.035)):
        model = trained(n_rows)
        labels = model.predict_topk(np.eye(N_KINDS), k).labels
        regret = best - known().mass @ np.take_along_axis(known().eta, labels, axis=1).mean(axis=1)
        assert low <= regret < high
        decided = model.decide_for(f"precision@{k}").predict(np.eye(N_KINDS)).toarray()
        assert known().mass @ (decided * known().eta).sum(axis=1) / k == pytest.approx(best - regret)
