"""The shape and the cost of a tree, in words and in JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any


def shape_rows(tree: Any) -> list[tuple[str, str]]:
    """Titles and texts."""
    nodes, leaves = _by_depth(tree)
    levels = [
        f"{depth}: {n_leaves:,} of {n_nodes:,} nodes"
        for depth, (n_nodes, n_leaves) in enumerate(zip(nodes, leaves, strict=True))
    ]
    shown = levels[1:] if len(levels) <= 12 else [*levels[1:11], "…", levels[-1]]
    mean = (tree.n_nodes - 1) / tree.n_blocks
    return [
        ("labels", f"{tree.n_labels:,}"),
        ("nodes", f"{tree.n_nodes:,}, {tree.n_blocks:,} of them inner nodes"),
        ("children", f"{mean:.1f} on average, at most {tree.arity:,}"),
        ("labels by depth", "\n".join(shown)),
    ]


def shape_to_json(tree: Any) -> dict[str, Any]:
    """Figures by name."""
    nodes, leaves = _by_depth(tree)
    return {
        "labels": tree.n_labels,
        "nodes": tree.n_nodes,
        "blocks": tree.n_blocks,
        "depth": tree.depth,
        "arity": tree.arity,
        "nodes_by_depth": nodes,
        "labels_by_depth": leaves,
    }


def cost_row(cost: Any, data: str, n_labels: int) -> tuple[str, str]:
    """What the tree costs on a data set, beside what a tree of all labels below the root would."""
    return ("cost", f"{cost}\non {data}; a flat tree takes {n_labels + 1:,} nodes a row")


def cost_to_json(cost: Any) -> dict[str, Any]:
    """Figures by name."""
    return asdict(cost)


def table_of(rows: list[tuple[str, str]]) -> Any:
    """Rows of a title and a text."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 3, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(ratio=1)
    for title, text in rows:
        table.add_row(title, text)
    return table


def _by_depth(tree: Any) -> tuple[list[int], list[int]]:
    nodes = [len(level) for level in tree.levels()]
    leaves = [int(tree.is_leaf[level.start : level.stop].sum()) for level in tree.levels()]
    return nodes, leaves
