"""`labeltree data fetch`."""

from __future__ import annotations

from typing import Annotated

import typer

from labeltree.cli import options
from labeltree.cli.datasets.arguments import Cache, Name


def fetch(
    name: Name,
    cache: Cache = None,
    mirror: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Fetch ADDRESS/NAME.zip instead. By default what LABELTREE_DATA_MIRROR says, else the "
            "addresses of the repository.",
            show_default=False,
        ),
    ] = None,
    redownload: Annotated[
        bool,
        typer.Option(
            "--redownload", help="Fetch it even if it is there. What comes must be what came the first time."
        ),
    ] = False,
    timeout: Annotated[
        float,
        typer.Option(metavar="SECONDS", help="How long a server may be silent before it is tried again."),
    ] = 60.0,
    json: options.Json = False,
) -> None:
    """Fetch a data set, if it is not there already, and say where its files are.

    What was cut off goes on where it was. The checksums of the first time are kept, and compared ever after.

    [bold]Examples[/bold]

        labeltree data fetch eurlex-4k
        labeltree data fetch Amazon-670K --cache /data/xmlc
        labeltree data fetch wiki10-31k --redownload
    """
    from labeltree import datasets
    from labeltree.cli.console import print_json, print_next, standard_output, titled
    from labeltree.cli.figures import bytes_text

    files = datasets.fetch(name, cache=cache, mirror=mirror, redownload=redownload, timeout=timeout)
    if json:
        sizes = {f"{part}_bytes": path.stat().st_size for part, path in files._asdict().items()}
        print_json({"name": name, "train": str(files.train), "test": str(files.test), **sizes})
        return
    for path in files:
        standard_output().print(titled(path, f": {bytes_text(path.stat().st_size)}"), soft_wrap=True)
    print_next(f"labeltree train {files.train} --model MODEL")
