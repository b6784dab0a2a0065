"""labeltree.metrics refuses bad input, and says what was expected, what came and where."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from labeltree import metrics

Y = np.array([[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0]])
TOP = np.array([[0, 1], [1, 2], [3, 0]])


@pytest.mark.parametrize(
    ("y_true", "y_pred", "message"),
    [
        (Y, TOP[:2], "y_true has 3 rows and y_pred 2"),
        (Y, sp.csr_array((3, 5)), "y_true has 4 columns and y_pred 5"),
        (Y, np.array([[0, 1], [1, 4], [3, 0]]), r"label 4 in row 1; expected 0 to 3"),
        (Y, np.array([[0, 1], [1, 2], [3, -2]]), r"label -2 in row 2; expected 0 to 3"),
        (Y, np.array([[0, 1], [2, 2], [3, 0]]), "label 2 more than once in row 1"),
        (Y, [[0], [1], [3, 3]], "label 3 more than once in row 2"),
        (Y, np.array([[0], [1], [2]]), "y_pred has 1 columns, too few for k=2"),
        (Y, TOP / 2, "integer label ids in rank order, got dtype float64"),
        (Y, TOP > 1, "integer label ids in rank order, got dtype bool"),
        (Y, sp.csr_array([[0, 1.0, 0, 0], [np.nan, 0, 0, 0], [0, 0, 0, 1]]), "NaN in row 1"),
        (Y, (TOP, TOP / 2), "got a tuple of 2; of the pair .* pass the labels alone"),
        (Y, [[0], ["a"], [1]], r"y_pred\[1\] must hold columns of y_true"),
        (Y, [[0], {1, 2}, [1]], r"y_pred\[1\] is a set, which has no order"),
        (Y, [0, 1, 2], r"y_pred\[0\] must be a list of labels, got 0"),
        (Y, np.array([0, 1, 2]), r"y_pred\[0\] must be a list of labels, got 0"),
        (Y, None, "y_pred must be a sparse matrix, a 2-d array or a list .* got NoneType"),
        (Y * 2, TOP, "y_true must be a matrix of 0 and 1, got 2 in row 0, column 0"),
        (sp.coo_array(Y * 0.5), TOP, "y_true must be a matrix of 0 and 1, got 0.5 in row 0, column 0"),
        (np.where(Y, np.nan, 0), TOP, "got nan in row 0, column 0"),
        (np.empty((0, 4)), np.empty((0, 2), int), "y_true has no rows"),
        (["cat", "dog", "emu"], TOP, r"y_true\[0\] must be a list of labels, got 'cat'"),
        ([["cat"], 5, []], TOP, r"y_true\[1\] must be a list of labels, got 5"),
        ([["cat"], [["dog"]], []], TOP, r"y_true\[1\] must hold hashable labels"),
        ([["cat"], ["dog", None], []], TOP, r"y_true\[1\] holds None or -1"),
        ([["cat"], [], [-1]], TOP, r"y_true\[2\] holds None or -1"),
        ([["cat"], [], []], sp.csr_array((3, 2)), "y_true must be a matrix too"),
        ([["cat"], [], []], [["cat"], ["emu", "emu"], []], "label 'emu' more than once in row 1"),
        ([["cat"], ["dog"], ["emu"]], np.array([["cat"]] * 3), "y_pred has 1 columns, too few for k=2"),
        (
            [["cat"], [], []],
            TOP / 2,
            "y_pred must hold labels, as y_true does, got an array of dtype float64",
        ),
    ],
)
def test_ranking_input(y_true: Any, y_pred: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        metrics.precision_at_k(y_true, y_pred, k=2)


def test_malformed_sparse_matrix() -> None:
    broken = sp.csr_array(Y)
    broken.indices[0] = 9
    with pytest.raises(ValueError, match="y_true is not a well-formed sparse matrix"):
        metrics.precision_at_k(broken, TOP, k=1)


def test_array_with_all_labels_may_be_narrower_than_k() -> None:
    assert metrics.precision_at_k(np.eye(2, dtype=int), np.array([[0, 1], [1, 0]]), k=5) == 0.2


@pytest.mark.parametrize("k", [0, -1, 1.0, True, "1", None])
def test_cut_off(k: Any) -> None:
    with pytest.raises(ValueError, match="k must be an integer of at least 1"):
        metrics.ndcg_at_k(Y, TOP, k)
    with pytest.raises(ValueError, match="k must be an integer of at least 1"):
        metrics.evaluate(Y, TOP, ks=(1, k))


@pytest.mark.parametrize("ks", [(), 3])
def test_cut_offs(ks: Any) -> None:
    with pytest.raises(ValueError, match="ks must be a sequence of at least one cut-off"):
        metrics.evaluate(Y, TOP, ks=ks)


@pytest.mark.parametrize(
    ("y_true", "weights", "message"),
    [
        (Y, [1.0, 2.0], r"must have shape \(4,\), one weight per column of y_true, got \(2,\)"),
        (Y, [1.0, 2.0, 0.0, 1.0], "positive and finite, got 0.0 for label 2"),
        (Y, [1.0, 2.0, 1.0, np.inf], "positive and finite, got inf for label 3"),
        (Y, {0: 1.0}, "a mapping, but y_true a matrix"),
        ([["a"], ["b"], []], [1.0, 2.0], "must map labels to weights"),
        ([["a"], ["b"], []], {"a": 1.0}, "no weight for the label 'b'"),
        ([["a"], ["b"], []], {"a": 1.0, "b": -1.0}, "got -1.0 for label 'b'"),
    ],
)
def test_weights(y_true: Any, weights: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        metrics.psndcg_at_k(y_true, TOP, k=1, inverse_propensity=weights)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"A": 0.0}, "A must be a positive number, got 0.0"),
        ({"B": -1.0}, "B must be a positive number, got -1.0"),
        ({"B": np.nan}, "B must be a positive number, got nan"),
        ({"y_train": Y[:2]}, "at least 3 rows to estimate propensities, got 2"),
        ({"y_train": [["a"], [None], ["b"]]}, r"y_train\[1\] holds None or -1"),
    ],
)
def test_propensity_parameters(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        metrics.inverse_propensity(**{"y_train": Y, **arguments})


@pytest.mark.parametrize(
    ("y_pred", "message"),
    [
        (Y[:2], "y_true has 3 rows and y_pred 2"),
        (np.ones((3, 5)), "y_true has 4 columns and y_pred 5"),
        (sp.csr_array((3, 3)), "y_true has 4 columns and y_pred 3"),
        (Y * 0.7, "y_pred must be a matrix of 0 and 1, got 0.7 in row 0, column 0"),
        (Y[:, :3], "label 0 more than once in row 0"),
        ([[0], [4], []], "label 4 in row 1; expected 0 to 3"),
        ([[0], [1], [2, -3]], "label -3 in row 2; expected 0 to 3"),
    ],
)
def test_decision_input(y_pred: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        metrics.hamming_loss(Y, y_pred)


def test_decision_parameters() -> None:
    with pytest.raises(ValueError, match="beta must be a number of at least 0, got -1"):
        metrics.f_beta(Y, Y, beta=-1)
    with pytest.raises(ValueError, match="average must be one of 'micro', 'macro', got 'samples'"):
        metrics.f_beta(Y, Y, average="samples")
    with pytest.raises(ValueError, match="average must be one of 'micro', 'macro', 'samples', got None"):
        metrics.jaccard(Y, Y, average=None)
