"""The tree of one-versus-rest."""

from __future__ import annotations

from labeltree.trees.builders import builder
from labeltree.trees.parameters import check_builder
from labeltree.trees.tree import LabelTree


@builder("flat")
def flat_tree(n_labels: int) -> LabelTree:
    """Return the tree whose root has all labels as its children, as `LabelTree.flat` does.

    Examples
    --------
    >>> from labeltree.trees import flat_tree
    >>> flat_tree(3).to_nested()
    [0, 1, 2]
    """
    check_builder("flat_tree", n_labels=n_labels)
    return LabelTree.flat(n_labels)
