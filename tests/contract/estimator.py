"""The life of an estimator: trained, asked, copied, trained again, asked wrongly."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from tests.contract.problem import N_LABELS, Contract, assert_same_answers, problem

QUESTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "predict": lambda model, X: model.predict(X),
    "predict_topk": lambda model, X: model.predict_topk(X),
    "predict_proba": lambda model, X: model.predict_proba(X),
}


def bad_values(form: Callable[[Any], Any], value: float) -> Any:
    X = problem()[0].toarray()
    X[3, 5] = value
    return form(X)


class EstimatorContract(Contract):
    # -- answers -----------------------------------------------------------------------------------------------

    @pytest.mark.native
    @pytest.mark.parametrize("k", [1, 3, N_LABELS, N_LABELS + 1, 10**12])
    def test_the_best_labels_come_first(self, model: Any, k: int) -> None:
        X, _ = problem()
        labels, probabilities = model.predict_topk(X, k=k)
        assert labels.shape == probabilities.shape == (X.shape[0], min(k, N_LABELS))
        assert probabilities.dtype == np.float32
        assert ((probabilities >= 0) & (probabilities <= 1)).all()
        assert (np.diff(probabilities, axis=1) <= 0).all()
        assert all(len(set(row)) == len(row) for row in labels.tolist())
        everything = model.predict_topk(X, k=N_LABELS).probabilities
        np.testing.assert_array_equal(probabilities, everything[:, :k])

    @pytest.mark.native
    def test_probabilities_agree_with_the_best_labels(self, model: Any) -> None:
        X, _ = problem()
        top = model.predict_topk(X, k=N_LABELS)
        matrix = model.predict_proba(X)
        assert sp.issparse(matrix)
        assert matrix.format == "csr"
        assert matrix.has_sorted_indices
        assert matrix.shape == (X.shape[0], N_LABELS)
        assert matrix.dtype == np.float32
        np.testing.assert_array_equal(np.take_along_axis(matrix.toarray(), top.labels, 1), top.probabilities)
        assert (np.diff(model.predict_proba(X, top_k=2).indptr) <= 2).all()

    @pytest.mark.native
    def test_thresholds(self, model: Any) -> None:
        X, _ = problem()
        everything = model.predict_proba(X).toarray()
        for threshold in (0.2, everything[0].max(), 1.0):
            expected = np.where(everything >= np.float32(threshold), everything, 0)
            np.testing.assert_array_equal(model.predict_proba(X, threshold=threshold).toarray(), expected)
            np.testing.assert_array_equal(model.predict_proba(X, None, threshold).toarray(), expected)
            labels, probabilities = model.predict_topk(X, k=N_LABELS, threshold=threshold)
            np.testing.assert_array_equal((probabilities > 0).sum(axis=1), (expected > 0).sum(axis=1))
            assert (labels[probabilities == 0] == -1).all()
        of_labels = np.linspace(0.05, 0.6, N_LABELS)
        expected = np.where(everything >= of_labels.astype(np.float32), everything, 0)
        np.testing.assert_array_equal(model.predict_proba(X, threshold=of_labels).toarray(), expected)

    @pytest.mark.native
    @pytest.mark.parametrize(
        "no_rows",
        [sp.csr_matrix((0, 40)), np.empty((0, 40)), [], np.array([])],
        ids=["csr", "2-d", "[]", "1-d"],
    )
    def test_no_rows_are_answered_with_no_rows(self, model: Any, no_rows: Any) -> None:
        labels, probabilities = model.predict_topk(no_rows, k=3)
        assert labels.shape == probabilities.shape == (0, 3)
        assert model.predict_proba(no_rows).shape == model.predict(no_rows).shape == (0, N_LABELS)
        assert model.predict_pairs(no_rows, [], []).shape == (0,)

    @pytest.mark.native
    def test_a_row_alone_is_answered_as_among_others(self, model: Any) -> None:
        X, _ = problem()
        top = model.predict_topk(X, k=4)
        for i in range(0, X.shape[0], 7):
            alone = model.predict_topk(X[[i]], k=4)
            np.testing.assert_array_equal(alone.labels[0], top.labels[i])
            np.testing.assert_array_equal(alone.probabilities[0], top.probabilities[i])

    def test_it_learns(self, model: Any) -> None:
        X, y = problem()
        best = model.predict_topk(X, k=1).labels.ravel()
        labelled = np.flatnonzero(np.diff(y.indptr))
        assert y[labelled, best[labelled]].mean() > 0.9

    # -- copies ------------------------------------------------------------------------------------------------

    @pytest.mark.parametrize(
        "copied", [copy.deepcopy, copy.copy, lambda model: pickle.loads(pickle.dumps(model))]
    )
    def test_copies_answer_the_same(self, model: Any, copied: Callable[[Any], Any]) -> None:
        X, _ = problem()
        expected = model.predict_topk(X)
        twin = copied(model)
        np.testing.assert_array_equal(twin.predict_topk(X).probabilities, expected.probabilities)
        assert twin.get_params() == model.get_params()
        assert_same_answers(copied(twin), model, X)

    def test_a_saved_model_answers_the_same(self, model: Any, tmp_path: Path) -> None:
        X, _ = problem()
        model.save(tmp_path / "model")
        opened = type(model).load(tmp_path / "model")
        assert opened.get_params() == model.get_params()
        assert opened.stored_parameters() == model.stored_parameters()
        assert_same_answers(opened, model, X)
        assert_same_answers(pickle.loads(pickle.dumps(opened)), model, X)

    def test_a_clone_is_untrained(self, model: Any) -> None:
        X, y = problem()
        twin = clone(model)
        assert twin.get_params() == model.get_params()
        with pytest.raises(NotFittedError):
            twin.predict(X)
        assert_same_answers(twin.fit(X, y), model, X)

    # -- training again ----------------------------------------------------------------------------------------

    @pytest.mark.parametrize("names", [None, list("abcdefgh")])
    def test_a_failed_fit_leaves_an_earlier_model_as_it_was(
        self, make_classifier: Callable[..., Any], names: list[str] | None
    ) -> None:
        X, y = problem()
        model = make_classifier().fit(X, y)
        before, attributes = model.predict_topk(X), sorted(vars(model))
        other = pd.DataFrame(np.eye(5, 8), columns=names) if names else np.eye(5, 8)
        for bad_y in ([["a"]] * 4, [[]] * 5, np.full((5, 3), 7), None):
            with pytest.raises(ValueError, match="y"):
                model.fit(other, bad_y)
        with pytest.raises(ValueError, match="sample_weight"):
            model.fit(other, [["a"], ["b"]] * 2 + [["c"]], sample_weight=[1, 2])
        after = model.predict_topk(X)
        np.testing.assert_array_equal(before.labels, after.labels)
        np.testing.assert_array_equal(before.probabilities, after.probabilities)
        assert sorted(vars(model)) == attributes
        assert model.n_features_in_ == X.shape[1]

    def test_a_failed_first_fit_leaves_nothing(self, make_classifier: Callable[..., Any]) -> None:
        model = make_classifier()
        before = dict(vars(model))
        with pytest.raises(ValueError, match="same number of rows"):
            model.fit(np.eye(3), [["a"]])
        assert vars(model) == before

    def test_training_again_forgets(self, make_classifier: Callable[..., Any]) -> None:
        X, y = problem()
        frame = pd.DataFrame(np.eye(5, 8, dtype=np.float32), columns=list("abcdefgh"))
        model = make_classifier().fit(frame, ["one", "two", "one", "two", "three"])
        assert model.feature_names_in_.tolist() == list("abcdefgh")
        model.predict(frame)
        model.fit(X, y)
        assert_same_answers(model, make_classifier().fit(X, y), X)
        assert not hasattr(model, "feature_names_in_")
        assert model.n_features_in_ == X.shape[1]
        assert model.classes_.tolist() == list(range(y.shape[1]))

    def test_fit_returns_the_model_and_leaves_its_parameters(
        self, make_classifier: Callable[..., Any]
    ) -> None:
        model = make_classifier()
        before = model.get_params()
        assert model.fit(*problem()) is model
        assert model.get_params() == before

    # -- weights of examples -----------------------------------------------------------------------------------

    def test_a_weight_of_zero_is_as_good_as_no_row(self, make_classifier: Callable[..., Any]) -> None:
        X, y = problem()
        kept = np.arange(X.shape[0]) % 5 > 0
        weighted = make_classifier(**self.precise).fit(X, y, sample_weight=kept)
        without = make_classifier(**self.precise).fit(X[kept], y[kept])
        self._about_equal(weighted, without)

    def test_a_whole_weight_is_as_good_as_repetition(self, make_classifier: Callable[..., Any]) -> None:
        X, y = problem()
        times = np.arange(X.shape[0]) % 3 + 1
        weighted = make_classifier(**self.precise).fit(X, y, sample_weight=times)
        rows = np.repeat(np.arange(X.shape[0]), times)
        self._about_equal(weighted, make_classifier(**self.precise).fit(X[rows], y[rows]))

    def test_one_weight_serves_all_rows(self, make_classifier: Callable[..., Any]) -> None:
        X, y = problem()
        all_equal = make_classifier().fit(X, y, sample_weight=np.full(X.shape[0], 2))
        assert_same_answers(make_classifier().fit(X, y, sample_weight=2), all_equal, X)
        assert_same_answers(make_classifier().fit(X, y, sample_weight=1), make_classifier().fit(X, y), X)

    @staticmethod
    def _about_equal(one: Any, other: Any) -> None:
        X, _ = problem()
        a, b = one.predict_proba(X, None).toarray(), other.predict_proba(X, None).toarray()
        np.testing.assert_allclose(a, b, atol=2e-3)

    # -- errors ------------------------------------------------------------------------------------------------

    @pytest.mark.parametrize("question", QUESTIONS)
    def test_an_untrained_model_says_so(self, make_classifier: Callable[..., Any], question: str) -> None:
        with pytest.raises(NotFittedError, match="is not fitted yet"):
            QUESTIONS[question](make_classifier(), problem()[0])

    @pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csc_matrix, pd.DataFrame])
    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    def test_features_must_be_finite(
        self, make_classifier: Callable[..., Any], model: Any, form: Callable[[Any], Any], value: float
    ) -> None:
        X, y = bad_values(form, value), problem()[1]
        with pytest.raises(ValueError, match=r"NaN|inf"):
            make_classifier().fit(X, y)
        for ask in QUESTIONS.values():
            with pytest.raises(ValueError, match=r"NaN|inf"):
                ask(model, X)

    @pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
    def test_numbers_that_float32_cannot_hold_are_refused(
        self, model: Any, form: Callable[[Any], Any]
    ) -> None:
        X = problem()[0].toarray().astype(np.float64)
        X[3, 5] = 1e39
        with pytest.raises(ValueError, match="X, row 3: feature 5 is NaN, inf or too large for float32"):
            model.predict(form(X))

    @pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csc_array, pd.DataFrame])
    @pytest.mark.parametrize("question", QUESTIONS)
    def test_questions_need_the_features_of_training(
        self, model: Any, form: Callable[[Any], Any], question: str
    ) -> None:
        for width in (39, 41):
            with pytest.raises(ValueError, match=f"X has {width} features, but .* is expecting 40 features"):
                QUESTIONS[question](model, form(np.ones((2, width))))
            with pytest.raises(ValueError, match=f"X has {width} features, but .* is expecting 40 features"):
                QUESTIONS[question](model, form(np.ones((0, width))))

    def test_features_must_be_a_table_of_numbers(self, model: Any) -> None:
        with pytest.raises(ValueError, match="2D array"):
            model.predict(np.ones(40))
        with pytest.raises(ValueError, match="could not convert"):
            model.predict([["a"] * 40])
        with pytest.raises(ValueError, match="Complex"):
            model.predict(np.ones((2, 40), dtype=complex))
        with pytest.raises(ValueError, match="Complex"):
            model.predict(sp.csr_matrix(np.ones((2, 40), dtype=complex)))

    def test_indices_that_lead_astray_are_refused(
        self, make_classifier: Callable[..., Any], model: Any
    ) -> None:
        _, y = problem()
        for column in (-1, 40, 10**9):
            X = sp.csr_matrix(np.ones((80, 40)))
            X.indices[7] = column
            with pytest.raises(ValueError, match=rf"X, row 0: feature {column} is outside 0\.\.39"):
                model.predict(X)
            with pytest.raises(ValueError, match=rf"X, row 0: feature {column} is outside 0\.\.39"):
                make_classifier().fit(X, y)

    @pytest.mark.parametrize("k", [0, -1, 2.5, "3", None, True])
    def test_k_is_a_count(self, model: Any, k: Any) -> None:
        X, _ = problem()
        with pytest.raises(ValueError, match="k must be an integer of at least 1"):
            model.predict_topk(X, k=k)
        if k is not None:
            with pytest.raises(ValueError, match="top_k must be an integer of at least 1 or None"):
                model.predict_proba(X, top_k=k)

    @pytest.mark.parametrize("threshold", [-0.1, 1.1, np.nan, "half", None, [0.5], np.full(N_LABELS, np.nan)])
    def test_a_threshold_is_a_probability(self, model: Any, threshold: Any) -> None:
        X, _ = problem()
        with pytest.raises(ValueError, match="threshold must be a number"):
            model.predict_proba(X, threshold=threshold)
        if np.ndim(threshold) == 0:
            with pytest.raises(ValueError, match="threshold must be a number"):
                model.predict_topk(X, threshold=threshold)

    @pytest.mark.parametrize(
        ("X", "y", "message"),
        [
            (np.ones((0, 4)), [], r"0 sample\(s\)"),
            (np.ones((3, 0)), ["a", "b", "a"], r"0 feature\(s\)"),
            (np.eye(3), ["a", "b"], "same number of rows .*3 and 2"),
            (np.eye(3), sp.csr_matrix((3, 4)), "no label in any row"),
            (np.eye(3), sp.csr_matrix((3, 0)), "no label in any row"),
            (np.eye(3), np.zeros((3, 4)), "no label in any row"),
            (np.eye(3), sp.csr_matrix(np.full((3, 4), 2)), "0 and 1 only"),
            (np.eye(3), [["a"], None, ["b"]], "y, row 1"),
            (np.eye(3), [0.5, 1.5, 2.5], "continuous"),
        ],
        ids=range(9),
    )
    def test_examples_that_cannot_be_learned(
        self, make_classifier: Callable[..., Any], X: Any, y: Any, message: str
    ) -> None:
        with pytest.raises(ValueError, match=message):
            make_classifier().fit(X, y)

    @pytest.mark.parametrize(
        ("weight", "message"),
        [
            (np.ones(79), r"must have shape \(80,\)"),
            (np.ones((80, 1)), r"must have shape \(80,\)"),
            (np.r_[np.ones(79), -1], "must be finite and at least 0, but row 79"),
            (np.r_[1, np.nan, np.ones(78)], "must be finite .* but row 1"),
            (np.zeros(80), "must not be zero for all rows"),
        ],
        ids=range(5),
    )
    def test_weights_that_make_no_sense(
        self, make_classifier: Callable[..., Any], weight: Any, message: str
    ) -> None:
        with pytest.raises(ValueError, match=f"sample_weight {message}"):
            make_classifier().fit(*problem(), sample_weight=weight)
