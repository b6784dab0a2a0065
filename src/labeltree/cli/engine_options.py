"""The options that choose where a command runs: here, in several processes, or on a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from labeltree.cli.options import option

Ray = Annotated[
    str | None,
    option(
        "Run on a Ray cluster: its address, auto for a cluster that runs on this machine, or local to start one here. "
        "Needs pip install 'labeltree[ray]'. The result is the same.",
        metavar="ADDRESS|local",
    ),
]
Workers = Annotated[
    int | None,
    option(
        "Run in this many processes on this machine; with --ray, the maximum number of tasks at a time. The result is "
        "the same.",
        metavar="N",
        min=1,
    ),
]


@contextmanager
def chosen_engine(ray: str | None, workers: int | None) -> Iterator[None]:
    """Use the engine that the options choose."""
    if ray is None and workers is None:
        yield
        return
    from labeltree.engines import engine

    options = {} if workers is None else {"n_workers": workers}
    chosen = engine("pool", **options) if ray is None else engine("ray", address=ray, **options)
    with chosen:
        yield
