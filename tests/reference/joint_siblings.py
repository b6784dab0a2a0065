"""Joint classifiers of siblings, in float64: the problem of a node, and softmax over codes, marginalised."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from tests.reference.packed_index import unpacked
from tests.reference.search import decoded_weight

from labeltree.model.block_weights import BlockWeights


def code_weights(
    weights: BlockWeights, node: int, n_features: int
) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """The codes of the children of an inner node, and the weights of each: [code][feature], the bias last."""
    arrays, b = unpacked(weights.arrays), weights.block_of(node)
    if not weights.is_joint:
        return np.zeros(0, dtype=np.uint8), np.zeros((0, n_features + 1))
    begin, end = arrays["code_begin"][b : b + 2]
    W = np.zeros((end - begin, n_features + 1))
    W[:, -1] = arrays["code_bias"][begin:end]
    if begin == end:  # this block is not joint
        return arrays["code"][:0], W
    scale = {**arrays, "scale": arrays.get("code_scale")}
    for f in range(arrays["block_begin"][b], arrays["block_begin"][b + 1]):
        for e in range(arrays["entry_begin"][f + b], arrays["entry_begin"][f + b + 1]):
            entry = arrays["block_entry_begin"][b] + e
            k = int(arrays["column"][entry])
            W[k, arrays["feature"][f]] = decoded_weight(scale, entry, begin + k)
    return arrays["code"][begin:end], W


def softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def child_probabilities(
    codes: NDArray[np.uint8], W: NDArray[np.float64], X: NDArray[np.float64], n_children: int
) -> NDArray[np.float64]:
    """P(child | node, x) for every row of X, whose last column is 1: the sum over the codes that have the child."""
    P = softmax(X @ W.T)
    return np.stack([P[:, codes >> c & 1 == 1].sum(axis=1) for c in range(n_children)], axis=1)


def joint_objective(
    W: NDArray[np.float64], X: NDArray[np.float64], column: NDArray[np.int64], cost: NDArray[np.float64]
) -> float:
    """Half the sum of squares plus the weighted losses; column[i] is the code of row i."""
    own = softmax(X @ W.T)[np.arange(len(X)), column]
    return float((W**2).sum() / 2 - (cost * np.log(own)).sum())
