"""What predictions promise each other, whatever the search."""

import io
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, cross_val_score
from tests.documents import documents
from tests.hand_made_models import hand_made_classifier, tree_weights

from labeltree import LabelTree, LabelTreeClassifier

pytestmark = pytest.mark.native


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:400], y[:400], X[400:1300]


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_the_class_is_the_most_probable_one_of_several_trees(digits, loss) -> None:
    X, y, X_test = digits
    model = LabelTreeClassifier(3, arity=2, max_leaves=2, loss=loss, random_state=0).fit(X, y)
    most_probable = model.classes_[model.predict_proba(X_test).argmax(axis=1)]
    np.testing.assert_array_equal(model.predict(X_test), most_probable)


def test_the_best_label_does_not_depend_on_k() -> None:
    # All scores saturate: every label has probability 1.
    tree = LabelTree.from_nested([[5, 3], [[4, 0], [1, 2]]])
    weights = tree_weights(
        tree, np.zeros((tree.n_nodes, 2), np.float32), np.full(tree.n_nodes, 2.0, np.float32)
    )
    model = hand_made_classifier([weights], 2, "exp3")
    for k in range(1, 7):
        assert model.predict_topk(np.ones((1, 2)), k).labels.tolist() == [list(range(k))]


def test_labels_of_probability_0_are_not_searched_for_ties() -> None:
    tree = LabelTree.from_nested([[i * 2, i * 2 + 1] for i in range(50)])
    bias = np.full(tree.n_nodes, -2.0, np.float32)
    bias[0] = 2.0
    weights = tree_weights(tree, np.zeros((tree.n_nodes, 2), np.float32), bias)
    model = hand_made_classifier([weights], 2, "clip")
    _, probabilities, asked = model.predict_topk(np.ones((1, 2)), 2, return_evaluations=True)
    assert probabilities.tolist() == [[0, 0]]
    assert asked[0] < 60


def test_parameters_of_training_stay_with_the_weights(tmp_path) -> None:
    X, y = documents(100, 50, 8, seed=3)
    X = 3 * X
    model = LabelTreeClassifier(random_state=0).fit(X, y)
    before = model.predict_topk(X)
    model.set_params(normalize=False, loss="logistic")
    np.testing.assert_array_equal(model.predict_topk(X).probabilities, before.probabilities)
    model.save(tmp_path / "model")
    loaded = LabelTreeClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_topk(X).probabilities, before.probabilities)
    assert (loaded.normalize, loaded.loss, loaded.n_iter_) == (True, "squared_hinge", model.n_iter_)
    assert model.fit(X, y).loss_ == "logistic"


def test_masks_and_counts_in_every_question() -> None:
    X, y = documents(200, 60, 12, seed=1)
    model = LabelTreeClassifier(random_state=0, max_leaves=4, arity=2).fit(X, y)
    probabilities, asked = model.predict_proba(
        X, top_k=None, threshold=0.1, deny=[0, 1], return_evaluations=True
    )
    assert probabilities[:, [0, 1]].nnz == 0
    assert 1 < asked.max() <= model.tree_.n_nodes
    np.testing.assert_array_equal(
        probabilities[:, 2:].toarray(), model.predict_proba(X, top_k=None, threshold=0.1)[:, 2:].toarray()
    )
    assert model.predict(X, allow=[3])[:, [j for j in range(12) if j != 3]].nnz == 0


@pytest.mark.parametrize("n_classes", [150, 1200])
def test_probabilities_of_classes_are_an_array_with_all_of_them(n_classes: int) -> None:
    X, _ = documents(2 * n_classes, 80, 10, seed=2)
    model = LabelTreeClassifier(random_state=0).fit(X, np.arange(2 * n_classes) % n_classes)
    found = model.predict_proba(X[:5])
    assert isinstance(found, np.ndarray)
    assert found.shape == (5, n_classes)
    assert ((found > 0).sum(axis=1) > 100).all()
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize("form", ["array", "csr", "lists"])
def test_probabilities_of_labels_are_a_sparse_matrix(form: str) -> None:
    X, y = documents(100, 60, 30, seed=2)
    rows = {"array": y.toarray(), "csr": y, "lists": [y[i].indices.tolist() for i in range(100)]}
    found = LabelTreeClassifier(random_state=0).fit(X, rows[form]).predict_proba(X)
    assert sp.issparse(found)
    assert found.format == "csr"


def test_an_array_that_would_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    X, _ = documents(100, 60, 30, seed=2)
    model = LabelTreeClassifier(random_state=0).fit(X, np.arange(100) % 50)
    monkeypatch.setattr("labeltree.model.label_matrix.DENSE_BYTES", 100 * 50 * 4 - 1)
    with pytest.raises(ValueError, match=r"100 rows and 50 classes .* use predict_topk\(X, k\)"):
        model.predict_proba(X)
    assert model.predict_proba(X[:99]).shape == (99, 50)


def test_thresholds_for_each_label_are_cut_to_the_best() -> None:
    X, y = documents(100, 60, 30, seed=2)
    model = LabelTreeClassifier(random_state=0).fit(X, y)
    best = model.predict_topk(X, 3).labels
    found = model.predict_proba(X, top_k=3, threshold=np.zeros(30))
    assert [set(row) for row in best.tolist()] == [set(found[i].indices.tolist()) for i in range(100)]


def test_lists_can_be_scored() -> None:
    X, y = documents(120, 60, 6, seed=5)
    lists = [[f"label {j}" for j in y[i].indices] for i in range(120)]
    model = LabelTreeClassifier(random_state=0).fit(X, lists)
    found = model.predict(X)
    right = [set(a) == set(b) for a, b in zip(found, lists, strict=True)]
    assert model.score(X, lists) == pytest.approx(np.mean(right))
    assert model.score(X, lists, sample_weight=np.array(right) + 0.0) == 1
    assert len(cross_val_score(model, X, lists, cv=KFold(3))) == 3


def test_one_row_may_be_a_plain_vector() -> None:
    X, y = documents(60, 40, 8, seed=5)
    model = LabelTreeClassifier(random_state=0).fit(X, y)
    row = X[3].toarray()
    assert next(model.iter_labels(row[0])) == next(model.iter_labels(row)) == next(model.iter_labels(X[3]))
    assert str(model.explain(row[0].tolist(), 2)) == str(model.explain(X[3], 2))


def test_a_frame_of_labels_keeps_its_names() -> None:
    X, y = documents(60, 40, 4, seed=5)
    frame = pd.DataFrame(y.toarray().astype(int), columns=["a", "b", "c", "d"])
    model = LabelTreeClassifier(random_state=0).fit(X, frame)
    assert model.classes_.tolist() == ["a", "b", "c", "d"]
    assert set(model.predict_topk(X, 1).labels.ravel()) <= set("abcd")
    assert model.predict(X).shape == (60, 4)


def test_lists_of_0_and_1_are_a_matrix_of_two_columns_too() -> None:
    model = LabelTreeClassifier(random_state=0).fit(np.eye(4), [[0, 1], [1, 0], [0, 1], [1, 0]])
    assert model.label_kind_ == "dense"
    assert model.label_counts_.tolist() == [2, 2]


def test_strided_sparse_labels() -> None:
    X, y = documents(50, 40, 5, seed=6)
    strided = sp.csr_matrix(y)
    strided.indices = np.repeat(y.indices, 2)[::2]
    plain = LabelTreeClassifier(random_state=0).fit(X, y).predict_topk(X).probabilities
    np.testing.assert_array_equal(
        LabelTreeClassifier(random_state=0).fit(X, strided).predict_topk(X).probabilities, plain
    )


@pytest.mark.parametrize("stderr", [None, io.StringIO()])
def test_silent_where_there_is_no_terminal(monkeypatch, stderr) -> None:
    X, y = documents(30, 30, 5, seed=6)
    monkeypatch.setattr(sys, "stderr", stderr)
    LabelTreeClassifier(random_state=0).fit(X, y)
    assert stderr is None or stderr.getvalue() == ""
    LabelTreeClassifier(random_state=0, verbose=1).fit(X, y)
    assert stderr is None or "training" in stderr.getvalue()


@pytest.mark.parametrize(
    ("n_labels", "dtype"),
    [(256, np.uint8), (257, np.uint16), (65_536, np.uint16), (65_537, np.uint32), (70_000, np.uint32)],
)
def test_columns_take_as_few_bytes_as_the_children_need(n_labels, dtype, tmp_path) -> None:
    labels = [0, n_labels // 2, n_labels - 2, n_labels - 1]
    X = sp.csr_matrix(np.eye(4, dtype=np.float32))
    y = sp.csr_matrix((np.ones(4, np.float32), ([0, 1, 2, 3], labels)), shape=(4, n_labels))
    model = LabelTreeClassifier(tree="flat", random_state=0, prune=0).fit(X, y)
    assert model.weights_[0].arrays["column"].dtype == dtype
    model.save(tmp_path / "model")
    loaded = LabelTreeClassifier.load(tmp_path / "model", verify=True)
    assert loaded.predict_topk(X, 1).labels.ravel().tolist() == labels


@pytest.mark.parametrize(
    ("scale", "tol", "gap"), [(1.0, 1e-5, 1e-3), (30.0, 1e-5, 1e-3), (1e3, 1e-7, 0.05), (1e4, 1e-9, 0.05)]
)
def test_logistic_nodes_with_features_of_any_size(scale, tol, gap) -> None:
    # cost times squared norm up to 1e9: one coordinate's equation is then solved far from 0, where examples violate
    # their conditions by little: tol has to be smaller.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 200)) * scale
    y = (X[:, 0] + X[:, 1] * rng.normal(size=60) > 0).astype(int)
    model = LabelTreeClassifier(
        tree="flat",
        loss="logistic",
        C=1.0,
        normalize=False,
        bias=False,
        prune=0,
        tol=tol,
        max_iter=20_000,
        random_state=0,
    ).fit(X, y)
    weights = dict(zip(*(a.tolist() for a in model.model_.forest.stores[0].column(1, 1)), strict=True))
    w = np.array([weights.get(j, 0.0) for j in range(200)])

    def objective(w):
        return w @ w / 2 + np.logaddexp(0, -(2 * y - 1) * (X @ w)).sum()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-10, max_iter=100_000).fit(X, y)
    assert objective(w) <= objective(other.coef_[0]) * (1 + gap)
