"""`labeltree tree export`."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from labeltree.cli import options
from labeltree.cli.options import argument, file_option


def export(
    source: Annotated[Path, argument("SOURCE", "The directory of a model, or a tree (.json).")],
    out: Annotated[
        Path,
        file_option(
            "The file to write. Its ending sets the format: .json is a tree for train, .csv a table with the "
            "columns id, parent and name, .dot a graph for Graphviz."
        ),
    ],
    label_names: options.LabelNames = None,
) -> None:
    """Write a tree for other programs. A model with several trees exports the first one.

    The table is a taxonomy with a row per node. The id of a leaf is its label.

    [bold]Examples[/bold]

        labeltree tree export tags.labeltree --out tree.json
        labeltree tree export tags.labeltree --out tree.csv --label-names labels.txt
        labeltree tree export tree.json --out tree.dot
    """
    from labeltree.cli.console import standard_output, titled
    from labeltree.cli.figures import bytes_text
    from labeltree.cli.tree.hierarchy import open_hierarchy
    from labeltree.cli.tree.shape import write_text
    from labeltree.wording import count_text

    if out.suffix not in _WRITERS:
        raise typer.BadParameter(
            f"expected a name that ends in {', '.join(_WRITERS)}, got {out}", param_hint="--out"
        )
    exported = open_hierarchy(source, label_names)
    write_text(out, _WRITERS[out.suffix](exported))
    tree = exported.tree
    standard_output().print(
        titled(
            out,
            f": {count_text(tree.n_nodes, 'node')}, {count_text(tree.n_labels, 'label')}, "
            f"{bytes_text(out.stat().st_size)}",
        )
    )


def _table(exported: Any) -> str:
    tree = exported.tree
    labels = range(tree.n_labels) if exported.model is None else exported.model.classes_.tolist()
    leaf_ids = [str(label) for label in labels]
    # The id of an inner node must not be a label.
    prefix = "node "
    while any(identifier.startswith(prefix) for identifier in leaf_ids):
        prefix = f"tree {prefix}"
    ids: list[str] = []
    text = io.StringIO(newline="")
    table = csv.writer(text, lineterminator="\n")
    table.writerow(("id", "parent", "name"))
    for parent, node, label in tree.to_triples().tolist():
        ids.append(leaf_ids[label] if label >= 0 else f"{prefix}{node}")
        name = exported.names[label] if label >= 0 else ids[node]
        table.writerow((ids[node], ids[parent] if parent >= 0 else "", name))
    return text.getvalue()


_WRITERS: dict[str, Callable[[Any], str]] = {
    ".json": lambda exported: exported.tree.to_json(),
    ".csv": _table,
    ".dot": lambda exported: exported.tree.to_graphviz(exported.names, max_nodes=exported.tree.n_nodes),
}
