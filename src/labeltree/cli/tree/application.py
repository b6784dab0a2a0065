"""`labeltree tree` and its sub-commands."""

from __future__ import annotations

from collections.abc import Callable

import typer

from labeltree.cli.help_page import reflowed
from labeltree.cli.tree.build import build
from labeltree.cli.tree.exporting import export
from labeltree.cli.tree.importing import import_
from labeltree.cli.tree.show import show

tree_app = typer.Typer(name="tree", no_args_is_help=True, rich_markup_mode="rich")
COMMANDS: dict[str, Callable[..., None]] = {
    "build": build,
    "show": show,
    "import": import_,
    "export": export,
}
for name, command in COMMANDS.items():
    tree_app.command(name, help=reflowed(command.__doc__ or ""))(command)


def _tree() -> None:
    """Build, show, import and export label trees, without training.

    A tree is a JSON file that [bold]labeltree train --tree[/bold] takes. A taxonomy is a table of concepts (.csv or
    .tsv with the columns id, parent and name) or a SKOS vocabulary (.ttl, .rdf, .jsonld, .nt, .skos).

    [bold]A session[/bold]

        labeltree tree show topics.csv
        labeltree tree import topics.csv --labels labels.txt --out tree.json
        labeltree train train.txt --tree tree.json --model tags.labeltree
    """


tree_app.callback(help=reflowed(_tree.__doc__ or ""))(_tree)
