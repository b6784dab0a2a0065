"""`labeltree data`: list, fetch and locate data sets, and make stores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from labeltree.cli import options
from labeltree.cli.help_page import command_group
from labeltree.cli.options import argument, option
from labeltree.cli.store_import import import_
from labeltree.cli.store_information import check, info

Name = Annotated[
    str, argument("NAME", "Name of a data set, as 'labeltree data list' prints it, in upper or lower case.")
]
Cache = Annotated[
    Path | None,
    option(
        "Folder of all data sets. The default is LABELTREE_DATA_HOME, or else labeltree in XDG_CACHE_HOME or "
        "~/.cache.",
        metavar="DIR",
    ),
]


def list_(cache: Cache = None, json: options.Json = False) -> None:
    """List the data sets that can be fetched, their sizes, and whether they are in the cache.

    [bold]Examples[/bold]

        labeltree data list
        labeltree data list --json
    """
    from rich.table import Table

    from labeltree.cli.console import print_json, standard_output
    from labeltree.datasets.repository.catalogue import CATALOGUE

    rows = [_to_json(data_set, cache) for data_set in CATALOGUE.values()]
    if json:
        print_json({"data_sets": rows})
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("name", style="bold", no_wrap=True)
    for heading in ("train rows", "test rows", "features", "labels"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("")
    for row in rows:
        sizes = (f"{row[key]:,}" for key in ("train_rows", "test_rows", "features", "labels"))
        state = "damaged" if row["damaged"] else "fetched" if row["fetched"] else ""
        table.add_row(row["name"], *sizes, state)
    standard_output().print(table)


def _to_json(data_set: Any, cache: Path | None) -> dict[str, Any]:
    from labeltree.datasets import ChecksumError, fetched

    is_fetched = is_damaged = False
    try:
        is_fetched = fetched(data_set.name, cache=cache, verify=False) is not None
    except ChecksumError:
        is_damaged = True
    return {
        "name": data_set.name,
        "title": data_set.title,
        "train_rows": data_set.n_train,
        "test_rows": data_set.n_test,
        "features": data_set.n_features,
        "labels": data_set.n_labels,
        "fetched": is_fetched,
        "damaged": is_damaged,
    }


def fetch(
    name: Name,
    cache: Cache = None,
    mirror: Annotated[
        str | None,
        option(
            "Fetch ADDRESS/NAME.zip instead. The default is LABELTREE_DATA_MIRROR, or else the "
            "repository's own URLs.",
            metavar="ADDRESS",
        ),
    ] = None,
    redownload: Annotated[
        bool,
        option(
            "Download the data set even if it is in the cache. The new files must equal those of the first "
            "download.",
            "--redownload",
        ),
    ] = False,
    timeout: Annotated[
        float, option("Number of seconds without a byte before a connection is retried.", metavar="SECONDS")
    ] = 60.0,
    json: options.Json = False,
) -> None:
    """Fetch a data set, unless it is in the cache, and print the paths of its files.

    An interrupted download is resumed. All files are verified against the checksums of the first download.

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


def path(name: Name, cache: Cache = None, json: options.Json = False) -> None:
    """Print the folder of a data set in the cache, which contains train.txt and test.txt.

    [bold]Examples[/bold]

        labeltree data path eurlex-4k
        labeltree train $(labeltree data path eurlex-4k)/train.txt --model tags
    """
    from labeltree.cli.console import print_json
    from labeltree.datasets import fetched

    files = fetched(name, cache=cache, verify=False)
    if files is None:
        raise ValueError(f"{name} has not been fetched: run 'labeltree data fetch {name}'")
    if json:
        print_json({"name": name, "train": str(files.train), "test": str(files.test)})
        return
    print(files.train.parent)


def _data() -> None:
    """Import files into a store, and fetch data sets by name.

    A store is a directory that every command takes in place of a data file. It is mapped into memory, not read, so that
    it may be larger than memory.

    Data sets are kept in the folder LABELTREE_DATA_HOME, by default ~/.cache/labeltree, with checksums that are
    verified at each use.

    [bold]A session[/bold]

        labeltree data import 'part-*.jsonl.gz' --to texts.store
        labeltree train texts.store --model tags

        labeltree data list
        labeltree data fetch eurlex-4k
        labeltree train $(labeltree data path eurlex-4k)/train.txt --model tags
    """


data_app = command_group(
    "data",
    _data,
    {"import": import_, "info": info, "check": check, "list": list_, "fetch": fetch, "path": path},
)
