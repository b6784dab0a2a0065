"""Training with `rerank`, and everything that can be asked of such a model."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from tests.contract import ClassifierContract
from tests.small_models import N_LABELS, NAMES, small_data, small_model

from labeltree import LabelTreeClassifier, mix
from labeltree.calibration import expected_calibration_error
from labeltree.metrics import precision_at_k
from labeltree.model.reranked_forest import RerankedForest
from labeltree.training import column_plan, reranking
from labeltree.training.column_plan import ColumnPlan

X, y = small_data(1)


class TestRerankedLabelTreeClassifier(ClassifierContract):
    precise: ClassVar[dict[str, Any]] = {"tol": 1e-6, "max_iter": 2000, "prune": 0.0}
    endless: ClassVar[dict[str, Any]] = {"tol": 1e-30, "max_iter": 2**31 - 1, "C": 1e4}

    @pytest.fixture
    def make_classifier(self) -> Callable[..., Any]:
        return lambda **parameters: LabelTreeClassifier(
            **{"max_leaves": 4, "random_state": 0, "rerank": 5, **parameters}
        )

    @pytest.fixture(autouse=True)
    def no_random_rows(self, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
        if "weight" in request.node.name:  # where models of other rows are compared
            monkeypatch.setattr(reranking, "RANDOM_ROWS", 0)

    @staticmethod
    def _about_equal(one: Any, other: Any) -> None:
        """The map from scores to probabilities depends on the rows that are left out for it; the weights do not."""
        for a, b in zip(*(model.model_.forest.weights for model in (one, other)), strict=True):
            np.testing.assert_allclose(a.arrays["bias"], b.arrays["bias"], atol=5e-3)
        columns = [model.model_.forest.columns for model in (one, other)]
        for label in range(len(one.classes_)):
            (f, v), (g, w) = (of_model.column(label) for of_model in columns)
            dense = np.zeros((2, one.n_features_in_))
            dense[0, f], dense[1, g] = v, w
            np.testing.assert_allclose(*dense, atol=5e-3)


def hard_problem(n_rows: int = 1500, seed: int = 0) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Rows of two topics and much noise; every row has one or two of 60 labels."""
    rng = np.random.default_rng(seed)
    topics = rng.random((60, 400)) < 0.04
    rows, columns, indptr, indices = [], [], [0], []
    for row in range(n_rows):
        labels = np.unique(rng.integers(60, size=1 + row % 2))
        words = np.concatenate([np.flatnonzero(topics[label]) for label in labels])
        words = np.concatenate([rng.choice(words, 6), rng.integers(400, size=6)])
        rows += [row] * len(words)
        columns += words.tolist()
        indices += labels.tolist()
        indptr.append(len(indices))
    matrix = sp.csr_matrix((np.ones(len(rows), np.float32), (rows, columns)), shape=(n_rows, 400))
    return matrix, sp.csr_matrix((np.ones(len(indices)), indices, indptr), shape=(n_rows, 60))


def test_it_is_more_precise_and_its_probabilities_are_right() -> None:
    X_all, y_all = hard_problem(3000)
    X_train, y_train, X_test, y_test = X_all[:1500], y_all[:1500], X_all[1500:], y_all[1500:]
    # In a random tree, siblings have nothing in common: its nodes tell them apart badly.
    shape = {"tree": "random", "arity": 4, "max_leaves": 8, "frequent_share": 0.0, "random_state": 0}
    tree = LabelTreeClassifier(**shape).fit(X_train, y_train)
    model = LabelTreeClassifier(**shape, rerank=10).fit(X_train, y_train)
    found = {name: m.predict_topk(X_test, 5) for name, m in (("tree", tree), ("model", model))}
    precision = {name: precision_at_k(y_test, top.labels, 1) for name, top in found.items()}
    assert precision["model"] > precision["tree"] + 0.01
    top = found["model"]
    is_true = np.asarray(y_test[np.arange(1500)[:, None], top.labels].todense()).ravel() > 0
    assert expected_calibration_error(is_true, top.probabilities.ravel()) < 0.05


def test_without_it_nothing_changes() -> None:
    plain, model = small_model(), small_model(rerank=4)
    assert not isinstance(plain.model_.forest, RerankedForest)
    for mine, theirs in zip(plain.weights_, model.weights_, strict=True):
        assert all(np.array_equal(values, theirs.arrays[name]) for name, values in mine.arrays.items())


@pytest.mark.native
def test_label_classifiers_are_support_vector_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows of a group of siblings, those that one of them is proposed for, and no others."""
    monkeypatch.setattr(reranking, "RANDOM_ROWS", 0)
    X_train, y_train = hard_problem(400)
    model = LabelTreeClassifier(
        rerank=4,
        arity=4,
        max_leaves=8,
        frequent_share=0.0,
        tol=1e-6,
        max_iter=5000,
        prune=0.0,
        weights="float32",
        random_state=0,
        C=0.7,
    ).fit(X_train, y_train)
    forest: Any = model.model_.forest
    norms = np.sqrt(np.asarray(X_train.multiply(X_train).sum(axis=1))).ravel()
    rows = sp.diags(1 / norms) @ X_train
    n_proposed = 4 + 2  # a row has one or two labels
    proposed = forest.proposer.top_k(model.model_.read(X_train), model.make_search(n_proposed))[0]
    is_proposed = np.zeros(y_train.shape, dtype=bool)
    np.put_along_axis(is_proposed, proposed, True, axis=1)
    plan = ColumnPlan.by_siblings(model.tree_, model.label_counts_, 400)
    for group in (0, 3):
        labels = plan.label[plan.group_begin[group] : plan.group_begin[group + 1]]
        learned = (is_proposed | (y_train.toarray() > 0))[:, labels].any(axis=1)
        for label in labels[:3]:
            svm = LinearSVC(
                C=np.sqrt(0.5 * 0.7), tol=1e-8, max_iter=100_000, dual=True, intercept_scaling=1.0
            )
            target = y_train[learned, label].toarray().ravel() > 0
            svm.fit(rows[learned], target)
            feature, weight = forest.columns.column(int(label))
            found = np.zeros(400)
            found[feature] = weight
            np.testing.assert_allclose(found, svm.coef_[0], atol=2e-3)
            assert abs(forest.judges.arrays["bias"][label] - svm.intercept_[0]) < 2e-3


def test_the_map_is_that_of_a_logistic_regression(monkeypatch: pytest.MonkeyPatch) -> None:
    fitted: list[Any] = []
    fit_map = reranking.fit_map
    monkeypatch.setattr(reranking, "fit_map", lambda scores: fitted.append(scores) or fit_map(scores))
    model = LabelTreeClassifier(rerank=10, arity=4, max_leaves=8, random_state=0).fit(*hard_problem())
    (scores,) = fitted
    assert scores.positive.sum() > 100
    regression = LogisticRegression(C=1e6).fit(scores.score[:, None], scores.positive)
    # Platt's targets are not quite 0 and 1, so the sigmoids differ a little.
    grid = np.linspace(-3, 3, 25)
    found = [model.model_.forest.native.probability(score) for score in grid]
    np.testing.assert_allclose(found, regression.predict_proba(grid[:, None])[:, 1], atol=0.02)


@pytest.mark.native
@pytest.mark.parametrize("parameters", [{}, {"loss": "logistic"}, {"penalty": "l1"}, {"solver": "adagrad"}])
def test_threads_do_not_matter(parameters: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_plan, "CHUNK_GROUPS", 1)
    X_train, y_train = hard_problem(300)
    shape = {"arity": 4, "max_leaves": 8, "random_state": 3, "rerank": 5}
    models = [
        LabelTreeClassifier(**shape, **parameters, n_jobs=n_jobs).fit(X_train, y_train) for n_jobs in (1, 3)
    ]
    first, second = ({**m.model_.forest.judges.arrays, **m.model_.forest.judges.map} for m in models)
    assert first.keys() == second.keys()
    assert all(np.array_equal(values, second[name]) for name, values in first.items())
    tops = [model.predict_topk(X_train, 5) for model in models]
    assert np.array_equal(tops[0].labels, tops[1].labels)
    assert np.array_equal(tops[0].probabilities, tops[1].probabilities)


def test_trees_that_are_added() -> None:
    grown, whole = small_model(rerank=4, n_trees=1), small_model(rerank=4, n_trees=3)
    grown.add_trees(*small_data(0), n_trees=2)
    found, expected = grown.predict_topk(X, N_LABELS), whole.predict_topk(X, N_LABELS)
    assert np.array_equal(found.labels, expected.labels)
    assert np.array_equal(found.probabilities, expected.probabilities)
    with pytest.raises(ValueError, match="the model was trained with rerank=4"):
        grown.set_params(rerank=0).add_trees(*small_data(0))
    with pytest.raises(ValueError, match="the model was trained with rerank=0"):
        small_model().set_params(rerank=4).add_trees(*small_data(0))


def test_an_explanation_adds_up() -> None:
    model = small_model(rerank=4)
    label, *_, last = [label for label, _ in model.iter_labels(X[0])]
    explanation = model.explain(X[0], label, n_features=100)
    own = explanation.classifier
    assert own is not None
    assert own.proposed
    assert own.probability == explanation.probability == model.predict_topk(X[0], 1).probabilities[0, 0]
    assert own.bias + sum(c.amount for c in own.contributions) == pytest.approx(own.score, rel=1e-4)
    assert explanation.amounts() == {c.feature: c.amount for c in own.contributions}
    assert "classifier of the label" in str(explanation)
    assert len(explanation.paths) == 2
    other = model.explain(X[0], last)
    assert other.classifier is not None
    assert not other.classifier.proposed
    assert other.probability == model.predict_pairs(X[0], [0], [last])[0]
    assert "the trees do not propose this label" in str(other)
    assert model.explain(X[0], label, n_features=1).classifier.contributions == own.contributions[:1]
    assert small_model().explain(X[0], label).classifier is None


def test_calibration_decision_copies_and_mixes() -> None:
    model = small_model(rerank=4)
    before = model.predict_topk(X, N_LABELS)
    model.calibrate(X, y)
    assert model.calibration_.labels is not None
    after = model.predict_topk(X, N_LABELS)
    assert not np.array_equal(before.probabilities, after.probabilities)
    copied = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copied.predict_topk(X, N_LABELS).probabilities, after.probabilities)
    del model.calibration_
    again = model.predict_topk(X, N_LABELS)
    assert np.array_equal(again.labels, before.labels)
    assert np.array_equal(again.probabilities, before.probabilities)
    model.decide_for("micro_f1", X, y)
    assert any(model.predict(X))
    mixed = mix([model, small_model(1)])
    assert mixed.predict_topk(X, 3).labels.shape == (X.shape[0], 3)
    other_link = small_model(rerank=4).set_params(link="exp2", tree_weight=[1.0, 3.0])
    assert isinstance(other_link.model_.forest, RerankedForest)
    assert other_link.model_.forest.proposer.link == "exp2"


def test_proposals_may_be_more_than_the_labels() -> None:
    model = small_model(rerank=1000)
    assert model.predict_topk(X, N_LABELS).labels.shape == (X.shape[0], N_LABELS)
    forest: Any = model.model_.forest
    assert set(model.predict_topk(X[0], N_LABELS).labels[0]) == set(NAMES)
    assert forest.n_proposals == 1000


def test_labels_of_all_rows_and_of_none() -> None:
    indicator = np.zeros((60, 5))
    indicator[:, 0] = 1
    indicator[np.arange(60), 1 + np.arange(60) % 3] = 1
    model = LabelTreeClassifier(rerank=5, random_state=0).fit(X, sp.csr_matrix(indicator))
    found = model.predict_pairs(X, np.repeat(np.arange(60), 2), [0, 4] * 60).reshape(60, 2)
    assert (found[:, 0] == 1).all()
    assert (found[:, 1] == 0).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"rerank": -1}, "'rerank' must be"),
        ({"rerank": 2.5}, "'rerank' must be"),
        ({"rerank": True}, "'rerank' must be"),
        ({"rerank": 3, "label_weight": "propensity"}, "rerank does not work with label_weight"),
        ({"rerank": 3, "node_estimator": LogisticRegression()}, "rerank"),
    ],
)
def test_what_does_not_work_is_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LabelTreeClassifier(**parameters).fit(X, y)


def test_a_sample_of_groups_has_cheap_and_expensive_ones() -> None:
    plan = ColumnPlan(np.arange(100, dtype=np.int32), np.arange(0, 101, 10))
    cost = np.repeat(np.arange(10), 10)[::-1].copy()
    sample = plan.sample(0.3, 1, cost, first=0.5)
    assert len(sample.label) == 30
    assert np.ptp(cost[sample.label]) >= 5
    assert np.array_equal(np.sort(sample.label), sample.label)
    assert plan.sample(0.3, 1000, cost, first=0.5).label.tolist() == plan.label.tolist()
