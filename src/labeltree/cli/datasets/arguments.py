"""Arguments that the commands of `labeltree data` have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Name = Annotated[
    str, typer.Argument(metavar="NAME", help="A data set of 'labeltree data list', in upper or lower case.")
]
Cache = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="The folder of all data sets. By default what LABELTREE_DATA_HOME says, else labeltree in "
        "XDG_CACHE_HOME or in ~/.cache.",
        show_default=False,
    ),
]
