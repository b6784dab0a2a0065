"""One step of the kernel that learns vectors is the gradient of the loss, found by losses close by."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.reference.embedding import numeric_gradients
from tests.vector_training import kernel_gradients, random_problem

from labeltree import LabelTree
from labeltree.trees.huffman import huffman_tree

pytestmark = pytest.mark.native

TREES = {
    "flat": LabelTree.flat(7),
    "two labels": LabelTree.flat(2),
    "one label": LabelTree.flat(1),
    "huffman": huffman_tree([5, 1, 4, 2, 2, 1, 1], 2),
    "deep": LabelTree.from_nested([0, [1, 2], [3, [4, 5, [6, 7]]], [[8]]]),
}


@pytest.mark.parametrize(
    "pooling", [{"mean": False, "bias": True}, {"mean": True, "bias": False}], ids=["sum", "mean"]
)
@pytest.mark.parametrize("loss", ["logistic", "softmax"])
@pytest.mark.parametrize("tree", TREES)
def test_a_step_is_the_gradient(tree: str, loss: str, pooling: dict[str, Any]) -> None:
    problem = random_problem(TREES[tree], 14, 6, seed=len(tree))
    options = problem.options(3, loss=loss, learning_rate=0.1, **pooling)
    at, found = kernel_gradients(problem, options, passes_before=4)
    if tree != "one label":  # whose root alone learns
        assert np.abs(at["node_vector"]).max() > 0.05
    expected = numeric_gradients(problem.tree, options, problem.examples, at)
    for name, gradient in expected.items():
        np.testing.assert_allclose(found[name], gradient, rtol=1e-5, atol=1e-5, err_msg=name)
    assert np.abs(expected["word_vector"]).max() > 0.01
