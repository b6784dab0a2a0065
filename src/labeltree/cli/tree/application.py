"""`labeltree tree` and its sub-commands."""

from __future__ import annotations

from labeltree.cli.help_page import command_group
from labeltree.cli.tree.build import build
from labeltree.cli.tree.exporting import export
from labeltree.cli.tree.importing import import_
from labeltree.cli.tree.show import show


def _tree() -> None:
    """Build, show, import and export label trees, without training.

    A tree is a JSON file that [bold]labeltree train --tree[/bold] takes. A taxonomy is a table of concepts (.csv or
    .tsv with the columns id, parent and name) or a SKOS vocabulary (.ttl, .rdf, .jsonld, .nt, .skos).

    [bold]A session[/bold]

        labeltree tree show topics.csv
        labeltree tree import topics.csv --label-names labels.txt --out tree.json
        labeltree train train.txt --tree tree.json --model tags.labeltree
    """


tree_app = command_group("tree", _tree, {"build": build, "show": show, "import": import_, "export": export})
