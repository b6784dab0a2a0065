"""`labeltree data list`."""

from __future__ import annotations

from typing import Any

from labeltree.cli import options
from labeltree.cli.datasets.arguments import Cache


def list_(cache: Cache = None, json: options.Json = False) -> None:
    """List the data sets that can be fetched, their sizes, and which are there already.

    [bold]Examples[/bold]

        labeltree data list
        labeltree data list --json
    """
    from labeltree.cli.console import print_json, standard_output
    from labeltree.datasets.repository import CATALOGUE

    if json:
        print_json({"data_sets": [_to_json(known, cache) for known in CATALOGUE.values()]})
        return
    standard_output().print(_table([_to_json(known, cache) for known in CATALOGUE.values()]))


def _to_json(known: Any, cache: Any) -> dict[str, Any]:
    from labeltree.datasets import ChecksumError, fetched

    state = {"fetched": False, "damaged": False}
    try:
        state["fetched"] = fetched(known.name, cache=cache, verify=False) is not None
    except ChecksumError:
        state["damaged"] = True
    return {
        "name": known.name,
        "title": known.title,
        "train_rows": known.n_train,
        "test_rows": known.n_test,
        "features": known.n_features,
        "labels": known.n_labels,
        **state,
    }


def _table(rows: list[dict[str, Any]]) -> Any:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("name", style="bold", no_wrap=True)
    for heading in ("train rows", "test rows", "features", "labels"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("")
    for row in rows:
        sizes = (row[name] for name in ("train_rows", "test_rows", "features", "labels"))
        state = "damaged" if row["damaged"] else "fetched" if row["fetched"] else ""
        table.add_row(row["name"], *(f"{size:,}" for size in sizes), state)
    return table
