"""labeltree.metrics against scikit-learn, slow twins and numbers computed by hand."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st
from tests.reference import metrics as reference

from labeltree import metrics

RANKING = {
    "P": metrics.precision_at_k,
    "nDCG": metrics.ndcg_at_k,
    "recall": metrics.recall_at_k,
    "F1": metrics.f1_at_k,
    "coverage": metrics.coverage_at_k,
}
TWINS = {
    "P": reference.precision,
    "nDCG": reference.ndcg,
    "recall": reference.recall,
    "F1": reference.f1_at_k,
    "coverage": reference.coverage,
}


def indicator(truth: list[set[int]], n_labels: int) -> np.ndarray:
    return np.array([[int(label in true) for label in range(n_labels)] for true in truth])


def padded(ranked: list[list[int]], width: int) -> np.ndarray:
    return np.array([labels + [-1] * (width - len(labels)) for labels in ranked]).reshape(len(ranked), width)


@st.composite
def problems(draw: st.DrawFn) -> tuple[int, list[set[int]], list[list[int]]]:
    """The number of labels, true labels and ranked labels of a few rows, some of them without any."""
    n_labels = draw(st.integers(1, 6))
    label = st.integers(0, n_labels - 1)
    row = st.tuples(st.sets(label), st.lists(label, unique=True))
    truth, ranked = zip(*draw(st.lists(row, min_size=1, max_size=6)), strict=True)
    return n_labels, list(truth), list(ranked)


class TestAgainstTwins:
    @given(problems(), st.integers(1, 8))
    def test_ranking(self, problem: Any, k: int) -> None:
        n_labels, truth, ranked = problem
        y_true = sp.csr_array(indicator(truth, n_labels))
        weights = {label: 1.0 + (label * 7 % 5) / 2 for label in range(n_labels)}
        expected = {name: twin(truth, ranked, k) for name, twin in TWINS.items()}
        expected["PSP"] = reference.psprecision(truth, ranked, k, weights)
        expected["PSnDCG"] = reference.psndcg(truth, ranked, k, weights)
        by_column = list(weights.values())
        for y_pred in (padded(ranked, max(k, n_labels)), ranked):
            got = {name: metric(y_true, y_pred, k) for name, metric in RANKING.items()}
            got["PSP"] = metrics.psprecision_at_k(y_true, y_pred, k, inverse_propensity=by_column)
            got["PSnDCG"] = metrics.psndcg_at_k(y_true, y_pred, k, inverse_propensity=by_column)
            assert got == pytest.approx(expected)

    @given(problems(), st.integers(1, 4), st.randoms(use_true_random=False))
    def test_ranking_by_score(self, problem: Any, k: int, random: Any) -> None:
        n_labels, truth, stored = problem
        # Few distinct scores make many ties; zero and negative scores are scores like any other.
        scores = [{label: random.choice([-1.5, 0.0, 0.25, 0.5]) for label in labels} for labels in stored]
        rows = [row for row, of_row in enumerate(scores) for _ in of_row]
        columns = [label for of_row in scores for label in of_row]
        values = [score for of_row in scores for score in of_row.values()]
        indptr = np.searchsorted(rows, np.arange(len(scores) + 1))
        y_pred = sp.csr_array((np.float32(values), np.int32(columns), indptr), shape=(len(truth), n_labels))
        ranked = [reference.rank(of_row) for of_row in scores]
        y_true = indicator(truth, n_labels)
        for name, metric in RANKING.items():
            assert metric(y_true, y_pred, k) == pytest.approx(TWINS[name](truth, ranked, k))

    @given(problems(), st.sampled_from([0.0, 0.5, 1.0, 2.0]))
    def test_decisions(self, problem: Any, beta: float) -> None:
        n_labels, truth, lists = problem
        predicted = [set(labels) for labels in lists]
        y_true, y_pred = indicator(truth, n_labels), sp.coo_array(indicator(predicted, n_labels))
        for average in ("micro", "macro"):
            expected = reference.f_beta(truth, predicted, n_labels, beta, average)
            assert metrics.f_beta(y_true, y_pred, beta, average) == pytest.approx(expected)
        for average in ("micro", "macro", "samples"):
            expected = reference.jaccard(truth, predicted, n_labels, average)
            assert metrics.jaccard(y_true, y_pred, average) == pytest.approx(expected)
            assert metrics.jaccard(y_true, lists, average) == pytest.approx(expected)
        expected = reference.hamming(truth, predicted, n_labels)
        assert metrics.hamming_loss(y_true, y_pred) == pytest.approx(expected)

    @given(problems(), st.floats(0.1, 2), st.floats(0.1, 3))
    def test_inverse_propensity(self, problem: Any, A: float, B: float) -> None:
        n_labels, truth, _ = problem
        truth = [*truth, set(), set()]
        expected = [reference.inverse_propensity(truth, label, A, B) for label in range(n_labels)]
        weights = metrics.inverse_propensity(indicator(truth, n_labels), A=A, B=B)
        assert weights == pytest.approx(expected)
        counts = [sum(label in true for true in truth) for label in range(n_labels)]
        assert metrics.inverse_propensity_of_counts(counts, len(truth), A, B) == pytest.approx(expected)
        by_label = metrics.inverse_propensity([[f"label {label}" for label in true] for true in truth], A, B)
        assert [by_label[f"label {label}"] for label in range(n_labels)] == pytest.approx(expected)


class TestAgainstScikitLearn:
    N_ROWS, N_LABELS = 200, 30

    @pytest.fixture
    def y_true(self) -> np.ndarray:
        y = (np.random.default_rng(1).random((self.N_ROWS, self.N_LABELS)) < 0.1).astype(int)
        assert (y.sum(axis=1) == 0).any()
        return y

    @pytest.fixture
    def scores(self) -> np.ndarray:
        return np.random.default_rng(2).random((self.N_ROWS, self.N_LABELS))

    @pytest.mark.parametrize("k", [1, 3, 5, 30])
    def test_ranking(self, y_true: np.ndarray, scores: np.ndarray, k: int) -> None:
        top = np.argsort(-scores, axis=1)[:, :k]
        chosen = np.zeros_like(y_true)
        np.put_along_axis(chosen, top, 1, axis=1)
        precision = sklearn.metrics.precision_score(y_true, chosen, average="samples", zero_division=0)
        recall = sklearn.metrics.recall_score(y_true, chosen, average="samples", zero_division=0)
        f1 = sklearn.metrics.f1_score(y_true, chosen, average="samples", zero_division=0)
        ndcg = sklearn.metrics.ndcg_score(y_true, scores, k=k)
        for y_pred in (top, sp.csr_array(scores)):
            assert metrics.precision_at_k(y_true, y_pred, k) == pytest.approx(precision)
            assert metrics.recall_at_k(y_true, y_pred, k) == pytest.approx(recall)
            assert metrics.f1_at_k(y_true, y_pred, k) == pytest.approx(f1)
            assert metrics.ndcg_at_k(y_true, y_pred, k) == pytest.approx(ndcg)

    @pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
    def test_decisions(self, y_true: np.ndarray, scores: np.ndarray, beta: float) -> None:
        decided = (scores + 0.5 * y_true > 0.9).astype(int)
        decided[:, 3] = y_true[:, 3] = 0  # a label that never occurs
        for average in ("micro", "macro"):
            expected = sklearn.metrics.fbeta_score(
                y_true, decided, beta=beta, average=average, zero_division=0
            )
            assert metrics.f_beta(y_true, decided, beta, average) == pytest.approx(expected)
        for average in ("micro", "macro", "samples"):
            expected = sklearn.metrics.jaccard_score(y_true, decided, average=average, zero_division=0)
            assert metrics.jaccard(y_true, decided, average) == pytest.approx(expected)
        assert metrics.hamming_loss(y_true, decided) == pytest.approx(
            sklearn.metrics.hamming_loss(y_true, decided)
        )


class TestByHand:
    """Three rows: two labels of which one is found first, one label found third, and no label at all."""

    Y_TRUE = np.array([[1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]])
    Y_PRED = np.array([[0, 3, 2], [0, 1, 2], [3, 0, 1]])
    WEIGHTS = np.array([1.0, 4.0, 2.0, 8.0])

    def test_evaluate(self) -> None:
        values = metrics.evaluate(self.Y_TRUE, self.Y_PRED, ks=(1, 3), inverse_propensity=self.WEIGHTS)
        second, third = 1 / np.log2(3), 1 / 2
        assert values == pytest.approx(
            {
                "P@1": 1 / 3,
                "P@3": 2 / 9,
                "nDCG@1": 1 / 3,
                "nDCG@3": (1 / (1 + second) + third) / 3,
                "PSP@1": 1 / (4 + 2),
                "PSP@3": (1 + 2) / (5 + 2),
                "PSnDCG@1": 1 / (4 + 2),
                "PSnDCG@3": (1 / (1 + second) + 2 * third) / ((4 + second) / (1 + second) + 2),
                "recall@1": 1 / 6,
                "recall@3": 1 / 2,
                "F1@1": (2 / 3) / 3,
                "F1@3": (2 / 5 + 2 / 4) / 3,
                "coverage@1": 1 / 3,
                "coverage@3": 2 / 3,
            }
        )
        assert all(type(value) is float for value in values.values())

    def test_evaluate_equals_the_single_functions(self) -> None:
        values = metrics.evaluate(self.Y_TRUE, self.Y_PRED, ks=[3, 2])
        assert list(values) == [f"{name}@{k}" for name in RANKING for k in (3, 2)]
        for name, metric in RANKING.items():
            assert values[f"{name}@2"] == metric(self.Y_TRUE, self.Y_PRED, 2)

    def test_inverse_propensity(self) -> None:
        y_train = sp.csr_array(np.eye(1000, 2) + np.eye(1000, 2, k=-2))
        y_train = sp.vstack([y_train] * 10)  # each label in 20 of 10,000 rows
        y_train.resize(10_000, 3)
        # C = (9.210340 - 1) * 2.5 ** 0.55 = 13.590273; 21.5 ** -0.55 = 0.184995; 1.5 ** -0.55 = 0.800110
        assert metrics.inverse_propensity(y_train) == pytest.approx([3.514126, 3.514126, 11.873716], abs=1e-6)
        # C = 8.210340 * 3.6 ** 0.6 = 17.706905; 22.6 ** -0.6 = 0.154005; 2.6 ** -0.6 = 0.563658
        amazon = metrics.inverse_propensity(y_train, A=0.6, B=2.6)
        assert amazon == pytest.approx([3.726953, 3.726953, 10.980646], abs=1e-6)

    @pytest.mark.parametrize("n_labels", [1, 5, 12, 40])
    def test_perfect_ranking_is_exactly_one(self, n_labels: int) -> None:
        weights = np.random.default_rng(3).random(n_labels) + 1
        y_true, y_pred = np.ones((1, n_labels)), sp.csr_array(weights[None, :])
        values = metrics.evaluate(y_true, y_pred, range(1, n_labels + 1), inverse_propensity=weights)
        assert {values[name] for name in values if name.startswith(("P", "nDCG"))} == {1.0}

    def test_nothing_true_anywhere_is_zero(self) -> None:
        y_true = sp.csr_array((2, 4))
        values = metrics.evaluate(y_true, [[0], []], inverse_propensity=np.ones(4))
        assert set(values.values()) == {0.0}
        assert metrics.f_beta(y_true, y_true, average="macro") == 0.0
        assert metrics.jaccard(y_true, y_true) == 0.0
        assert metrics.hamming_loss(y_true, y_true) == 0.0

    def test_equal_scores_are_ranked_by_column(self) -> None:
        y_true = np.zeros((2, 1000), dtype=int)
        y_true[0, :3] = y_true[1, 997:] = 1
        assert metrics.precision_at_k(y_true, sp.csr_array(np.full((2, 1000), 0.5)), k=3) == 0.5

    def test_missing_prediction_is_not_the_last_label_of_the_row_above(self) -> None:
        assert metrics.precision_at_k(np.array([[0, 1], [0, 1]]), np.array([[0], [-1]]), k=1) == 0.0


class TestForms:
    """Every form of the same labels gives the same value."""

    TRUTH = ([0, 2], [], [4], [1, 2, 3])
    RANKED = ([2, 1, 0], [0, 1, 4], [3], [1, 2])
    NAMES = ("red", "green", 7, ("a", "pair"), 2.5)
    LABEL_FORMS = (
        sp.csr_array,
        sp.csr_matrix,
        sp.csc_array,
        sp.coo_matrix,
        sp.lil_array,
        np.asarray,
        lambda y: y.astype(bool),
        lambda y: y.astype(np.float32),
        pd.DataFrame,
    )

    @property
    def y_true(self) -> np.ndarray:
        return indicator([set(labels) for labels in self.TRUTH], 5)

    @property
    def y_pred(self) -> np.ndarray:
        return padded(list(self.RANKED), 3)

    @property
    def expected(self) -> dict[str, float]:
        return metrics.evaluate(self.y_true, self.y_pred, ks=(1, 2, 3))

    @pytest.mark.parametrize("form", LABEL_FORMS)
    def test_true_labels(self, form: Any) -> None:
        assert metrics.evaluate(form(self.y_true), self.y_pred, ks=(1, 2, 3)) == self.expected

    @pytest.mark.parametrize(
        "form",
        [
            lambda y: y.astype(np.int8),
            lambda y: np.hstack([y, y + 1]),
            lambda y: np.asfortranarray(y),
            pd.DataFrame,
            lambda y: y.tolist(),
            lambda y: [np.array(row) for row in y],
            lambda y: [tuple(label for label in row if label >= 0) for row in y],
        ],
    )
    def test_ranked_labels(self, form: Any) -> None:
        assert metrics.evaluate(self.y_true, form(self.y_pred), ks=(1, 2, 3)) == self.expected

    def test_labels_of_any_kind(self) -> None:
        true_names = [{self.NAMES[label] for label in row} for row in self.TRUTH]
        rows = [[self.NAMES[label] for label in row] for row in self.RANKED]
        array = np.full((4, 3), None, dtype=object)
        for number, row in enumerate(rows):
            array[number, : len(row)] = pd.Series(row, dtype=object)
        weights = metrics.inverse_propensity(self.y_true)
        by_label = dict(zip(self.NAMES, weights, strict=True))
        expected = metrics.evaluate(self.y_true, self.y_pred, ks=(1, 2, 3), inverse_propensity=weights)
        for y_pred in (rows, array):
            got = metrics.evaluate(true_names, y_pred, ks=(1, 2, 3), inverse_propensity=by_label)
            assert got == pytest.approx(expected)

    def test_labels_only_predicted_are_misses(self) -> None:
        assert metrics.precision_at_k([["a"], ["b"]], [["a", "x"], ["y", "b"]], k=2) == 0.5
        assert metrics.precision_at_k([["a"], ["b"]], np.array([["a", "x"], ["y", "b"]]), k=2) == 0.5

    def test_integer_labels_in_lists_may_be_missing(self) -> None:
        assert metrics.precision_at_k([[10], [20]], np.array([[10, -1, -1], [-1, 20, 30]]), k=3) == 1 / 3

    @pytest.mark.parametrize("form", LABEL_FORMS)
    def test_decisions(self, form: Any) -> None:
        y_pred = indicator([set(labels) for labels in self.RANKED], 5)
        assert metrics.f_beta(self.y_true, form(y_pred)) == 2 * 4 / (2 * 4 + 5 + 2)

    @pytest.mark.parametrize(
        ("metric", "options"),
        [
            (metrics.f_beta, {"average": "micro"}),
            (metrics.f_beta, {"average": "macro", "beta": 0.5}),
            (metrics.jaccard, {"average": "samples"}),
            (metrics.hamming_loss, {}),
        ],
    )
    def test_decisions_from_labels(self, metric: Any, options: dict[str, Any]) -> None:
        expected = metric(self.y_true, indicator([set(labels) for labels in self.RANKED], 5), **options)
        assert metric(self.y_true, self.y_pred, **options) == expected
        assert metric(self.y_true, self.y_pred.astype(np.int8), **options) == expected
        assert metric(sp.csr_array(self.y_true), [set(row) for row in self.RANKED], **options) == expected
        names = [[self.NAMES[label] for label in row] for row in self.RANKED]
        truth = [[self.NAMES[label] for label in row] for row in self.TRUTH]
        assert metric(truth, names, **options) == pytest.approx(expected)
        repeated = [row + row for row in names]
        assert metric(truth, repeated, **options) == pytest.approx(expected)

    def test_weights_of_unseen_labels(self) -> None:
        weights = metrics.inverse_propensity([["a"], ["a", "b"], ["a"], []])
        with_column = metrics.inverse_propensity(np.array([[1, 0, 0], [1, 1, 0], [1, 0, 0], [0, 0, 0]]))
        assert [weights["a"], weights["b"], weights["c"]] == pytest.approx(with_column.tolist())
        assert set(weights) == {"a", "b"}
        restored = pickle.loads(pickle.dumps(weights))
        assert restored == weights
        assert restored["c"] == weights["c"]
        value = metrics.psprecision_at_k([["c", "a"]], [["a", "c"]], k=1, inverse_propensity=weights)
        assert value == pytest.approx(weights["a"] / weights["c"])

    def test_input_is_left_as_it_is(self) -> None:
        parts = np.array([1, 0, 1, 1.0]), np.array([3, 0, 1, 2], np.int32), np.array([0, 3, 4], np.int32)
        y_true = sp.csr_matrix(parts, shape=(2, 4))  # unsorted, with a stored zero
        before = [part.copy() for part in (y_true.data, y_true.indices, y_true.indptr)]
        for part in (y_true.data, y_true.indices, y_true.indptr):
            part.flags.writeable = False
        assert metrics.precision_at_k(y_true, y_true, k=2) == 3 / 4
        assert metrics.jaccard(y_true, y_true) == 1.0
        for part, copy in zip((y_true.data, y_true.indices, y_true.indptr), before, strict=True):
            np.testing.assert_array_equal(part, copy)


def test_large_and_sparse() -> None:
    """A dense form of this would take 100 GB."""
    n_rows, n_labels, per_row = 150_000, 670_000, 5
    columns = np.random.default_rng(0).integers(0, n_labels // per_row, (n_rows, per_row)) * per_row
    columns += np.arange(per_row)
    indptr = np.arange(n_rows + 1) * per_row
    y_true = sp.csr_array(
        (np.ones(columns.size, np.float32), columns.ravel(), indptr), shape=(n_rows, n_labels)
    )
    y_pred = columns[:, ::-1].copy()
    y_pred[::2, 3:] = -1  # every other row finds three of its five labels
    values = metrics.evaluate(
        y_true, y_pred, ks=(1, 5), inverse_propensity=metrics.inverse_propensity(y_true)
    )
    assert values["P@1"] == 1.0
    assert [values["P@5"], values["recall@5"]] == pytest.approx([0.8, 0.8])
    assert metrics.f_beta(y_true, y_pred) == pytest.approx(2 * 4 / (5 + 4))
    assert metrics.hamming_loss(y_true, y_pred) == pytest.approx(1 / n_labels)


def test_lists_of_0_and_1_are_a_matrix_as_they_are_to_fit() -> None:
    y, top = [[0, 1], [1, 1], [0, 1]], np.array([[1], [0], [0]])
    assert (
        metrics.precision_at_k(y, top, k=1)
        == metrics.precision_at_k(np.array(y), top, k=1)
        == pytest.approx(2 / 3)
    )
