"""Metrics of all worker processes, in the text format of Prometheus.

The counters are a table with a row for each worker. A worker writes only its own row, and ``/metrics`` adds the rows.
So all workers answer the same without locks, and the counts of a worker that is killed remain.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.serving.errors import STATUSES as ERROR_STATUSES

#: The paths of all routes; other paths count as "other".
ROUTES = (
    "/v1/models/{name}/predict",
    "/v1/models/{name}/explain",
    "/v1/models/{name}/suggest",
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
STATUSES = (200, 202, *ERROR_STATUSES)
BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)

# The columns of the table: two of the worker, then those of each route, then those of each model.
_IN_FLIGHT, _WORKER_STARTS, _FIRST_ROUTE = range(3)
_N_STATUSES, _N_BUCKETS = len(STATUSES) + 1, len(BUCKETS) + 1  # with "other" and "+Inf"
_ROUTE_WIDTH = _N_STATUSES + _N_BUCKETS + 1
_FIRST_MODEL = _FIRST_ROUTE + len(ROUTES) * _ROUTE_WIDTH
_ROWS, _MODEL_SECONDS, _LOADED, _FAILED, _INTACT, _DAMAGED, _BATCHES, _BATCH_TEXTS, _MODEL_WIDTH = range(9)

_FAMILIES = {
    "labeltree_requests_total": ("counter", "Requests that were answered."),
    "labeltree_request_seconds": ("histogram", "Time from the head of a request to the end of its answer."),
    "labeltree_requests_in_flight": ("gauge", "Requests in progress."),
    "labeltree_rows_total": ("counter", "Rows that were predicted, explained or learned."),
    "labeltree_model_seconds_total": ("counter", "Time spent in the model."),
    "labeltree_batches_total": ("counter", "Batches of texts that were read for one or several requests."),
    "labeltree_batch_texts_total": ("counter", "Texts in these batches."),
    "labeltree_reloads_total": ("counter", "Reloads of a model by a worker."),
    "labeltree_verifications_total": (
        "counter",
        "Versions whose files a worker compared with their checksums.",
    ),
    "labeltree_worker_starts_total": ("counter", "Worker processes that were started."),
}


def n_counters(n_models: int) -> int:
    """Return the number of counters of one worker."""
    return _FIRST_MODEL + n_models * _MODEL_WIDTH


class Metrics:
    """Counts the requests of one worker, and reports the counts of all workers.

    Parameters
    ----------
    models : sequence of str
        Names of the models.
    table : array of shape (n_workers, n_counters(len(models))), optional
        Shared by all workers; by default a new one.
    worker : int
        The row of this worker.

    Examples
    --------
    >>> metrics = Metrics(["pets"])
    >>> metrics.answered("/healthz", 200, 0.003)
    >>> [line for line in metrics.text().splitlines() if "healthz" in line and "total" in line]
    ['labeltree_requests_total{route="/healthz",status="200"} 1']
    """

    def __init__(
        self, models: Sequence[str], table: NDArray[np.float64] | None = None, worker: int = 0
    ) -> None:
        self._table = np.zeros((1, n_counters(len(models)))) if table is None else table
        self._own: Any = memoryview(self._table[worker])  # writes in a third of the time that an array takes
        self._routes = {route: _FIRST_ROUTE + i * _ROUTE_WIDTH for i, route in enumerate(ROUTES)}
        self._models = {model: _FIRST_MODEL + i * _MODEL_WIDTH for i, model in enumerate(models)}
        self._own[_IN_FLIGHT] = 0.0  # a killed worker may have left another value
        self._own[_WORKER_STARTS] += 1

    @property
    def in_flight(self) -> int:
        """Number of requests in progress in this process."""
        return int(self._own[_IN_FLIGHT])

    def began(self) -> None:
        """Count a request that begins."""
        self._own[_IN_FLIGHT] += 1

    def ended(self) -> None:
        """Count a request that ends."""
        self._own[_IN_FLIGHT] -= 1

    def answered(self, route: str, status: int, seconds: float) -> None:
        """Count an answer."""
        own, first = self._own, self._routes[route]
        own[first + (STATUSES.index(status) if status in STATUSES else len(STATUSES))] += 1
        own[first + _N_STATUSES + bisect_left(BUCKETS, seconds)] += 1
        own[first + _N_STATUSES + _N_BUCKETS] += seconds

    def worked(self, model: str, n_rows: int, seconds: float) -> None:
        """Count the rows that a model has processed, and the time it took."""
        first = self._models[model]
        self._own[first + _ROWS] += n_rows
        self._own[first + _MODEL_SECONDS] += seconds

    def batched(self, model: str, n_texts: int) -> None:
        """Count a batch of texts that was read for one or several requests."""
        first = self._models[model]
        self._own[first + _BATCHES] += 1
        self._own[first + _BATCH_TEXTS] += n_texts

    def reloaded(self, model: str, *, is_loaded: bool) -> None:
        """Count a reload that succeeded or failed."""
        self._own[self._models[model] + (_LOADED if is_loaded else _FAILED)] += 1

    def verified(self, model: str, *, is_intact: bool) -> None:
        """Count a version whose files are intact or damaged."""
        self._own[self._models[model] + (_INTACT if is_intact else _DAMAGED)] += 1

    def text(self) -> str:
        """Return the counters of all workers in the text format of Prometheus, without unused routes."""
        sums = self._table.sum(axis=0)
        lines = {
            family: [f"# HELP {family} {meaning}", f"# TYPE {family} {kind}"]
            for family, (kind, meaning) in _FAMILIES.items()
        }

        def add(family: str, value: float, ending: str = "", **labels: Any) -> None:
            inside = ",".join(f'{key}="{text}"' for key, text in labels.items())
            number = int(value) if value == int(value) else repr(float(value))
            lines[family].append(f"{family}{ending}{f'{{{inside}}}' if inside else ''} {number}")

        add("labeltree_requests_in_flight", sums[_IN_FLIGHT])
        add("labeltree_worker_starts_total", sums[_WORKER_STARTS])
        for route, first in self._routes.items():
            n_requests = sums[first : first + _N_STATUSES]
            if not n_requests.any():
                continue
            for status, n in zip((*STATUSES, "other"), n_requests, strict=True):
                if n:
                    add("labeltree_requests_total", n, route=route, status=status)
            first += _N_STATUSES
            n_below = sums[first : first + _N_BUCKETS].cumsum()
            for bucket, n in zip((*BUCKETS, "+Inf"), n_below, strict=True):
                add("labeltree_request_seconds", n, "_bucket", route=route, le=bucket)
            add("labeltree_request_seconds", n_below[-1], "_count", route=route)
            add("labeltree_request_seconds", sums[first + _N_BUCKETS], "_sum", route=route)
        for model, first in self._models.items():
            add("labeltree_rows_total", sums[first + _ROWS], model=model)
            add("labeltree_model_seconds_total", sums[first + _MODEL_SECONDS], model=model)
            add("labeltree_batches_total", sums[first + _BATCHES], model=model)
            add("labeltree_batch_texts_total", sums[first + _BATCH_TEXTS], model=model)
            add("labeltree_reloads_total", sums[first + _LOADED], model=model, outcome="loaded")
            add("labeltree_reloads_total", sums[first + _FAILED], model=model, outcome="failed")
            add("labeltree_verifications_total", sums[first + _INTACT], model=model, outcome="intact")
            add("labeltree_verifications_total", sums[first + _DAMAGED], model=model, outcome="damaged")
        return "".join(f"{line}\n" for family in lines.values() for line in family)
