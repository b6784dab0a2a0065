"""Search over the scores of any learner: a matrix, or a function that scores pairs of rows and nodes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labeltree import _native
from labeltree import sparse as sp
from labeltree.exchange.blocks import NodeBlocks, Paths
from labeltree.exchange.guided_search import GuidedSearch
from labeltree.model.top_labels import TopLabels
from labeltree.trees import LabelTree
from labeltree.trees.checks import first_true
from labeltree.wording import count_text

#: The functions that turn the score of one node into a probability.
LINKS = tuple(link for link in _native.Link.__members__ if link != "softmax")

#: ``score(rows, nodes)`` returns a number for each pair.
ScoreFunction = Callable[[NDArray[np.int64], NDArray[np.int64]], ArrayLike]
#: Returns the probability of each entry of blocks.
Ask = Callable[[NodeBlocks], ArrayLike]


def search_topk(
    tree: LabelTree,
    scores: ArrayLike | ScoreFunction,
    k: int = 5,
    *,
    n_rows: int | None = None,
    link: str | None = None,
    threshold: float = 0.0,
    beam: int | None = None,
    allowed: ArrayLike | None = None,
    label_weight: ArrayLike | None = None,
    normalize_siblings: bool = False,
) -> TopLabels:
    """Return the k best labels of every row, by the scores of any learner.

    Parameters
    ----------
    tree : LabelTree
    scores : array of shape (n_rows, n_nodes), or function
        The probability of every node given its parent; or ``score(rows, nodes)``, which returns the probabilities of
        the pairs that the search needs next. Its arguments and its result are 1-d arrays.
    k : int
    n_rows : int, optional
        The number of rows. Required if `scores` is a function.
    link : {"sigmoid", "sigmoid2", "clip", "exp2", "exp3", "exp4", "exp5"}, optional
        The function that turns a score into a probability. By default scores are probabilities.
    threshold, beam, allowed, label_weight, normalize_siblings
        As in `GuidedSearch`.

    Returns
    -------
    TopLabels
        `labels` (numbers in the tree) and `probabilities`, each (n_rows, k), best first, filled up with -1 and 0.

    Examples
    --------
    >>> from labeltree.trees import LabelTree
    >>> tree = LabelTree.from_nested([[0, 1], 2])
    >>> search_topk(tree, [[1.0, 0.5, 0.3, 0.8, 0.2]], k=2)
    TopLabels(labels=array([[0, 2]], dtype=int32), probabilities=array([[0.4, 0.3]], dtype=float32))
    """
    n_rows, ask = _learner(tree, scores, n_rows, link)
    search = GuidedSearch(
        tree,
        n_rows,
        k,
        threshold=threshold,
        beam=beam,
        allowed=allowed,
        label_weight=label_weight,
        normalize_siblings=normalize_siblings,
    )
    return search.run(ask).top_labels()


def search_above(
    tree: LabelTree,
    scores: ArrayLike | ScoreFunction,
    threshold: float | ArrayLike,
    *,
    n_rows: int | None = None,
    link: str | None = None,
    allowed: ArrayLike | None = None,
    normalize_siblings: bool = False,
) -> sp.csr_matrix:
    """Return all labels with a probability of at least a threshold, by the scores of any learner.

    Parameters
    ----------
    tree, scores, n_rows, link
        As in `search_topk`.
    threshold : float or array of shape (n_labels,)
        The minimum probability, one for all labels or one for each.
    allowed, normalize_siblings
        As in `GuidedSearch`.

    Returns
    -------
    scipy.sparse.csr_matrix of shape (n_rows, n_labels), float32

    Examples
    --------
    >>> from labeltree.trees import LabelTree
    >>> tree = LabelTree.from_nested([[0, 1], 2])
    >>> search_above(tree, [[1.0, 0.5, 0.25, 0.75, 0.25]], 0.25).toarray()
    array([[0.375, 0. , 0.25 ]], dtype=float32)
    """
    n_rows, ask = _learner(tree, scores, n_rows, link)
    search = GuidedSearch(
        tree, n_rows, threshold=threshold, allowed=allowed, normalize_siblings=normalize_siblings
    )
    found = search.run(ask).matrix()
    found.sort_indices()
    return found


def pair_probabilities(
    tree: LabelTree,
    scores: ArrayLike | ScoreFunction,
    rows: ArrayLike,
    labels: ArrayLike,
    *,
    link: str | None = None,
    normalize_siblings: bool = False,
) -> NDArray[np.float32]:
    """Return the probability of each (row, label): the product along the label's path. A function is called once.

    Parameters
    ----------
    tree, scores, link
        As in `search_topk`.
    rows, labels : arrays of the same length
    normalize_siblings : bool
        As in `GuidedSearch`.

    Examples
    --------
    >>> from labeltree.trees import LabelTree
    >>> tree = LabelTree.from_nested([[0, 1], 2])
    >>> pair_probabilities(tree, [[1.0, 0.5, 0.25, 0.75, 0.25]], [0, 0], [0, 2])
    array([0.375, 0.25 ], dtype=float32)
    """
    row, label = np.asarray(rows), np.asarray(labels)
    if row.ndim != 1 or row.shape != label.shape:
        raise ValueError(f"rows and labels must have the same length, got {row.shape} and {label.shape}")
    n_rows, ask = _learner(tree, scores, int(row.max(initial=-1)) + 1 if callable(scores) else None, link)
    for name, values, n in (("rows", row, n_rows), ("labels", label, tree.n_labels)):
        if values.size > 0 and (values.dtype.kind not in "iu" or values.min() < 0 or values.max() >= n):
            raise ValueError(f"{name} must be integers from 0 to {n - 1}")
    return path_products(tree, ask, row.astype(np.int64), label.astype(np.int64), normalize_siblings)


def path_products(
    tree: LabelTree,
    ask: Ask,
    rows: NDArray[np.int64],
    labels: NDArray[np.int64],
    normalize_siblings: bool = False,
) -> NDArray[np.float32]:
    """Return the probability of each (row, label); ``ask`` is called once, for all blocks on the paths."""
    if len(rows) == 0:
        return np.empty(0, dtype=np.float32)
    paths = Paths(tree, rows, labels)
    given = paths.blocks.check_probabilities(ask(paths.blocks), normalize_siblings)
    nodes = tree.leaf_of_label[labels].astype(np.int64)
    path = [nodes]
    while nodes.any():
        nodes = np.where(nodes > 0, tree.parent[nodes], 0)
        path.append(nodes)
    # From the root down, as in the search, for the same product to the last bit. Higher leaves wait at the root.
    product = given[paths.entries(rows, path[-1])]
    for nodes in reversed(path[:-1]):
        product = np.where(nodes > 0, product * given[paths.entries(rows, nodes)], product)
    return product


def _learner(tree: LabelTree, scores: Any, n_rows: int | None, link: str | None) -> tuple[int, Ask]:
    """Return the number of rows, and a function that returns probabilities for blocks."""
    if link is not None and link not in LINKS:
        raise ValueError(f"link must be None or one of {', '.join(LINKS)}, got {link!r}")
    if callable(scores):
        if n_rows is None:
            raise ValueError("n_rows is needed if scores are a function")
        return int(n_rows), partial(_probabilities, scores, link)
    matrix = np.asarray(scores)
    if matrix.ndim != 2 or matrix.shape[1] != tree.n_nodes:
        raise ValueError(
            f"scores must be a function or have a column for each of the tree's {tree.n_nodes} nodes, "
            f"got an array of shape {matrix.shape}"
        )
    if n_rows is not None and n_rows != len(matrix):
        raise ValueError(f"n_rows is {n_rows}, but scores have {count_text(len(matrix), 'row')}")
    return len(matrix), partial(_probabilities, lambda rows, nodes: matrix[rows, nodes], link)


def _probabilities(score: ScoreFunction, link: str | None, wanted: NodeBlocks) -> NDArray[np.float32]:
    scores = np.ascontiguousarray(score(wanted.row, wanted.node), dtype=np.float32)
    if link is None:
        return scores
    if scores.shape != wanted.node.shape:
        raise ValueError(
            f"expected a score for each of {len(wanted)} entries, got an array of shape {scores.shape}"
        )
    if (at := first_true(np.isnan(scores))) is not None:
        raise ValueError(f"row {wanted.row[at]}, node {wanted.node[at]}: the score is not a number")
    probabilities = np.empty_like(scores)
    _native.apply_link_to_all(_native.Link[link], scores, probabilities)
    return probabilities
