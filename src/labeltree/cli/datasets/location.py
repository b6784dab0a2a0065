"""`labeltree data path`."""

from __future__ import annotations

from labeltree.cli import options
from labeltree.cli.datasets.arguments import Cache, Name


def path(name: Name, cache: Cache = None, json: options.Json = False) -> None:
    """Print the folder of a data set that has been fetched: train.txt and test.txt are in it.

    [bold]Examples[/bold]

        labeltree data path eurlex-4k
        labeltree train $(labeltree data path eurlex-4k)/train.txt --model tags
    """
    from labeltree.cli.console import print_json
    from labeltree.datasets import fetched

    files = fetched(name, cache=cache, verify=False)
    if files is None:
        raise ValueError(f"{name} has not been fetched: say 'labeltree data fetch {name}'")
    if json:
        print_json({"name": name, "train": str(files.train), "test": str(files.test)})
        return
    print(files.train.parent)
