"""Labels of an online model one by one: each step costs what the next label costs, and the model must not change."""

from __future__ import annotations

import threading
import time
from itertools import islice
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.contract.problem import problem
from tests.online_models import matrices, online_model
from tests.online_problem import online
from tests.online_streams import LEARNERS, policies, streams

from labeltree import OnlineLabelTreeClassifier


@settings(deadline=None)
@given(
    stream=streams(max_labels=20),
    policy=policies(),
    learner=st.sampled_from(LEARNERS),
    clips=st.booleans(),
    data=st.data(),
)
def test_labels_one_by_one_are_all_labels_sorted(
    stream: Any, policy: Any, learner: Any, clips: bool, data: Any
) -> None:
    """Equal ones too, which streams of few values have many of: they come in the order of their arrival."""
    link = "clip" if clips and learner.loss == "squared_hinge" else "auto"
    model = online_model(learner, link=link, **policy.parameters())
    X, y = matrices(stream)
    model.partial_fit(X, y)
    if model.n_labels_ == 0:
        return
    arrived = model._model.labels.labels
    allowed = data.draw(st.sets(st.sampled_from(arrived)) | st.none())
    for i in range(X.shape[0]):
        p = model.predict_pairs(X[i], [0] * len(arrived), arrived).tolist()
        expected = sorted(zip(arrived, p, strict=True), key=lambda pair: -pair[1])  # stable
        if allowed is not None:
            expected = [pair for pair in expected if pair[0] in allowed]
        found = list(model.iter_labels(X[i], allow=allowed))
        assert sorted(found) == sorted(expected)
        # Whole trees may be tied at 0: their order is not said, as in predict_topk.
        assert [pair for pair in found if pair[1] > 0] == [pair for pair in expected if pair[1] > 0]


def test_equal_labels_come_in_the_order_of_their_arrival() -> None:
    """An empty row has the same bias everywhere: all labels that were seen once are equal."""
    names = list("qwertyuiopasdfgh")
    X = sp.csr_matrix((len(names), 3), dtype=np.float32)
    model = OnlineLabelTreeClassifier(bias=False, arity=4).partial_fit(X, [[name] for name in names])
    found = list(model.iter_labels(X[0]))
    best = model.predict_topk(X[0], k=len(names))
    assert [label for label, _ in found] == best.labels[0].tolist()
    assert len({p for _, p in found}) < len(names)


def many_labels(n_labels: int) -> tuple[sp.csr_matrix, list[list[int]]]:
    random = np.random.default_rng(0)
    X = sp.random(n_labels, 400, density=0.05, format="csr", random_state=0, dtype=np.float32)
    return X, [[int(i), int(random.integers(n_labels // 20))] for i in range(n_labels)]


@pytest.mark.parametrize("parameters", [{}, {"n_trees": 2, "policy": "random"}], ids=["one", "two"])
def test_the_first_labels_are_found_without_the_others(parameters: dict[str, Any]) -> None:
    X, y = many_labels(3000)
    model = OnlineLabelTreeClassifier(random_state=0, **parameters).partial_fit(X, y)

    def seconds(n: int | None) -> float:
        begin = time.process_time()
        for i in range(5):
            list(islice(model.iter_labels(X[i]), n))
        return time.process_time() - begin

    assert min(seconds(5) for _ in range(3)) < min(seconds(None) for _ in range(3)) / 4


@pytest.mark.parametrize("parameters", [{}, {"n_trees": 2, "policy": "random"}], ids=["one", "two"])
def test_a_model_that_changes_ends_the_iteration(parameters: dict[str, Any]) -> None:
    X, y = problem()
    model = online(**parameters).partial_fit(X, y)
    for change in (
        lambda: model.partial_fit(X[:1], y[:1]),
        lambda: model.predict_then_learn(X[:1], y[:1]),
        lambda: model.forget(labels=model._model.labels.labels[:1]),
    ):
        found = model.iter_labels(X[0])
        next(found)
        change()
        with pytest.raises(RuntimeError, match="has learned or forgotten since iter_labels was called"):
            next(found)
        assert next(model.iter_labels(X[0]))  # a new one starts from the model as it is now
    found = model.iter_labels(X[0])
    model.predict_topk(X)  # questions change nothing
    with pytest.raises(ValueError, match="keep to one form"):  # nothing is learned
        model.partial_fit(X[:1], [["a", "label"]])
    assert len(list(found)) == len(model.classes_)


def test_other_threads_may_learn_between_two_steps() -> None:
    """Each step sees a whole model, or says that it has changed."""
    X, y = problem()
    model = online().partial_fit(X, y)
    ended = threading.Event()

    def learn() -> None:
        while not ended.is_set():
            model.partial_fit(X[:5], y[:5])

    thread = threading.Thread(target=learn)
    thread.start()
    n_steps = n_changed = 0
    try:
        while n_changed < 50:
            try:
                for _, p in model.iter_labels(X[0]):
                    assert 0 <= p <= 1
                    n_steps += 1
            except RuntimeError:
                n_changed += 1
    finally:
        ended.set()
        thread.join()


def test_without_labels_there_is_nothing_to_iterate() -> None:
    X, y = problem()
    model = online().partial_fit(X, y)
    model.forget(labels=list(model._model.labels.labels))
    assert {p for _, p in model.iter_labels(X[0])} == {0.0}  # columns of y that no tree has
    one = OnlineLabelTreeClassifier().partial_fit(X[:1], [["only"]])
    ((label, probability),) = one.iter_labels(X[0])
    assert (label, probability) == ("only", one.predict_pairs(X[0], [0], ["only"])[0])
