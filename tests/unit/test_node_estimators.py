"""Any scikit-learn classifier in the nodes: models are products of `predict_proba` along paths."""

from __future__ import annotations

import pickle
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from joblib import parallel_config
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import normalize
from tests.documents import documents
from tests.reference.assignment import training_sets
from tests.reference.search import label_marginals

from labeltree import LabelTree, LabelTreeClassifier
from labeltree.cli.parameters import PANELS
from labeltree.node_estimators.estimators import LINEAR_PARAMETERS

N_LABELS = 12
TREES = [
    LabelTree.from_nested([[0, 1, 2], [[3, 4], 5, 6], 7, [8, [9, 10, 11]]]),
    LabelTree.from_nested([[11, 3, 7, 0], [[1, 2], [4, 5, 6]], [8, 9, 10]]),
]
X, Y = documents(150, 40, N_LABELS, unlabelled=0.1, seed=1)
X_DENSE = X.toarray()
TEST = X[:20]


def model_of(node_estimator: Any, n_trees: int = 1, **parameters: Any) -> LabelTreeClassifier:
    defaults = {"n_trees": n_trees, "tree": TREES[:n_trees], "random_state": 0}
    return LabelTreeClassifier(node_estimator=node_estimator, **{**defaults, **parameters})


def brute_force(
    tree: LabelTree, estimator: Any, X_train: Any, X_test: Any, weight: NDArray[Any] | None = None
) -> NDArray[np.float64]:
    """P(label | x): fit every node on the examples that algorithm 1 gives it, multiply along every path."""
    rows = [Y[i].indices.tolist() for i in range(Y.shape[0])]
    eta = np.zeros((X_test.shape[0], tree.n_nodes))
    for node, examples in enumerate(training_sets(tree, rows)):
        examples = [(i, z) for i, z in examples if weight is None or weight[i] > 0]
        if len({z for _, z in examples}) < 2:
            eta[:, node] = examples[0][1] if examples else 0
            continue
        index, target = map(list, zip(*sorted(examples), strict=True))
        extra = {} if weight is None else {"sample_weight": weight[index]}
        eta[:, node] = clone(estimator).fit(X_train[index], target, **extra).predict_proba(X_test)[:, 1]
    return np.stack([label_marginals(tree, row) for row in eta])


LINEAR = LogisticRegression(C=10.0, solver="liblinear")
UNIT = normalize(X)
EXPECTED = np.stack([brute_force(tree, LINEAR, UNIT, UNIT[:20]) for tree in TREES])


@pytest.fixture(scope="module")
def one_tree() -> LabelTreeClassifier:
    return model_of(LINEAR).fit(X, Y)


@pytest.fixture(scope="module")
def two_trees() -> LabelTreeClassifier:
    return model_of(LINEAR, 2).fit(X, Y)


def test_probabilities_are_products_along_paths(one_tree: LabelTreeClassifier) -> None:
    found = one_tree.predict_proba(TEST, top_k=None).toarray()
    np.testing.assert_allclose(found, EXPECTED[0], rtol=1e-5)


def test_every_question_has_the_same_answer(one_tree: LabelTreeClassifier) -> None:
    p = one_tree.predict_proba(TEST, top_k=None).toarray()
    best = np.argsort(-p, axis=1, kind="stable")
    labels, probabilities, evaluations = one_tree.predict_topk(TEST, 3, return_evaluations=True)
    np.testing.assert_array_equal(labels, best[:, :3])
    np.testing.assert_array_equal(probabilities, np.take_along_axis(p, best[:, :3], axis=1))
    assert (evaluations < one_tree.tree_.n_nodes).any()
    np.testing.assert_array_equal(one_tree.predict(TEST).toarray(), p >= 0.5)
    rows, columns = np.indices(p.shape).reshape(2, -1)
    np.testing.assert_array_equal(one_tree.predict_pairs(TEST, rows, columns).reshape(p.shape), p)
    assert [label for label, _ in one_tree.iter_labels(TEST[3])] == best[3].tolist()
    np.testing.assert_array_equal([q for _, q in one_tree.iter_labels(TEST[3])], p[3][best[3]])


def test_masks_thresholds_and_beams(one_tree: LabelTreeClassifier) -> None:
    p = one_tree.predict_proba(TEST, top_k=None).toarray()
    allow, deny = [1, 4, 5, 9], [5]
    best = one_tree.predict_topk(TEST, 2, allow=allow, deny=deny)
    left = np.where(np.isin(np.arange(N_LABELS), [1, 4, 9]), p, -1)
    np.testing.assert_array_equal(best.probabilities, -np.sort(-left)[:, :2])
    assert {label for label, _ in one_tree.iter_labels(TEST[0], allow=allow, deny=deny)} == {1, 4, 9}
    tau = np.linspace(0, 0.5, N_LABELS)
    above = one_tree.predict_proba(TEST, top_k=None, threshold=tau).toarray()
    np.testing.assert_array_equal(above, np.where(p >= tau.astype(np.float32), p, 0))
    beam = clone(one_tree).set_params(search="beam", beam=2).fit(X, Y).predict_topk(TEST, 3)
    assert (beam.probabilities <= one_tree.predict_topk(TEST, 3).probabilities).all()


def test_trees_are_averaged(two_trees: LabelTreeClassifier) -> None:
    mean = EXPECTED.mean(axis=0)
    found = two_trees.predict_proba(TEST, top_k=None)
    np.testing.assert_allclose(found.toarray(), mean, rtol=1e-5)
    labels, probabilities, evaluations = two_trees.predict_topk(TEST, N_LABELS, return_evaluations=True)
    np.testing.assert_allclose(probabilities, -np.sort(-mean), rtol=1e-5)
    # Every label was found by both, so that all estimators were asked, and none of them twice.
    assert (evaluations <= sum(tree.n_nodes for tree in TREES)).all()
    np.testing.assert_allclose(np.take_along_axis(mean, labels, axis=1), probabilities, rtol=1e-5)
    one_by_one = list(islice(two_trees.iter_labels(TEST[5]), 4))
    np.testing.assert_allclose([p for _, p in one_by_one], -np.sort(-mean[5])[:4], rtol=1e-5)
    pairs = two_trees.predict_pairs(TEST, [7, 2, 2], [0, 11, 3])
    np.testing.assert_allclose(pairs, mean[[7, 2, 2], [0, 11, 3]], rtol=1e-5)


def test_trees_are_weighed_and_may_miss_labels(two_trees: LabelTreeClassifier) -> None:
    weighed = pickle.loads(pickle.dumps(two_trees)).set_params(tree_weight=[3, 1])
    mean = np.average(EXPECTED, axis=0, weights=[3, 1])
    np.testing.assert_allclose(weighed.predict_proba(TEST, top_k=None).toarray(), mean, rtol=1e-5)
    weighed.set_params(missing_estimates="zero")
    proposed = -np.sort(-EXPECTED, axis=2)[:, :, 1:2] <= EXPECTED
    expected = np.average(EXPECTED * proposed, axis=0, weights=[3, 1])
    top = weighed.predict_topk(TEST, 2).probabilities
    np.testing.assert_allclose(top, -np.sort(-expected)[:, :2], rtol=1e-5)


def test_estimators_on_dense_rows() -> None:
    model = model_of(GaussianNB(), normalize=False).fit(X_DENSE, Y)
    expected = brute_force(TREES[0], GaussianNB(), X_DENSE, X_DENSE[:20])
    found = model.predict_proba(X_DENSE[:20], top_k=None).toarray()
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-30)


def test_pipelines() -> None:
    pipeline = make_pipeline(SelectKBest(chi2, k=10), clone(LINEAR))
    model = model_of(pipeline).fit(X, Y)
    expected = brute_force(TREES[0], pipeline, UNIT, UNIT[:20])
    np.testing.assert_allclose(model.predict_proba(TEST, top_k=None).toarray(), expected, rtol=1e-5)
    assert model.get_params()["node_estimator__selectkbest__k"] == 10
    with pytest.raises(ValueError, match="takes no sample_weight"):
        model.fit(X, Y, sample_weight=np.ones(X.shape[0]))


def test_pairs_of_sparse_and_dense_features() -> None:
    dense = np.random.default_rng(0).normal(size=(X.shape[0], 5))
    joined = normalize(sp.hstack([X, sp.csr_matrix(dense)], format="csr"))
    model = model_of(LINEAR).fit((X, dense), Y)
    expected = brute_force(TREES[0], LINEAR, joined, joined[:20])
    found = model.predict_proba((TEST, dense[:20]), top_k=None).toarray()
    np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_sample_weight() -> None:
    weight = np.random.default_rng(0).integers(0, 3, X.shape[0]).astype(np.float32)
    model = model_of(LINEAR).fit(X, Y, sample_weight=weight)
    expected = brute_force(TREES[0], LINEAR, UNIT, UNIT[:20], weight)
    np.testing.assert_allclose(model.predict_proba(TEST, top_k=None).toarray(), expected, rtol=1e-4)


def test_the_same_seed_gives_the_same_model() -> None:
    forest = RandomForestClassifier(n_estimators=2, max_depth=3)

    def fitted(**parameters: Any) -> LabelTreeClassifier:
        return model_of(forest, **parameters).fit(X_DENSE, Y)

    first = fitted()
    states = [estimator.random_state for estimator in first.weights_[0].estimators.values()]
    assert len(set(states)) == len(states)
    p = first.predict_proba(X_DENSE[:20], top_k=None).toarray()
    with parallel_config("threading"):  # which start sooner than processes
        parallel = fitted(n_jobs=2)
    np.testing.assert_array_equal(parallel.predict_proba(X_DENSE[:20], top_k=None).toarray(), p)
    assert (fitted(random_state=1).predict_proba(X_DENSE[:20], top_k=None).toarray() != p).any()
    # A seed of the estimator's own stands.
    own = model_of(clone(forest).set_params(random_state=7)).fit(X_DENSE, Y)
    assert {estimator.random_state for estimator in own.weights_[0].estimators.values()} == {7}


def test_trees_that_are_grown_and_labels_with_names() -> None:
    names = np.array([f"label {i}" for i in range(N_LABELS)], dtype=object)
    lists = [names[Y[i].indices].tolist() for i in range(Y.shape[0])]
    model = LabelTreeClassifier(
        tree="kmeans", max_leaves=4, frequent_share=0, node_estimator=LINEAR, random_state=0, n_trees=2
    ).fit(X, lists)
    assert model.tree_.depth > 1
    assert model.tree_ != model.trees_[1]
    assert all(set(found) <= set(names) for found in model.predict(X))
    single = model_of(LINEAR, tree="flat").fit(X_DENSE, np.asarray(Y.argmax(axis=1)).ravel())
    assert single.score(X_DENSE, single.predict(X_DENSE)) == 1
    np.testing.assert_allclose(single.predict_proba(X_DENSE).sum(axis=1), 1, rtol=1e-5)


def test_many_rows_in_batches(one_tree: LabelTreeClassifier, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = one_tree.predict_topk(X, 3), one_tree.predict_proba(X, top_k=None, threshold=0.1)
    rows, labels = np.arange(X.shape[0]), np.arange(X.shape[0]) % N_LABELS
    pairs = one_tree.predict_pairs(X, rows, labels)
    monkeypatch.setattr("labeltree.node_estimators.forest.EstimatorForest.rows_per_batch", 40)
    np.testing.assert_array_equal(one_tree.predict_topk(X, 3).labels, whole[0].labels)
    found = one_tree.predict_proba(X, top_k=None, threshold=0.1)
    np.testing.assert_array_equal(found.toarray(), whole[1].toarray())
    np.testing.assert_array_equal(one_tree.predict_pairs(X, rows, labels), pairs)


def test_copies(two_trees: LabelTreeClassifier) -> None:
    again = pickle.loads(pickle.dumps(two_trees))
    np.testing.assert_array_equal(again.predict_topk(TEST).labels, two_trees.predict_topk(TEST).labels)
    unfitted = clone(two_trees).set_params(node_estimator__C=0.5)
    assert unfitted.node_estimator.C == 0.5
    assert two_trees.node_estimator is LINEAR
    assert LINEAR.C == 10.0
    assert not hasattr(LINEAR, "coef_")
    assert two_trees.training_report_[0]["n_columns"] == len(two_trees.weights_[0].estimators)


def test_what_cannot_be_done(one_tree: LabelTreeClassifier, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"cannot be saved.*use pickle or joblib\.dump"):
        one_tree.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="explain needs linear node classifiers"):
        one_tree.explain(TEST[0], 3)
    with pytest.raises(ValueError, match="X has 3 features"):
        one_tree.predict(X[:, :3])


@pytest.mark.parametrize("estimator", [Perceptron(), SGDClassifier(), LogisticRegression, "logistic", 3])
def test_what_is_no_node_estimator(estimator: Any) -> None:
    with pytest.raises(ValueError, match="node_estimator must be a scikit-learn classifier"):
        model_of(estimator).fit(X, Y)


@pytest.mark.parametrize("parameter", [{"C": 2.0}, {"loss": "logistic"}, {"bias": False}, {"link": "clip"}])
def test_parameters_that_would_be_ignored(parameter: dict[str, Any]) -> None:
    (name,) = parameter
    with pytest.raises(ValueError, match=f"{name} is a parameter of the linear node classifiers"):
        model_of(LINEAR, **parameter).fit(X, Y)


def test_every_parameter_either_applies_or_is_refused() -> None:
    applied = {name for panel in ("The tree", "The search for labels", "The run") for name in PANELS[panel]}
    applied |= {"normalize", "node_estimator"}
    assert set(LINEAR_PARAMETERS) == set(LabelTreeClassifier().get_params()) - applied


def test_progress_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    model = model_of(LINEAR, verbose=1).fit(X, Y)
    assert f"training {model.training_report_[0]['n_columns']} nodes" in capsys.readouterr().err
