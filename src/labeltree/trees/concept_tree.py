"""The label tree over concepts, and the concepts of a tree's nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from labeltree.trees.checks import Int32Array

if TYPE_CHECKING:
    from labeltree.trees.tree import LabelTree

#: A node whose labels have no concept in common.
NONE_IN_COMMON = -1
#: A node whose labels are not concepts.
NO_CONCEPTS = -2


def tree_over_concepts(above: Int32Array, concept_of_label: Int32Array) -> tuple[list[int], list[int]]:
    """Return the parent and the label of each node of the tree that ``Taxonomy.label_tree`` describes.

    ``above`` is the concept above each concept, -1 at the top. Labels that are not concepts have the concept -1.
    """
    below = _concepts_with_labels(above.tolist(), concept_of_label.tolist())
    labels_of: dict[int, list[int]] = {}
    for label, concept in enumerate(concept_of_label.tolist()):
        labels_of.setdefault(concept, []).append(label)
    unknown = labels_of.pop(-1, [])

    def items(concept: int) -> list[tuple[int, int]]:
        """Return the children of a concept as (concept, label): its own labels, then the concepts below it."""
        own = [(-1, label) for label in labels_of.get(concept, ())]
        return own + [(lower, -1) for lower in below.get(concept, ())]

    def condensed(concept: int, label: int) -> tuple[int, int]:
        """Follow single children down to a label, or to a concept with several children."""
        while label < 0 and len(children := items(concept)) == 1:
            concept, label = children[0]
        return concept, label

    parent, node_label = [-1], [-1]
    top = condensed(-1, -1)
    waiting = [(0, *item) for item in ([top] if top[1] >= 0 else items(top[0]))]
    for node, concept, label in waiting:
        concept, label = condensed(concept, label)
        parent.append(node)
        node_label.append(label)
        if label < 0:
            waiting += [(len(parent) - 1, *item) for item in items(concept)]
    at = 0
    if len(unknown) > 1:
        at = len(parent)
        parent.append(0)
        node_label.append(-1)
    parent += [at] * len(unknown)
    node_label += unknown
    return parent, node_label


def _concepts_with_labels(above: list[int], concept_of_label: list[int]) -> dict[int, list[int]]:
    """Return the concepts with labels at or below them, in their order, by the concept above them."""
    found: set[int] = set()
    for concept in concept_of_label:
        while concept >= 0 and concept not in found:
            found.add(concept)
            concept = above[concept]
    below: dict[int, list[int]] = {}
    for concept in sorted(found):
        below.setdefault(above[concept], []).append(concept)
    return below


def common_concepts(
    tree: LabelTree, concept_of_label: Int32Array, above: Int32Array, depth: Int32Array
) -> Int32Array:
    """Return for each node the lowest concept above all its labels, or a constant of this module."""
    common = np.empty(tree.n_nodes, dtype=np.int32)
    common[tree.leaf_of_label] = np.where(concept_of_label < 0, NO_CONCEPTS, concept_of_label)
    # Backwards: children come before their parents.
    for node in tree.inner_nodes[::-1].tolist():
        children = tree.children(node)
        met = int(common[children.start])
        for other in np.unique(common[children.start + 1 : children.stop]).tolist():
            met = _meet(met, other, above, depth)
        common[node] = met
    return common


def _meet(first: int, second: int, above: Int32Array, depth: Int32Array) -> int:
    """Return the lowest concept at or above both concepts."""
    while first != second:
        if first < 0 or second < 0:
            return NONE_IN_COMMON
        if depth[first] < depth[second]:
            first, second = second, first
        first = int(above[first])
    return first
