"""Every form of X and y: the same examples give the same model, and answers come in the form y had."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from tests.contract.problem import N_LABELS, Contract, assert_same_answers, lists, problem

from labeltree.data import Store, StoreWriter


def unsorted(X: Any) -> sp.csr_matrix:
    """Every row back to front."""
    rows = [np.arange(b - 1, a - 1, -1) for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)]
    order = np.concatenate(rows)
    return sp.csr_matrix((X.data[order], X.indices[order], X.indptr.copy()), shape=X.shape)


def duplicated(X: Any) -> sp.csr_matrix:
    """Every value as two halves."""
    return sp.csr_matrix((np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), X.indptr * 2), shape=X.shape)


def with_zeros(X: Any) -> sp.csr_matrix:
    """Zeros stored in front of every row."""
    rows = [
        np.r_[X[[i]].indices, np.setdiff1d(range(X.shape[1]), X[[i]].indices)[:3]] for i in range(X.shape[0])
    ]
    columns = np.concatenate([np.sort(row) for row in rows])
    row_of = np.repeat(np.arange(X.shape[0]), [len(row) for row in rows])
    indptr = np.r_[0, np.cumsum([len(row) for row in rows])]
    return sp.csr_matrix((X.toarray()[row_of, columns], columns, indptr), shape=X.shape)


def wide_indices(X: Any) -> sp.csr_matrix:
    wide = X.copy()
    wide.indices, wide.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return wide


def strided(X: Any) -> Any:
    return np.repeat(X.toarray(), 2, axis=1)[:, ::2]


def frame(X: Any) -> pd.DataFrame:
    return pd.DataFrame(X.toarray(), columns=[f"word {j}" for j in range(X.shape[1])])


FORMS_OF_X: dict[str, Callable[[Any], Any]] = {
    "csr_matrix": sp.csr_matrix,
    "csr_array": sp.csr_array,
    "csc_matrix": sp.csc_matrix,
    "csc_array": sp.csc_array,
    "coo_array": sp.coo_array,
    "lil_matrix": sp.lil_matrix,
    "float64": lambda X: X.astype(np.float64),
    "int64 indices": wide_indices,
    "int64 indices, float64": lambda X: wide_indices(X).astype(np.float64),
    "unsorted": unsorted,
    "duplicated": duplicated,
    "explicit zeros": with_zeros,
    "dense": lambda X: X.toarray(),
    "dense float64": lambda X: X.toarray().astype(np.float64),
    "Fortran order": lambda X: np.asfortranarray(X.toarray()),
    "strided": strided,
    "lists": lambda X: X.toarray().tolist(),
    "frame": frame,
    "frame without names": lambda X: pd.DataFrame(X.toarray()),
}

FORMS_OF_Y: dict[str, Callable[[Any], Any]] = {
    "csr_matrix": sp.csr_matrix,
    "csr_array": sp.csr_array,
    "csc_matrix": sp.csc_matrix,
    "coo_array": sp.coo_array,
    "bool": lambda y: y.astype(bool),
    "int8": lambda y: y.astype(np.int8),
    "dense": lambda y: y.toarray(),
    "dense bool": lambda y: y.toarray().astype(bool),
    "frame": lambda y: pd.DataFrame(y.toarray().astype(int)),
    "lists": lists,
    "tuples": lambda y: [tuple(row) for row in lists(y)],
    "sets": lambda y: [set(row) for row in lists(y)],
    "arrays": lambda y: [np.array(row, dtype=int) for row in lists(y)],
    "series of lists": lambda y: pd.Series(lists(y)),
    "lists of strings": lambda y: lists(y, lambda j: f"label {j:02}"),
    "lists of tuples": lambda y: lists(y, lambda j: ("label", j)),
}


def snapshot(data: Any) -> bytes:
    import pickle

    return pickle.dumps(data)


class InputContract(Contract):
    # -- X -----------------------------------------------------------------------------------------------------

    @pytest.mark.native
    @pytest.mark.parametrize("form", FORMS_OF_X)
    def test_every_form_of_features_gives_the_same_model(
        self, make_classifier: Callable[..., Any], model: Any, form: str
    ) -> None:
        X, y = problem()
        same = FORMS_OF_X[form](X)
        other = make_classifier().fit(same, y)
        expected, found = model.predict_topk(X, k=N_LABELS), other.predict_topk(same, k=N_LABELS)
        np.testing.assert_array_equal(found.probabilities, expected.probabilities)
        np.testing.assert_array_equal(found.labels, expected.labels)
        if form != "frame":  # a model without names is not asked with names
            np.testing.assert_array_equal(
                model.predict_topk(same, k=N_LABELS).probabilities, expected.probabilities
            )

    @pytest.mark.native
    @pytest.mark.parametrize("kind", [bool, np.int8, np.uint16, np.int64])
    @pytest.mark.parametrize("form", [sp.csr_matrix, np.asarray])
    def test_whole_numbers_are_numbers(
        self, make_classifier: Callable[..., Any], kind: type, form: Callable[[Any], Any]
    ) -> None:
        X, y = problem()
        whole = form((X.toarray() > 0).astype(kind))
        expected = make_classifier().fit((X > 0).astype(np.float32), y)
        assert_same_answers(make_classifier().fit(whole, y), expected, whole)

    def test_names_of_features_are_remembered_and_compared(self, make_classifier: Callable[..., Any]) -> None:
        X, y = problem()
        named = frame(X)
        model = make_classifier().fit(named, y)
        assert model.feature_names_in_.tolist() == named.columns.tolist()
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(named.rename(columns={"word 3": "another"}))
        with pytest.warns(UserWarning, match="does not have valid feature names"):
            model.predict(X)

    @pytest.mark.native
    def test_rows_without_features(self, make_classifier: Callable[..., Any]) -> None:
        X, y = problem()
        X = sp.vstack([X, sp.csr_matrix((3, X.shape[1]), dtype=np.float32)]).tocsr()
        y = sp.vstack([y, y[:3]]).tocsr()
        model = make_classifier().fit(X, y)
        top = model.predict_topk(X, k=4)
        assert np.isfinite(top.probabilities).all()
        np.testing.assert_array_equal(top.probabilities[-1], top.probabilities[-2])
        np.testing.assert_array_equal(top.labels[-1], top.labels[-2])

    @pytest.mark.native
    @pytest.mark.parametrize("names", [False, True])
    def test_a_store_takes_the_place_of_x_and_y(
        self, names: bool, make_classifier: Callable[..., Any], model: Any, tmp_path: Path
    ) -> None:
        X, y = problem()
        label = "label {:02}".format
        with StoreWriter(tmp_path / "store", labels=map(label, range(N_LABELS)) if names else None) as writer:
            writer.append(X, lists(y, label) if names else y)
        store = Store(tmp_path / "store")
        other = make_classifier().fit(store)
        expected, found = model.predict_topk(X, k=N_LABELS), other.predict_topk(store, k=N_LABELS)
        np.testing.assert_array_equal(found.probabilities, expected.probabilities)
        number = {label: j for j, label in enumerate(other.classes_.tolist())}
        assert [[number[label] for label in row] for row in found.labels.tolist()] == expected.labels.tolist()
        some = model.predict_topk(store.take([3, 1]), k=2)
        np.testing.assert_array_equal(some.labels, expected.labels[[3, 1], :2])

    # -- y -----------------------------------------------------------------------------------------------------

    @pytest.mark.native
    @pytest.mark.parametrize("form", FORMS_OF_Y)
    def test_every_form_of_labels_gives_the_same_model(
        self, make_classifier: Callable[..., Any], model: Any, form: str
    ) -> None:
        X, y = problem()
        other = make_classifier().fit(X, FORMS_OF_Y[form](y))
        expected, found = model.predict_topk(X, k=N_LABELS), other.predict_topk(X, k=N_LABELS)
        np.testing.assert_array_equal(found.probabilities, expected.probabilities)
        number = {label: j for j, label in enumerate(other.classes_.tolist())}
        assert [[number[label] for label in row] for row in found.labels.tolist()] == expected.labels.tolist()

    @pytest.mark.parametrize("form", FORMS_OF_Y)
    def test_predict_answers_in_the_form_of_y(self, make_classifier: Callable[..., Any], form: str) -> None:
        X, y = problem()
        given = FORMS_OF_Y[form](y)
        model = make_classifier().fit(X, given)
        found = model.predict(X)
        likely = model.predict_proba(X, top_k=None)
        likely = sp.csr_matrix(likely).toarray() >= 0.5
        if sp.issparse(given):
            assert sp.issparse(found)
            assert found.format == "csr"
            np.testing.assert_array_equal(found.toarray(), likely)
        elif isinstance(given, np.ndarray | pd.DataFrame):
            assert isinstance(found, np.ndarray)
            np.testing.assert_array_equal(found, likely)
        else:
            assert isinstance(found, list)
            classes = model.classes_.tolist()
            assert [set(row) for row in found] == [
                {classes[j] for j in np.flatnonzero(row)} for row in likely
            ]
            assert all(isinstance(row, list) and len(row) == len(set(row)) for row in found)
            kinds = {type(label) for row in given for label in row}
            if np.integer not in kinds and form != "arrays":
                assert {type(label) for row in found for label in row} <= kinds

    @pytest.mark.parametrize(
        "names",
        [
            np.arange(4),
            np.array([3, -1, 20, 7]),
            np.array(["d", "a", "c", "bb"]),
            np.array([2.0, 0.0, 1.0, 5.0]),
        ],
        ids=str,
    )
    def test_classes_that_exclude_each_other(self, make_classifier: Callable[..., Any], names: Any) -> None:
        X, _ = problem()
        y = names[np.asarray(X[:, :4].argmax(axis=1)).ravel()]
        model = make_classifier().fit(X, y)
        assert model.classes_.tolist() == sorted(set(y.tolist()))
        found, likely = model.predict(X), model.predict_proba(X)
        assert found.shape == y.shape
        assert found.dtype.kind == y.dtype.kind
        assert likely.shape == (len(y), len(model.classes_))
        np.testing.assert_allclose(likely.sum(axis=1), 1, rtol=1e-5)
        np.testing.assert_array_equal(found, model.classes_[likely.argmax(axis=1)])
        assert (found == y).mean() > 0.8
        listed = make_classifier().fit(X, y.tolist())
        np.testing.assert_array_equal(listed.predict(X), found)

    def test_labels_of_mixed_kinds(self, make_classifier: Callable[..., Any]) -> None:
        X, y = problem()
        kinds = [lambda j: j, lambda j: f"label {j}", lambda j: ("label", j), lambda j: j + 0.5]
        given = lists(y, lambda j: kinds[j % 4](j))
        model = make_classifier().fit(X, given)
        assert set(model.classes_.tolist()) == {label for row in given for label in row}
        labels = model.predict_topk(X, k=N_LABELS).labels.tolist()
        assert all(set(row) == set(model.classes_.tolist()) for row in labels)

    @pytest.mark.native
    @pytest.mark.parametrize(
        "y", [[["only"]] * 6, sp.csr_matrix(np.ones((6, 1))), [["only"], []] * 3, ["only"] * 6]
    )
    def test_a_single_label(self, make_classifier: Callable[..., Any], y: Any) -> None:
        model = make_classifier().fit(np.eye(6, 4), y)
        top = model.predict_topk(np.eye(6, 4), k=3)
        assert top.labels.shape == top.probabilities.shape == (6, 1)
        assert len(set(top.labels.ravel().tolist())) == 1

    @pytest.mark.native
    def test_labels_that_no_example_has(self, make_classifier: Callable[..., Any]) -> None:
        X, y = problem()
        wide = sp.csr_matrix((y.data, y.indices * 3, y.indptr), shape=(y.shape[0], 3 * N_LABELS))
        model = make_classifier().fit(X, wide)
        top = model.predict_topk(X, k=3 * N_LABELS)
        assert np.array_equal(np.sort(top.labels, axis=1), np.tile(np.arange(3 * N_LABELS), (X.shape[0], 1)))
        assert (top.probabilities[top.labels % 3 != 0] < 0.01).all()

    # -- both --------------------------------------------------------------------------------------------------

    @pytest.mark.parametrize(
        "form", ["unsorted", "duplicated", "explicit zeros", "csc_matrix", "dense float64"]
    )
    def test_inputs_are_left_alone(self, make_classifier: Callable[..., Any], form: str) -> None:
        X, y = problem()
        given, labels, weight = FORMS_OF_X[form](X), lists(y), np.linspace(0.5, 2, X.shape[0])
        before = snapshot((given, labels, weight))
        model = make_classifier().fit(given, labels, sample_weight=weight)
        model.predict(given)
        model.predict_topk(given)
        model.predict_proba(given)
        assert snapshot((given, labels, weight)) == before
