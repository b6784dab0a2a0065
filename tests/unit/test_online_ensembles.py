"""Several online trees: each is the tree of a model of its own, and their answers are the mean."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.contract.problem import problem
from tests.online_models import learn, matrices, online_model
from tests.online_problem import KINDS, LEARNERS, assert_same_state, named_rows, online, state_of
from tests.online_streams import LEARNERS as TWIN_LEARNERS
from tests.online_streams import streams

from labeltree import LabelTreeClassifier, OnlineLabelTreeClassifier
from labeltree.metrics import precision_at_k
from labeltree.model.block_weights import BlockWeights
from labeltree.trees import LabelTree


class FixedSeed(np.random.RandomState):
    """A generator whose first number is known."""

    def __init__(self, seed: int) -> None:
        super().__init__(0)
        self.first = seed

    def randint(self, *_: Any, **__: Any) -> int:  # type: ignore[override]
        return self.first


def ensemble(**parameters: Any) -> OnlineLabelTreeClassifier:
    return online(**{"n_trees": 3, "policy": "random", **parameters})


def singles_of(model: OnlineLabelTreeClassifier) -> list[OnlineLabelTreeClassifier]:
    """Models of one tree, not yet trained, with the seeds of the ensemble."""
    parameters = model.get_params()
    n_trees, memory_mb = parameters.pop("n_trees"), parameters.pop("memory_mb")
    if memory_mb is not None:
        memory_mb /= n_trees
    seeds = model._model.settings.tree_seeds()
    return [
        OnlineLabelTreeClassifier(**{**parameters, "random_state": FixedSeed(seed), "memory_mb": memory_mb})
        for seed in seeds
    ]


def assert_same_trees(model: OnlineLabelTreeClassifier, singles: Sequence[OnlineLabelTreeClassifier]) -> None:
    assert len(model._model.trees) == len(singles)
    for t, single in enumerate(singles):
        ours, theirs = state_of(model, t), state_of(single)
        for name in theirs:
            np.testing.assert_array_equal(ours[name], theirs[name], err_msg=f"{name} of tree {t}")


def mean_of(singles: Sequence[OnlineLabelTreeClassifier], X: Any) -> np.ndarray:
    """The probability of every label of every row, as the definition says."""
    n_rows, labels = X.shape[0], singles[0].classes_.tolist()
    rows = np.repeat(np.arange(n_rows), len(labels))
    of_trees = [
        single.predict_pairs(X, rows, labels * n_rows).astype(np.float64).reshape(n_rows, len(labels))
        for single in singles
    ]
    return (sum(of_trees[1:], of_trees[0]) / len(singles)).astype(np.float32)


def ranked(model: OnlineLabelTreeClassifier, mean: np.ndarray) -> list[tuple[Any, float]]:
    """The labels of one row, best first; equal ones in the order of their arrival."""
    number = {label: i for i, label in enumerate(model._model.labels.labels)}
    pairs = zip(model.classes_.tolist(), mean.tolist(), strict=True)
    return sorted(pairs, key=lambda pair: (-pair[1], number.get(pair[0], 0)))


def assert_answers_as_the_mean(
    model: OnlineLabelTreeClassifier, singles: Sequence[OnlineLabelTreeClassifier], X: Any, k: int = 4
) -> None:
    mean = mean_of(singles, X)
    best, above = model.predict_topk(X, k=k), model.predict_proba(X, threshold=0.3)
    labels = model.classes_.tolist()
    for i, row in enumerate(mean):
        expected = ranked(model, row)
        found = list(zip(best.labels[i].tolist(), best.probabilities[i].tolist(), strict=True))
        # Which labels of the probability 0 are found is not said.
        assert [p for p in found if p[1] > 0] == [p for p in expected[:k] if p[1] > 0]
        one_by_one = list(model.iter_labels(X[i]))
        assert [p for p in one_by_one if p[1] > 0] == [p for p in expected if p[1] > 0]
        assert sorted(one_by_one) == sorted(expected)
        in_matrix = dict(zip(above[[i]].indices.tolist(), above[[i]].data.tolist(), strict=True))
        assert in_matrix == {j: p for j, p in enumerate(row.tolist()) if p >= np.float32(0.3)}
        explanation = model.explain(X[i], expected[0][0])
        assert len(explanation.paths) == len(singles)
        assert explanation.probability == pytest.approx(expected[0][1], rel=1e-5)
    rows = np.repeat(np.arange(X.shape[0]), len(labels))
    np.testing.assert_array_equal(model.predict_pairs(X, rows, labels * X.shape[0]), mean.ravel())


@settings(deadline=None)
@given(
    stream=streams(),
    learner=st.sampled_from(TWIN_LEARNERS),
    arity=st.integers(2, 4),
    n_trees=st.integers(2, 4),
    seed=st.integers(0, 2**32 - 1),
    weights=st.sampled_from(["map", "dense"]),
    normalize_siblings=st.booleans(),
    cut=st.integers(0, 20),
)
def test_an_ensemble_is_the_mean_of_models_of_one_tree(
    stream: Any,
    learner: Any,
    arity: int,
    n_trees: int,
    seed: int,
    weights: str,
    normalize_siblings: bool,
    cut: int,
) -> None:
    model = online_model(
        learner,
        policy="random",
        arity=arity,
        n_trees=n_trees,
        random_state=seed,
        weights=weights,
        normalize_siblings=normalize_siblings,
    )
    X, y = matrices(stream)
    model.partial_fit(X[:1], y[:1])
    singles = [single.partial_fit(X[:1], y[:1]) for single in singles_of(model)]
    for part in (slice(1, 1 + cut), slice(1 + cut, None)):
        if len(y[part]):
            model.partial_fit(X[part], y[part])
            for single in singles:
                single.partial_fit(X[part], y[part])
        assert_same_trees(model, singles)
        if model.n_labels_ > 0:
            assert_answers_as_the_mean(model, singles, X)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("learner", LEARNERS[::2], ids=lambda learner: learner["solver"])
def test_weights_of_every_kind(kind: str, learner: dict[str, Any]) -> None:
    if kind == "shared" and learner["solver"] == "fobos":
        pytest.skip("shared weights allow no penalty")
    X, y = problem()
    model = ensemble(**KINDS[kind], **learner).partial_fit(X, y)
    singles = [single.partial_fit(X, y) for single in singles_of(model)]
    assert_same_trees(model, singles)
    assert_answers_as_the_mean(model, singles, X[:20])
    assert len({tree.to_json() for tree in model.trees_}) == 3
    assert model.memory_ == {name: sum(s.memory_[name] for s in singles) for name in model.memory_}
    expected = {name: sum(s.counts_[name] for s in singles) for name in model.counts_}
    assert model.counts_ == {**expected, "n_examples": X.shape[0]}


def test_every_example_is_predicted_before_it_is_learned() -> None:
    X, y = problem()
    model = ensemble()
    found = model.predict_then_learn(X, y, k=3)
    slow = ensemble().partial_fit(X[:1], y[:1])
    singles = [single.partial_fit(X[:1], y[:1]) for single in singles_of(slow)]
    for i in range(1, 60):
        expected = slow.predict_topk(X[i], k=3)
        assert_answers_as_the_mean(slow, singles, X[i])
        n = int((expected.probabilities[0] > 0).sum())
        np.testing.assert_array_equal(found.probabilities[i], expected.probabilities[0])
        assert found.labels[i][:n].tolist() == expected.labels[0][:n].tolist()
        for one in (slow, *singles):
            one.partial_fit(X[i], y[i])


def test_fit_goes_through_the_same_examples_in_every_tree() -> None:
    X, y = problem()
    model = ensemble(epochs=2).fit(X, y)
    from labeltree import _native

    model_settings = model._model.settings
    orders = [_native.example_order(model_settings.seed, epoch, X.shape[0]) for epoch in range(2)]
    singles = singles_of(model)
    for single in singles:
        single.set_params(
            learning_rate=model_settings.learning_rate,
            initial_accumulator=model_settings.initial_accumulator,
        )
        for order in orders:
            single.partial_fit(X[order], y[order])
    assert_same_trees(model, singles)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_jobs", [2, 5])
def test_threads_learn_the_same_model(kind: str, n_jobs: int) -> None:
    X, y = problem()
    one, several = ensemble(**KINDS[kind]), ensemble(**KINDS[kind], n_jobs=n_jobs)
    assert_same_state(one.partial_fit(X, y), several.partial_fit(X, y))
    first, second = (model.predict_then_learn(X, y, k=3) for model in (one, several))
    np.testing.assert_array_equal(first.labels, second.labels)
    np.testing.assert_array_equal(first.probabilities, second.probabilities)
    assert_same_state(one, several)
    assert_same_state(ensemble(**KINDS[kind]).fit(X, y), ensemble(**KINDS[kind], n_jobs=n_jobs).fit(X, y))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_row_that_cannot_be_learned_changes_no_tree(kind: str, n_jobs: int) -> None:
    X, y = problem()
    X = X.copy()
    X.data[X.indptr[50] : X.indptr[51]] = 3e38
    model = ensemble(**KINDS[kind], normalize=False, n_jobs=n_jobs)
    with pytest.raises(ValueError, match=r"X, row 50: .*grew beyond all bounds.*The row is not learned"):
        model.partial_fit(X, y)
    expected = ensemble(**KINDS[kind], normalize=False).partial_fit(X[:50], y[:50])
    assert_same_state(model, expected)
    assert_same_state(model.partial_fit(X[51:], y[51:]), expected.partial_fit(X[51:], y[51:]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("failing_tree", [0, 1, 2])
def test_a_policy_that_fails_in_one_tree_changes_no_tree(kind: str, failing_tree: int) -> None:
    """The other trees have already put two new labels somewhere, which they take back."""
    n_calls = 0

    def policy(tree: Any, label: int) -> tuple[int, bool]:
        nonlocal n_calls
        n_calls += 1
        # 7 labels in 3 trees need 21 calls; then labels 8 and 9 come to one tree after another.
        if n_calls == 23 + 2 * failing_tree:
            raise RuntimeError("no place for it")
        node = 0
        while not tree.is_leaf(node):
            children = tree.children(node)
            node = children[(label + n_calls) % len(children)]
        return node, True

    X, _ = problem()
    model = ensemble(**KINDS[kind], policy=policy).partial_fit(X[:8], [[label] for label in range(8)])
    before = [state_of(model, t) for t in range(3)]
    with pytest.raises(RuntimeError, match="no place for it"):
        model.partial_fit(X[8:9], [[3, 8, 9]])
    for t in range(3):
        ours = state_of(model, t)
        for name in ours:
            np.testing.assert_array_equal(ours[name], before[t][name], err_msg=f"{name} of tree {t}")
    assert model.n_labels_ == 8
    model.partial_fit(X[8:9], [[3, 8, 9]])
    assert all(tree.n_labels == 10 for tree in model.trees_)


@pytest.mark.parametrize("kind", KINDS)
def test_all_trees_forget(kind: str) -> None:
    X, y = problem()
    model = ensemble(**KINDS[kind]).partial_fit(X, y)
    singles = [single.partial_fit(X, y) for single in singles_of(model)]
    gone = model.classes_[::3].tolist()
    for one in (model, *singles):
        assert one.forget(labels=gone) == len(gone)
    assert_same_trees(model, singles)
    for one in (model, *singles):
        one.partial_fit(X[:30], y[:30])
    assert_same_trees(model, singles)
    assert_answers_as_the_mean(model, singles, X[:10])
    model.forget(labels=[label for label in model.classes_.tolist() if label in model._model.labels.labels])
    assert model.n_labels_ == 0
    assert model._model.forest.top_k(model._model.read(X[:1]), model.make_search(2))[0].max() < 40
    assert_same_state(pickle.loads(pickle.dumps(model)), model)


def test_a_beam_asks_each_tree_for_its_best() -> None:
    X, y = problem()
    model = ensemble(search="beam", beam=2).partial_fit(X, y)
    singles = [single.partial_fit(X, y) for single in singles_of(model)]
    mean = mean_of(singles, X)
    found, of_trees = model.predict_topk(X, k=3), [s.predict_topk(X, k=3).labels for s in singles]
    for i in range(X.shape[0]):
        proposed = {label for labels in of_trees for label in labels[i].tolist()}
        expected = [pair for pair in ranked(model, mean[i]) if pair[0] in proposed][:3]
        assert list(zip(found.labels[i].tolist(), found.probabilities[i].tolist(), strict=True)) == expected


def test_decisions_and_label_weights_work_as_with_one_tree() -> None:
    X, y = problem()
    model = ensemble(epochs=5).fit(X, y)
    decided = model.decide_for("macro_f1", X, y)
    assert decided.predict(X).shape == y.shape
    weight = np.linspace(1, 3, y.shape[1])
    labels, probabilities = model.predict_topk(X, k=y.shape[1])
    best, _ = model.predict_topk(X, k=1, label_weight=weight)
    np.testing.assert_array_equal(
        best[:, 0], labels[np.arange(len(labels)), (weight[labels] * probabilities).argmax(axis=1)]
    )


def test_an_ensemble_is_no_worse_than_its_trees() -> None:
    X, y = problem()
    model = ensemble().partial_fit(X, y)
    singles = [single.partial_fit(X, y) for single in singles_of(model)]
    of_trees = [precision_at_k(y, single.predict_topk(X, k=1).labels, 1) for single in singles]
    assert precision_at_k(y, model.predict_topk(X, k=1).labels, 1) >= np.mean(of_trees)


# -- other models --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_frozen_ensemble_gives_the_same_answers(kind: str) -> None:
    X, y = problem()
    model = ensemble(**KINDS[kind]).partial_fit(X, y)
    frozen = model.freeze(prune=0)
    assert frozen.n_trees == 3
    assert frozen.trees_ == model.trees_
    rows, labels = np.repeat(np.arange(X.shape[0]), y.shape[1]), np.tile(np.arange(y.shape[1]), X.shape[0])
    np.testing.assert_allclose(
        frozen.predict_pairs(X, rows, labels), model.predict_pairs(X, rows, labels), rtol=1e-4, atol=1e-7
    )


def test_trained_trees_learn_on_together() -> None:
    X, y = problem()
    trained = LabelTreeClassifier(n_trees=3, loss="logistic", arity=3, random_state=0).fit(X, y)
    model = OnlineLabelTreeClassifier.from_batch(trained)
    assert model.n_trees == 3
    assert model.trees_ == trained.trees_
    rows, labels = np.repeat(np.arange(X.shape[0]), y.shape[1]), np.tile(np.arange(y.shape[1]), X.shape[0])
    np.testing.assert_allclose(
        model.predict_pairs(X, rows, labels), trained.predict_pairs(X, rows, labels), rtol=1e-4, atol=1e-7
    )
    forest: Any = trained.model_.forest
    model.partial_fit(X[:20], y[:20])
    for t, weights in enumerate(forest.weights):
        assert isinstance(weights, BlockWeights)
        alone = LabelTreeClassifier(loss="logistic", arity=3, tree=weights.tree, random_state=0)
        of_tree = type(forest)([weights], forest.n_features, forest.link)
        alone.adopt(replace(trained.model_, forest=of_tree))
        single = OnlineLabelTreeClassifier.from_batch(alone).partial_fit(X[:20], y[:20])
        for name, values in state_of(single).items():
            np.testing.assert_array_equal(state_of(model, t)[name], values, err_msg=name)
    weighted = LabelTreeClassifier(n_trees=2, tree_weight=[1, 2], loss="logistic").fit(X, y)
    with pytest.raises(ValueError, match="online trees count the same in the mean"):
        OnlineLabelTreeClassifier.from_batch(weighted)
    with pytest.raises(ValueError, match="n_trees is the same as in the trained model"):
        OnlineLabelTreeClassifier.from_batch(trained, n_trees=2)


def given_trees(X: Any, y: Any) -> list[LabelTree]:
    return [
        LabelTreeClassifier(tree="random", arity=3, max_leaves=3, random_state=seed).build_tree(X, y)
        for seed in range(3)
    ]


@pytest.mark.parametrize("policy", ["fixed", "complete", "best_fit"])
def test_given_trees(policy: str) -> None:
    X, y = problem()
    trees = given_trees(X, y)
    model = ensemble(policy=policy, tree=trees).partial_fit(X, y)
    assert model.trees_ == trees
    singles = [online(policy=policy, tree=tree).partial_fit(X, y) for tree in trees]
    assert_same_trees(model, singles)
    assert_answers_as_the_mean(model, singles, X[:10])
    assert_same_state(model, ensemble(policy=policy, tree=tuple(trees), n_jobs=2).partial_fit(X, y))


def test_trees_that_would_be_the_same_are_refused() -> None:
    X, y = problem()
    tree, *others = given_trees(X, y)
    for policy in ("complete", "best_fit"):
        with pytest.raises(
            ValueError,
            match=f"n_trees=3, policy='{policy}' puts every label at the same place.*policy='random'",
        ):
            ensemble(policy=policy).partial_fit(X, y)
    with pytest.raises(ValueError, match="policy 'fixed' adds no labels"):
        ensemble(policy="fixed").partial_fit(X, y)
    for trees, got in ((tree, "1 tree"), ([tree, *others, tree], "4 trees")):
        with pytest.raises(
            ValueError, match=f"n_trees=3 needs a given tree for each tree.*got {got}: give 3 different"
        ):
            ensemble(tree=trees).partial_fit(X, y)
    with pytest.raises(ValueError, match="the given tree number 2 is the same as an earlier one"):
        ensemble(tree=[tree, others[0], LabelTree.from_nested(tree.to_nested())]).partial_fit(X, y)
    with pytest.raises(ValueError, match="tree must be a LabelTree or a Taxonomy, a list of these"):
        ensemble(tree=[tree, tree, "kmeans"]).partial_fit(X, y)
    for wrong in (0, 1.5, "3"):
        with pytest.raises(ValueError, match="n_trees"):
            online(n_trees=wrong).partial_fit(X, y)


@pytest.mark.parametrize("kind", ["hashed", "shared"])
def test_the_memory_budget_is_shared_by_the_trees(kind: str) -> None:
    X, y = problem()
    for n_trees in (1, 2, 3):
        model = ensemble(**KINDS[kind], n_trees=n_trees).partial_fit(X, y)
        used = model.memory_["weights"]
        assert used <= 2**20
        if kind == "shared":
            assert used > 2**20 - 1000
    message = "leaves no weight" if kind == "hashed" else "is less than two nodes"
    enough_for_one_tree = 0.004 if kind == "hashed" else 0.0001
    ensemble(**{**KINDS[kind], "memory_mb": enough_for_one_tree, "n_trees": 1}).check_parameters()
    with pytest.raises(ValueError, match=message):
        ensemble(**{**KINDS[kind], "memory_mb": enough_for_one_tree}).partial_fit(X, y)


def test_names_of_features_and_texts() -> None:
    X, y = problem()
    model = ensemble().partial_fit(named_rows(X), y)
    assert_same_trees(model, [s.partial_fit(named_rows(X), y) for s in singles_of(model)])
    names = {
        c.feature for path in model.explain(named_rows(X)[0], 0).paths for s in path for c in s.contributions
    }
    assert all(str(name).startswith("word ") for name in names)


def test_row_by_row_is_the_same_as_in_batches() -> None:
    X, y = problem()
    by_row = ensemble()
    for i in range(X.shape[0]):
        by_row.partial_fit(X[i], y[i])
    assert_same_state(by_row, ensemble(n_jobs=2).partial_fit(X, y))


def test_a_copy_learns_on_as_the_original() -> None:
    X, y = problem()
    model = ensemble().partial_fit(X[:60], y[:60])
    copy = pickle.loads(pickle.dumps(model))
    assert_same_state(model.partial_fit(X[60:], y[60:]), copy.partial_fit(X[60:], y[60:]))


def test_the_twin_stream_helpers_learn_ensembles(  # rows one by one, ever wider
) -> None:
    stream = [([(0, 1.0), ("bias", 1.0)], ["a"]), ([(3, 1.0), ("bias", 1.0)], ["b", "c"])]
    model = learn(online_model(TWIN_LEARNERS[0], n_trees=2, policy="random", random_state=1), stream)
    assert model.n_features_in_ == 4
    assert [tree.n_labels for tree in model.trees_] == [3, 3]
