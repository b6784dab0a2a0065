"""The trees that an online model starts with: their shapes, and the label of each leaf."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.labels.reading import LabelRows, as_class_array
from labeltree.online.label_table import LabelTable
from labeltree.trees import LabelTree, Taxonomy
from labeltree.trees.recipe import TreeSource, check_tree
from labeltree.wording import count_text, with_article


@dataclass(frozen=True)
class NamedTree:
    """A tree with the label of each leaf, such as that of a trained model; a `TreeSource`."""

    tree: LabelTree
    labels: list[Any]

    def label_tree(self, classes: NDArray[Any]) -> LabelTree:
        """Return the tree with leaves by the positions of their labels in `classes`, which has the same labels."""
        position = {label: i for i, label in enumerate(classes.tolist())}
        if position.keys() != set(self.labels):
            raise ValueError("tree: expected the same labels in the tree and in the examples")
        label = self.tree.label.copy()
        label[label >= 0] = np.array([position[name] for name in self.labels], dtype=np.int32)[
            label[label >= 0]
        ]
        return LabelTree(self.tree.child_begin, label)


def start_trees(trees: Any, rows: LabelRows, classes: Any = None) -> tuple[list[LabelTree], LabelTable]:
    """Return the shapes of the given trees and their labels, which are the same in all of them.

    Parameters
    ----------
    trees : LabelTree, TreeSource, or a sequence of these
    rows, classes
        As in `_start_tree`.
    """
    given = trees if is_list_of_trees(trees) else [trees]
    started = [_start_tree(tree, rows, classes) for tree in given]
    labels = started[0][1]
    if any(other.labels != labels.labels for _, other in started):
        raise ValueError("tree: expected trees of the same labels")
    return [shape for shape, _ in started], labels


def is_list_of_trees(tree: Any) -> bool:
    """Return whether the parameter `tree` is a sequence, with a tree for each tree of the model."""
    return isinstance(tree, Sequence) and not isinstance(tree, str | LabelTree)


def check_given_trees(tree: Any, n_trees: int) -> None:
    """Raise `ValueError` unless the parameter `tree` is None, or has as many trees as the model."""
    if tree is None:
        return
    given = tree if is_list_of_trees(tree) else [tree]
    for one in given:
        check_tree(one)
        if isinstance(one, str) or not isinstance(one, LabelTree | TreeSource):
            raise ValueError(f"tree must be a LabelTree or a Taxonomy, a list of these, or None, got {one!r}")
    if len(given) != n_trees:
        raise ValueError(
            f"n_trees={n_trees} needs a given tree for each tree, or they would all be the same, got "
            f"{count_text(len(given), 'tree')}: give {n_trees} different trees"
        )


def check_trees_differ(trees: Sequence[Any]) -> None:
    """Raise `ValueError` if a tree is given twice: it would learn the same twice."""
    for number, tree in enumerate(trees):
        if any(tree == other for other in trees[:number]):
            raise ValueError(
                f"tree: the given tree number {number} is the same as an earlier one: give different trees"
            )


def _start_tree(tree: Any, rows: LabelRows, classes: Any = None) -> tuple[LabelTree, LabelTable]:
    """Return the shape of a given tree and its labels.

    Parameters
    ----------
    tree : LabelTree or TreeSource
    rows : LabelRows
        The labels of the first examples.
    classes : sequence, optional
        The label of each leaf: label ``i`` of the tree is ``classes[i]``. Without it, the columns of a matrix or the
        numbers from 0 are the labels of a `LabelTree`, all concepts those of a taxonomy.
    """
    given = None if classes is None else _as_list(classes)
    labels = _labels_of(tree, rows) if given is None else given
    if len(set(labels)) < len(labels):
        raise ValueError("classes: expected every label once, got some twice")
    shape = tree if isinstance(tree, LabelTree) else tree.label_tree(as_class_array(labels))
    if shape.n_labels != len(labels):
        raise ValueError(
            f"the given tree has {count_text(shape.n_labels, 'label')}, but {'y' if given is None else 'classes'} has "
            f"{len(labels)}"
        )
    columns: Sequence[Any] = range(0)
    if rows.kind in ("csr", "dense"):
        is_numbered = rows.classes.dtype.kind == "i"
        columns = range(len(labels)) if is_numbered else labels
        if is_numbered and labels != list(columns):
            raise ValueError("y is a matrix, whose labels are its columns: leave out classes")
    return shape, LabelTable(rows.kind, labels, columns)


def _as_list(classes: Any) -> list[Any]:
    return list(classes.tolist()) if hasattr(classes, "tolist") else list(classes)


def _labels_of(tree: Any, rows: LabelRows) -> list[Any]:
    """Return the labels of a tree that comes without classes."""
    if isinstance(tree, NamedTree):
        return list(tree.labels)
    present: list[Any] = rows.classes.tolist()
    is_matrix = rows.kind in ("csr", "dense")
    if isinstance(tree, Taxonomy) and not is_matrix:
        return tree.labels_like(present)
    is_numbered = all(type(label) is int for label in present)
    if isinstance(tree, LabelTree) and is_numbered:
        return list(range(tree.n_labels))
    if is_matrix:
        return present
    shown = f"got {present[0]!r}" if present else "the first examples have none"
    raise ValueError(
        f"tree: the leaves of {with_article(type(tree).__name__)} stand for the labels 0, 1, 2, …, but {shown}; "
        "pass the label of each leaf to the first call, as in partial_fit(X, y, classes=[...])"
    )
