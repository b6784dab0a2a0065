"""Joint classifiers of siblings: multinomial logistic regression over codes, marginalised in prediction."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from tests.documents import documents
from tests.hand_made_models import replace_weights
from tests.kernel import kernel_probabilities
from tests.reference.joint_siblings import child_probabilities, code_weights, joint_objective
from tests.reference.packed_index import unpacked_block
from tests.reference.search import label_marginals
from tests.strategies import label_trees

from labeltree import LabelTree, LabelTreeClassifier, ModelFileError, _native

pytestmark = pytest.mark.native

JOINT: dict[str, Any] = {"loss": "logistic", "siblings": "joint", "weights": "float32", "random_state": 0}
PRECISE: dict[str, Any] = {**JOINT, "tol": 1e-4, "max_iter": 5000, "prune": 0.0, "frequent_share": 0.0}


def with_bias(X: Any, *, normalize: bool = True) -> NDArray[np.float64]:
    dense = np.asarray(X.todense(), dtype=np.float64)
    if normalize:
        dense /= np.maximum(np.linalg.norm(dense, axis=1, keepdims=True), 1e-30)
    return np.hstack([dense, np.ones((len(dense), 1))])


def codes_of_rows(tree: LabelTree, node: int, y: Any) -> NDArray[np.int64]:
    """Bit c: whether the row has a label below child c."""
    children = [y[:, tree.labels_under(child)].sum(axis=1).A1 > 0 for child in tree.children(node)]
    return sum(positive.astype(np.int64) << c for c, positive in enumerate(children))


@pytest.mark.parametrize("C", [0.1, 1.0, 8.0, 50.0])
def test_every_node_is_as_good_as_scikit_learns_multinomial_regression(C: float) -> None:
    X, y = documents(150, 60, 12, seed=1)
    tree = LabelTree.from_nested([[0, 1, 2, 3, 4], [5, 6], [[7, 8, 9], [10, 11]]])
    weight = np.random.default_rng(0).exponential(size=150)
    model = LabelTreeClassifier(**PRECISE, tree=tree, C=C).fit(X, y, sample_weight=weight)
    assert model.training_report_[0]["n_unconverged"] == 0
    rows = with_bias(X)
    for node in tree.inner_nodes:
        codes = codes_of_rows(tree, node, y)
        here = codes > 0
        found, W = code_weights(model.weights_[0], node, 60)
        column = np.searchsorted(found, codes[here])
        np.testing.assert_array_equal(found, np.unique(codes[here]))
        other = LogisticRegression(C=C, fit_intercept=False, tol=1e-7, max_iter=10_000)
        other.fit(rows[here], column, sample_weight=weight[here])
        # Of two classes scikit-learn has the difference of the weights, which are opposite.
        best = other.coef_ if len(found) > 2 else np.vstack([-other.coef_, other.coef_]) / 2
        cost = C * weight[here]
        objective = joint_objective(W, rows[here], column, cost)
        if len(found) > 2:
            np.testing.assert_allclose(W, best, atol=2e-3)
            assert objective <= joint_objective(best, rows[here], column, cost) * (1 + 1e-5)
        else:
            assert objective <= joint_objective(best, rows[here], column, cost)


@pytest.mark.filterwarnings("ignore:siblings='joint' found no node")
@given(label_trees(max_labels=9), st.integers(0, 2**32 - 1), st.sampled_from(["float32", "bfloat16", "int8"]))
@settings(max_examples=25)
def test_predictions_are_the_twins(tree: LabelTree, seed: int, weight_type: str) -> None:
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(2, 30))
    X = sp.random(n_rows, 6, 0.5, "csr", np.float32, rng, data_rvs=rng.standard_normal)
    labels = rng.random((n_rows, tree.n_labels)) < 0.4
    labels[np.arange(n_rows), rng.integers(tree.n_labels, size=n_rows)] = True
    y = sp.csr_matrix(labels.astype(float))
    model = LabelTreeClassifier(**{**JOINT, "prune": 0.0, "tree": tree}).fit(X, y)
    replace_weights(model, [model.weights_[0].with_weight_type(weight_type)])
    dense = X.toarray()
    rows = with_bias(X)
    eta = np.array([kernel_probabilities(model, dense, row) for row in range(n_rows)])
    for node in tree.inner_nodes:
        children = list(tree.children(node))
        codes, W = code_weights(model.weights_[0], node, 6)
        if len(codes) == 0:
            # Too many children, or no example: independent classifiers.
            assert len(children) > 5 or not y[:, tree.labels_under(node)].sum()
            continue
        expected = child_probabilities(codes, W, rows, len(children))
        np.testing.assert_allclose(eta[:, children], expected, atol=2e-6)
        assert (eta[:, children].sum(axis=1) >= 1 - 1e-6).all()
    expected = np.array([label_marginals(tree, eta[row]) for row in range(n_rows)])
    np.testing.assert_allclose(model.predict_proba(X, top_k=None).toarray(), expected, atol=2e-6)


def test_wide_nodes_stay_independent() -> None:
    X, y = documents(200, 60, 12, seed=2)
    tree = LabelTree.from_nested([[0, 1, 2, 3, 4], [5, 6, 7, 8, 9, 10], 11])
    joint = LabelTreeClassifier(**PRECISE, tree=tree).fit(X, y).weights_[0]
    alone = LabelTreeClassifier(**{**PRECISE, "siblings": "independent"}, tree=tree).fit(X, y).weights_[0]
    sizes = np.diff(joint.arrays["code_begin"])
    assert (sizes > 0).tolist() == [False, True, True, False]
    features = [
        unpacked_block(weights.arrays["index"][slice(*weights.arrays["index_begin"][3:5])].tobytes())[0]
        for weights in (joint, alone)
    ]
    assert features[0] == features[1]
    wide = list(tree.children(2))
    np.testing.assert_allclose(joint.arrays["bias"][wide], alone.arrays["bias"][wide], atol=1e-4)


def test_siblings_of_which_each_row_has_one_are_a_softmax() -> None:
    rng = np.random.default_rng(3)
    X = sp.csr_matrix(rng.random((60, 10)).astype(np.float32))
    model = LabelTreeClassifier(**JOINT, tree="flat").fit(X, rng.integers(4, size=60))
    assert model.weights_[0].arrays["code"].tolist() == [1, 2, 4, 8]
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1, atol=1e-6)


def test_the_number_of_threads_does_not_change_a_bit() -> None:
    X, y = documents(300, 100, 40, seed=4)
    parameters = {**JOINT, "arity": 4, "max_leaves": 5, "frequent_share": 0.0}
    expected = LabelTreeClassifier(**parameters).fit(X, y).weights_[0].arrays
    found = LabelTreeClassifier(**parameters, n_jobs=3).fit(X, y).weights_[0].arrays
    assert expected.keys() == found.keys() >= {"code", "code_begin", "code_bias"}
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array)


TRAINER = """
import sys
import numpy as np
from tests.documents import documents
from labeltree import LabelTreeClassifier
X, y = documents(200, 100, 30, seed=5)
arrays = {}
for arity in (2, 3, 5):
    model = LabelTreeClassifier(
        loss="logistic", siblings="joint", arity=arity, max_leaves=arity, frequent_share=0.0, random_state=0
    ).fit(X, y)
    arrays |= {f"{arity} {name}": array for name, array in model.weights_[0].arrays.items()}
np.savez(sys.argv[1], **arrays)
"""


def test_every_instruction_set_makes_the_same_model_bit_for_bit(tmp_path: Path) -> None:
    found = []
    for code in _native.available_vector_code():
        answer = tmp_path / f"{code}.npz"
        environment = {**os.environ, "LABELTREE_ISA": code}
        subprocess.run([sys.executable, "-c", TRAINER, str(answer)], env=environment, check=True, timeout=120)
        found.append(dict(np.load(answer)))
    for other in found[1:]:
        for name, array in found[0].items():
            np.testing.assert_array_equal(other[name], array, err_msg=name)


@pytest.mark.parametrize("scale", [1e10, 1e18, 1e20, 1e30, 1e37])
def test_rows_whose_squared_norm_overflows_leave_probabilities(scale: float) -> None:
    X, y = documents(150, 60, 12, seed=1)
    X = (X.astype(np.float64) * scale).astype(np.float32)
    tree = LabelTree.from_nested([[0, 1, 2, 3, 4], [5, 6], [[7, 8, 9], [10, 11]]])
    model = LabelTreeClassifier(**PRECISE | {"max_iter": 10}, tree=tree, normalize=False).fit(X, y)
    assert all(np.isfinite(array).all() for array in model.weights_[0].arrays.values())
    dense = X.toarray()
    for row in range(20):
        eta = kernel_probabilities(model, dense, row)
        assert ((eta >= 0) & (eta <= 1)).all()
        assert all(eta[list(tree.children(node))].sum() >= 1 - 1e-6 for node in tree.inner_nodes)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_codes_whose_scores_are_not_finite(value: float) -> None:
    X, y = documents(60, 30, 2)
    model = LabelTreeClassifier(**JOINT, tree="flat").fit(X, y)
    model.weights_[0].arrays["code_bias"] = np.full(3, value, dtype=np.float32)
    replace_weights(model, model.weights_)
    np.testing.assert_allclose(kernel_probabilities(model, X.toarray(), 0)[1:], 2 / 3, rtol=1e-6)


def test_the_report_counts_joint_blocks() -> None:
    X, y = documents(100, 30, 8)
    tree = LabelTree.from_nested([[0, 1], [2, 3, 4, 5, 6, 7]])
    report = LabelTreeClassifier(**JOINT, tree=tree).fit(X, y).training_report_[0]
    assert report["n_joint"] == 2
    report = (
        LabelTreeClassifier(**{**JOINT, "siblings": "independent"}, tree=tree).fit(X, y).training_report_[0]
    )
    assert "n_joint" not in report


@pytest.mark.parametrize("weights", ["float32", "bfloat16", "int8"])
def test_saved_and_pickled_models_answer_the_same(tmp_path: Path, weights: str) -> None:
    X, y = documents(150, 60, 20, seed=6)
    model = LabelTreeClassifier(**JOINT, arity=3, max_leaves=4, frequent_share=0.0).fit(X, y)
    model.save(tmp_path / "model", weights=weights)
    loaded = LabelTreeClassifier.load(tmp_path / "model", verify=True)
    assert loaded.siblings == "joint"
    expected = model.predict_proba(X, top_k=None).toarray()
    found = loaded.predict_proba(X, top_k=None).toarray()
    np.testing.assert_allclose(found, expected, atol=0 if weights == "float32" else 0.03)
    again = pickle.loads(pickle.dumps(loaded))
    np.testing.assert_array_equal(again.predict_proba(X, top_k=None).toarray(), found)
    loaded.save(tmp_path / "wide", weights="float32")
    wide = LabelTreeClassifier.load(tmp_path / "wide").predict_proba(X, top_k=None).toarray()
    np.testing.assert_allclose(wide, found, atol=1e-5)


def test_independent_models_have_no_codes(tmp_path: Path) -> None:
    X, y = documents(60, 30, 8)
    LabelTreeClassifier(random_state=0).fit(X, y).save(tmp_path / "model")
    assert "joint_blocks" not in (tmp_path / "model" / "model.json").read_text()


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("code", lambda a: a * 0, "a code is out of range"),
        ("code", lambda a: a | 4, "a code is out of range"),
        ("code", lambda a: a[::-1].copy(), "codes are not ascending"),
        ("code", lambda a: a[:-1], "code_begin does not span"),
        ("code_begin", lambda a: a[:-1], "code_begin has the wrong length"),
        ("code_begin", lambda a: a[:0], "code_begin has the wrong length"),
        ("code_begin", lambda a: -a, "code_begin does not span"),
        ("code_begin", lambda a: np.r_[0, 1, a[2:]], "block 0: this block cannot be joint"),
        ("code_bias", lambda a: a[:-1], "not as many codes as their biases"),
        ("code_bias", lambda a: a.astype(np.float64), "code_bias has the wrong type"),
        ("code_scale", lambda _: np.ones(3, dtype=np.float32), "the number of scales of codes"),
    ],
)
def test_the_kernel_does_not_believe_in_codes(name: str, change: Any, message: str) -> None:
    X, y = documents(60, 30, 2)
    weights = LabelTreeClassifier(**JOINT, tree="flat").fit(X, y).weights_[0]
    assert weights.arrays["code"].tolist() == [1, 2, 3]
    given = weights.arrays.get(name)
    weights.arrays[name] = change(given)
    with pytest.raises(ModelFileError, match=message):
        weights.store(30, "sigmoid")


def test_a_wide_block_cannot_be_joint_nor_a_column_be_no_code() -> None:
    X, y = documents(100, 30, 6)
    alone = LabelTreeClassifier(**{**JOINT, "siblings": "independent"}, tree="flat")
    arrays = alone.fit(X, y).weights_[0]
    arrays.arrays |= {
        "code_begin": np.array([0, 0, 1]), "code": np.ones(1, np.uint8), "code_bias": np.zeros(1, np.float32)
    }  # fmt: skip
    with pytest.raises(ModelFileError, match="block 1: this block cannot be joint"):
        arrays.store(30, "sigmoid")
    X, y = documents(60, 30, 2)
    joint = LabelTreeClassifier(**JOINT, tree="flat").fit(X, y).weights_[0]
    joint.arrays["column"] = joint.arrays["column"] + np.uint8(1)
    with pytest.raises(ModelFileError, match="a column is out of range"):
        joint.store(30, "sigmoid").verify()


def test_what_does_not_go_together_is_refused() -> None:
    X, y = documents(60, 30, 8)
    for parameters in ({"loss": "squared_hinge"}, {"penalty": "l1"}):
        with pytest.raises(ValueError, match="use it with loss='logistic' and penalty='l2'"):
            LabelTreeClassifier(**{**JOINT, **parameters}).fit(X, y)
    with pytest.raises(ValueError, match="solver 'sgd' does not use siblings"):
        LabelTreeClassifier(**JOINT, solver="sgd").fit(X, y)
    with pytest.raises(ValueError, match="does not support label_weight"):
        LabelTreeClassifier(**JOINT, label_weight="propensity").fit(X, y)
    narrow = LabelTree.from_nested([[0, 1, 2, 3], [4, 5, 6, 7]])
    model = LabelTreeClassifier(**JOINT, tree=narrow).fit(X, y)
    with pytest.raises(ValueError, match="explain needs a classifier per node"):
        model.explain(X[0], 0)


def test_a_model_without_narrow_nodes_is_an_ordinary_one() -> None:
    X, y = documents(60, 30, 8)
    with pytest.warns(UserWarning, match="found no node with at most five children"):
        joint = LabelTreeClassifier(**JOINT, tree="flat").fit(X, y)
    plain = LabelTreeClassifier(**{**JOINT, "siblings": "independent"}, tree="flat").fit(X, y)
    assert not joint.weights_[0].is_joint
    np.testing.assert_array_equal(joint.predict_topk(X)[1], plain.predict_topk(X)[1])
    assert joint.explain(X[0], 0).probability == plain.explain(X[0], 0).probability
