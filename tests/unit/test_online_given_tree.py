"""Online learning on a given tree: algorithm 5 of the paper, from a stream."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from tests.documents import documents
from tests.online_problem import KINDS, assert_same_state
from tests.reference.incremental import example_order, iplt_train
from tests.reference.search import decoded
from tests.strategies import label_trees

from labeltree import LabelTree, LabelTreeClassifier, OnlineLabelTreeClassifier
from labeltree.model_file import read_info
from labeltree.online.given_tree import NamedTree
from labeltree.trees import Taxonomy

pytestmark = pytest.mark.native

LOSSES = ["logistic", "squared_hinge"]
NESTED = LabelTree.from_nested([[0, 1, 2], [3, [4, 5]], 6, [7]])


def label_lists(y: sp.csr_matrix) -> list[list[int]]:
    return [y[[i]].indices.tolist() for i in range(y.shape[0])]


def assert_same_weights(one: LabelTreeClassifier, other: LabelTreeClassifier, n_features: int) -> None:
    """Two batch models are the same, bit for bit."""
    assert one.tree_.to_nested() == other.tree_.to_nested()
    for a, b in zip(*(decoded(m.weights_[0], n_features) for m in (one, other)), strict=True):
        np.testing.assert_array_equal(a, b)


def both(tree: LabelTree, **parameters: Any) -> tuple[LabelTreeClassifier, OnlineLabelTreeClassifier]:
    """The batch learner and the online learner with the same parameters."""
    shared = {"tree": tree, "solver": "adagrad", "learning_rate": 0.3, "random_state": 7, **parameters}
    shared.setdefault("initial_accumulator", 0.01)
    link = "sigmoid" if shared.get("loss", "logistic") == "logistic" else "exp4"
    shared = {"loss": "logistic", "link": link, **shared}
    batch = LabelTreeClassifier(rate_schedule="constant", prune=0.0, weights="float32", **shared)
    return batch, OnlineLabelTreeClassifier(policy="fixed", **shared)


class TestTheSameLearner:
    """`LabelTreeClassifier(solver="adagrad")` and an online tree on the same stream, bit for bit."""

    @pytest.mark.parametrize("loss", LOSSES)
    @pytest.mark.parametrize("epochs", [1, 3])
    @pytest.mark.parametrize("unlabelled", [0.0, 0.2])
    def test_fit(self, loss: str, epochs: int, unlabelled: float) -> None:
        X, y = documents(120, 80, 30, unlabelled=unlabelled)
        tree = LabelTreeClassifier(arity=3, max_leaves=5, random_state=0).build_tree(X, y)
        batch, online = both(tree, loss=loss, epochs=epochs)
        batch.fit(X, y)
        online.fit(X, y)
        assert_same_weights(online.freeze(prune=0), batch, X.shape[1])
        found, expected = online.predict_topk(X, k=5), batch.predict_topk(X, k=5)
        np.testing.assert_array_equal(found.labels, expected.labels)
        np.testing.assert_allclose(found.probabilities, expected.probabilities, rtol=1e-4, atol=1e-6)
        # What is frozen answers by the same search as the batch model: not a bit differs.
        frozen = online.freeze(prune=0).predict_topk(X, k=5)
        np.testing.assert_array_equal(frozen.probabilities, expected.probabilities)

    @pytest.mark.parametrize("policy", ["fixed", "complete", "best_fit"])
    def test_a_stream_in_the_order_of_fit(self, policy: str) -> None:
        """Batches of a stream, one example at a time or several, and nodes with auxiliary classifiers or without."""
        X, y = documents(90, 60, 8, seed=1)
        batch, online = both(NESTED, epochs=2)
        batch.fit(X, y)
        online.set_params(policy=policy)
        seed = int(np.random.RandomState(7).randint(2**31 - 1))
        stream = [i for epoch in range(2) for i in example_order(seed, epoch, 90)]
        for begin, end in [(0, 1), (1, 2), (2, 50), (50, 180)]:
            online.partial_fit(X[stream[begin:end]], y[stream[begin:end]])
        assert_same_weights(online.freeze(prune=0), batch, X.shape[1])

    @pytest.mark.parametrize("n_children", [1, 3, 5, 17, 40])
    def test_blocks_of_every_width(self, n_children: int) -> None:
        X, y = documents(60, 40, n_children, unlabelled=0.1, seed=3)
        batch, online = both(LabelTree.flat(n_children))
        assert_same_weights(online.fit(X, y).freeze(prune=0), batch.fit(X, y), X.shape[1])

    @given(label_trees(max_labels=8), st.sampled_from(LOSSES), st.integers(0, 2**32 - 1))
    @settings(max_examples=25)
    def test_random_trees_and_data(self, tree: LabelTree, loss: str, seed: int) -> None:
        rng = np.random.default_rng(seed)
        n_rows, n_features = rng.integers(1, 30), rng.integers(1, 12)
        X = sp.random(n_rows, n_features, 0.4, "csr", np.float32, rng, data_rvs=rng.standard_normal)
        labels = rng.random((n_rows, tree.n_labels)) < rng.uniform(0.05, 0.6)
        labels[0, 0] = True
        y, weight = sp.csr_matrix(labels), rng.integers(0, 3, n_rows) / 2
        weight[0] = 1
        epsilon = 10 ** rng.uniform(-4, 0)
        batch, online = both(tree, loss=loss, initial_accumulator=epsilon, epochs=int(rng.integers(1, 4)))
        batch.fit(X, y, sample_weight=weight)
        online.fit(X, y, sample_weight=weight)
        assert_same_weights(online.freeze(prune=0), batch, X.shape[1])

    @pytest.mark.parametrize("loss", LOSSES)
    def test_algorithm_5_line_by_line(self, loss: str) -> None:
        X, y = documents(80, 50, 8, unlabelled=0.1, seed=2)
        _, online = both(NESTED, loss=loss, normalize=False, epochs=2)
        W, bias = decoded(online.fit(X / 5, y).freeze(prune=0).weights_[0], X.shape[1])
        expected = iplt_train(
            NESTED,
            np.hstack([(X / 5).toarray(), np.ones((80, 1))]),
            label_lists(y),
            solver="adagrad",
            loss=loss,
            learning_rate=0.3,
            regularization=0.0,
            epochs=2,
            seed=online.growing_model().settings.seed,
            falling_rate=False,
            initial_accumulator=0.01,
        )
        np.testing.assert_allclose(np.hstack([W, bias[:, None]]), expected, rtol=1e-3, atol=1e-4)


class TestLabels:
    """Which label a leaf stands for."""

    def test_numbers(self) -> None:
        X, y = documents(60, 40, 8)
        lists = OnlineLabelTreeClassifier(tree=NESTED).partial_fit(X[:1], label_lists(y)[:1])
        assert lists.classes_.tolist() == list(range(8))
        lists.partial_fit(X[1:], label_lists(y)[1:])
        matrix = OnlineLabelTreeClassifier(tree=NESTED).partial_fit(X, y)
        assert lists.tree_.to_nested() == matrix.tree_.to_nested() == NESTED.to_nested()
        expected = matrix.predict_topk(X).labels
        np.testing.assert_array_equal(lists.predict_topk(X).labels, expected)

    def test_classes(self) -> None:
        tree = LabelTree.from_nested([[0, 1], 2])
        model = OnlineLabelTreeClassifier(tree=tree, policy="fixed")
        model.partial_fit([[1.0, 0.0]], [["dog"]], classes=np.array(["dog", "cat", "bird"]))
        assert model.classes_.tolist() == ["bird", "cat", "dog"]
        assert model.tree_.to_nested() == [[2, 1], 0]
        assert model.n_labels_ == 3

    def test_one_class_per_row(self) -> None:
        model = OnlineLabelTreeClassifier(tree=LabelTree.flat(3))
        model.partial_fit([[1.0], [2.0]], np.array(["b", "a"]), classes=["a", "b", "c"])
        assert model.classes_.tolist() == ["a", "b", "c"]
        assert model.predict_proba([[1.0]]).shape == (1, 3)

    def test_taxonomy(self) -> None:
        taxonomy = Taxonomy.from_dict({"animals": ["cat", "dog"], "plants": {"trees": ["oak"]}})
        model = OnlineLabelTreeClassifier(tree=taxonomy)
        model.partial_fit([{"purrs": 1.0}], [["cat", "animals"]])
        assert sorted(model.classes_) == ["animals", "cat", "dog", "oak", "plants", "trees"]
        assert model.tree_.n_labels == 6
        only = OnlineLabelTreeClassifier(tree=taxonomy).partial_fit(
            [[1.0]], [["cat"]], classes=["cat", "dog", "oak"]
        )
        assert only.tree_.to_nested() == [[0, 1], 2]

    def test_taxonomy_with_numbers(self) -> None:
        taxonomy = Taxonomy([1, 2, 3, "top"], ["top", "top", 1, None])
        model = OnlineLabelTreeClassifier(tree=taxonomy).partial_fit([[1.0]], [[3]])
        assert model.classes_.tolist() == [1, 2, 3]

    def test_taxonomy_for_the_columns_of_a_matrix(self) -> None:
        taxonomy = Taxonomy.from_dict({"animals": ["cat", "dog"], "plants": ["oak"]}).for_columns(
            ["oak", "dog", "cat"]
        )
        y = np.array([[1, 0, 0], [0, 1, 1]])
        model = OnlineLabelTreeClassifier(tree=taxonomy).partial_fit([[1.0], [2.0]], y)
        assert model.tree_.to_nested() == [[2, 1], 0]

    def test_fit_has_the_labels_of_y(self) -> None:
        model = OnlineLabelTreeClassifier(tree=LabelTree.from_nested([[0, 1], 2]))
        model.fit([[1.0], [2.0], [3.0]], [["b"], ["a"], ["c"]])
        assert model.classes_.tolist() == ["a", "b", "c"]
        assert model.tree_.to_nested() == [[0, 1], 2]

    def test_a_tree_with_its_labels(self) -> None:
        tree = NamedTree(LabelTree.from_nested([[2, 0], 1]), ["b", "c", "a"])
        X, y = [[1.0], [2.0], [3.0]], [["b"], ["a"], ["c"]]
        for model in (
            OnlineLabelTreeClassifier(tree=tree).partial_fit(X[:1], y[:1]),
            OnlineLabelTreeClassifier(tree=tree).fit(X, y),
        ):
            assert model.classes_.tolist() == ["a", "b", "c"]
            assert model.tree_.to_nested() == [[0, 1], 2]
        with pytest.raises(ValueError, match="expected the same labels in the tree and in the examples"):
            OnlineLabelTreeClassifier(tree=tree).fit(X, [["b"], ["a"], ["d"]])

    @pytest.mark.parametrize(
        ("tree", "y", "classes", "message"),
        [
            (NESTED, [["cat"]], None, "0, 1, 2, …, but got 'cat'; pass the label of each leaf"),
            (NESTED, [["cat"]], ["cat", "dog"], "the given tree has 8 labels, but classes has 2"),
            (LabelTree.flat(2), [["cat"]], ["cat", "cat"], "expected every label once"),
            (LabelTree.flat(2), np.array([[0, 1]]), ["a", "b"], "labels are its columns: leave out classes"),
            (Taxonomy.from_dict({"a": ["b"]}), [["cat"]], None, "none of the labels .'cat'.* is a concept"),
            ("kmeans", [[0]], None, "tree must be"),
            ({"a": ["b"]}, [[0]], None, "tree is a dictionary"),
        ],
        ids=str,
    )
    def test_refusals(self, tree: Any, y: Any, classes: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            OnlineLabelTreeClassifier(tree=tree).partial_fit([[1.0]], y, classes=classes)

    def test_a_fixed_tree_must_be_given(self) -> None:
        with pytest.raises(ValueError, match="policy 'fixed' adds no labels: give the tree"):
            OnlineLabelTreeClassifier(policy="fixed").partial_fit([[1.0]], [["a"]])


class TestLabelsOutsideTheTree:
    def test_are_refused(self) -> None:
        X, y = documents(20, 30, 8)
        rows = label_lists(y)
        model = OnlineLabelTreeClassifier(tree=NESTED, policy="fixed", random_state=0).partial_fit(
            X[:5], rows[:5]
        )
        rows[9] = [3, 99]
        with pytest.raises(
            ValueError, match="y, row 4: the label 99 is not in the tree, to which policy='fixed'"
        ):
            model.partial_fit(X[5:], rows[5:])
        expected = OnlineLabelTreeClassifier(tree=NESTED, policy="fixed", random_state=0).partial_fit(
            X[:9], rows[:9]
        )
        assert model.n_examples_ == 9
        assert_same_state(model, expected)
        model.partial_fit(X[10:], rows[10:])
        assert model.classes_.tolist() == list(range(8))

    def test_are_added_by_the_policy(self) -> None:
        """A label that comes later starts as if it had been in the tree from the first example on."""
        X, y = documents(80, 60, 12, seed=5)
        rows = label_lists(y)
        tree = LabelTree.from_nested([[0, 1, 2], [3, [4, 5]], 6, [7]])
        model = OnlineLabelTreeClassifier(tree=tree, arity=5, random_state=0).partial_fit(X, rows)
        assert model.classes_.tolist() == list(range(12))
        fixed = clone(model).set_params(tree=model.tree_, policy="fixed")
        assert_same_weights(fixed.partial_fit(X, rows).freeze(prune=0), model.freeze(prune=0), X.shape[1])

    def test_no_auxiliary_classifiers_in_a_fixed_tree(self) -> None:
        X, y = documents(20, 30, 8)
        model = OnlineLabelTreeClassifier(tree=NESTED, policy="fixed").partial_fit(X, y)
        assert (model.counts_["n_auxiliary"], model.counts_["n_auxiliary_updates"]) == (0, 0)
        assert model.counts_["n_classifiers"] == NESTED.n_nodes


class TestStorage:
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("policy", ["fixed", "complete"])
    def test_a_saved_model_learns_on(self, kind: str, policy: str, tmp_path: Path) -> None:
        X, y = documents(60, 40, 8)
        rows = label_lists(y)
        model = OnlineLabelTreeClassifier(tree=NESTED, policy=policy, random_state=0, **KINDS[kind])
        model.partial_fit(X[:30], rows[:30])
        if policy == "complete":
            rows[20] = [*rows[20], 8]
            model.partial_fit(X[20:21], rows[20:21])
        model.save(tmp_path / "model")
        assert read_info(tmp_path / "model").format_version == 12
        opened = OnlineLabelTreeClassifier.load(tmp_path / "model", verify=True)
        assert opened.tree.to_nested() == model.tree_.to_nested()
        assert_same_state(opened.partial_fit(X[30:], rows[30:]), model.partial_fit(X[30:], rows[30:]))
        if policy == "fixed":
            with pytest.raises(ValueError, match="the label 55 is not in the tree"):
                opened.partial_fit(X[:1], [[55]])

    def test_all_labels_may_be_forgotten(self, tmp_path: Path) -> None:
        model = OnlineLabelTreeClassifier(tree=LabelTree.flat(2)).partial_fit([[1.0]], [[0]])
        assert model.forget(labels=[1]) == 1
        assert model.forget(labels=[0]) == 1
        model.save(tmp_path / "model")
        opened = OnlineLabelTreeClassifier.load(tmp_path / "model")
        assert opened.tree is None
        assert opened.partial_fit([[1.0]], [[5]]).classes_.tolist() == [5]

    def test_a_trained_model_that_takes_no_labels(self, tmp_path: Path) -> None:
        trained = LabelTreeClassifier(loss="logistic").fit([[1.0, 0.0], [0.0, 1.0]], [["cat"], ["dog"]])
        model = OnlineLabelTreeClassifier.from_batch(trained, policy="fixed")
        model.partial_fit([[1.0, 0.0]], [["cat"]]).save(tmp_path / "model")
        opened = OnlineLabelTreeClassifier.load(tmp_path / "model")
        with pytest.raises(ValueError, match="the label 'cow' is not in the tree"):
            opened.partial_fit([[1.0, 0.0]], [["cow"]])
        with pytest.raises(ValueError, match="tree is the same as in the trained model"):
            OnlineLabelTreeClassifier.from_batch(trained, tree=NESTED)

    def test_room_for_the_tree(self) -> None:
        with pytest.raises(ValueError, match="has 8 labels, more than expected_labels=3"):
            OnlineLabelTreeClassifier(
                tree=NESTED, weights="hashed", memory_mb=1, expected_labels=3
            ).partial_fit([[1.0]], [[0]])
        with pytest.raises(
            ValueError, match="has 20 children, but shared weights have room for those of `arity`"
        ):
            OnlineLabelTreeClassifier(tree=LabelTree.flat(20), weights="shared", memory_mb=1).partial_fit(
                [[1.0]], [[0]]
            )
