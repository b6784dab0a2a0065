"""C chosen by rows that are held out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from tests.documents import documents
from tests.reference.assignment import training_sets
from tests.reference.search import decoded, node_probabilities
from tests.reference.solver import node_problems

from labeltree import LabelTree, LabelTreeClassifier, _native
from labeltree.labels.reading import read_labels
from labeltree.training.choice_of_c import (
    Examples,
    climb,
    level_losses,
    missed_precision,
    nearest_of_the_best,
)
from labeltree.training.linear_nodes import block_values
from labeltree.training.losses import LOSSES

pytestmark = pytest.mark.native


def noisy(seed: int = 0, n_rows: int = 1200) -> tuple[np.ndarray, sp.csr_matrix]:
    """Six labels that depend on six of 300 features: too large a C learns the others by heart."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 300)).astype(np.float32)
    scores = X[:, :6] + rng.normal(size=(n_rows, 6)) * 0.3
    return X, sp.csr_matrix(scores >= np.sort(scores, axis=1)[:, [-2]])


def examples(X: sp.csr_matrix, y: sp.csr_matrix, **weights: np.ndarray) -> Examples:
    index = np.int32
    features = _native.FeatureMatrix.csr(
        X.indptr.astype(index), X.indices.astype(index), X.data.astype(np.float32), X.shape[1], True
    )
    return Examples(features, read_labels(y), weights.get("sample_weight"), weights.get("label_weight"))


class TestClimb:
    ROWS = np.random.default_rng(0).normal(size=(100, 1))

    @staticmethod
    def valley(*best: float) -> Callable[[float], np.ndarray]:
        """Losses that are least at these C, a column for each, and almost the same noise in all rows."""
        rng = np.random.default_rng(1)

        def losses(C: float) -> np.ndarray:
            depth = np.array([np.log2(C / at) ** 2 for at in best])
            return TestClimb.ROWS + depth + 0.01 * rng.normal(size=(100, len(best)))

        return losses

    def test_from_the_best_no_more_than_its_neighbours_are_tried(self) -> None:
        tried = climb(1.0, self.valley(1.0))
        assert sorted(tried) == [0.5, 1.0, 2.0]
        assert nearest_of_the_best(1.0, tried) == [1.0]

    @pytest.mark.parametrize(("best", "expected"), [(0.125, [0.0625, 0.125, 0.25, 0.5, 1.0]), (8.0, None)])
    def test_the_best_is_found_from_afar(self, best: float, expected: list[float] | None) -> None:
        tried = climb(1.0, self.valley(best))
        # Downhill first; where that helps nobody asks uphill.
        assert sorted(tried) == (expected or [0.5, 1.0, 2.0, 4.0, 8.0, 16.0])
        assert nearest_of_the_best(1.0, tried) == [best]

    def test_every_column_finds_its_own(self) -> None:
        assert nearest_of_the_best(2.0, climb(2.0, self.valley(0.5, 2.0, 16.0))) == [0.5, 2.0, 16.0]

    def test_where_nothing_can_be_told_the_start_stands(self) -> None:
        rng = np.random.default_rng(2)
        tried = climb(1.0, lambda C: rng.normal(size=(100, 1)))
        assert len(tried) <= 9
        assert nearest_of_the_best(1.0, dict.fromkeys(tried, self.ROWS)) == [1.0]
        # Better on average, but not by more than chance.
        barely = {1.0: self.ROWS, 2.0: self.ROWS[::-1] - 0.05}
        assert nearest_of_the_best(1.0, barely) == [1.0]

    def test_an_end_is_reached(self) -> None:
        assert len(climb(1.0, lambda C: np.full((5, 1), -C))) < 20


@pytest.mark.parametrize("weighted", [False, True])
def test_losses_of_levels_are_those_of_the_nodes(weighted: bool) -> None:
    X, y = documents(40, 60, 12, unlabelled=0.1)
    X_new, y_new = documents(30, 60, 12, unlabelled=0.2, seed=1)
    label_weight = np.linspace(0.5, 4, 12, dtype=np.float32) if weighted else None
    tree = LabelTree.from_nested([[0, 1, 2, 3], [4, [5, 6, 7], 8], 9, 10, 11])
    model = LabelTreeClassifier(loss="logistic", tree=tree, random_state=0).fit(X, y)
    held_out = examples(X_new, y_new, **({"label_weight": label_weight} if weighted else {}))
    store = model.weights_[0].store(60, "sigmoid")

    norm = np.sqrt(X_new.multiply(X_new).sum(axis=1)).A1
    eta = [
        node_probabilities(model.weights_[0], x / n, "sigmoid")
        for x, n in zip(X_new.toarray().astype(float), norm, strict=True)
    ]
    expected = np.zeros((30, tree.depth + 1))
    for v, pairs in enumerate(training_sets(tree, [y_new[[i]].indices.tolist() for i in range(30)])):
        below = tree.labels_under(v)
        for i, positive in pairs:
            p = np.clip(eta[i][v], 0.001, 0.999)
            worth = (
                max(label_weight[j] for j in y_new[[i]].indices if j in below) if weighted and positive else 1
            )
            expected[i, tree.depth_of_node[v]] -= worth * np.log(p) if positive else np.log(1 - p)
    for n_threads in (1, 3):
        found = level_losses(store, tree, held_out, n_threads)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="one column per level of the tree"):
        store.held_out_loss(held_out.native, 1, np.empty((30, 2)))


def test_missed_precision_is_what_the_metrics_say() -> None:
    from labeltree.metrics import precision_at_k

    X, y = documents(100, 60, 12, unlabelled=0.1)
    model = LabelTreeClassifier(random_state=0).fit(X, y)
    X_new, y_new = documents(50, 60, 12, unlabelled=0.1, seed=1)
    missed = missed_precision(model.weights_[0].store(60, "exp4"), model.tree_, examples(X_new, y_new), 1)
    labels = model.predict_topk(X_new, 5).labels
    expected = np.mean([precision_at_k(y_new, labels, k) for k in (1, 3, 5)])
    assert 1 - missed.mean() == pytest.approx(expected)
    heavy = examples(X_new, y_new, label_weight=np.full(12, 3, dtype=np.float32))
    weighted = missed_precision(model.weights_[0].store(60, "exp4"), model.tree_, heavy, 1)
    np.testing.assert_allclose(1 - weighted, 3 * (1 - missed))


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


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "squared", "exponential"])
def test_a_default_that_learns_noise_is_left(loss: str) -> None:
    X, y = noisy()
    X_new, y_new = noisy(seed=1)
    parameters = {"loss": loss, "normalize": False, "prune": 0.0, "random_state": 0, "max_iter": 30}
    scores = {}
    for C in (None, "auto"):
        model = LabelTreeClassifier(C=C, **parameters).fit(X, y)
        scores[C] = y_new[np.arange(1200)[:, None], model.predict_topk(X_new, 2).labels].mean()
    assert LOSSES[loss].default_c / 8 >= model.C_
    assert max(model.C_scores_, key=model.C_scores_.get) <= model.C_
    assert scores["auto"] > scores[None] + 0.01


def test_where_the_default_is_good_it_stands() -> None:
    X, y = documents(600, 200, 12)
    model = LabelTreeClassifier(C="auto", random_state=0).fit(X, y)
    assert 0.5 <= model.C_ <= 2
    assert 1.0 in model.C_scores_
    assert LabelTreeClassifier(random_state=0).fit(X, y).C_scores_ is None


@pytest.mark.parametrize("C", ["auto", "auto_per_level"])
def test_the_same_seed_chooses_the_same_for_any_number_of_threads(C: str) -> None:
    X, y = documents(300, 80, 30, seed=3)
    shape = {"arity": 3, "max_leaves": 4, "frequent_share": 0.0, "n_trees": 2, "random_state": 5}
    models = [LabelTreeClassifier(C=C, n_jobs=n, **shape).fit(X, y) for n in (1, 3)]
    assert models[0].C_ == models[1].C_
    assert models[0].C_scores_ == models[1].C_scores_
    for one, other in zip(models[0].weights_, models[1].weights_, strict=True):
        np.testing.assert_array_equal(one.arrays["weight"], other.arrays["weight"])
    assert set(models[0].fit_seconds_) == {"clustering", "choosing_C", "training"}


def test_every_level_is_trained_as_was_chosen_for_it() -> None:
    X, y = documents(300, 80, 30, unlabelled=0.1, seed=4)
    shape = {"arity": 3, "max_leaves": 4, "frequent_share": 0.0, "random_state": 0, "loss": "logistic"}
    precise = {"tol": 1e-4, "max_iter": 10_000, "prune": 0.0}
    model = LabelTreeClassifier(C="auto_per_level", **shape, **precise).fit(X, y)
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


def test_too_few_rows_leave_the_default() -> None:
    X, y = documents(8, 20, 4)
    assert LabelTreeClassifier(C="auto").fit(X, y).C_ == 1.0
    assert LabelTreeClassifier(C="auto_per_level", tree="flat").fit(X, y).C_ == [1.0, 1.0]


def test_weights_of_examples_count_in_the_choice() -> None:
    X, y = documents(4, 20, 4)
    losses = np.array([[1.0, 2.0], [3.0, 5.0], [100.0, 7.0], [4.0, 8.0]])
    weight = np.array([2, 1, 0, 3], dtype=np.float32)
    weighed = examples(X, y, sample_weight=weight).weigh(losses)
    np.testing.assert_allclose(weighed.mean(axis=0), np.average(losses, axis=0, weights=weight))
    np.testing.assert_array_equal(examples(X, y).weigh(losses), losses)
    # Rows that all count nothing may be held out.
    np.testing.assert_array_equal(examples(X, y, sample_weight=0 * weight).weigh(losses), losses)


def test_what_was_chosen_is_saved(tmp_path: Path) -> None:
    X, y = documents(200, 80, 12, seed=5)
    for C in ("auto", "auto_per_level"):
        model = LabelTreeClassifier(C=C, random_state=0).fit(X, y)
        model.save(tmp_path / C)
        opened = LabelTreeClassifier.load(tmp_path / C)
        assert opened.C == model.C_
        np.testing.assert_array_equal(
            opened.predict_topk(X).probabilities, model.predict_topk(X).probabilities
        )
        assert model.C == C
    opened.set_params(C="auto").save(tmp_path / "again")
    assert LabelTreeClassifier.load(tmp_path / "again").C == "auto"
