"""`labeltree tree export`."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Annotated, Any

import typer

from labeltree.cli import options


def export(
    source: Annotated[
        Path, typer.Argument(metavar="SOURCE", help="The directory of a model, or a tree (.json).")
    ],
    out: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="Where it goes, and by its ending what: .json a tree for train, .csv a table with the columns id, "
            "parent and name, .dot a graph for Graphviz.",
        ),
    ],
    labels: options.LabelNames = None,
) -> None:
    """Write a tree for other programs; of a model with several trees, the first.

    The table has a row per node, leaves under the ids of their labels: it is a taxonomy again.

    [bold]Examples[/bold]

        labeltree tree export tags.labeltree --out tree.json
        labeltree tree export tags.labeltree --out tree.csv --labels labels.txt
        labeltree tree export tree.json --out tree.dot
    """
    from labeltree.cli.console import standard_output, titled
    from labeltree.cli.figures import bytes_text, count_text
    from labeltree.cli.tree.hierarchy import open_hierarchy
    from labeltree.data.atomic_file import open_atomic

    if out.suffix not in _WRITERS:
        raise typer.BadParameter(
            f"expected a name that ends in {', '.join(_WRITERS)}, got {out}", param_hint="--out"
        )
    exported = open_hierarchy(source, labels)
    text = _WRITERS[out.suffix](exported)
    with open_atomic(out) as file:
        file.write(text.encode())
    tree = exported.tree
    standard_output().print(
        titled(
            out,
            f": {count_text(tree.n_nodes, 'node')}, {count_text(tree.n_labels, 'label')}, "
            f"{bytes_text(out.stat().st_size)}",
        )
    )


def _json(exported: Any) -> str:
    text: str = exported.tree.to_json()
    return text


def _table(exported: Any) -> str:
    tree = exported.tree
    labels = range(tree.n_labels) if exported.model is None else exported.model.classes_.tolist()
    leaf_ids = [str(label) for label in labels]
    # Inner nodes must not be called like labels.
    prefix = "node "
    while any(identifier.startswith(prefix) for identifier in leaf_ids):
        prefix = f"tree {prefix}"
    ids = [
        leaf_ids[label] if label >= 0 else f"{prefix}{node}" for node, label in enumerate(tree.label.tolist())
    ]
    text = io.StringIO(newline="")
    table = csv.writer(text, lineterminator="\n")
    table.writerow(("id", "parent", "name"))
    for node, (above, label) in enumerate(zip(tree.parent.tolist(), tree.label.tolist(), strict=True)):
        name = exported.names[label] if label >= 0 else ids[node]
        table.writerow((ids[node], ids[above] if above >= 0 else "", name))
    return text.getvalue()


def _graph(exported: Any) -> str:
    text: str = exported.tree.to_graphviz(exported.names, max_nodes=exported.tree.n_nodes)
    return text


_WRITERS = {".json": _json, ".csv": _table, ".dot": _graph}
