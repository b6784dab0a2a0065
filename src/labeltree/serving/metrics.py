"""Counters of all worker processes, as Prometheus reads them.

A counter is a cell of a table with a row for each worker. A worker writes only its own row, and whoever is asked adds
them up: so there is one truth, without locks, and a worker that is killed takes nothing along.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: The paths of all routes; whatever else is asked for is counted as "other".
ROUTES = (
    "/v1/models/{name}/predict",
    "/v1/models/{name}/explain",
    "/v1/models/{name}/labels",
    "/v1/models/{name}/tree",
    "/v1/models/{name}/tree/path",
    "/v1/models/{name}/reload",
    "/v1/models/{name}/learn",
    "/v1/models/{name}",
    "/v1/models",
    "/healthz",
    "/readyz",
    "/metrics",
    "/openapi.json",
    "/docs",
    "/",
    "/page/{name}",
    "other",
)
STATUSES = (200, 202, 400, 401, 403, 404, 405, 408, 409, 413, 415, 422, 500, 503, 504)
BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)

Cell = tuple[str, tuple[tuple[str, str], ...]]

_REQUESTS = "labeltree_requests_total"
_HELP = {
    _REQUESTS: ("counter", "Requests that were answered."),
    "labeltree_request_seconds": ("histogram", "From the head of a request to the end of its answer."),
    "labeltree_requests_in_flight": ("gauge", "Requests at work."),
    "labeltree_rows_total": ("counter", "Rows that were predicted, explained or learned."),
    "labeltree_model_seconds_total": ("counter", "Time spent in the model."),
    "labeltree_reloads_total": ("counter", "Times that a worker loaded a model anew."),
    "labeltree_worker_starts_total": ("counter", "Worker processes that were started."),
}
_FAMILY_ENDS = ("_bucket", "_sum", "_count")


def cells(models: Iterable[str]) -> list[Cell]:
    """What is counted, in the order of the table's columns."""
    names = list(models)
    per_route = [
        cell
        for route in ROUTES
        for cell in (
            *((_REQUESTS, (("route", route), ("status", str(s)))) for s in (*STATUSES, "other")),
            *(
                ("labeltree_request_seconds_bucket", (("route", route), ("le", str(b))))
                for b in (*BUCKETS, "+Inf")
            ),
            ("labeltree_request_seconds_sum", (("route", route),)),
        )
    ]
    per_model = [
        cell
        for name in names
        for cell in (
            ("labeltree_rows_total", (("model", name),)),
            ("labeltree_model_seconds_total", (("model", name),)),
            ("labeltree_reloads_total", (("model", name), ("outcome", "loaded"))),
            ("labeltree_reloads_total", (("model", name), ("outcome", "failed"))),
        )
    ]
    alone: list[Cell] = [("labeltree_requests_in_flight", ()), ("labeltree_worker_starts_total", ())]
    return [*per_route, *per_model, *alone]


class Metrics:
    """What one worker counts, and what all have counted.

    Parameters
    ----------
    models : iterable of str
        The names of the models.
    table : array of shape (n_workers, len(cells(models))), optional
        Shared by all workers; by default one of its own.
    worker : int
        Which row is its own.

    Examples
    --------
    >>> metrics = Metrics(["pets"])
    >>> metrics.answered("/healthz", 200, 0.003)
    >>> [line for line in metrics.text().splitlines() if "healthz" in line and "total" in line]
    ['labeltree_requests_total{route="/healthz",status="200"} 1']
    """

    def __init__(
        self, models: Iterable[str], table: NDArray[np.float64] | None = None, worker: int = 0
    ) -> None:
        self._cells = cells(models)
        self._table = np.zeros((1, len(self._cells))) if table is None else table
        self._own: Any = memoryview(self._table[worker])  # writes in a third of the time that an array takes
        self._at = {cell: i for i, cell in enumerate(self._cells)}
        self._first_of_route = {
            route: self._at[_REQUESTS, (("route", route), ("status", "200"))] for route in ROUTES
        }
        self._in_flight = self._at["labeltree_requests_in_flight", ()]
        self._own[self._in_flight] = 0.0  # of a worker that was killed
        self._own[self._at["labeltree_worker_starts_total", ()]] += 1

    @property
    def in_flight(self) -> int:
        """Requests at work in this process."""
        return int(self._own[self._in_flight])

    def began(self) -> None:
        """Count a request that has come."""
        self._own[self._in_flight] += 1

    def ended(self) -> None:
        """Count a request that is over."""
        self._own[self._in_flight] -= 1

    def answered(self, route: str, status: int, seconds: float) -> None:
        """Count an answer."""
        first = self._first_of_route[route]
        own = self._own
        own[first + (STATUSES.index(status) if status in STATUSES else len(STATUSES))] += 1
        first += len(STATUSES) + 1
        own[first + bisect_left(BUCKETS, seconds)] += 1
        own[first + len(BUCKETS) + 1] += seconds

    def worked(self, model: str, n_rows: int, seconds: float) -> None:
        """Count what a model has done."""
        first = self._at["labeltree_rows_total", (("model", model),)]
        self._own[first] += n_rows
        self._own[first + 1] += seconds

    def reloaded(self, model: str, outcome: str) -> None:
        """Count a model that was loaded anew, or was not."""
        self._own[self._at["labeltree_reloads_total", (("model", model), ("outcome", outcome))]] += 1

    def text(self) -> str:
        """All counters of all workers, in the text format of Prometheus. Routes that nobody asked are left out."""
        return "\n".join(_lines(self._cells, self._table.sum(axis=0).tolist())) + "\n"


def _lines(cells: Sequence[Cell], sums: Sequence[float]) -> Iterator[str]:
    asked = {
        labels[0] for (name, labels), value in zip(cells, sums, strict=True) if name == _REQUESTS and value
    }
    families: dict[str, list[str]] = {name: [] for name in _HELP}
    below = 0.0
    for (name, labels), value in zip(cells, sums, strict=True):
        family = next((name.removesuffix(end) for end in _FAMILY_ENDS if name.endswith(end)), name)
        if labels and labels[0][0] == "route" and labels[0] not in asked:
            continue
        if name == _REQUESTS and not value:  # a status that never was
            continue
        if name.endswith("_bucket"):  # buckets are kept apart, and told with all before them
            value = below = value + (0.0 if labels[1][1] == str(BUCKETS[0]) else below)
        elif name.endswith("_sum"):
            families[family].append(_line(f"{family}_count", labels, below))
        families[family].append(_line(name, labels, value))
    for family, lines in families.items():
        kind, meaning = _HELP[family]
        yield f"# HELP {family} {meaning}"
        yield f"# TYPE {family} {kind}"
        yield from lines


def _line(name: str, labels: tuple[tuple[str, str], ...], value: float) -> str:
    inside = ",".join(f'{key}="{text}"' for key, text in labels)
    number = str(int(value)) if value == int(value) else repr(value)
    return f"{name}{{{inside}}} {number}" if inside else f"{name} {number}"
