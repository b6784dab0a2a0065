"""`labeltree tree show`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from labeltree.cli import options

Root = Annotated[
    str | None,
    typer.Option(
        metavar="ID",
        help="Of a table: the parent of the concepts at the top, if it has no row of its own.",
        show_default=False,
    ),
]
Language = Annotated[
    str, typer.Option(metavar="CODE", help="Of a SKOS vocabulary: the language of the names.")
]


def show(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE",
            help="The directory of a model, a tree (.json), or a taxonomy (.csv, .tsv, .ttl, .rdf, .jsonld, .nt, "
            ".skos).",
        ),
    ],
    labels: options.LabelNames = None,
    max_nodes: Annotated[
        int, typer.Option(min=0, metavar="N", help="How many nodes to draw; 0 for no drawing.")
    ] = 40,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw a picture (.png, .svg, .pdf): a small tree as it is, of a large one a profile.",
            show_default=False,
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="DATA", help="Labelled rows: what does the tree cost on them?", show_default=False
        ),
    ] = None,
    taxonomy: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Of a model or a tree: name each node by the lowest concept that all of its labels are below.",
            show_default=False,
        ),
    ] = None,
    root: Root = None,
    language: Language = "en",
    format: options.Format = "auto",
    one_based: options.OneBased = None,
    json: options.Json = False,
) -> None:
    """Show a tree: its shape, a drawing from the root down, and on request its cost and a picture.

    Of a taxonomy, the tree over the labels of --labels, or else of --data, is shown; without either the one over
    all concepts that have none below them. Of a model with several trees it is the first.

    [bold]Examples[/bold]

        labeltree tree show tags.labeltree --labels labels.txt
        labeltree tree show tree.json --data train.txt --max-nodes 0
        labeltree tree show tags --labels labels.txt --taxonomy topics.csv
        labeltree tree show topics.csv --plot topics.png
    """
    from labeltree.cli.console import print_json, standard_output
    from labeltree.cli.data_file import DataFile, format_of
    from labeltree.cli.tree.hierarchy import is_taxonomy, named_by, read_taxonomy
    from labeltree.cli.tree.shape import cost_row, cost_to_json, shape_rows, shape_to_json, table_of

    file = None if data is None else DataFile(data, format_of(data, format), one_based)
    if taxonomy is not None and is_taxonomy(source) and not source.is_dir():
        raise typer.BadParameter(f"{source} is a taxonomy itself", param_hint="--taxonomy")
    shown, rows = _open(source, labels, file, root, language)
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
                **shape_to_json(tree),
                **({} if cost is None else {"data": data, "cost": cost_to_json(cost)}),
                **({} if plot is None else {"plot": str(plot)}),
            }
        )
        return
    console = standard_output()
    about = [(shown.kind, str(source)), *shape_rows(tree)]
    if shown.matching is not None:
        about.insert(1, _matching_row(shown, labels, data))
    if cost is not None and data is not None:
        about.append(cost_row(cost, data, tree.n_labels))
    console.print(table_of(about))
    if max_nodes:
        console.print()
        drawing = tree.draw(shown.names, max_nodes, node_names=shown.node_names)
        console.print(drawing, no_wrap=True, overflow="ellipsis")


def _open(
    source: Path, labels: Path | None, file: Any, root: str | None, language: str
) -> tuple[Any, tuple[Any, Any] | None]:
    """What is to be shown, and the data with a column for each of its labels."""
    from labeltree.cli.tree.hierarchy import (
        column_names,
        hierarchy_of_taxonomy,
        is_taxonomy,
        lowest_concepts,
        open_hierarchy,
        read_taxonomy,
    )

    if source.is_dir() or not is_taxonomy(source):
        shown = open_hierarchy(source, labels)
        if file is None:
            return shown, None
        if shown.model is None:
            return shown, file.read(n_labels=shown.tree.n_labels)
        X, y = file.read_for(shown.model)
        return shown, (X, y[:, shown.model.classes_])
    taxonomy = read_taxonomy(source, root, language)
    rows = None if file is None else file.read()
    if rows is not None:
        return hierarchy_of_taxonomy(taxonomy, column_names(labels, rows[1].shape[1], file.first_label)), rows
    called = lowest_concepts(taxonomy) if labels is None else column_names(labels)
    return hierarchy_of_taxonomy(taxonomy, called), None


def _matching_row(shown: Any, labels: Path | None, data: str | None) -> tuple[str, str]:
    found = shown.matching
    if labels is None and data is None:
        return "concepts", f"{found['concepts']:,}; those with none below them are the labels"
    return (
        "concepts",
        f"{found['concepts']:,}; {found['labels_found']:,} of {shown.tree.n_labels:,} labels are among them, "
        f"by {found['found_by']}",
    )


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
