"""Drawings of label trees as text: box characters, and Graphviz. They are methods of `LabelTree`."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from labeltree.validation import check_count
from labeltree.wording import count_text

if TYPE_CHECKING:
    from labeltree.trees.tree import LabelTree

#: The name of each label.
Names: TypeAlias = Sequence[str] | NDArray[Any]
#: The name of each node, or None.
NodeNames: TypeAlias = Sequence[str | None]


@dataclass
class _Line:
    """A line of a text drawing, and the lines below it."""

    text: str
    below: list[_Line] = field(default_factory=list)


def draw(
    tree: LabelTree,
    names: Names | None = None,
    max_nodes: int = 60,
    max_labels_per_node: int = 8,
    node_names: NodeNames | None = None,
) -> str:
    """Return a drawing of the tree in text.

    Labels below the same node share a line. A large tree is drawn from the root down to ``max_nodes`` nodes, and an
    ellipsis stands for the rest.

    Parameters
    ----------
    names : sequence of str, optional
        The name of each label. By default labels are drawn as numbers.
    max_nodes : int
        The maximum number of nodes to draw. Leaves that share a line count as one.
    max_labels_per_node : int
        The maximum number of labels in a line.
    node_names : sequence, optional
        The name of each node or None, as `Taxonomy.node_names` returns.

    Examples
    --------
    >>> from labeltree.trees import LabelTree
    >>> tree = LabelTree.from_nested([[0, 1, 2], [3, [4, 5]]])
    >>> print(tree.draw(names=["apple", "pear", "plum", "bread", "milk", "cheese"]))
    root (6 labels)
    ├── node 1 (3 labels): apple, pear, plum
    └── node 2 (3 labels)
        ├── bread
        └── node 7 (2 labels): milk, cheese
    """
    check_count("max_nodes", max_nodes)
    check_count("max_labels_per_node", max_labels_per_node)
    check_names(tree, names, node_names)

    def list_labels(leaves: range) -> str:
        shown = [_one_line(leaf_title(tree, leaf, names)) for leaf in leaves[:max_labels_per_node]]
        hidden = len(leaves) - len(shown)
        return ", ".join([*shown, f"… {hidden:,} more"] if hidden else shown)

    # Level by level, so that a drawing with a limit shows all nodes near the root.
    root = _Line(f"{inner_title(node_names, 0) or 'root'} ({count_text(tree.n_labels, 'label')})")
    n_drawn = 1
    waiting = deque([(0, root)])
    while waiting:
        node, line = waiting.popleft()
        children = tree.children(node)
        if tree.is_leaf[children.start : children.stop].all():
            line.text += f": {list_labels(children)}"
            continue
        child = children.start
        while child < children.stop and n_drawn < max_nodes:
            if tree.is_leaf[child]:
                stop = _end_of_leaves(tree, child, children.stop)
                line.below.append(_Line(list_labels(range(child, stop))))
            else:
                stop = child + 1
                n_labels = int(tree.n_labels_of_node[child])
                title = inner_title(node_names, child) or f"node {child}"
                line.below.append(_Line(f"{title} ({count_text(n_labels, 'label')})"))
                waiting.append((child, line.below[-1]))
            n_drawn += 1
            child = stop
        if not line.below:
            line.text += " …"
        elif child < children.stop:
            n_labels = int(tree.n_labels_of_node[child : children.stop].sum())
            hidden = children.stop - child
            line.below.append(_Line(f"… {hidden:,} more ({count_text(n_labels, 'label')})"))
    return "\n".join(_boxed(root))


def to_graphviz(
    tree: LabelTree, names: Names | None = None, max_nodes: int = 200, node_names: NodeNames | None = None
) -> str:
    """Return a drawing of the tree as the source text of a Graphviz graph.

    Parameters
    ----------
    names : sequence of str, optional
        The name of each label. By default labels are drawn as numbers.
    max_nodes : int
        The maximum number of nodes to draw, from the root down. Ellipses stand for the rest.
    node_names : sequence, optional
        The name of each node or None.

    Examples
    --------
    >>> from labeltree.trees import LabelTree
    >>> print(LabelTree.flat(2).to_graphviz(names=["cat", "dog"]))
    digraph label_tree {
      rankdir=LR;
      node [shape=box, style=rounded, fontname="sans-serif"];
      0 [label="2 labels"];
      1 [label="cat", shape=plain];
      2 [label="dog", shape=plain];
      0 -> 1;
      0 -> 2;
    }
    <BLANKLINE>
    """
    check_count("max_nodes", max_nodes)
    check_names(tree, names, node_names)
    lines = [
        "digraph label_tree {",
        "  rankdir=LR;",
        '  node [shape=box, style=rounded, fontname="sans-serif"];',
    ]
    n_drawn = min(max_nodes, tree.n_nodes)
    for node in range(n_drawn):
        if tree.is_leaf[node]:
            lines.append(f"  {node} [label={_quoted(leaf_title(tree, node, names))}, shape=plain];")
            continue
        count = count_text(int(tree.n_labels_of_node[node]), "label")
        title = inner_title(node_names, node)
        lines.append(f"  {node} [label={_quoted(f'{title} ({count})' if title else count)}];")
    for node in range(n_drawn):
        children = tree.children(node)
        lines.extend(f"  {node} -> {child};" for child in children if child < n_drawn)
        hidden = len(children) - max(0, min(children.stop, n_drawn) - children.start)
        if hidden > 0:
            lines.append(f"  more{node} [label={_quoted(f'… {hidden:,} more')}, shape=plain];")
            lines.append(f"  {node} -> more{node} [style=dashed];")
    return "\n".join([*lines, "}", ""])


def _boxed(root: _Line) -> list[str]:
    """Return the lines of a drawing, each after its branch."""
    drawn = []
    stack = [(root, "", "")]
    while stack:
        line, branch, indent = stack.pop()
        drawn.append(branch + line.text)
        branches = [("├── ", "│   ")] * (len(line.below) - 1) + [("└── ", "    ")]
        for below, (to_it, past_it) in reversed(list(zip(line.below, branches, strict=False))):
            stack.append((below, indent + to_it, indent + past_it))
    return drawn


def _end_of_leaves(tree: LabelTree, leaf: int, stop: int) -> int:
    """Return the first inner node after ``leaf``, at most ``stop``."""
    following = int(np.searchsorted(tree.inner_nodes, leaf))
    return stop if following == tree.n_blocks else min(stop, int(tree.inner_nodes[following]))


def leaf_title(tree: LabelTree, leaf: int, names: Names | None) -> str:
    """Return the name of a leaf's label, or the label if there are no names."""
    label = int(tree.label[leaf])
    return str(label if names is None else names[label])


def inner_title(node_names: NodeNames | None, node: int) -> str | None:
    """Return the name of an inner node in one line, None if it has no name."""
    name = None if node_names is None else node_names[node]
    return None if name is None else _one_line(str(name))


def _one_line(name: str) -> str:
    return " ".join(name.split())


def _quoted(text: str) -> str:
    """Return ``text`` as a Graphviz string that shows it literally: no escapes, no HTML entities."""
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
    lines = ["".join(c if c.isprintable() else " " for c in line) for line in text.splitlines()]
    return '"' + "\\n".join(lines) + '"'


def check_names(tree: LabelTree, names: Names | None, node_names: NodeNames | None) -> None:
    """Raise `ValueError` unless given names are as many as the labels, or the nodes."""
    if names is not None and len(names) != tree.n_labels:
        raise ValueError(f"names must have one name per label, that is {tree.n_labels}, but has {len(names)}")
    if node_names is not None and len(node_names) != tree.n_nodes:
        raise ValueError(
            f"node_names must have one name (or None) per node, that is {tree.n_nodes}, but has {len(node_names)}"
        )
