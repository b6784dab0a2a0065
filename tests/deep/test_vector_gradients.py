"""The gradients of the kernel that learns vectors beside those of PyTorch, if it is installed."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tests.reference.embedding import Options
from tests.vector_training import Problem, kernel_gradients, random_problem

from labeltree import LabelTree
from labeltree.trees.huffman import huffman_tree

torch: Any = pytest.importorskip("torch")

TREES = {
    "flat": LabelTree.flat(40),
    "huffman": huffman_tree(list(range(1, 41)), 2),
    "deep": LabelTree.from_nested(
        [*range(20), [20, 21], [[*range(22, 30)], [30, [31, 32]]], [*range(33, 40)]]
    ),
}


def torch_loss(problem: Problem, options: Options, words: Any, nodes: Any, bias: Any) -> Any:
    """The loss in the words of PyTorch: binary cross-entropy, or cross-entropy at every node of a path."""
    tree, cross_entropy = problem.tree, torch.nn.functional.cross_entropy
    assert problem.weight is not None
    X = torch.tensor(problem.X, dtype=torch.float64)
    if options.mean:
        X = torch.nn.functional.normalize(X, p=1)
    scores = X @ words @ nodes.T + bias
    z = torch.zeros_like(scores)
    for row, labels in enumerate(problem.labels):
        for label in labels:
            z[row, tree.path(label).tolist()] = 1
    trained = torch.hstack([torch.full_like(z[:, :1], options.trains_root), z[:, tree.parent[1:].tolist()]])
    if options.loss == "softmax":
        trained[:, 1:] = 0
    binary = torch.nn.functional.binary_cross_entropy_with_logits(scores, z, reduction="none")
    loss = (trained * binary).sum(axis=1)
    if options.loss == "softmax":
        for row, labels in enumerate(problem.labels):
            for node, child in (pair for label in labels for pair in pairwise(tree.path(label).tolist())):
                children = tree.children(node)
                logits = scores[row, children.start : children.stop]
                if len(children) == 2:  # one score decides
                    logits = torch.stack([logits[0], torch.zeros_like(logits[0])])
                chosen = torch.tensor(child - children.start)
                loss[row] = loss[row] + cross_entropy(logits, chosen) / len(labels)
    return (torch.tensor(problem.weight) * loss).sum()


@pytest.mark.parametrize("mean", [False, True])
@pytest.mark.parametrize("loss", ["logistic", "softmax"])
@pytest.mark.parametrize("tree", TREES)
def test_gradients_are_those_of_pytorch(tree: str, loss: str, mean: bool) -> None:
    problem = random_problem(TREES[tree], 60, 30, seed=2)
    options = problem.options(20, loss=loss, mean=mean, learning_rate=0.05)
    at, found = kernel_gradients(problem, options, passes_before=5)
    tensors = {
        name: torch.tensor(array, dtype=torch.float64, requires_grad=True) for name, array in at.items()
    }
    torch_loss(problem, options, tensors["word_vector"], tensors["node_vector"], tensors["bias"]).backward()
    for name, tensor in tensors.items():
        expected = tensor.grad.numpy()
        assert np.abs(expected).max() > 0.1
        np.testing.assert_allclose(found[name], expected, rtol=1e-5, atol=2e-5, err_msg=name)
