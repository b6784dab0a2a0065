"""The paper's inequalities: what wrong estimates of nodes can cost at most, on distributions that are known."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.hand_made_models import hand_made_classifier, tree_weights
from tests.reference import bounds
from tests.reference import known_distribution as reference
from tests.reference.known_distribution import KnownDistribution, Value
from tests.reference.search import node_marginals
from tests.strategies import label_trees

from labeltree import LabelTree, LabelTreeClassifier
from labeltree.metrics import AM, FBeta, Hamming, Jaccard, ThresholdMetric, get_metric
from labeltree.training.losses import LOSSES

pytestmark = pytest.mark.native

EPS = 1e-5  # of float32 products
ROWS = 60

Array = NDArray[np.float64]

#: Metrics, and what they are by their definition.
METRICS: list[tuple[ThresholdMetric, Value]] = [
    (Hamming(), reference.hamming()),
    (Hamming("micro", 0.5, 2.0), reference.hamming(0.5, 2.0)),
    *(
        case
        for average in ("micro", "macro")
        for case in [
            (FBeta(average), reference.f_beta(1)),
            (FBeta(average, 2.0), reference.f_beta(2)),
            (FBeta(average, 0.5), reference.f_beta(0.5)),
            (Jaccard(average), reference.jaccard()),
            (AM(average), reference.am()),
        ]
    ),
]


@dataclass(frozen=True)
class Estimated:
    """A known distribution, and a model whose nodes are not quite right about it."""

    known: KnownDistribution
    tree: LabelTree
    loss: str
    scores: Array
    model: LabelTreeClassifier

    @property
    def estimate(self) -> Array:
        """The nodes' estimates, [kind][node]."""
        return np.asarray(LOSSES[self.loss].probability(self.scores))

    @property
    def label_estimate(self) -> Array:
        """The model's estimates of P(y_j = 1 | x), [kind][label]."""
        kinds, labels = np.indices((self.known.n_kinds, self.tree.n_labels)).reshape(2, -1)
        found = self.model.predict_pairs(np.eye(self.known.n_kinds), kinds, labels)
        return found.reshape(self.known.n_kinds, -1).astype(np.float64)

    @property
    def error(self) -> Array:
        """How far they are from the truth."""
        return np.abs(self.known.eta - self.label_estimate)


def with_scores(known: KnownDistribution, tree: LabelTree, loss: str, scores: Array) -> Estimated:
    """A kind of row is a feature of its own, with the scores of the nodes as weights."""
    weights = tree_weights(tree, scores.T.astype(np.float32), np.zeros(tree.n_nodes, dtype=np.float32))
    link = LOSSES[loss].proper_link
    model = hand_made_classifier([weights], known.n_kinds, link, normalize_siblings=False)
    counts = np.rint(ROWS * known.mass @ known.eta).astype(int)
    model.adopt(replace(model.model_, label_counts=counts, n_samples_fit=ROWS))
    return Estimated(known, tree, loss, scores, model)


@st.composite
def known_distributions(draw: st.DrawFn, n_labels: int) -> KnownDistribution:
    """Up to three kinds of rows; every label is there, and is not, at least once in `ROWS` rows."""
    n_kinds = draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    P = rng.dirichlet(np.full(n_kinds * 2**n_labels, draw(st.sampled_from([0.02, 0.2, 2.0]))))
    counts = rng.multinomial(ROWS - 2 * n_kinds, P).reshape(n_kinds, -1)
    counts[:, 0] += 1
    counts[:, -1] += 1
    return KnownDistribution(counts / ROWS)


@st.composite
def estimates(draw: st.DrawFn, min_labels: int = 1) -> Estimated:
    """Nodes whose scores are off by a little or by much."""
    tree = draw(label_trees(max_labels=4, min_labels=min_labels))
    known = draw(known_distributions(tree.n_labels))
    loss = draw(st.sampled_from(sorted(LOSSES)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    right = bounds.SCORE[loss](np.clip(known.node_conditionals(tree), 0.001, 0.999))
    off = draw(st.sampled_from([0.01, 0.3, 2.0])) * rng.normal(size=right.shape)
    # Some nodes are right: errors of others then have nothing to hide behind.
    return with_scores(known, tree, loss, right + off * (rng.random(right.shape) < 0.7))


def test_the_constants_of_the_losses_are_those_of_the_paper() -> None:
    assert {name: loss.strong_properness for name, loss in LOSSES.items()} == bounds.LAMBDA


@given(estimates())
def test_errors_of_labels_are_bounded_by_those_on_their_path(drawn: Estimated) -> None:
    """Lemma 1 and its corollary, for every kind of row."""
    known, tree = drawn.known, drawn.tree
    bound = bounds.node_error_bound(known, tree, drawn.estimate)
    estimated = np.array([node_marginals(tree, row) for row in drawn.estimate])
    assert (np.abs(known.node_marginals(tree) - estimated) <= bound + 1e-9).all()
    assert (drawn.error <= bound[:, tree.leaf_of_label] + EPS).all()


@given(estimates(), st.data())
def test_the_bound_of_a_path_is_reached_if_the_last_node_alone_is_wrong(
    drawn: Estimated, data: st.DataObject
) -> None:
    known, tree = drawn.known, drawn.tree
    label = data.draw(st.integers(0, tree.n_labels - 1))
    leaf = tree.leaf_of_label[label]
    scores = bounds.SCORE["squared"](known.node_conditionals(tree))
    scores[:, leaf] = drawn.scores[:, leaf]
    one_wrong = with_scores(known, tree, "squared", scores)
    bound = bounds.node_error_bound(known, tree, one_wrong.estimate)
    np.testing.assert_allclose(one_wrong.error[:, label], bound[:, leaf], atol=EPS)


@given(estimates(), st.integers(0, 2**32 - 1))
def test_the_mean_error_of_labels_is_bounded_by_errors_and_by_regrets_of_nodes(
    drawn: Estimated, seed: int
) -> None:
    """Theorems 2 and 3. They say weights in R, but an inequality holds for those of at least 0 only."""
    known, tree = drawn.known, drawn.tree
    for weight in (np.ones(tree.n_labels), np.random.default_rng(seed).exponential(size=tree.n_labels)):
        mean_error = known.mass @ drawn.error @ weight / tree.n_labels
        by_errors = bounds.error_bound(known, tree, drawn.estimate, weight)
        by_regrets = bounds.regret_bound(known, tree, drawn.scores, drawn.loss, weight)
        assert mean_error <= by_errors + EPS * weight.max()
        assert by_errors <= by_regrets + 1e-9


@given(estimates(min_labels=2), st.data())
def test_regret_of_precision_at_k_is_at_most_twice_the_largest_error(
    drawn: Estimated, data: st.DataObject
) -> None:
    """Theorem 6, and the factor for many labels that the paper mentions below it; then theorem 7."""
    known, n_labels = drawn.known, drawn.tree.n_labels
    k = data.draw(st.integers(1, n_labels))
    labels = drawn.model.predict_topk(np.eye(known.n_kinds), k).labels
    assert labels.shape == (known.n_kinds, k)
    found = np.take_along_axis(known.eta, labels, axis=1).mean(axis=1)
    regret = np.array([reference.best_precision(eta, k) for eta in known.eta]) - found
    factor = min(k, n_labels - k) / k
    assert (regret <= 2 * factor * drawn.error.max(axis=1) + EPS).all()
    everything = bounds.regret_bound(known, drawn.tree, drawn.scores, drawn.loss, np.ones(n_labels))
    assert known.mass @ regret <= 2 * n_labels * everything + EPS


def test_the_bound_of_precision_at_k_is_reached() -> None:
    """Two labels, both wrong by the same, in opposite directions: the wrong one comes first."""
    known = KnownDistribution(np.array([[0.0, 0.6, 0.4, 0.0]]))
    wrong = with_scores(known, LabelTree.flat(2), "squared", np.array([[1.0, -0.02, 0.02]]))
    assert wrong.model.predict_topk(np.eye(1), 1).labels.tolist() == [[1]]
    regret = known.eta[0, 0] - known.eta[0, 1]
    assert regret == pytest.approx(2 * wrong.error.max(), rel=0.15)


@settings(max_examples=60)
@given(estimates())
def test_regret_of_the_best_thresholds_is_bounded_by_errors_of_labels(drawn: Estimated) -> None:
    """Theorems 4 and 5. What is best is found by trying all decisions, what the model decides by `decide_for`."""
    known, tree, model = drawn.known, drawn.tree, drawn.model
    X, y = known.all_rows(ROWS)
    for metric, value in METRICS:
        of_cells = reference.cells(known, metric.average)
        best = np.array([reference.best_value(value, *part) for part in of_cells])
        prior = np.array([mass @ eta for mass, eta in of_cells])
        factor = metric.regret_factor(best, prior)
        # One factor for all labels, or one for each.
        weight = np.broadcast_to(factor, tree.n_labels)
        by_errors = known.mass @ drawn.error @ weight / tree.n_labels
        by_regrets = bounds.regret_bound(known, tree, drawn.scores, drawn.loss, weight)
        for method in ["exact", *(["fixed"] if metric.has_fixed_threshold else [])]:
            model.decide_for(metric, X, y, method=method, floor=0)
            regret = best.mean() - metric(y, model.predict(X))
            assert -1e-9 <= regret <= by_errors + EPS * factor.max(), metric
            assert by_errors <= by_regrets + EPS * factor.max(), metric


@settings(max_examples=60)
@given(st.integers(1, 4).flatmap(known_distributions))
def test_true_probabilities_and_the_threshold_of_the_paper_are_the_best(known: KnownDistribution) -> None:
    """No decision whatsoever is better than all labels whose probability is above alpha*."""
    for metric, value in METRICS:
        for mass, eta in reference.cells(known, metric.average):
            best = reference.best_value(value, mass, eta)
            alpha = metric.optimal_threshold(best, float(mass @ eta))
            decided = (eta > alpha + 1e-12)[None, :]
            assert reference.value_of(value, mass, eta, decided) == pytest.approx(best), metric
            assert reference.best_value_of_thresholds(value, mass, eta) == pytest.approx(best), metric


@given(estimates(min_labels=2), st.data())
def test_deciding_for_precision_is_the_best_of_k_if_probabilities_are_true(
    drawn: Estimated, data: st.DataObject
) -> None:
    known, tree = drawn.known, drawn.tree
    k = data.draw(st.integers(1, tree.n_labels))
    right = with_scores(known, tree, "squared", bounds.SCORE["squared"](known.node_conditionals(tree)))
    X, y = known.all_rows(ROWS)
    metric = get_metric(f"precision@{k}")
    best = known.mass @ [reference.best_precision(eta, k) for eta in known.eta]
    labels = right.model.predict_topk(X, k).labels
    assert metric(y, labels) == pytest.approx(best, abs=EPS)
    predicted = right.model.decide_for(metric).predict(X)
    assert (np.diff(predicted.indptr) == k).all()
    assert np.asarray(predicted.multiply(y).sum()) / (k * ROWS) == pytest.approx(best, abs=EPS)
