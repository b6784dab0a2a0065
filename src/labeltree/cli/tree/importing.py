"""`labeltree tree import`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from labeltree.cli import options
from labeltree.cli.options import argument, count
from labeltree.cli.tree.build import Out
from labeltree.cli.tree.show import Root


def import_(
    taxonomy: Annotated[
        Path,
        argument(
            "TAXONOMY",
            "A table of concepts (.csv, .tsv) or a SKOS vocabulary (.ttl, .rdf, .jsonld, .nt, .skos).",
        ),
    ],
    out: Out,
    label_names: options.LabelNames = None,
    n_labels: Annotated[int | None, count("Without --label-names: the number of labels.")] = None,
    root: Root = None,
    language: options.Language = "en",
    json: options.Json = False,
) -> None:
    """Make a tree of a taxonomy: a JSON file that train --tree takes.

    The names in --label-names are ids or names of concepts. Without --label-names, the ids are the numbers of the
    labels. A concept that is a label and has labels below it gets its own leaf. Concepts without labels are left out.
    Labels that are not concepts are put under one node below the root.

    [bold]Examples[/bold]

        labeltree tree import topics.csv --label-names labels.txt --out tree.json
        labeltree tree import topics.tsv --root 1 --label-names labels.txt --out tree.json
        labeltree tree import thesaurus.ttl --label-names labels.txt --out tree.json
    """
    from labeltree.cli.console import print_json, print_next, standard_output, titled
    from labeltree.cli.tree import hierarchy
    from labeltree.cli.tree.shape import shape_table, shape_to_json, write_text

    if not hierarchy.is_taxonomy(taxonomy):
        raise typer.BadParameter(
            f"expected a name that ends in .csv, .tsv, .ttl, .rdf, .jsonld, .nt or .skos, got {taxonomy}",
            param_hint="TAXONOMY",
        )
    if label_names is not None and n_labels is not None:
        raise typer.BadParameter("leave it out: --label-names has all labels", param_hint="--n-labels")
    concepts = hierarchy.read_taxonomy(taxonomy, root, language)
    are_told = label_names is not None or n_labels is not None
    names = hierarchy.column_names(label_names, n_labels or 0) if are_told else _numbers(concepts.ids)
    made = hierarchy.hierarchy_of_taxonomy(concepts, names)
    write_text(out, made.tree.to_json())
    found = made.matching or {}
    if json:
        print_json({"out": str(out), "taxonomy": str(taxonomy), **found, **shape_to_json(made.tree)})
        return
    console = standard_output()
    console.print(titled(out, f": {hierarchy.matching_text(found, len(names))}"))
    console.print(shape_table(made.tree, []))
    print_next(f"labeltree train DATA --tree {out} --model MODEL")


def _numbers(ids: list[str]) -> list[str]:
    """Return the labels 0, 1, … up to the largest id that is a number."""
    numbers = [int(identifier) for identifier in ids if identifier.isascii() and identifier.isdigit()]
    if not numbers:
        raise typer.BadParameter(
            "no id in the taxonomy is a number, as labels are: name the labels", param_hint="--label-names"
        )
    # Ids that are not labels may be very large.
    if max(numbers) >= 100 * len(ids) + 1000:
        raise typer.BadParameter(
            f"the ids in the taxonomy go up to {max(numbers):,}, too large for numbers of labels: name the labels",
            param_hint="--label-names",
        )
    return [str(label) for label in range(max(numbers) + 1)]
