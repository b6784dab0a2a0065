"""C of each level: trained as chosen, and saved."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from tests.documents import documents
from tests.reference.search import decoded
from tests.reference.solver import node_problems

from labeltree import LabelTree, LabelTreeClassifier, _native
from labeltree.labels.reading import read_labels
from labeltree.training import linear_learner
from labeltree.training.examples import Examples
from labeltree.training.linear_nodes import block_values


@pytest.fixture(autouse=True)
def trials_of_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trials need many rows, which tests do not have the time for."""
    monkeypatch.setattr(linear_learner, "FEWEST_ROWS", 200)


pytestmark = pytest.mark.native


def examples(X: sp.csr_matrix, y: sp.csr_matrix, **weights: np.ndarray) -> Examples:
    index = np.int32
    features = _native.FeatureMatrix.csr(
        X.indptr.astype(index), X.indices.astype(index), X.data.astype(np.float32), X.shape[1], True
    )
    return Examples(features, read_labels(y), weights.get("sample_weight"), weights.get("label_weight"))


def test_rows_are_taken_as_they_are() -> None:
    X, y = documents(50, 60, 12, unlabelled=0.2)
    weight = np.arange(50, dtype=np.float32)
    whole = examples(X, y, sample_weight=weight)
    rows = np.array([3, 4, 20, 49])
    part = whole.take(rows)
    assert part.features.n_rows == part.labels.n_rows == 4
    for at, row in enumerate(rows.tolist()):
        for found, expected in zip(part.features.row(at), whole.features.row(row), strict=True):
            np.testing.assert_array_equal(found, expected)
        labels = part.labels.indices[part.labels.indptr[at] : part.labels.indptr[at + 1]]
        assert labels.tolist() == y[[row]].indices.tolist()
    np.testing.assert_array_equal(part.sample_weight, weight[rows])


def test_every_level_is_trained_as_was_chosen_for_it() -> None:
    X, y = documents(1500, 80, 30, unlabelled=0.1, seed=4)
    shape = {"arity": 3, "max_leaves": 4, "frequent_share": 0.0, "random_state": 0, "loss": "logistic"}
    precise = {"tol": 1e-4, "max_iter": 10_000, "prune": 0.0, "weights": "float32"}
    model = LabelTreeClassifier(C="auto", **shape, **precise).fit(X, y)
    tree = model.tree_
    assert len(model.C_) == tree.depth + 1 >= 4
    assert len(set(model.C_)) > 1
    W, bias = decoded(model.weights_[0], 80)
    W = np.hstack([W, bias[:, None]])
    for problem in node_problems(tree, X, y, normalize=True, bias=True):
        C = model.C_[tree.depth_of_node[problem.node]]
        assert problem.objective(W[problem.node], "logistic", C) <= problem.optimum("logistic", C) * 1.0001


def test_blocks_have_the_value_of_their_level() -> None:
    tree = LabelTree.from_nested([[0, 1], 2, [3, [4, 5]]])
    assert block_values(tree, [1.0, 2.0, 3.0, 4.0]) == [1.0, 2.0, 3.0, 3.0, 4.0]
    assert block_values(tree, [1.0, 2.0]) == [1.0, 2.0, 2.0, 2.0, 2.0]


def test_what_was_chosen_is_saved(tmp_path: Path) -> None:
    X, y = documents(300, 80, 12, seed=5)
    model = LabelTreeClassifier(random_state=0).fit(X, y)
    model.save(tmp_path / "model")
    opened = LabelTreeClassifier.load(tmp_path / "model")
    assert opened.C == model.C_
    np.testing.assert_array_equal(opened.predict_topk(X).probabilities, model.predict_topk(X).probabilities)
    assert model.C == "auto"
    opened.set_params(C="auto").save(tmp_path / "again")
    assert LabelTreeClassifier.load(tmp_path / "again").C == "auto"
