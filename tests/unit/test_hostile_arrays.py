"""The kernel's side of a model, asked directly: it believes in nothing either."""

from __future__ import annotations

import numpy as np
import pytest
from tests.small_models import N_FEATURES, small_data, small_model

from labeltree import LabelTree, PfastreXMLClassifier, _native


@pytest.mark.parametrize("link", ["exp5", "exp4", "exp3", "exp2", "clip", "sigmoid", "sigmoid2"])
def test_a_score_that_is_not_a_number_has_probability_0(link):
    assert _native.apply_link(getattr(_native.Link, link), float("nan")) == 0


@pytest.mark.parametrize(
    ("child_begin", "label", "n_labels"),
    [
        ([1, 4, 4, 4, 4], [-1, 0, 1, 2], 2),
        ([1, 4, 4, 4, 4], [-1, 0, 1, 1], 3),
        ([1, 4, 4, 4, 4], [-1, 0, 1, -1], 3),
        ([1, 4, 4, 4, 4], [-1, 0, 1, -7], 2),
        ([1, 4, 4, 4, 4], [3, 0, 1, 2], 4),
        ([1, 4, 4, 4, 4], [-1, 0, 1, 2**31 - 1], 3),
        ([1, 4, 4, 4, 4], [-1, 0, 1, 2], -1),
        ([1, 4, 4, 4, 4], [-1, 0, 1, 2], 2**31 - 1),
        ([0, 4, 4, 4, 4], [-1, 0, 1, 2], 3),
        ([1, 4, 4, 4, 9], [-1, 0, 1, 2], 3),
        ([1, 9, 4, 4, 4], [-1, 0, 1, 2], 3),
        ([1, -(2**31), 4, 4, 4], [-1, 0, 1, 2], 3),
        ([1, 1, 4, 4, 4], [-1, 0, 1, 2], 3),
    ],
)
def test_the_kernel_does_not_believe_in_trees(child_begin, label, n_labels):
    n_blocks = sum(value < 0 for value in label) + 1
    arrays = {
        "block_begin": np.zeros(n_blocks + 1, dtype=np.int64),
        "block_entry_begin": np.zeros(n_blocks + 1, dtype=np.int64),
        "feature": np.zeros(0, dtype=np.int32),
        "entry_begin": np.zeros(n_blocks, dtype=np.uint32),
        "column": np.zeros(0, dtype=np.uint16),
        "weight": np.zeros(0, dtype=np.float32),
        "bias": np.zeros(len(label), dtype=np.float32),
    }
    begin, labels = np.array(child_begin, dtype=np.int32), np.array(label, dtype=np.int32)
    with pytest.raises(ValueError, match=r"child_begin|node \d+ |leaves"):
        _native.BlockStore(_native.Tree(begin, labels, n_labels), arrays, 5, _native.Link.exp3)


@pytest.mark.parametrize(
    ("indptr", "indices", "message"),
    [
        ([0, 1, 2], [0, 12], "a label is out of range"),
        ([0, 1, 2], [0, 2**31 - 1], "a label is out of range"),
        ([0, 1, 2], [-1, 0], "a label is out of range"),
        ([0, 1, 3], [0, 1], "label_indptr must lie within label_indices"),
        ([0, 2, 1], [0, 1], "label_indptr must not decrease"),
        ([-1, 1, 2], [0, 1], "label_indptr must begin with 0"),
        ([1, 1, 2], [99, 1], "label_indptr must begin with 0"),  # the first label is in no row
        ([0, 1], [0], "X and y must have the same number of rows"),
    ],
)
def test_the_loss_of_labels_that_are_none(indptr, indices, message):
    features = small_model(n_trees=1).model_.read(small_data()[0][:2])
    with pytest.raises(ValueError, match=message):
        _native.Examples(features, np.array(indptr), np.array(indices, dtype=np.int32), 12)


def test_there_are_no_fewer_than_no_labels():
    features = small_model(n_trees=1).model_.read(small_data()[0][:2])
    with pytest.raises(ValueError, match="n_labels must not be negative"):
        _native.Examples(features, np.zeros(3, dtype=np.int64), np.zeros(0, dtype=np.int32), -1)


@pytest.mark.parametrize("sizes", [(-1, 5, 0), (3, -1, 0), (3, 5, -1)])
def test_columns_are_merged_into_a_block_that_is_there(sizes):
    with pytest.raises(ValueError, match="must not be negative"):
        _native.merge_columns([], [], *sizes)


def test_the_loss_of_rows_with_other_dense_features():
    model = small_model(n_trees=1)
    store = model.weights_[0].store(N_FEATURES, "exp4")
    features = _native.FeatureMatrix.dense(np.ones((1, N_FEATURES), dtype=np.float32), True, (0, N_FEATURES))
    examples = _native.Examples(features, np.array([0, 1]), np.array([0], dtype=np.int32), 12)
    with pytest.raises(ValueError, match="X has other dense features than the model"):
        store.held_out_nodes(examples, False, 1.0, 0, 1)


@pytest.mark.native
@pytest.mark.parametrize("train", [_native.train_blocks, _native.train_softmax])
def test_examples_of_other_labels_than_the_tree_has_are_refused(train) -> None:
    X = _native.FeatureMatrix.dense(np.eye(3, dtype=np.float32), False)
    examples = _native.Examples(X, np.arange(4), np.array([0, 1, 4], dtype=np.int32), 5)
    with pytest.raises(ValueError, match="expected examples with 3 labels, got 5"):
        train(LabelTree.flat(3).native, examples, _native.SolverOptions(), _native.Progress())


def test_propensities_beyond_the_range_of_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="beyond the range of numbers: choose a smaller A"):
        PfastreXMLClassifier(1, propensity_A=1e9, propensity_B=1e9).fit(*small_data())
