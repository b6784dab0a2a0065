"""Native online trees seen as the reference twin is: as one classifier per node, with all its state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from tests.online_streams import BIAS
from tests.reference.online_classifier import Classifier, Learner
from tests.reference.online_tree import Observation

from labeltree import OnlineLabelTreeClassifier, _native

#: The number that the kernel gives the bias.
BIAS_NUMBER = 2**32 - 1


def matrices(stream: Sequence[Observation]) -> tuple[sp.csr_matrix, list[list[Any]]]:
    """X without the bias, as wide as it must be, and y as lists."""
    rows = [[(feature, value) for feature, value in x if feature != BIAS] for x, _ in stream]
    indptr = np.cumsum([0, *map(len, rows)])
    indices = [feature for row in rows for feature, _ in row]
    data = np.array([value for row in rows for _, value in row], dtype=np.float32)
    X = sp.csr_matrix((data, indices, indptr), shape=(len(rows), max(indices, default=0) + 1))
    return X, [list(labels) for _, labels in stream]


def online_model(learner: Learner, **parameters: Any) -> OnlineLabelTreeClassifier:
    """A model that learns as the learner does, from rows as they are."""
    return OnlineLabelTreeClassifier(
        solver=learner.solver,
        loss=learner.loss,
        learning_rate=learner.learning_rate,
        regularization=None if learner.solver == "adagrad" else learner.regularization,
        initial_accumulator=learner.initial_accumulator if learner.solver == "adagrad" else None,
        normalize=False,
        **parameters,
    )


def learn(model: OnlineLabelTreeClassifier, stream: Sequence[Observation]) -> OnlineLabelTreeClassifier:
    """Row by row: matrices get wider as features come."""
    for observation in stream:
        model.partial_fit(*matrices([observation]))
    return model


def kernel_tree(model: OnlineLabelTreeClassifier) -> _native.OnlineTree:
    (tree,) = model._model.trees
    return tree


def incrementally_trained(
    model: OnlineLabelTreeClassifier, stream: Sequence[Observation]
) -> tuple[_native.OnlineTree, list[int]]:
    """The kernel's own algorithm 5: a tree of the shape of the model's that is there before it learns the stream.

    Returns the tree and, for each node of it, which node of the model's tree it is.
    """
    grown = kernel_tree(model)
    children = [grown.children(v) for v in range(grown.n_nodes)]
    order = [0]
    for v in order:  # which gets longer meanwhile: breadth first
        order += children[v]
    _, label = grown.structure()
    child_begin = np.cumsum([1, *(len(children[v]) for v in order)], dtype=np.int32)
    tree = _native.OnlineTree.of_shape(
        model._model.settings.options(),
        _native.FixedPolicy(),
        _native.Tree(child_begin, label[order], grown.n_labels),
    )
    X, y = matrices(stream)
    numbers = {name: number for number, name in enumerate(model._model.labels.labels)}
    _native.OnlineForest([tree]).learn(
        _native.FeatureMatrix.csr(
            X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data, X.shape[1], model.normalize, (0, 0)
        ),
        np.cumsum([0, *map(len, y)], dtype=np.int64),
        np.array([numbers[name] for row in y for name in row], dtype=np.int32),
        np.arange(len(y), dtype=np.int64),
    )
    return tree, order


def classifiers(tree: _native.OnlineTree, solver: str) -> tuple[list[Classifier], list[Classifier | None]]:
    """The regular and the auxiliary classifiers of all nodes, by the tree's own numbers."""
    state = tree.state()
    n_nodes, n_blocks = len(state["label"]), len(state["n_seen"])
    children = [state["child"][a:b].tolist() for a, b in _ranges(state["child_begin"])]
    H: list[Any] = [None] * n_nodes
    Theta: list[Classifier | None] = [None] * n_nodes
    node_of_block = {block: v for v, block in enumerate(state["node_block"].tolist())}
    at = 0
    for b, (begin, end) in enumerate(_ranges(state["row_begin"])):
        v = node_of_block.get(b, -1)
        lanes = [0] if v == -1 else children[v]
        n_lanes = len(lanes) + int(state["has_auxiliary"][b])
        features = state["feature"][begin:end] if len(state["feature"]) else np.arange(-1, end - begin - 1)
        names = [BIAS if f in (-1, BIAS_NUMBER) else f for f in features.tolist()]
        rows = slice(at, at + (end - begin) * n_lanes)
        at = rows.stop
        weight = state["weight"][rows].reshape(end - begin, n_lanes)
        square = state["square"][rows].reshape(end - begin, n_lanes) if solver == "adagrad" else weight * 0
        shrunk = state["shrunk"][begin:end].tolist() if solver == "fobos" else []
        for lane in range(n_lanes):
            h = Classifier(
                dict(zip(names, weight[:, lane], strict=True)),
                dict(zip(names, square[:, lane], strict=True)) if solver == "adagrad" else {},
                dict(zip(names, shrunk, strict=True)) if solver == "fobos" else {},
                float(state["penalty"][b]),
                int(state["n_seen"][b]),
            )
            if lane < len(lanes):
                H[lanes[lane]] = h
            else:
                Theta[v] = h
    assert at == len(state["weight"])
    assert n_blocks == n_nodes + 1
    return H, Theta


def bits(h: Classifier) -> tuple[Any, ...]:
    """All of a classifier that matters: equal if and only if no bit of it is different.

    Features that it has not learned anything about may be there or not.
    """
    known = {
        feature: [part[feature].tobytes() for part in (h.w, h.squares) if feature in part]
        for feature, w in h.w.items()
        if w != 0 or h.squares.get(feature, 0) != 0
    }
    return known, {feature: h.shrunk.get(feature) for feature in known}, h.penalty, h.n_seen


def _ranges(begin: Any) -> list[tuple[int, int]]:
    return list(zip(begin[:-1].tolist(), begin[1:].tolist(), strict=True))
