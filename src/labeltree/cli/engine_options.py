"""The options that choose where a command runs: here, in several processes, or on a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from labeltree.cli.options import option

Ray = Annotated[
    str | None,
    option(
        "Run on a Ray cluster: its address, auto for a cluster that runs on this machine, or local to start one here. "
        "Needs pip install 'labeltree\\[ray]'. The result is the same.",
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
MaxRetries = Annotated[
    int | None,
    option(
        "With --workers or --ray: number of times that a task runs again after its worker died, 2 by default. Raise it "
        "if machines of the cluster may stop.",
        metavar="N",
        min=0,
    ),
]


@contextmanager
def chosen_engine(ray: str | None, workers: int | None, max_retries: int | None = None) -> Iterator[None]:
    """Use the engine that the options choose."""
    if engine_option(ray, workers) is None:
        if max_retries is not None:
            raise typer.BadParameter("works only with --workers or --ray", param_hint="--max-retries")
        yield
        return
    from labeltree.engines import engine

    given = {"n_workers": workers, "max_retries": max_retries}
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    chosen = engine("pool", **options) if ray is None else engine("ray", address=ray, **options)
    with chosen:
        yield


def engine_option(ray: str | None, workers: int | None) -> str | None:
    """Return the option that chooses an engine, for messages; None if there is none."""
    return "--ray" if ray is not None else "--workers" if workers is not None else None


def refuse_threads(option: str | None, parameters: dict[str, Any]) -> None:
    """Raise `BadParameter` if `n_jobs` is given beside an engine, which divides the cores itself."""
    if option is not None and parameters.get("n_jobs") not in (None, -1):  # -1 is all cores, as here
        raise typer.BadParameter(
            f"{option} divides the cores among the workers: leave out --n-jobs", param_hint="--n-jobs"
        )
