"""Weights of labels in `predict_topk`: what every kind of model makes of them, and how they may be given."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.naive_bayes import MultinomialNB
from tests.documents import documents
from tests.reference.weighted_search import best_by_worth
from tests.small_models import NAMES, small_data, small_model

from labeltree import LabelTreeClassifier, OnlineLabelTreeClassifier
from labeltree.exchange import search_topk
from labeltree.metrics import evaluate, inverse_propensity
from labeltree.trees import LabelTree

pytestmark = pytest.mark.native

(X, TEST), (Y, Y_TEST) = ((part[:150], part[150:]) for part in documents(200, 60, 20))
SHAPE = {"tree": "kmeans", "arity": 2, "max_leaves": 3, "frequent_share": 0.0, "random_state": 0}
KINDS = ("one tree", "dense features", "node estimators", "online")
# No two products are equal.
WEIGHT = np.random.default_rng(1).choice([0.1, 0.5, 1.0, 4.0, 9.0], size=20) + np.arange(20) / 1000


@cache
def model_of(kind: str) -> tuple[Any, Any]:
    """A model and what to ask it."""
    if kind == "online":
        return OnlineLabelTreeClassifier(arity=2, random_state=0).partial_fit(X, Y), TEST
    if kind == "node estimators":
        return LabelTreeClassifier(node_estimator=MultinomialNB(), **SHAPE).fit(X, Y), TEST
    if kind == "dense features":
        return LabelTreeClassifier(loss="logistic", **SHAPE).fit(X.toarray() - 0.5, Y), TEST.toarray() - 0.5
    return LabelTreeClassifier(loss="logistic", **SHAPE).fit(X, Y), TEST


def all_probabilities(model: Any, rows: Any) -> NDArray[np.float32]:
    """P(label | x) of all rows and labels, by the paths of labels."""
    n_rows, n_labels = rows.shape[0], len(model.classes_)
    row, label = np.divmod(np.arange(n_rows * n_labels), n_labels)
    found: NDArray[np.float32] = model.predict_pairs(rows, row, model.classes_[label])
    return found.reshape(n_rows, n_labels)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [1, 4, 20])
def test_every_kind_of_model_finds_the_labels_worth_most(kind: str, k: int) -> None:
    model, rows = model_of(kind)
    allow = np.arange(2, 18).tolist()
    labels, probabilities = model.predict_topk(rows, k, label_weight=WEIGHT)
    above, _ = model.predict_topk(rows, k, label_weight=WEIGHT, threshold=0.05, allow=allow)
    for i, p in enumerate(all_probabilities(model, rows)):
        assert labels[i].tolist() == best_by_worth(WEIGHT, p, k)
        np.testing.assert_array_equal(probabilities[i], p[labels[i]])
        denied = np.where(np.isin(np.arange(20), allow), p, np.float32(-1))
        expected = best_by_worth(WEIGHT, denied, k, 0.05)
        assert above[i].tolist() == expected + [-1] * (k - len(expected))
    assert (labels[:, :1] != model.predict_topk(rows, 1).labels).any()


@pytest.mark.parametrize("kind", KINDS)
def test_a_wide_beam_is_exact(kind: str) -> None:
    model, rows = model_of(kind)
    exact = model.predict_topk(rows, 4, label_weight=WEIGHT)
    model.set_params(search="beam", beam=20)
    wide = model.predict_topk(rows, 4, label_weight=WEIGHT)
    narrow = model.set_params(beam=1).predict_topk(rows, 4, label_weight=WEIGHT)
    model.set_params(search="exact")
    np.testing.assert_array_equal(wide.labels, exact.labels)
    assert (narrow.labels != exact.labels).any()


@pytest.mark.parametrize("estimator", [None, MultinomialNB()])
def test_several_trees_are_exact_where_they_propose_all(estimator: Any) -> None:
    model = LabelTreeClassifier(n_trees=3, node_estimator=estimator, **SHAPE).fit(X, Y)
    labels, probabilities = model.predict_topk(TEST, 20, label_weight=WEIGHT)
    for i, p in enumerate(all_probabilities(model, TEST)):
        assert labels[i].tolist() == best_by_worth(WEIGHT, p, 20)
        np.testing.assert_array_equal(probabilities[i], p[labels[i]])


@pytest.mark.parametrize("kind", KINDS)
def test_a_label_without_weight_comes_last(kind: str) -> None:
    model, rows = model_of(kind)
    first = int(np.bincount(model.predict_topk(rows, 1).labels[:, 0]).argmax())
    labels = model.predict_topk(rows, 20, label_weight={first: 0}).labels
    assert (all_probabilities(model, rows) > 0).all()
    assert (labels[:, -1] == first).all()
    nothing = model.predict_topk(rows, 20, label_weight=np.zeros(20)).labels
    assert (np.sort(nothing, axis=1) == np.arange(20)).all()


def test_threads_change_nothing() -> None:
    model, rows = model_of("one tree")
    answers = []
    for n_jobs in (1, 2, 5):
        model.set_params(n_jobs=n_jobs)
        answers.append(model.predict_topk(rows, 5, label_weight=WEIGHT, return_evaluations=True))
    model.set_params(n_jobs=None)
    for answer in answers[1:]:
        for found, expected in zip(answer, answers[0], strict=True):
            np.testing.assert_array_equal(found, expected)


def test_propensities_raise_what_they_are_for() -> None:
    model, rows = model_of("one tree")
    weight = inverse_propensity(Y)
    by_word = model.predict_topk(rows, 5, label_weight="propensity")
    by_number = model.predict_topk(rows, 5, label_weight=weight)
    np.testing.assert_array_equal(by_word.labels, by_number.labels)
    plain = evaluate(Y_TEST, model.predict_topk(rows, 5).labels, inverse_propensity=weight)
    weighted = evaluate(Y_TEST, by_word.labels, inverse_propensity=weight)
    assert all(weighted[f"PSP@{k}"] > plain[f"PSP@{k}"] for k in (1, 3, 5))


def test_a_dict_speaks_of_the_users_labels_and_may_leave_some_out() -> None:
    model, (rows, _) = small_model(n_trees=1), small_data()
    array = np.ones(len(NAMES))
    at = model.classes_.tolist().index(NAMES[3])
    array[at] = 50.0
    by_name = model.predict_topk(rows, 3, label_weight={NAMES[3]: 50})
    by_place = model.predict_topk(rows, 3, label_weight=array.tolist())
    np.testing.assert_array_equal(by_name.labels, by_place.labels)
    assert (by_name.labels[:, 0] == NAMES[3]).sum() > (model.predict_topk(rows, 1).labels == NAMES[3]).sum()


def test_online_labels_are_weighed_by_their_names_whenever_they_came() -> None:
    rows, y = small_data()
    model = OnlineLabelTreeClassifier(random_state=0).partial_fit(rows, y)
    # Labels come in another order than that of classes_.
    assert model._model.labels.labels != model.classes_.tolist()
    weight = dict(zip(NAMES, (np.arange(12) % 5 + 1.0).tolist(), strict=True))
    labels = model.predict_topk(rows, 12, label_weight=weight).labels
    by_place = np.array([weight[name] for name in model.classes_])
    for found, p in zip(labels.tolist(), all_probabilities(model, rows), strict=True):
        assert found == model.classes_[best_by_worth(by_place, p, 12)].tolist()
    propensity = model.predict_topk(rows, 3, label_weight="propensity").labels
    assert (propensity != model.predict_topk(rows, 3).labels).any()


def test_online_columns_that_never_had_a_1_come_last() -> None:
    wider = sp.csr_matrix((Y.data, Y.indices, Y.indptr), shape=(Y.shape[0], 23))
    model = OnlineLabelTreeClassifier(random_state=0).partial_fit(X, wider)
    labels, probabilities = model.predict_topk(X, 23, label_weight=np.r_[WEIGHT, 100, 100, 100])
    assert (labels[:, 20:] == [20, 21, 22]).all()
    assert (probabilities[:, 20:] == 0).all()


def test_an_online_model_of_one_label() -> None:
    model = OnlineLabelTreeClassifier(random_state=0).partial_fit(X[:3], [["only"]] * 3)
    labels, probabilities = model.predict_topk(X[:2], 1, label_weight={"only": 7})
    assert labels.tolist() == [["only"], ["only"]]
    np.testing.assert_array_equal(probabilities, model.predict_topk(X[:2], 1).probabilities)


def test_scores_of_any_learner() -> None:
    tree = LabelTree.from_nested([[0, 1], 2])
    scores = [[1.0, 0.5, 0.3, 0.8, 0.2]]
    best = search_topk(tree, scores, k=2, label_weight=[1.0, 5.0, 1.0])
    assert best.labels.tolist() == [[1, 0]]
    np.testing.assert_allclose(best.probabilities, [[0.1, 0.4]])


@pytest.mark.parametrize("kind", ["one tree", "node estimators", "online"])
@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.ones(19), r"label_weight must have shape \(20,\), one weight per label, got \(19,\)"),
        (2.0, r"label_weight must have shape \(20,\), one weight per label, got \(\)"),
        ([1.0] * 19 + [-1.0], "label_weight must be finite and at least 0, but is -1.0 for the label 19"),
        ({3: np.nan}, "label_weight must be finite and at least 0, but is nan for the label 3"),
        ({3: np.inf}, "label_weight must be finite and at least 0, but is inf for the label 3"),
        ({20: 1.0}, "20 is not a label of this model"),
        ({3: "much"}, "label_weight must hold numbers"),
        (
            "frequency",
            "label_weight must be 'propensity', one weight per label, a dictionary .* got 'frequency'",
        ),
    ],
)
def test_wrong_weights_are_told(kind: str, given: Any, message: str) -> None:
    model, rows = model_of(kind)
    with pytest.raises(ValueError, match=message):
        model.predict_topk(rows, label_weight=given)


def test_guided_search_tells_wrong_weights() -> None:
    tree = LabelTree.from_nested([[0, 1], 2])
    with pytest.raises(
        ValueError, match=r"label_weight must be finite and at least 0, but is -1\.0 for the label 1"
    ):
        search_topk(tree, np.ones((1, 5)), label_weight=[0, -1, 2])
