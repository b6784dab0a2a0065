"""`labeltree tree show`."""

from __future__ import annotations

import os
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from labeltree.cli import options
from labeltree.cli.data_file import DataFile
from labeltree.cli.data_options import reads_data
from labeltree.cli.options import argument, file_option, option

Root = Annotated[
    str | None, option("For a table: the parent of the concepts at the top, if it has no row.", metavar="ID")
]


@reads_data
def show(
    source: Annotated[
        Path,
        argument(
            "SOURCE",
            "The directory of a model, a tree (.json), or a taxonomy (.csv, .tsv, .ttl, .rdf, .jsonld, .nt, "
            ".skos).",
        ),
    ],
    label_names: options.LabelNames = None,
    max_nodes: Annotated[
        int, option("Maximum number of nodes to draw; 0 for no drawing.", min=0, metavar="N")
    ] = 40,
    plot: Annotated[
        Path | None,
        file_option("Save a picture (.png, .svg, .pdf): a small tree completely, charts of a large tree."),
    ] = None,
    data: Annotated[
        DataFile | None, option("Labelled rows, to show the cost of the tree.", metavar="DATA")
    ] = None,
    taxonomy: Annotated[
        Path | None,
        file_option(
            "For a model or a tree: name each node after the lowest concept above all of its labels."
        ),
    ] = None,
    root: Root = None,
    language: options.Language = "en",
    json: options.Json = False,
) -> None:
    """Show a tree: its shape, a drawing from the root down, and on request its cost and a picture.

    A taxonomy is shown as the tree over the labels of --label-names or of --data. Without these options, the labels are
    all concepts that have no concept below them. A model with several trees shows the first one.

    [bold]Examples[/bold]

        labeltree tree show tags.labeltree --label-names labels.txt
        labeltree tree show tree.json --data train.txt --max-nodes 0
        labeltree tree show tags --label-names labels.txt --taxonomy topics.csv
        labeltree tree show topics.csv --plot topics.png
    """
    from labeltree.cli.console import print_json, standard_output
    from labeltree.cli.tree.hierarchy import is_taxonomy, matching_text, named_by, read_taxonomy
    from labeltree.cli.tree.shape import shape_table, shape_to_json

    path = None if data is None else data.path
    if taxonomy is not None and is_taxonomy(source):
        raise typer.BadParameter(f"{source} is a taxonomy itself", param_hint="--taxonomy")
    with nullcontext() if data is None else data.recognised() as file:
        shown, rows = _open(source, label_names, file, root, language)
    if taxonomy is not None:
        shown = named_by(read_taxonomy(taxonomy, root, language), shown)
    tree = shown.tree
    cost = None if rows is None else tree.expected_cost(rows[1], rows[0])
    if plot is not None:
        _save_picture(shown, None if rows is None else rows[1], plot)
    if json:
        print_json(
            {
                "source": str(source),
                "kind": shown.kind,
                **(shown.matching or {}),
                **shape_to_json(tree, cost, path),
                **({} if plot is None else {"plot": str(plot)}),
            }
        )
        return
    console = standard_output()
    about = [(shown.kind, str(source))]
    if shown.matching is not None:
        about.append(("concepts", matching_text(shown.matching, tree.n_labels)))
    console.print(shape_table(tree, about, cost, path))
    if max_nodes:
        console.print()
        drawing = tree.draw(shown.names, max_nodes, node_names=shown.node_names)
        console.print(drawing, no_wrap=True, overflow="ellipsis")


def _open(
    source: Path, labels: Path | None, file: DataFile | None, root: str | None, language: str
) -> tuple[Any, tuple[Any, Any] | None]:
    """Return the tree to show, and the data with a column for each label of the tree."""
    from labeltree.cli.tree import hierarchy

    if not hierarchy.is_taxonomy(source):
        shown = hierarchy.open_hierarchy(source, labels)
        if file is None:
            return shown, None
        if shown.model is None:
            return shown, replace(file, n_labels=shown.tree.n_labels).read()
        X, y = file.read_for(shown.model)
        return shown, (X, y[:, shown.model.classes_])
    taxonomy = hierarchy.read_taxonomy(source, root, language)
    rows = None
    if file is not None:
        rows = file.read()
        names = hierarchy.column_names(labels, rows[1].shape[1], file.first_label)
    else:
        names = hierarchy.lowest_concepts(taxonomy) if labels is None else hierarchy.column_names(labels)
    return hierarchy.hierarchy_of_taxonomy(taxonomy, names), rows


def _save_picture(shown: Any, y: Any, path: Path) -> None:
    import numpy as np

    counts = None if shown.model is None else shown.model.label_counts_
    if y is not None:
        counts = np.asarray(y.sum(axis=0)).ravel()
    os.environ.setdefault("MPLBACKEND", "Agg")  # a file needs no window, and there may be no screen
    axes = shown.tree.plot(shown.names, counts, node_names=shown.node_names)
    try:
        axes.figure.savefig(path, dpi=150)
    except ValueError as error:  # an ending that matplotlib does not know
        raise typer.BadParameter(str(error), param_hint="--plot") from None
