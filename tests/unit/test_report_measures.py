"""What reports measure, against brute force over all rows, labels and nodes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier
from tests.small_models import NAMES, small_data, small_model

from labeltree import LabelTreeClassifier, OnlineLabelTreeClassifier, metrics
from labeltree.labels.reading import LabelRows
from labeltree.metrics.label_sets import LabelSets
from labeltree.metrics.outcomes import Outcomes
from labeltree.model.node_scores import NodeScores
from labeltree.report import Report, measure_report
from labeltree.report.curves import rank_curve
from labeltree.report.frequency import frequency_bands
from labeltree.report.label_errors import worst_labels
from labeltree.report.node_costs import node_costs
from labeltree.report.queries import QueryTimes
from labeltree.trees import LabelTree

K = 3


@pytest.fixture(scope="module")
def held_out() -> tuple[Any, list[list[str]]]:
    return small_data(seed=1)


@pytest.fixture(scope="module", params=["one tree", "two trees", "platt", "node estimators"])
def model(request: pytest.FixtureRequest, held_out: Any) -> LabelTreeClassifier:
    if request.param == "one tree":
        return small_model(n_trees=1)
    if request.param == "platt":
        return small_model().calibrate(*held_out, method="platt")
    if request.param == "node estimators":
        estimator = DecisionTreeClassifier(max_depth=3, random_state=0)
        return small_model(n_trees=1, prune=0.1, node_estimator=estimator)
    return small_model()


@pytest.fixture(scope="module")
def report(model: LabelTreeClassifier, held_out: Any) -> Report:
    return measure_report(model, *held_out, k=K)


def truth_of(y: list[list[str]], classes: Any) -> Any:
    """All pairs of a row and a label, 1 where it is true."""
    return np.array([[int(label in row) for label in classes] for row in y])


def node_probabilities(model: LabelTreeClassifier, X: Any) -> tuple[LabelTree, Any]:
    """The first tree, and P(node | parent) of each row and node: asked for each label as if it were the only one."""
    tree = model.tree_
    said = np.full((X.shape[0], tree.n_nodes), np.nan)
    for label in range(tree.n_labels):
        n_rows = X.shape[0]
        only = LabelRows(
            np.arange(n_rows + 1), np.full(n_rows, label, dtype=np.int32), model.classes_, "lists"
        )
        scores = model.model_.forest.node_scores(model.model_.read(X), only, model.make_search(), 0)[0]
        n_asked = len(scores.node) // n_rows
        row = np.repeat(np.arange(n_rows), n_asked)
        said[row, scores.node] = scores.probability
    return tree, said


def test_node_probabilities_multiply_to_those_of_labels(held_out: Any) -> None:
    """The brute force of the other tests is right itself."""
    model, (X, _) = small_model(n_trees=1), held_out
    tree, said = node_probabilities(model, X)
    expected = model.predict_proba(X, top_k=None).toarray()
    product = np.column_stack([said[:, tree.path(label)].prod(axis=1) for label in range(tree.n_labels)])
    np.testing.assert_allclose(product, expected, rtol=1e-4, atol=1e-7)


def test_ranks_are_the_metrics(model: LabelTreeClassifier, report: Report, held_out: Any) -> None:
    X, y = held_out
    labels = model.predict_topk(X, 10).labels.tolist()
    for k in range(1, 11):
        assert report.ranks.precision[k - 1] == pytest.approx(metrics.precision_at_k(y, labels, k))
        assert report.ranks.recall[k - 1] == pytest.approx(metrics.recall_at_k(y, labels, k))
        assert report.ranks.ndcg[k - 1] == pytest.approx(metrics.ndcg_at_k(y, labels, k))


def test_a_row_without_labels_counts_nothing() -> None:
    curve = rank_curve(np.array([[False, False], [True, False]]), np.array([0, 1]))
    assert curve.recall.tolist() == curve.ndcg.tolist() == [0.5, 0.5]


@given(st.integers(0, 2**32))
def test_frequency_bands_count_pairs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_rows, n_labels, k = 6, 9, 2
    counts = rng.choice([0, 1, 2, 3, 9, 10, 29, 30, 299, 1000], n_labels)
    y = rng.random((n_rows, n_labels)) < 0.3
    ranking = np.array([rng.permutation(n_labels)[:k] for _ in range(n_rows)], dtype=np.int32)
    ranking[rng.random(ranking.shape) < 0.2] = -1
    truth = LabelSets.from_pairs(*np.nonzero(y), n_rows, n_labels)
    bands = frequency_bands(counts, truth, ranking)
    assert sum(band.n_labels for band in bands) == n_labels
    assert [band.least for band in bands] == sorted({band.least for band in bands}, reverse=True)
    for band in bands:
        members = [label for label in range(n_labels) if band.least <= counts[label] <= band.most]
        asked = [(i, label) for i in range(n_rows) for label in ranking[i] if label in members]
        assert band.n_labels == len(members) > 0
        assert band.n_true == y[:, members].sum()
        assert band.n_predicted == len(asked)
        assert band.n_hits == sum(y[pair] for pair in asked)
        assert math.isnan(band.recall) == (band.n_true == 0)


def test_names_of_bands() -> None:
    truth = LabelSets.from_pairs(np.array([0]), np.array([0]), 1, 4)
    bands = frequency_bands(np.array([12_345, 3, 2, 0]), truth, np.array([[0]], dtype=np.int32))
    assert [band.name for band in bands] == ["10,000–29,999", "3–9", "1–2", "none"]
    assert [band.short_name for band in bands] == ["10k", "3", "1", "0"]


def test_thresholds_are_the_metrics(model: LabelTreeClassifier, report: Report, held_out: Any) -> None:
    X, y = held_out
    probabilities = sp.csr_matrix(model.predict_proba(X, top_k=None)).toarray()
    truth = truth_of(y, model.classes_)
    curve = report.thresholds
    for i in (0, 3, 10, 25, -1):
        decided = (probabilities >= np.float32(curve.threshold[i])).astype(int)
        assert curve.micro_f1[i] == pytest.approx(metrics.f_beta(truth, decided))
        assert curve.macro_f1[i] == pytest.approx(metrics.f_beta(truth, decided, average="macro"))
        assert curve.hamming_loss[i] == pytest.approx(metrics.hamming_loss(truth, decided))
    best = curve.best()
    assert curve.micro_f1[curve.threshold == best["micro-F1"]] == curve.micro_f1.max()
    assert curve.wrong_per_row[curve.threshold == best["Hamming loss"]] == curve.wrong_per_row.min()


def test_outcomes_are_those_of_predict(model: LabelTreeClassifier, report: Report, held_out: Any) -> None:
    X, y = held_out
    truth, predicted = truth_of(y, model.classes_), truth_of(model.predict(X), model.classes_)
    np.testing.assert_array_equal(report.outcomes.both, (truth & predicted).sum(axis=0))
    np.testing.assert_array_equal(report.outcomes.only_true, (truth & ~predicted & 1).sum(axis=0))
    np.testing.assert_array_equal(report.outcomes.only_pred, (~truth & 1 & predicted).sum(axis=0))


def test_lost_labels(model: LabelTreeClassifier, report: Report, held_out: Any) -> None:
    X, y = held_out
    tree, said = node_probabilities(model, X)
    position = {name: i for i, name in enumerate(model.classes_.tolist())}
    n_lost, n_found, given_parent = [0] * (tree.depth + 1), 0, [[] for _ in range(tree.depth + 1)]
    for i, row in enumerate(y):
        paths = {label: said[i, tree.path(label)] for label in range(tree.n_labels)}
        bar = sorted((path.prod() for path in paths.values()), reverse=True)[K - 1]
        for label in map(position.__getitem__, row):
            so_far = np.cumprod(paths[label])
            for level, probability in enumerate(paths[label]):
                given_parent[level].append(probability)
            if so_far[-1] >= bar:
                n_found += 1
            else:
                n_lost[int(np.argmax(so_far < bar))] += 1
    lost = report.first_tree.lost
    assert (lost.k, lost.n_true, lost.n_left_out) == (K, sum(map(len, y)), 0)
    if model.node_estimator is None:  # whose probabilities are often equal, so that places are arbitrary
        assert lost.n_found == n_found
        assert lost.n_lost.tolist() == n_lost
        assert min(sum(n_lost), n_found) > 0
    assert lost.n_found + lost.n_lost.sum() == lost.n_true
    np.testing.assert_allclose(lost.mean_probability, [np.mean(values) for values in given_parent], rtol=1e-5)


def test_a_narrow_beam_leaves_labels_out(held_out: Any) -> None:
    model = small_model(n_trees=1, search="beam", beam=1)
    lost = measure_report(model, *held_out, k=1).first_tree.lost
    exact = measure_report(small_model(n_trees=1), *held_out, k=1).first_tree.lost
    assert lost.n_left_out > 0
    assert exact.n_left_out == 0
    assert lost.n_found + lost.n_lost.sum() + lost.n_left_out == lost.n_true


def test_node_costs(model: LabelTreeClassifier, report: Report, held_out: Any) -> None:
    X, y = held_out
    tree, said = node_probabilities(model, X)
    truth = truth_of(y, model.classes_)
    below = [tree.labels_under(node) for node in range(tree.n_nodes)]
    positive = np.column_stack([truth[:, labels].any(axis=1) for labels in below])
    costs = report.first_tree.costs
    for node in range(tree.n_nodes):
        there = np.full(len(y), True) if node == 0 else positive[:, tree.parent[node]]
        of_truth = np.where(positive[there, node], said[there, node], 1 - said[there, node])
        loss = -np.log(np.maximum(of_truth, 2.0**-23)).mean() if there.any() else 0
        assert costs.at_parent[node] == pytest.approx(there.mean())
        assert costs.loss[node] == pytest.approx(loss, rel=1e-4, abs=1e-6)
        weight = there.mean() * len(below[node]) / tree.n_labels
        assert costs.cost[node] == pytest.approx(weight * loss, rel=1e-4, abs=1e-6)
    assert costs.total == pytest.approx(costs.cost.sum())
    assert costs.by_level(tree).sum() == pytest.approx(costs.total)
    assert costs.cost[costs.costliest(3)].tolist() == sorted(costs.cost, reverse=True)[:3]


@given(st.integers(0, 2**32))
def test_costs_bound_the_error_of_probabilities(seed: int) -> None:
    """On a known distribution: the mean error of label probabilities is at most the bound, whatever nodes say."""
    rng = np.random.default_rng(seed)
    tree = LabelTree.from_nested([[0, 1], [2, [3, 4]]])
    y = rng.random((40, 5)) < rng.random(5)  # the rows are all that there is, and have the same features
    estimate = rng.random(tree.n_nodes)
    positive = np.column_stack([y[:, tree.labels_under(node)].any(axis=1) for node in range(tree.n_nodes)])
    rows, nodes = np.nonzero(np.column_stack([np.full(40, True), positive[:, tree.parent[1:]]]))
    scores = NodeScores(
        nodes.astype(np.int32),
        tree.depth_of_node[nodes].astype(np.int64),
        estimate[nodes].astype(np.float32),
        estimate[nodes].astype(np.float32),
        positive[rows, nodes],
        np.ones(len(rows)),
    )
    estimated = np.array([estimate[tree.path(label)].prod() for label in range(5)])
    assert np.abs(y.mean(axis=0) - estimated).mean() <= node_costs(tree, scores, n_rows=40).total + 1e-6


def test_worst_labels_by_f1() -> None:
    outcomes = Outcomes(np.array([0, 10, 5, 0, 9]), np.array([9, 0, 5, 20, 1]), np.array([0, 0, 0, 0, 5]))
    assert worst_labels(outcomes, 3).tolist() == [3, 2, 4]  # the first has too few rows
    assert worst_labels(outcomes, 9, fewest_rows=1).tolist() == [3, 0, 2, 4, 1]
    assert worst_labels(outcomes, 9, fewest_rows=99).tolist() == []


def test_slowest_queries(report: Report, held_out: Any) -> None:
    X, _ = held_out
    queries = report.queries
    assert (queries.milliseconds > 0).all()
    assert queries.n_features.tolist() == np.diff(X.indptr).tolist()
    assert (queries.evaluations > 0).all()
    chosen = QueryTimes(1, np.array([1.0, 3.0, 2.0]), np.arange(3), np.arange(3)).slowest(2)
    assert chosen.tolist() == [1, 2]


@pytest.mark.parametrize("form", ["pair", "array", "lists"])
def test_every_form_of_rows(form: str, held_out: Any) -> None:
    X, y = held_out
    dense = X.toarray()
    forms = {"pair": (X[:, :15], dense[:, 15:]), "array": dense, "lists": dense.tolist()}
    given = forms[form]
    report = measure_report(LabelTreeClassifier(random_state=0).fit(given, y), given, y)
    assert report.queries.n_features.tolist() == np.diff(X.indptr).tolist()


def test_labels_that_the_model_does_not_know_are_missed(held_out: Any) -> None:
    X, y = held_out
    model = small_model()
    more = [[*row, "a new label"] for row in y]
    known, unknown = measure_report(model, X, y), measure_report(model, X, more)
    assert (known.n_unknown, unknown.n_unknown) == (0, len(y))
    np.testing.assert_array_equal(known.ranks.precision, unknown.ranks.precision)
    assert (unknown.ranks.recall < known.ranks.recall).all()
    np.testing.assert_allclose(unknown.thresholds.wrong_per_row, known.thresholds.wrong_per_row + 1)


def test_online_models_have_no_nodes_to_ask(held_out: Any) -> None:
    model = OnlineLabelTreeClassifier(random_state=0).fit(*small_data())
    report = measure_report(model, *held_out)
    assert report.first_tree is None
    assert report.calibration.levels == []
    assert report.ranks.precision[0] > 1 / len(NAMES)


class TestMistakes:
    def test_no_label_that_is_known(self, held_out: Any) -> None:
        X, y = held_out
        with pytest.raises(ValueError, match="needs at least one row with a label that the model knows"):
            measure_report(small_model(), X, [["other"] for _ in y])

    def test_rows_must_agree(self, held_out: Any) -> None:
        X, y = held_out
        with pytest.raises(ValueError, match="same number of rows, got 60 and 59"):
            measure_report(small_model(), X, y[:-1])

    def test_k(self, held_out: Any) -> None:
        with pytest.raises(ValueError, match="k must be"):
            measure_report(small_model(), *held_out, k=0)
