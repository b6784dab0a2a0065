"""`labeltree data` and its sub-commands."""

from __future__ import annotations

from collections.abc import Callable

import typer

from labeltree.cli.datasets.fetching import fetch
from labeltree.cli.datasets.listing import list_
from labeltree.cli.datasets.location import path
from labeltree.cli.help_page import reflowed

data_app = typer.Typer(name="data", no_args_is_help=True, rich_markup_mode="rich")
COMMANDS: dict[str, Callable[..., None]] = {"list": list_, "fetch": fetch, "path": path}
for name, command in COMMANDS.items():
    data_app.command(name, help=reflowed(command.__doc__ or ""))(command)


def _data() -> None:
    """Fetch data sets of the Extreme Classification Repository by name.

    They are kept in the folder that LABELTREE_DATA_HOME names, or else in ~/.cache/labeltree, with checksums that are
    compared at each use.

    [bold]A session[/bold]

        labeltree data list
        labeltree data fetch eurlex-4k
        labeltree train $(labeltree data path eurlex-4k)/train.txt --model tags
    """


data_app.callback(help=reflowed(_data.__doc__ or ""))(_data)
