"""OnlineLabelTreeClassifier: it learns from streams, tests itself on them, and is asked meanwhile."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from tests.contract.problem import assert_same_answers, lists, problem
from tests.documents import documents
from tests.online_problem import KINDS, LEARNERS, assert_same_state, online

from labeltree import OnlineLabelTreeClassifier


@pytest.mark.native
@pytest.mark.parametrize("kind", KINDS)
def test_one_by_one_is_as_good_as_all_at_once(kind: str) -> None:
    X, y = problem()
    at_once = online(**KINDS[kind]).partial_fit(X, y)
    one_by_one = online(**KINDS[kind])
    for i in range(X.shape[0]):
        one_by_one.partial_fit(X[[i]], y[[i]])
    assert_same_state(at_once, one_by_one)
    assert_same_answers(at_once, one_by_one, X)
    assert one_by_one.n_examples_ == X.shape[0]


@pytest.mark.native
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("kind", ["map", "dense", "hashed"])
def test_every_learner_learns(kind: str, learner: dict[str, str]) -> None:
    X, y = problem()
    model = online(**KINDS[kind], **learner, epochs=20).fit(X, y)
    best = model.predict_topk(X, k=1).labels.ravel()
    labelled = np.flatnonzero(np.diff(y.indptr))
    assert y[labelled, best[labelled]].mean() > 0.9


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_dense_weights_are_those_of_maps(learner: dict[str, str]) -> None:
    X, y = problem()
    assert_same_answers(
        online(**learner).partial_fit(X, y), online(weights="dense", **learner).partial_fit(X, y), X
    )


def test_features_and_labels_come_at_any_time() -> None:
    X, y = problem()
    wide = online().partial_fit(X, y)
    growing = online()
    for i in range(X.shape[0]):
        row, labels = X[[i]], y[[i]]
        width = int(row.indices.max(initial=0)) + 1
        growing.partial_fit(sp.csr_matrix((row.data, row.indices, row.indptr), shape=(1, width)), labels)
    assert_same_answers(wide, growing, X)
    assert growing.n_features_in_ <= X.shape[1]


def test_leaves_are_the_labels_seen() -> None:
    model = online()
    model.partial_fit([[1.0, 0.0]], [[]])
    assert model.classes_.tolist() == []
    assert model.predict([[1.0, 0.0]]) == [[]]
    assert model.predict_topk([[1.0, 0.0]]).labels.shape == (1, 0)
    model.partial_fit([[1.0, 0.0]], [["only"]])
    labels, probabilities = model.predict_topk([[1.0, 0.0]], k=3)
    assert labels.tolist() == [["only"]]
    assert 0 < probabilities[0, 0] < 1
    assert model.tree_.n_labels == 1
    model.partial_fit([[0.0, 1.0]], [["zebra", "ant"]])
    assert model.classes_.tolist() == ["ant", "only", "zebra"]
    assert model.tree_.n_labels == 3
    assert model.label_counts_.tolist() == [1, 1, 1]


@pytest.mark.parametrize("kind", KINDS)
def test_predict_then_learn(kind: str) -> None:
    X, y = problem()
    named = lists(y, lambda j: f"label {j}")
    model, twin = online(**KINDS[kind]), online(**KINDS[kind]).partial_fit(X[:1], named[:1])
    model.partial_fit(X[:1], named[:1])
    labels, probabilities = model.predict_then_learn(X[1:], named[1:], k=3)
    for i in range(1, X.shape[0]):
        expected = twin.predict_topk(X[[i]], k=3)
        n = expected.labels.shape[1]
        assert labels[i - 1, :n].tolist() == expected.labels[0].tolist()
        np.testing.assert_array_equal(probabilities[i - 1, :n], expected.probabilities[0])
        assert (probabilities[i - 1, n:] == 0).all()
        twin.partial_fit(X[[i]], [named[i]])
    assert_same_state(model, twin)


def test_the_first_prediction_knows_nothing() -> None:
    labels, probabilities = online().predict_then_learn([[1.0], [1.0]], [[7], [8]], k=2)
    assert labels.tolist() == [[-1, -1], [7, -1]]
    assert probabilities[0].tolist() == [0, 0]
    assert online().predict_then_learn([[1.0]], [["a"]], k=1).labels.tolist() == [[None]]


@pytest.mark.native
def test_asking_while_learning_goes_on() -> None:
    X, y = documents(1500, 100, 120)
    names = lists(y, lambda j: f"label {j:03}")
    model = online().partial_fit(X[:50], names[:50])
    over = threading.Event()
    failures: list[BaseException] = []

    def ask(question: Callable[[], Any]) -> None:
        try:
            while not over.is_set():
                question()
        except BaseException as failure:  # to be raised in the main thread
            failures.append(failure)

    def top() -> None:
        labels, probabilities = model.predict_topk(X[:40], k=5)
        assert all(len(set(row)) == len(row) for row in labels.tolist())
        assert ((probabilities > 0) & (probabilities <= 1)).all()
        assert (np.diff(probabilities, axis=1) <= 0).all()

    def matrix() -> None:
        probabilities = model.predict_proba(X[:20], top_k=None)
        assert probabilities.shape[1] >= 30
        assert (np.diff(probabilities.indptr) == probabilities.shape[1]).all(), (
            "labels of two states of the tree"
        )

    questions = [top, matrix, lambda: model.tree_.depth, lambda: model.freeze(), lambda: pickle.dumps(model)]
    threads = [threading.Thread(target=ask, args=(question,)) for question in questions]
    for thread in threads:
        thread.start()
    try:
        for begin in range(50, 1500, 50):
            model.partial_fit(X[begin : begin + 50], names[begin : begin + 50])
            if begin % 500 == 0:
                model.forget(not_seen_for=400)
    finally:
        over.set()
        for thread in threads:
            thread.join()
    if failures:
        raise failures[0]
    assert model.n_examples_ == 1500


def test_labels_that_come_while_thresholds_are_tuned_have_the_median(monkeypatch) -> None:
    """`decide_for` must not pair thresholds with labels that came after they were tuned."""
    X, y = np.eye(4), [["a"], ["b"], ["a", "c"], ["b", "c"]]
    model = OnlineLabelTreeClassifier(random_state=0).fit(X, y)
    growing = model.model_
    deciding = type(growing).deciding

    def late(self, decision, classes=None):
        model.partial_fit(X[:1], [["zebra"]])
        return deciding(self, decision, classes)

    monkeypatch.setattr(type(growing), "deciding", late)
    model.decide_for("macro_f1", X, y)
    assert len(model.decision_.threshold) == len(model.classes_) == 4
    assert len(model.predict(X)) == 4


def test_labels_keep_their_names_when_ctrl_c_comes_between(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tree has learned a new label, and the signal comes before the label has its name."""
    X, y = np.eye(4), [["a"], ["b"], ["a", "c"], ["d"]]
    model = OnlineLabelTreeClassifier(random_state=0).partial_fit(X[:1], y[:1])
    table = type(model.model_.labels)
    add = table.add

    def interrupted(self: Any, labels: Any) -> None:
        monkeypatch.setattr(table, "add", add)
        raise KeyboardInterrupt

    monkeypatch.setattr(table, "add", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X[1:3], y[1:3])
    model.partial_fit(X[3:], y[3:])
    straight = OnlineLabelTreeClassifier(random_state=0).partial_fit(X, y)
    assert_same_state(model, straight)
    assert_same_answers(model, straight, X)
