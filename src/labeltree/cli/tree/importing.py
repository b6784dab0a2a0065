"""`labeltree tree import`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from labeltree.cli import options
from labeltree.cli.tree.build import Out
from labeltree.cli.tree.show import Language, Root


def import_(
    taxonomy: Annotated[
        Path,
        typer.Argument(
            metavar="TAXONOMY",
            help="A table of concepts (.csv, .tsv) or a SKOS vocabulary (.ttl, .rdf, .jsonld, .nt, .skos).",
        ),
    ],
    out: Out,
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The labels of the data, one per line, label 0 on the first: ids or names of concepts. Without, ids "
            "are the numbers that labels have.",
            show_default=False,
        ),
    ] = None,
    n_labels: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Without --labels: the number of labels.", show_default=False),
    ] = None,
    root: Root = None,
    language: Language = "en",
    json: options.Json = False,
) -> None:
    """Make a tree of a taxonomy: a JSON file that train --tree takes.

    A concept that is a label and has labels below it gets a leaf of its own. Concepts without labels are left out, and
    labels that are no concepts go under a node of their own below the root.

    [bold]Examples[/bold]

        labeltree tree import topics.csv --labels labels.txt --out tree.json
        labeltree tree import topics.tsv --root 1 --labels labels.txt --out tree.json
        labeltree tree import thesaurus.ttl --labels labels.txt --out tree.json
    """
    from labeltree.cli.console import print_json, print_next, standard_output, titled
    from labeltree.cli.tree.hierarchy import column_names, hierarchy_of_taxonomy, is_taxonomy, read_taxonomy
    from labeltree.cli.tree.shape import shape_rows, shape_to_json, table_of
    from labeltree.data.atomic_file import open_atomic

    if not is_taxonomy(taxonomy):
        raise typer.BadParameter(
            f"expected a name that ends in .csv, .tsv, .ttl, .rdf, .jsonld, .nt or .skos, got {taxonomy}",
            param_hint="TAXONOMY",
        )
    if labels is not None and n_labels is not None:
        raise typer.BadParameter("--labels has as many as there are", param_hint="--n-labels")
    concepts = read_taxonomy(taxonomy, root, language)
    called = column_names(labels, n_labels or 0) if labels or n_labels else _numbers(concepts.ids)
    made = hierarchy_of_taxonomy(concepts, called)
    with open_atomic(out) as file:
        file.write(made.tree.to_json().encode())
    found = made.matching or {}
    if json:
        print_json({"out": str(out), "taxonomy": str(taxonomy), **found, **shape_to_json(made.tree)})
        return
    console = standard_output()
    console.print(
        titled(
            out,
            f": {found['labels_found']:,} of {len(called):,} labels are among {found['concepts']:,} concepts, "
            f"by {found['found_by']}",
        )
    )
    console.print(table_of(shape_rows(made.tree)))
    print_next(f"labeltree train DATA --tree {out} --model MODEL")


def _numbers(ids: list[str]) -> list[str]:
    """The labels 0, 1, … up to the largest id that is a number."""
    numbers = [int(identifier) for identifier in ids if identifier.isascii() and identifier.isdigit()]
    if not numbers:
        raise typer.BadParameter(
            "no id in the taxonomy is a number, as labels are: say what each is called", param_hint="--labels"
        )
    # Ids that are not meant as labels may be huge.
    if max(numbers) >= 100 * len(ids) + 1000:
        raise typer.BadParameter(
            f"the ids in the taxonomy go up to {max(numbers):,}, which is no number of a label: say what each label is "
            "called",
            param_hint="--labels",
        )
    return [str(label) for label in range(max(numbers) + 1)]
