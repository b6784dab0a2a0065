"""Online models on disk: learning goes on as if it had never stopped, and damage is found."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.contract.problem import assert_same_answers, lists, problem
from tests.online_problem import KINDS, LEARNERS, assert_same_state, named_rows, online, state_of

from labeltree import LabelTreeClassifier, ModelFileError, OnlineLabelTreeClassifier, _native
from labeltree.model_file import load, read_info


@pytest.mark.native
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("policy", ["complete", "random", "best_fit"])
def test_learning_goes_on_as_if_it_had_never_stopped(
    kind: str, learner: dict[str, str], policy: str, tmp_path: Path
) -> None:
    if kind == "shared" and learner["solver"] == "fobos":
        return
    X, y = problem()
    parameters = {**KINDS[kind], **learner, "policy": policy}
    uninterrupted = online(**parameters).partial_fit(X, y)
    stopped = online(**parameters).partial_fit(X[:33], y[:33])
    stopped.save(tmp_path / "model")
    for resumed in (
        OnlineLabelTreeClassifier.load(tmp_path / "model", verify=True),
        pickle.loads(pickle.dumps(stopped)),
        copy.deepcopy(stopped),
    ):
        assert resumed.n_examples_ == 33
        assert resumed.get_params() == stopped.get_params()
        resumed.partial_fit(X[33:], y[33:])
        assert_same_state(resumed, uninterrupted)
        assert_same_answers(resumed, uninterrupted, X)
    assert stopped.n_examples_ == 33


def test_also_after_forgetting(tmp_path: Path) -> None:
    X, y = problem()
    model = online(policy="random").partial_fit(X, y)
    model.forget(not_seen_for=10)
    model.save(tmp_path / "model")
    again = OnlineLabelTreeClassifier.load(tmp_path / "model")
    assert_same_state(again.partial_fit(X, y), model.partial_fit(X, y))


@pytest.mark.parametrize(
    "labels",
    [
        lambda y: lists(y, lambda j: f"label {j}"),
        lambda y: lists(y, lambda j: 1000 - j),
        lambda y: sp.hstack([y, sp.csr_matrix((y.shape[0], 3))]).tocsr(),
        lambda y: y.toarray(),
        lambda y: np.array([row[0] if row else 99 for row in lists(y)]),
        lambda y: np.array([f"class {row[0]}" if row else "none" for row in lists(y)]),
        lambda y: [[]] * y.shape[0],
    ],
    ids=["strings", "integers", "csr", "array", "classes", "named classes", "no labels"],
)
@pytest.mark.parametrize("names", [True, False])
def test_labels_and_features_of_every_form(labels: Any, names: bool, tmp_path: Path) -> None:
    X, y = problem()
    rows: Any = named_rows(X) if names else X
    model = online().partial_fit(rows, labels(y))
    model.save(tmp_path / "model")
    opened = load(tmp_path / "model")
    assert isinstance(opened, OnlineLabelTreeClassifier)
    assert opened.classes_.tolist() == model.classes_.tolist()
    assert opened.n_features_in_ == model.n_features_in_
    assert str(opened.predict(rows)) == str(model.predict(rows))
    np.testing.assert_array_equal(
        opened.predict_topk(rows).probabilities, model.predict_topk(rows).probabilities
    )
    assert_same_state(opened.partial_fit(rows, labels(y)), model.partial_fit(rows, labels(y)))


def test_a_policy_of_ones_own_must_be_given_again(tmp_path: Path) -> None:
    def flat(tree: Any, label: int) -> tuple[int, bool]:
        return 0, tree.is_leaf(0)

    X, y = problem()
    model = online(policy=flat).partial_fit(X[:40], y[:40])
    model.save(tmp_path / "model")
    with pytest.raises(ModelFileError, match=r"load\(path, policy=...\)"):
        OnlineLabelTreeClassifier.load(tmp_path / "model")
    opened = OnlineLabelTreeClassifier.load(tmp_path / "model", policy=flat)
    assert_same_state(opened.partial_fit(X[40:], y[40:]), model.partial_fit(X[40:], y[40:]))


def test_labels_that_no_file_can_hold(tmp_path: Path) -> None:
    model = online().partial_fit([[1.0], [2.0]], [[("a", 1)], ["b"]])
    with pytest.raises(ValueError, match="labels"):
        model.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_the_other_class_is_told(tmp_path: Path) -> None:
    X, y = problem()
    online().partial_fit(X, y).save(tmp_path / "online")
    LabelTreeClassifier(max_leaves=4).fit(X, y).save(tmp_path / "batch")
    with pytest.raises(ModelFileError, match="is an OnlineLabelTreeClassifier, not a LabelTreeClassifier"):
        LabelTreeClassifier.load(tmp_path / "online")
    with pytest.raises(ModelFileError, match="is a LabelTreeClassifier, not an OnlineLabelTreeClassifier"):
        OnlineLabelTreeClassifier.load(tmp_path / "batch")


def test_a_model_is_described_without_being_opened(tmp_path: Path) -> None:
    X, y = problem()
    model = online().partial_fit(X, y)
    model.save(tmp_path / "model")
    info = read_info(tmp_path / "model")
    assert info.estimator == "OnlineLabelTreeClassifier"
    assert (info.format_version, info.n_labels, info.n_features) == (9, 12, 40)
    assert info.trees[0].n_nodes == model.tree_.n_nodes
    assert info.n_bytes == sum(path.stat().st_size for path in (tmp_path / "model").glob("*.safetensors"))


@pytest.mark.parametrize(
    ("parameters", "version"),
    [
        ({}, 9),
        ({"initial_accumulator": 0.5}, 9),
        ({"initial_accumulator": 1.0}, 9),
        ({"loss": "squared_hinge"}, 3),
        ({"solver": "sgd"}, 3),
    ],
)
def test_models_that_start_from_1_have_the_first_version(
    parameters: dict[str, Any], version: int, tmp_path: Path
) -> None:
    X, y = problem()
    model = OnlineLabelTreeClassifier(**parameters).partial_fit(X, y)
    model.save(tmp_path / "model")
    document = json.loads((tmp_path / "model" / "model.json").read_text())
    assert document["format_version"] == version
    assert ("initial_accumulator" in document["settings"]) == (version == 9)
    opened = OnlineLabelTreeClassifier.load(tmp_path / "model")
    assert opened.get_params() == model.get_params()
    assert opened.growing_model().settings == model.growing_model().settings


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["settings"].pop("initial_accumulator"), "must be in the parameters and in the settings"),
        (
            lambda d: d["parameters"].pop("initial_accumulator"),
            "must be in the parameters and in the settings",
        ),
        (lambda d: d.update(format_version=3), "format version 3, but its sections are those of version 9"),
        (lambda d: d["settings"].update(initial_accumulator=0), "initial_accumulator"),
        (lambda d: d["settings"].update(initial_accumulator="1"), "initial_accumulator"),
        (lambda d: d["settings"].update(initial_accumulator=1e300), "initial_accumulator"),
        (lambda d: d["settings"].update(solver="sgd"), "leave initial_accumulator at None"),
    ],
)
def test_a_wrong_initial_accumulator_is_refused(change: Any, message: str, tmp_path: Path) -> None:
    X, y = problem()
    OnlineLabelTreeClassifier().partial_fit(X, y).save(tmp_path / "model")
    path = tmp_path / "model" / "model.json"
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
    with pytest.raises(ModelFileError, match=message):
        OnlineLabelTreeClassifier.load(tmp_path / "model")


# -- damage --------------------------------------------------------------------------------------------------------


def edit(directory: Path, change: Any) -> None:
    document = json.loads((directory / "model.json").read_text())
    change(document)
    (directory / "model.json").write_text(json.dumps(document))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(n_labels=11), "other numbers of labels"),
        (lambda d: d.update(n_examples=3), "other numbers of labels or examples"),
        (lambda d: d.update(n_examples=-3), "n_examples must not be negative"),
        (lambda d: d.update(label_kind="pairs"), "'label_kind' must be one of"),
        (lambda d: d.pop("settings"), "no 'settings'"),
        (lambda d: d["settings"].pop("seed"), "settings must have all"),
        (lambda d: d["settings"].update(learning_rate=-1.0), "'learning_rate' must be"),
        (lambda d: d["settings"].update(arity=[3]), "single values"),
        (
            lambda d: d["settings"].update(weights="dense"),
            "other sizes",
        ),
        (
            lambda d: d["settings"].update(solver="sgd", regularization=0.0, initial_accumulator=1.0),
            "other sizes",
        ),
        (
            lambda d: d["settings"].update(weights="hashed", memory_mb=1e9, expected_labels=12),
            "every node must have",
        ),
        (lambda d: d["settings"].update(weights="shared", memory_mb=1e9), "the shared table must have"),
        (lambda d: d["parameters"].update(colour="red"), "no parameter 'colour'"),
        (lambda d: d.update(estimator="LabelTreeClassifier"), "is a LabelTreeClassifier"),
        (lambda d: d.update(extra=1), "unknown field 'extra'"),
        (lambda d: d["files"].update(tree=None), "online-tree must be a JSON object"),
    ],
)
def test_documents_that_lie(change: Any, message: str, tmp_path: Path) -> None:
    X, y = problem()
    online().partial_fit(X, y).save(tmp_path / "model")
    edit(tmp_path / "model", change)
    with pytest.raises(ModelFileError, match=message):
        OnlineLabelTreeClassifier.load(tmp_path / "model")


def reopened(model: OnlineLabelTreeClassifier, state: dict[str, Any]) -> Any:
    settings = model._model.settings
    return _native.OnlineTree.from_state(settings.options(), settings.tree_policies()[0], state)


@pytest.mark.native
@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_arrays_that_lie_are_refused_or_do_no_harm(kind: str, data: st.DataObject) -> None:
    X, y = problem()
    model = online(**KINDS[kind]).partial_fit(X, y)
    state = {name: values.copy() for name, values in state_of(model).items()}
    name = data.draw(st.sampled_from(sorted(state)))
    values = state[name]
    if data.draw(st.booleans()) and values.size > 0:
        at = data.draw(st.integers(0, values.size - 1))
        limits = np.iinfo(values.dtype) if values.dtype.kind in "iu" else None
        values[at] = (
            data.draw(
                st.integers(-5, 60).filter(lambda n: limits.min <= n <= limits.max)
                | st.sampled_from([limits.min, limits.max])
            )
            if limits is not None
            else data.draw(st.floats(width=32))
        )
    else:
        state[name] = np.resize(values, data.draw(st.integers(0, values.size + 3)))
    try:
        tree = reopened(model, state)
    except ValueError:
        return
    assert tree.n_labels == 12
    forest = _native.OnlineForest([tree])
    features = model.model_.read(X)
    labels = np.empty((X.shape[0], 3), dtype=np.int32)
    probabilities = np.empty((X.shape[0], 3), dtype=np.float32)
    forest.top_k(features, _native.Search(3), labels, probabilities)
    indptr = np.arange(X.shape[0] + 1, dtype=np.int64)
    try:  # every row has a new label
        forest.learn(
            features,
            indptr,
            np.arange(12, 12 + X.shape[0], dtype=np.int32),
            indptr[:-1].copy(),
        )
    except ValueError:
        return
    forest.forget((np.arange(tree.n_labels) % 3 == 0).astype(np.uint8))


# -- several trees -------------------------------------------------------------------------------------------------


def several(**parameters: Any) -> OnlineLabelTreeClassifier:
    return online(n_trees=3, policy="random", **parameters)


@pytest.mark.parametrize("kind", KINDS)
def test_several_trees_learn_on_as_if_they_had_never_been_saved(kind: str, tmp_path: Path) -> None:
    X, y = problem()
    model = several(**KINDS[kind]).partial_fit(X[:60], y[:60])
    model.save(tmp_path / "model")
    assert json.loads((tmp_path / "model" / "model.json").read_text())["format_version"] == 13
    opened = OnlineLabelTreeClassifier.load(tmp_path / "model", verify=True)
    assert opened.get_params() == model.get_params()
    assert_same_state(opened, model)
    assert_same_state(opened.partial_fit(X[60:], y[60:]), model.partial_fit(X[60:], y[60:]))
    info = read_info(tmp_path / "model")
    assert len(info.trees) == 3


def test_trees_that_were_trained_together_are_saved_though_their_policy_would_make_equal_trees(
    tmp_path: Path,
) -> None:
    X, y = problem()
    trained = LabelTreeClassifier(n_trees=2, loss="logistic", random_state=0).fit(X, y)
    model = OnlineLabelTreeClassifier.from_batch(trained).partial_fit(X, y)
    model.save(tmp_path / "model")
    opened = OnlineLabelTreeClassifier.load(tmp_path / "model")
    assert_same_state(opened, model)


def one_tree_fewer(document: dict[str, Any]) -> None:
    document["files"]["more_trees"].pop()


def other_order(document: dict[str, Any]) -> None:
    document["files"]["more_trees"].reverse()


def twice_the_same(document: dict[str, Any]) -> None:
    document["files"]["more_trees"][1] = document["files"]["more_trees"][0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (one_tree_fewer, "as many files, got 3 and 2 files"),
        (other_order, "expected a name like online-tree-1-"),
        (twice_the_same, "expected a name like online-tree-2-"),
        (lambda d: d["files"].pop("more_trees"), "as many files, got 3 and 1 file"),
        (lambda d: d["files"].update(more_trees=3), "more_trees"),
        (lambda d: d["files"].update(more_trees=[3, 4]), "online-tree-1 must be a JSON object"),
        (lambda d: d["settings"].pop("n_trees"), "as many files, got 1 and 3 files"),
        (lambda d: d["settings"].update(n_trees=2), "as many files, got 2 and 3 files"),
        (lambda d: d["settings"].update(n_trees=3.0), "n_trees"),
        (lambda d: d["settings"].update(n_trees=10**12), "as many files, got 1000000000000"),
        (lambda d: d["settings"].update(seed=-1), "(?i)seed"),
        (lambda d: d["parameters"].update(n_trees="3"), "n_trees"),
        (
            lambda d: d.update(format_version=12),
            "format version 12, but its sections are those of version 13",
        ),
    ],
)
def test_documents_that_lie_about_several_trees(change: Any, message: str, tmp_path: Path) -> None:
    X, y = problem()
    several().partial_fit(X, y).save(tmp_path / "model")
    edit(tmp_path / "model", change)
    with pytest.raises(ModelFileError, match=message):
        OnlineLabelTreeClassifier.load(tmp_path / "model")


def test_trees_of_other_examples_are_refused(tmp_path: Path) -> None:
    """As many examples and labels, but not the same ones."""
    X, y = problem()
    several().partial_fit(X[:60], y[:60]).save(tmp_path / "model")
    mixed = several().partial_fit(X[:60], y[:60])
    other = several().partial_fit(X[59::-1], y[59::-1])
    mixed._model.trees[2] = other._model.trees[2]
    mixed.save(tmp_path / "other")
    with pytest.raises(ModelFileError, match="the trees have learned other examples"):
        OnlineLabelTreeClassifier.load(tmp_path / "other")
