"""Nodes with too many children get nodes in between."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from labeltree import _native
from labeltree.trees.checks import Int32Array
from labeltree.trees.conversion import Nested
from labeltree.trees.tree import LabelTree


def split_wide_nodes(
    tree: LabelTree,
    max_arity: int,
    vectors: Any = None,
    *,
    seed: int = 0,
    n_threads: int = 1,
    progress: _native.Progress | None = None,
) -> LabelTree:
    """Return the tree in which no node has more than ``max_arity`` children, and all paths are those of ``tree``.

    The children of a wide node are clustered into parts of equal size, and these again as long as they are too
    large; a child that is not a leaf stands for the labels below it, whose vectors are added up.

    Parameters
    ----------
    tree : LabelTree
    max_arity : int
        At least 2.
    vectors : sparse matrix or array of shape (n_labels, d), optional
        What labels are clustered by. Without, children are parted in their order.
    seed, n_threads : int
        Of the clustering. The tree does not depend on the number of threads.
    progress : optional
        Told how far it is.

    Examples
    --------
    >>> from labeltree.trees import LabelTree
    >>> from labeltree.trees.wide_nodes import split_wide_nodes
    >>> split_wide_nodes(LabelTree.flat(5), 3).to_nested()
    [[0, 1, 2], [3, 4]]
    >>> split_wide_nodes(LabelTree.flat(4), 2, [[1, 0], [0, 1], [1, 0], [0, 1]]).to_nested()
    [[0, 2], [1, 3]]
    """
    if max_arity < 2:
        raise ValueError(f"max_arity must be 2 or more, but is {max_arity}")
    vectors = None if vectors is None else _checked_vectors(vectors, tree.n_labels)
    wide = np.flatnonzero(np.diff(tree.child_begin) > max_arity).tolist()
    if not wide:
        return tree
    above, rank = tree.parent.copy(), np.arange(tree.n_nodes, dtype=np.int32)
    parents: list[Int32Array] = [above]
    labels: list[Int32Array] = [tree.label]
    ranks: list[Int32Array] = [rank]
    n_nodes = tree.n_nodes
    for node in wide:
        children = np.asarray(tree.children(node))
        if vectors is None:
            between = LabelTree.from_nested(_parted(range(children.size), max_arity))
        else:
            summed = _vectors_of_children(tree, node, vectors)
            between = _clustered(summed, max_arity, seed, n_threads, progress or _native.Progress())
        # The root of `between` is the wide node, its leaves are the children, and the other nodes are new.
        new = between.inner_nodes[1:]
        number = np.empty(between.n_nodes, dtype=np.int32)
        number[0] = node
        number[new] = np.arange(n_nodes, n_nodes + new.size)
        above[children] = number[between.parent[between.leaf_of_label]]
        rank[children] = between.leaf_of_label
        parents.append(number[between.parent[new]])
        labels.append(np.full(new.size, -1, dtype=np.int32))
        ranks.append(new)
        n_nodes += new.size
    # Siblings come in the order of their ranks, which `between` gives all of them or none.
    order = np.argsort(np.concatenate(ranks), kind="stable")
    position = np.empty(n_nodes + 1, dtype=np.int32)
    position[order] = np.arange(n_nodes)
    position[-1] = -1  # what is above the root
    return LabelTree.from_parents(position[np.concatenate(parents)[order]], np.concatenate(labels)[order])


def _checked_vectors(vectors: Any, n_labels: int) -> Any:
    checked = (
        sp.csr_array(vectors, dtype=np.float32) if sp.issparse(vectors) else np.asarray(vectors, np.float32)
    )
    if checked.ndim != 2 or checked.shape[0] != n_labels:
        raise ValueError(
            f"vectors must have a row per label, that is {n_labels}, but the shape is {checked.shape}"
        )
    finite = np.isfinite(checked.data if sp.issparse(vectors) else checked)
    if not finite.all():
        raise ValueError("vectors must be finite numbers, but there is NaN or infinity among them")
    return checked


def _vectors_of_children(tree: LabelTree, node: int, vectors: Any) -> Any:
    children = tree.children(node)
    begin = np.zeros(len(children) + 1, dtype=np.int64)
    np.cumsum(tree.n_labels_of_node[children.start : children.stop], out=begin[1:])
    labels = tree.labels_under(node)
    is_below = sp.csr_array(
        (np.ones(labels.size, dtype=np.float32), labels, begin), shape=(len(children), tree.n_labels)
    )
    return is_below @ vectors


def _clustered(
    vectors: Any, max_arity: int, seed: int, n_threads: int, progress: _native.Progress
) -> LabelTree:
    """A tree whose labels are the rows of ``vectors``: to the kernel, examples with a label each."""
    if sp.issparse(vectors):
        vectors.sort_indices()
        features = _native.FeatureMatrix.csr(
            vectors.indptr.astype(np.int64),
            vectors.indices.astype(np.int64),
            vectors.data.astype(np.float32),
            vectors.shape[1],
            True,
        )
    else:
        features = _native.FeatureMatrix.dense(np.ascontiguousarray(vectors, dtype=np.float32), True)
    options = _native.ClusteringOptions(
        arity=max_arity, max_leaves=max_arity, frequent_share=0.0, seed=seed, n_threads=n_threads
    )
    n_rows = vectors.shape[0]
    rows, labels = np.arange(n_rows + 1, dtype=np.int64), np.arange(n_rows, dtype=np.int32)
    examples = _native.Examples(features, rows, labels, n_rows)
    return LabelTree(*_native.cluster_labels(features, examples, options, progress))


def _parted(items: range, max_arity: int) -> list[Nested]:
    """Items in their order, as nested lists of equal size, give or take one, of as few levels as can be."""
    if len(items) <= max_arity:
        return list(items)
    room = max_arity
    while room * max_arity < len(items):
        room *= max_arity
    n_parts = -(-len(items) // room)
    ends = [-(-len(items) * part // n_parts) for part in range(n_parts + 1)]
    parts = [items[begin:end] for begin, end in pairwise(ends)]
    return [part[0] if len(part) == 1 else _parted(part, max_arity) for part in parts]
