"""`labeltree rival` and its sub-commands, one for each method."""

from __future__ import annotations

import typer

from labeltree.cli.help_page import reflowed
from labeltree.cli.rival.command import RIVALS, rival_command

rival_app = typer.Typer(name="rival", no_args_is_help=True, rich_markup_mode="rich")
for rival in RIVALS:
    rival_app.command(rival.name, help=reflowed(rival.help))(rival_command(rival))


def _rival() -> None:
    """Train the methods that label trees are compared with.

    Their models are asked, evaluated and saved as all others are: by [bold]labeltree evaluate[/bold],
    [bold]predict[/bold], [bold]decide[/bold] and [bold]info[/bold].

    [bold]A session[/bold]

        labeltree train train.txt --model trees.labeltree
        labeltree rival softmax train.txt --model softmax.labeltree
        labeltree evaluate trees.labeltree test.txt
        labeltree evaluate softmax.labeltree test.txt
    """


rival_app.callback(help=reflowed(_rival.__doc__ or ""))(_rival)
