"""The shape and the cost of a tree as a table, as JSON, and in a file."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any


def shape_table(tree: Any, before: list[tuple[str, str]], cost: Any = None, data: str | None = None) -> Any:
    """Return a table of titles and texts: those of `before`, the shape and, with a cost, the cost on `data`."""
    from labeltree.cli.console import table_of

    shape = shape_to_json(tree)
    by_depth = zip(shape["nodes_by_depth"], shape["labels_by_depth"], strict=True)
    levels = [
        f"{depth}: {n_labels:,} of {n_nodes:,} nodes" for depth, (n_nodes, n_labels) in enumerate(by_depth)
    ]
    shown = levels[1:] if len(levels) <= 12 else [*levels[1:11], "…", levels[-1]]
    mean = (tree.n_nodes - 1) / tree.n_blocks
    rows = [
        *before,
        ("labels", f"{tree.n_labels:,}"),
        ("nodes", f"{tree.n_nodes:,}, {tree.n_blocks:,} of them inner nodes"),
        ("children", f"{mean:.1f} on average, at most {tree.arity:,}"),
        ("labels by depth", "\n".join(shown)),
    ]
    if cost is not None:
        rows.append(("cost", f"{cost}\non {data}; a flat tree takes {tree.n_labels + 1:,} nodes a row"))
    return table_of(rows)


def shape_to_json(tree: Any, cost: Any = None, data: str | None = None) -> dict[str, Any]:
    """Return the shape and, with a cost, the cost on `data`."""
    return {
        "labels": tree.n_labels,
        "nodes": tree.n_nodes,
        "blocks": tree.n_blocks,
        "depth": tree.depth,
        "arity": tree.arity,
        "nodes_by_depth": [len(level) for level in tree.levels()],
        "labels_by_depth": [int(tree.is_leaf[level.start : level.stop].sum()) for level in tree.levels()],
        **({} if cost is None else {"data": data, "cost": asdict(cost)}),
    }


def write_text(out: Path, text: str) -> None:
    """Write a file, or leave an earlier one unchanged if that fails."""
    from labeltree.data.atomic_file import open_atomic

    with open_atomic(out) as file:
        file.write(text.encode())
