"""Drawings of label trees: text with box characters, and Graphviz."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from labeltree.trees.tree import LabelTree

#: The name of each label.
Names: TypeAlias = Sequence[str] | NDArray[Any]
#: The name of each node, None for those without.
NodeNames: TypeAlias = Sequence[str | None]


@dataclass
class _Line:
    """A line of a text drawing, and the lines that hang from it."""

    text: str
    below: list[_Line] = field(default_factory=list)


def draw_text(
    tree: LabelTree,
    names: Names | None,
    node_names: NodeNames | None,
    max_nodes: int,
    max_labels_per_node: int,
) -> str:
    """Return the drawing of ``tree`` in text; see ``LabelTree.draw``."""
    _check_limit("max_nodes", max_nodes)
    _check_limit("max_labels_per_node", max_labels_per_node)
    check_names(tree, names, node_names)

    def list_labels(leaves: range) -> str:
        shown = [_one_line(leaf_title(tree, leaf, names)) for leaf in leaves[:max_labels_per_node]]
        hidden = len(leaves) - len(shown)
        return ", ".join([*shown, f"… {hidden:,} more"] if hidden else shown)

    # What is near the root is drawn first, so that a cut drawing still shows the whole of the top.
    root = _Line(f"{inner_title(node_names, 0) or 'root'} ({_count(tree.n_labels, 'label')})")
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
                line.below.append(_Line(f"{title} ({_count(n_labels, 'label')})"))
                waiting.append((child, line.below[-1]))
            n_drawn += 1
            child = stop
        if not line.below:
            line.text += " …"
        elif child < children.stop:
            n_labels = int(tree.n_labels_of_node[child : children.stop].sum())
            hidden = children.stop - child
            line.below.append(_Line(f"… {hidden:,} more ({_count(n_labels, 'label')})"))
    return "\n".join(_boxed(root))


def to_dot(tree: LabelTree, names: Names | None, node_names: NodeNames | None, max_nodes: int) -> str:
    """Return Graphviz source that draws ``tree``; see ``LabelTree.to_graphviz``."""
    _check_limit("max_nodes", max_nodes)
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
        count = _count(int(tree.n_labels_of_node[node]), "label")
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
    """Return the lines of a drawing with the branches that lead to them."""
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
    """Return the first inner node after ``leaf``, or ``stop`` where it comes first."""
    following = int(np.searchsorted(tree.inner_nodes, leaf))
    return stop if following == tree.n_blocks else min(stop, int(tree.inner_nodes[following]))


def leaf_title(tree: LabelTree, leaf: int, names: Names | None) -> str:
    """What a leaf is called: by the name of its label, or by the label."""
    label = int(tree.label[leaf])
    return str(label if names is None else names[label])


def inner_title(node_names: NodeNames | None, node: int) -> str | None:
    """What an inner node is called, if it is, in one line."""
    name = None if node_names is None else node_names[node]
    return None if name is None else _one_line(str(name))


def _one_line(name: str) -> str:
    return " ".join(name.split())


def _quoted(text: str) -> str:
    """Return ``text`` as a Graphviz string that is shown as it is: no escapes, no HTML entities."""
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
    lines = ["".join(c if c.isprintable() else " " for c in line) for line in text.splitlines()]
    return '"' + "\\n".join(lines) + '"'


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _check_limit(name: str, value: int) -> None:
    if value < 1:
        raise ValueError(f"{name} must be 1 or more, but is {value}")


def check_names(tree: LabelTree, names: Names | None, node_names: NodeNames | None) -> None:
    """Raise unless there is a name for every label and for every node, where there are any."""
    if names is not None and len(names) != tree.n_labels:
        raise ValueError(f"names must have one name per label, that is {tree.n_labels}, but has {len(names)}")
    if node_names is not None and len(node_names) != tree.n_nodes:
        raise ValueError(
            f"node_names must have one name (or None) per node, that is {tree.n_nodes}, but has {len(node_names)}"
        )
