"""Reading y: every form it may have, and what is said about forms it may not have."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from labeltree.labels.reading import LabelRows, read_labels


def labels_of(rows: LabelRows) -> list[list[int]]:
    return [rows.indices[a:b].tolist() for a, b in pairwise(rows.indptr)]


def csr_with(indices: list[int], indptr: list[int], n_labels: int = 3) -> sp.csr_matrix:
    """A matrix of ones that is changed after it was made: SciPy never sees the numbers."""
    y = sp.csr_matrix(np.eye(len(indptr) - 1, n_labels))
    y.data = np.ones(len(indices))
    y.indices = np.array(indices, dtype=np.int32)
    y.indptr = np.array(indptr, dtype=np.int32)
    return y


class TestSparse:
    @pytest.mark.parametrize("column", [-1, 3, 500_000_000])
    def test_a_column_that_is_not_there_is_refused(self, column: int) -> None:
        with pytest.raises(ValueError, match=rf"y, row 1: column {column} is outside 0\.\.2"):
            read_labels(csr_with([0, 1, column], [0, 1, 3]))

    @pytest.mark.parametrize("indptr", [[0, 2, 1, 3], [0, 1, 2, 9], [1, 1, 2, 3]])
    def test_offsets_that_lead_astray_are_refused(self, indptr: list[int]) -> None:
        with pytest.raises(ValueError, match="indptr must ascend from 0 to the length of indices"):
            read_labels(csr_with([0, 1, 2], indptr))

    def test_one_dimension_is_not_enough(self) -> None:
        with pytest.raises(ValueError, match=r"a row per example and a column per label, got shape \(4,\)"):
            read_labels(sp.coo_array(np.ones(4)))

    @pytest.mark.parametrize(
        "form", [sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.coo_array, sp.lil_matrix]
    )
    @pytest.mark.parametrize("kind", [bool, np.int8, np.int64, np.float32, np.float64])
    def test_every_form_says_the_same(self, form: Any, kind: type) -> None:
        y = np.array([[0, 1, 1], [0, 0, 0], [1, 0, 0]])
        rows = read_labels(form(y.astype(kind)))
        assert labels_of(rows) == [[1, 2], [], [0]]
        assert rows.kind == "csr"

    def test_order_and_explicit_zeros_do_not_matter(self) -> None:
        y = csr_with([2, 0, 1, 1], [0, 2, 4])
        y.data = np.array([1, 1, 0, 1.0])
        assert labels_of(read_labels(y)) == [[0, 2], [1]]
        assert y.indices.tolist() == [2, 0, 1, 1]

    @pytest.mark.parametrize("value", [2, -1, 0.5, np.nan])
    def test_numbers_other_than_0_and_1_are_refused(self, value: float) -> None:
        y = sp.csr_matrix(np.array([[0, 1, 1], [0, value, 0]]))
        with pytest.raises(ValueError, match=rf"row 1, column 1 is .*{value}.*pass \(y > 0\)"):
            read_labels(y)

    def test_ones_that_add_up_to_two_are_refused(self) -> None:
        with pytest.raises(ValueError, match=r"row 0, column 2 is .*2\.0"):
            read_labels(csr_with([2, 2, 1], [0, 2, 3]))


class TestDense:
    def test_a_matrix(self) -> None:
        rows = read_labels(np.array([[0, 1, 1], [0, 0, 0], [1, 0, 0]], dtype=np.uint8))
        assert labels_of(rows) == [[1, 2], [], [0]]
        assert rows.kind == "dense"

    def test_a_frame(self) -> None:
        frame = pd.DataFrame({"red": [1, 0], "blue": [1, 1]})
        assert labels_of(read_labels(frame)) == [[0, 1], [1]]

    def test_lists_of_zeros_and_ones_are_a_matrix(self) -> None:
        rows = read_labels([[0, 1, 1], [0, 0, 1]])
        assert labels_of(rows) == [[1, 2], [2]]
        assert rows.kind == "dense"

    def test_other_numbers_are_refused(self) -> None:
        with pytest.raises(ValueError, match="0 and 1 only, but row 0, column 2 is"):
            read_labels(np.array([[0, 1, 3], [0, 0, 1]]))


class TestLists:
    @pytest.mark.parametrize("container", [list, tuple, set, frozenset])
    @pytest.mark.parametrize(
        ("a", "b", "c"),
        [("a", "b", "c"), (3, 20, 100), ((1, "x"), (1, "y"), (2, 0)), (-1.5, 0, 2), (2, "1", (0,))],
        ids=["strings", "integers", "tuples", "numbers", "mixed"],
    )
    def test_every_kind_of_label(self, container: Any, a: Any, b: Any, c: Any) -> None:
        rows = read_labels([container([c, a]), container([]), container([b, c])])
        assert rows.classes.tolist() == [a, b, c]
        assert labels_of(rows) == [[0, 2], [], [1, 2]]
        assert rows.kind == "lists"

    def test_integers_stay_integers(self) -> None:
        assert read_labels([[3], [np.int32(1), 2]]).classes.dtype == np.int64
        assert read_labels([[3], [2**70]]).classes.tolist() == [3, 2**70]

    def test_a_label_twice_counts_once(self) -> None:
        assert labels_of(read_labels([["b", "a", "b"], ["a"]])) == [[0, 1], [0]]

    def test_a_series_of_lists(self) -> None:
        rows = read_labels(pd.Series([["b", "a"], [], ["a"]], index=[7, 8, 9]))
        assert labels_of(rows) == [[0, 1], [], [0]]

    @given(
        st.permutations([1, 2.5, True + 1, "a", "b", (1, 2), (1, "a"), ((), 1), frozenset("x"), b"x", None])
    )
    def test_classes_do_not_depend_on_the_order_labels_come_in(self, labels: list[Any]) -> None:
        expected = [1, 2, 2.5, "a", "b"]
        classes = read_labels([labels]).classes.tolist()
        assert [label for label in classes if isinstance(label, int | float | str)] == expected
        assert classes == read_labels([labels[::-1]]).classes.tolist()
        assert classes == read_labels([sorted(labels, key=repr)]).classes.tolist()

    @pytest.mark.parametrize("row", [None, "cat", 3, {"cat": 1}])
    def test_a_row_that_is_no_list_is_refused(self, row: Any) -> None:
        with pytest.raises(ValueError, match=r"y, row 1: expected a list of labels \(it may be empty\), got"):
            read_labels([["cat"], row, []])

    def test_labels_must_be_hashable(self) -> None:
        with pytest.raises(TypeError, match="y, row 1: labels must be hashable"):
            read_labels([["a"], [["b"]]])

    def test_no_labels_at_all(self) -> None:
        with pytest.raises(ValueError, match="no label in any row"):
            read_labels([[], []])


class TestClasses:
    @pytest.mark.parametrize(
        "y",
        [
            ["b", "a", "c", "b"],
            np.array(["b", "a", "c", "b"]),
            pd.Series(["b", "a", "c", "b"]),
            np.array([5, -3, 7, 5]),
            [5, -3, 7, 5],
            [1.0, 0.0, 2.0, 1.0],
            pd.Series([5, -3, 7, 5]),
        ],
        ids=str,
    )
    def test_one_label_per_row(self, y: Any) -> None:
        rows = read_labels(y)
        assert labels_of(rows) == [[1], [0], [2], [1]]
        assert rows.classes.tolist() == np.unique(np.asarray(y)).tolist()
        assert rows.kind == "multiclass"

    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    def test_classes_are_finite(self, value: float) -> None:
        with pytest.raises(ValueError, match="must not contain NaN or infinity, but row 2 is"):
            read_labels(np.array([0, 1, value]))

    def test_numbers_that_are_no_classes_are_refused(self) -> None:
        with pytest.raises(ValueError, match="continuous"):
            read_labels([0.5, 1.7, 0.1])

    def test_none_at_all(self) -> None:
        with pytest.raises(ValueError, match="y is None"):
            read_labels(None)
