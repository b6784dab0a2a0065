"""Trees that are learned together with a hierarchical softmax, after Jernite, Choromanska and Sontag (2017)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labeltree import sparse as sp
from labeltree.trees.builders import builder
from labeltree.trees.random_balanced import random_tree
from labeltree.trees.tree import LabelTree

if TYPE_CHECKING:
    from labeltree.model.block_weights import BlockWeights
    from labeltree.training.examples import Examples
    from labeltree.training.run import Run

Floats = NDArray[np.float64]

#: How often the softmax is trained and labels are assigned again; the last softmax is that of the estimator.
ROUNDS = 5

#: Divides sums that may be 0.
_TINY = float(np.finfo(np.float64).tiny)


@builder("learned")
def learn_tree(examples: Examples, *, arity: int, random_state: int, run: Run) -> LabelTree:
    """Return a balanced tree whose labels are where a hierarchical softmax can tell them apart.

    Labels start in random order. In every round the softmax is trained on the tree, and every node, from the root
    down, divides its labels among its children anew: see `assign_labels`. The shape of the tree stays.
    """
    from labeltree.training.linear_nodes import SolverSettings, train_tree

    settings = SolverSettings(C=16.0, tol=0.2, max_iter=3, bias=1.0, prune=0.0)
    rows, shares = scaled_rows(examples), _label_shares(examples)
    tree = random_tree(examples.labels.n_labels, arity, arity, random_state=random_state)
    for _ in range(ROUNDS):
        weights, _ = train_tree(tree, examples, settings, random_state, run, "train_softmax")
        before, tree = tree, _reassigned(weights, rows, shares)
        if tree == before:
            break
    return tree


def assign_labels(mass: Floats, probability: Floats, room: list[int]) -> NDArray[np.int64]:
    """Return the child of each label of a node.

    A node shall divide its labels evenly and clearly. Its objective is the sum of ``mass[i] * |p[j] - p[j | i]|`` over
    labels i and children j: `mass` is the share of the node's examples with a label, p[j | i] = ``probability[i, j]``
    is the mean probability of a child for them, and p[j] the mean over all examples. Labels and children are paired in
    the order of the derivatives of the objective by p[j | i], the largest first, as long as the child has room.
    """
    sign = np.sign(probability - mass @ probability)
    slope = mass[:, None] * (sign - mass @ sign)
    child = np.full(len(mass), -1)
    left, n_open = list(room), len(mass)
    for pair in np.argsort(-slope, axis=None, kind="stable").tolist():
        label, of_child = divmod(pair, len(room))
        if child[label] < 0 and left[of_child] > 0:
            child[label] = of_child
            left[of_child] -= 1
            n_open -= 1
            if n_open == 0:
                break
    return child


def _reassigned(weights: BlockWeights, rows: sp.csr_array, shares: sp.csc_array) -> LabelTree:
    """Return the tree of the weights with its labels divided anew among the children of every node."""
    tree = weights.tree
    store = weights.store(rows.shape[1], "softmax")
    label = tree.label.copy()
    labels_of: dict[int, NDArray[Any]] = {0: np.arange(tree.n_labels)}
    for node in tree.inner_nodes.tolist():
        children, labels = tree.children(node), labels_of.pop(node)
        ours = shares[:, labels]
        seen = np.unique(ours.indices)
        probability = child_probabilities(weights, store, node, rows[seen])
        mass, summed = np.asarray(ours.sum(axis=0)).ravel(), ours[seen].T @ probability
        # A label without examples has the mean probability, and goes where there is room.
        mean = summed.sum(axis=0) / max(mass.sum(), _TINY)
        of_label = np.where(mass[:, None] > 0, summed / np.maximum(mass, _TINY)[:, None], mean)
        room = tree.n_labels_of_node[children.start : children.stop].tolist()
        child = assign_labels(mass / max(mass.sum(), _TINY), of_label, room)
        for number, below in enumerate(children):
            part = labels[child == number]
            if tree.is_leaf[below]:
                label[below] = part[0]
            else:
                labels_of[below] = part
    return LabelTree(tree.child_begin, label)


def child_probabilities(weights: BlockWeights, store: Any, node: int, rows: sp.csr_array) -> Floats:
    """Return the probability of each child of a node for each row, by the softmax of the node."""
    block, children = weights.block_of(node), weights.tree.children(node)
    columns = [store.column(block, number) for number in range(len(children))]
    begin = np.cumsum([0, *(len(feature) for feature, _ in columns)])
    feature, weight = (np.concatenate([column[part] for column in columns]) for part in (0, 1))
    matrix = sp.csc_array((weight, feature, begin), shape=(rows.shape[1], len(children)))
    scores = np.asarray(
        rows @ matrix + weights.arrays["bias"][children.start : children.stop], dtype=np.float64
    )
    from scipy.special import softmax

    # Of two children, one has the score of a logistic classifier and the other its negative.
    return np.asarray(softmax(scores / 2 if len(children) == 2 else scores, axis=1))


def scaled_rows(examples: Examples) -> sp.csr_array:
    """Return the rows as they are learned from, scaled."""
    features = examples.features
    rows = [features.row(number) for number in range(features.n_rows)]
    begin = np.cumsum([0, *(len(index) for index, _ in rows)])
    index, value = (np.concatenate([row[part] for row in rows]) for part in (0, 1))
    return sp.csr_array((value, index, begin), shape=(features.n_rows, features.n_features))


def _label_shares(examples: Examples) -> sp.csc_array:
    """Return the weight of each row for each of its labels: they share the weight of the row."""
    matrix = sp.csr_array(examples.labels.matrix()).astype(np.float64)
    n_labels = np.maximum(np.diff(matrix.indptr), 1)
    weight = 1.0 if examples.sample_weight is None else examples.sample_weight
    return sp.csc_array(sp.diags_array(weight / n_labels) @ matrix)
