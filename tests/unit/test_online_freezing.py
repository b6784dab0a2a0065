"""Models made of online models, and online models made of others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from tests.contract.problem import lists, problem
from tests.online_problem import KINDS, LEARNERS, online

from labeltree import LabelTreeClassifier, OnlineLabelTreeClassifier


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_a_frozen_model_answers_the_same(kind: str, learner: dict[str, str]) -> None:
    if kind == "shared" and learner["solver"] == "fobos":
        return
    X, y = problem()
    model = online(**KINDS[kind], **learner).partial_fit(X, y)
    frozen = model.freeze(prune=0.0)
    assert isinstance(frozen, LabelTreeClassifier)
    np.testing.assert_allclose(
        frozen.predict_proba(X, top_k=None).toarray(),
        model.predict_proba(X, top_k=None).toarray(),
        rtol=2e-5,
        atol=1e-6,
    )
    assert frozen.tree_ == model.tree_
    assert frozen.label_counts_.tolist() == model.label_counts_.tolist()
    assert frozen.weights_[0].n_weights > model.freeze(prune=0.05).weights_[0].n_weights


@pytest.mark.parametrize("form", ["lists", "csr", "multiclass", "one label"])
def test_a_frozen_model_can_be_saved(form: str, tmp_path: Any) -> None:
    X, y = problem()
    targets: dict[str, Any] = {
        "lists": lists(y, lambda j: f"label {j}"),
        "csr": sp.hstack([y, sp.csr_matrix((y.shape[0], 3))]).tocsr(),
        "multiclass": np.array([row[0] if row else 99 for row in lists(y)]),
        "one label": [["x"] if row else [] for row in lists(y)],
    }
    model = online().partial_fit(X, targets[form])
    model.freeze(prune=0.0).save(tmp_path / "frozen")
    opened = LabelTreeClassifier.load(tmp_path / "frozen", verify=True)
    a, b = opened.predict_proba(X, top_k=None), model.predict_proba(X, top_k=None)
    np.testing.assert_allclose(sp.csr_matrix(a).toarray(), sp.csr_matrix(b).toarray(), rtol=2e-5, atol=1e-6)
    assert opened.classes_.tolist() == model.classes_.tolist()
    assert str(opened.predict(X[:5])) == str(model.predict(X[:5]))


@pytest.mark.parametrize("weights", ["map", "dense"])
@pytest.mark.parametrize("form", [sp.csr_matrix, lambda X: X.toarray()])
@pytest.mark.parametrize("parameters", [{"loss": "logistic"}, {"loss": "squared_hinge"}], ids=str)
def test_a_trained_model_learns_on(parameters: Any, form: Callable[[Any], Any], weights: str) -> None:
    X, y = problem()
    names = lists(y, lambda j: f"label {j:02}")
    trained = LabelTreeClassifier(max_leaves=3, random_state=0, **parameters).fit(form(X), names)
    model = OnlineLabelTreeClassifier.from_batch(trained, arity=4, weights=weights)
    np.testing.assert_allclose(
        model.predict_proba(X, top_k=None).toarray(),
        trained.predict_proba(form(X), top_k=None).toarray(),
        rtol=2e-5,
        atol=1e-6,
    )
    rng = np.random.default_rng(0)
    for _ in range(15):
        order = rng.permutation(X.shape[0])
        model.partial_fit(X[order], [[*names[i], "new"] if names[i] else [] for i in order])
    assert "new" in model.classes_
    labels = model.predict_topk(X, k=1).labels.ravel()
    labelled = [i for i in range(X.shape[0]) if names[i]]
    assert np.mean([labels[i] == "new" or labels[i] in names[i] for i in labelled]) > 0.9
    top = model.predict_topk(X, k=4).labels
    assert np.mean(["new" in top[i] for i in labelled]) > 0.9


def test_models_that_cannot_learn_on() -> None:
    X, y = problem()
    joint = LabelTreeClassifier(
        siblings="joint", loss="logistic", arity=2, max_leaves=3, frequent_share=0
    ).fit(X, y)
    with pytest.raises(ValueError, match="one linear classifier for each node"):
        OnlineLabelTreeClassifier.from_batch(joint)
    single = LabelTreeClassifier(max_leaves=3).fit(X, y)
    with pytest.raises(ValueError, match="shares weights between features"):
        OnlineLabelTreeClassifier.from_batch(single, weights="shared", memory_mb=1)
    with pytest.raises(ValueError, match="loss is the same as in the trained model"):
        OnlineLabelTreeClassifier.from_batch(single, loss="logistic")
