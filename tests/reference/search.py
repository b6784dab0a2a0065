"""Prediction as the paper writes it down: brute force over all paths, algorithms 3 and 4, and beam search.

Searches take `eta`, the estimates of P(z_v = 1 | z_parent = 1, x) for every node v, and multiply them in float32, as
the kernel does: what they find must be found bit for bit.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from tests.reference.packed_index import unpacked

from labeltree.model.block_weights import BlockWeights
from labeltree.trees import LabelTree

LINKS: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "sigmoid": lambda s: 1 / (1 + np.exp(-s)),
    "sigmoid2": lambda s: 1 / (1 + np.exp(-2 * s)),
    "clip": lambda s: np.clip((1 + s) / 2, 0, 1),
    "exp2": lambda s: np.exp(-(np.maximum(0, 1 - s) ** 2)),
    "exp3": lambda s: np.exp(-(np.maximum(0, 1 - s) ** 3)),
    "exp4": lambda s: np.exp(-(np.maximum(0, 1 - s) ** 4)),
    "exp5": lambda s: np.exp(-(np.maximum(0, 1 - s) ** 5)),
}


def decoded(weights: BlockWeights, n_features: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The weights of all nodes, [node][feature], and their biases."""
    tree, arrays = weights.tree, unpacked(weights.arrays)
    W = np.zeros((tree.n_nodes, n_features))
    first_nodes = [0, *(tree.children(v).start for v in tree.inner_nodes)]
    for b, first_node in enumerate(first_nodes):
        for f in range(arrays["block_begin"][b], arrays["block_begin"][b + 1]):
            for e in range(arrays["entry_begin"][f + b], arrays["entry_begin"][f + b + 1]):
                entry = arrays["block_entry_begin"][b] + e
                node = first_node + int(arrays["column"][entry])
                W[node, arrays["feature"][f]] = decoded_weight(arrays, entry, node)
    if weights.n_dense > 0:
        W[:, slice(*weights.dense_features)] = decoded_dense(weights)
    return W, arrays["bias"].astype(np.float64)


def decoded_dense(weights: BlockWeights) -> NDArray[np.float64]:
    """The weights of dense features, [node][dense feature]: panels of 16 columns, block after block."""
    arrays, tree = weights.arrays, weights.tree
    W = np.zeros((tree.n_nodes, weights.n_dense))
    panel_size = weights.n_dense * 16
    first_panel = 0
    for nodes in [range(1), *(tree.children(v) for v in tree.inner_nodes)]:
        for column, node in enumerate(nodes):
            panel = first_panel + column // 16
            for d in range(weights.n_dense):
                at = panel * panel_size + d * 16 + column % 16
                stored = arrays["dense_weight"][at]
                if stored.dtype == np.uint16:
                    W[node, d] = float(np.array([0, stored], dtype="<u2").view("<f4")[0])
                elif stored.dtype == np.int8:
                    W[node, d] = float(stored) * float(arrays["dense_scale"][panel * 16 + column % 16])
                else:
                    W[node, d] = float(stored)
        first_panel += -(-len(nodes) // 16)
    assert len(arrays["dense_weight"]) == first_panel * panel_size
    return W


def decoded_weight(arrays: dict[str, NDArray], entry: int, node: int) -> float:
    stored = arrays["weight"][entry]
    if stored.dtype == np.uint16:  # bfloat16: the upper half of a float32
        return float(np.array([0, stored], dtype="<u2").view("<f4")[0])
    return float(stored) * (float(arrays["scale"][node]) if stored.dtype == np.int8 else 1)


def node_probabilities(
    weights: BlockWeights, x: NDArray[np.float64], link: str, normalize_siblings: bool = False
) -> NDArray[np.float64]:
    """eta(x, v) of all nodes."""
    W, bias = decoded(weights, len(x))
    with np.errstate(over="ignore"):
        eta = LINKS[link](W @ x + bias)
    eta[eta < np.finfo(np.float32).smallest_subnormal] = 0  # as in the kernel: siblings may all be 0
    return normalized(weights.tree, eta) if normalize_siblings else eta


def normalized(tree: LabelTree, eta: NDArray[np.float64]) -> NDArray[np.float64]:
    """The paper's normalisation: siblings whose probabilities sum to less than 1 are scaled to sum to 1."""
    eta = eta.copy()
    for v in tree.inner_nodes:
        children = list(tree.children(v))
        total = eta[children].sum()
        if total < 1:
            eta[children] = eta[children] / total if total > 0 else 1 / len(children)
    return eta


def node_marginals(tree: LabelTree, eta: NDArray) -> NDArray:
    """eta_v(x) = P(z_v = 1 | x) of all nodes."""
    marginal = eta.copy()
    for v in range(1, tree.n_nodes):
        marginal[v] = marginal[tree.parent[v]] * eta[v]
    return marginal


def label_marginals(tree: LabelTree, eta: NDArray) -> NDArray:
    """Brute force: for every label the product along its path."""
    return node_marginals(tree, eta)[tree.leaf_of_label]


def predict_with_thresholds(tree: LabelTree, eta: NDArray, tau: NDArray) -> tuple[dict[int, float], int]:
    """Algorithm 3: the labels with at least their threshold, and how many node classifiers were asked."""
    tau_v = [min(tau[j] for j in tree.labels_under(v)) for v in range(tree.n_nodes)]
    y_hat: dict[int, float] = {}
    Q = [(0, eta[0])]
    n_evaluations = 1
    while Q:
        v, eta_v = Q.pop()
        if eta_v >= tau_v[v]:
            if tree.is_leaf[v]:
                y_hat[int(tree.label[v])] = eta_v
            else:
                for child in tree.children(v):
                    Q.append((child, eta_v * eta[child]))
                    n_evaluations += 1
    return y_hat, n_evaluations


def predict_top_labels(tree: LabelTree, eta: NDArray, k: int) -> tuple[list[tuple[int, float]], int]:
    """Algorithm 4: the k best labels with their probabilities, and how many node classifiers were asked."""
    y_hat: list[tuple[int, float]] = []
    Q = [(-eta[0], 0)]
    n_evaluations = 1
    while len(y_hat) < k and Q:
        minus_eta_v, v = heapq.heappop(Q)
        if tree.is_leaf[v]:
            y_hat.append((int(tree.label[v]), -minus_eta_v))
        else:
            for child in tree.children(v):
                heapq.heappush(Q, (minus_eta_v * eta[child], child))
                n_evaluations += 1
    return y_hat, n_evaluations


def beam_search(
    tree: LabelTree, eta: NDArray, k: int, beam: int, allowed: set[int] | None = None
) -> tuple[list[tuple[int, float]], int]:
    """Level by level from the root, only the best inner nodes of each level go on; the best leaves on the way."""
    allowed = set(range(tree.n_labels)) if allowed is None else allowed
    level = [(-eta[0], 0)] if allowed else []
    found: list[tuple[float, int]] = []
    n_evaluations = 1
    while level:
        below = [(minus_eta_v * eta[c], c) for minus_eta_v, v in level for c in tree.children(v)]
        n_evaluations += len(below)
        below = [(p, v) for p, v in below if allowed.intersection(tree.labels_under(v))]
        found += [(p, int(tree.label[v])) for p, v in below if tree.is_leaf[v]]
        level = sorted((p, v) for p, v in below if not tree.is_leaf[v])[:beam]
    return [(label, -minus_p) for minus_p, label in sorted(found)[:k]], n_evaluations
