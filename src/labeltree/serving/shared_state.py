"""State that worker processes share: metrics, reload requests, versions of models, and which workers are ready."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from multiprocessing.context import BaseContext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.serving.metrics import n_counters

#: For each worker and model: reload requests it has made, requests of all workers it has followed, and its version.
_REQUESTED, _FOLLOWED, _VERSION, _WIDTH = range(4)


class SharedState:
    """Tables in shared memory. A worker writes only its own rows, so no killed worker can leave a lock behind.

    Parameters
    ----------
    models : sequence of str
        Names of the models.
    n_workers : int
    context : multiprocessing context, optional
        The context that starts the workers; by default the tables belong to this process only.
    """

    def __init__(self, models: Sequence[str], n_workers: int = 1, context: BaseContext | None = None) -> None:
        def array(kind: Any, size: int) -> Any:
            return (kind * size)() if context is None else context.RawArray(kind, size)

        self.n_workers = n_workers
        self._models = tuple(models)
        self._counters = array(ctypes.c_double, n_workers * n_counters(len(models)))
        self._numbers = array(ctypes.c_uint64, n_workers * len(models) * _WIDTH)
        self._ready = array(ctypes.c_bool, n_workers)

    @property
    def counters(self) -> NDArray[np.float64]:
        """The table of `Metrics`."""
        return np.frombuffer(self._counters, dtype=np.float64).reshape(self.n_workers, -1)

    def is_ready(self, worker: int) -> bool:
        """Return whether a worker has begun to answer requests."""
        return bool(self._ready[worker])

    def set_ready(self, worker: int, is_ready: bool) -> None:
        """Set whether a worker has begun to answer requests."""
        self._ready[worker] = is_ready

    def request_reload(self, worker: int, model: str) -> int:
        """Ask all workers to reload a model, and return the number of requests so far."""
        self._column(model, _REQUESTED)[worker] += np.uint64(1)
        return self.n_requests(model)

    def n_requests(self, model: str) -> int:
        """Return how many reloads of a model all workers have requested."""
        return int(self._column(model, _REQUESTED).sum())

    def n_followed(self, worker: int, model: str) -> int:
        """Return how many requests a worker has followed."""
        return int(self._column(model, _FOLLOWED)[worker])

    def have_all_followed(self, model: str, n_requests: int) -> bool:
        """Return whether all workers have followed this many requests."""
        return bool((self._column(model, _FOLLOWED) >= n_requests).all())

    def set_loaded(self, worker: int, model: str, version: str, n_followed: int) -> None:
        """Set the version that a worker serves, and the number of requests it has followed."""
        self.set_version(worker, model, version)
        self._column(model, _FOLLOWED)[worker] = n_followed

    def set_version(self, worker: int, model: str, version: str) -> None:
        """Set the version that a worker serves."""
        self._column(model, _VERSION)[worker] = int(version, 16)

    def versions(self, model: str) -> list[str]:
        """Return the version that each worker serves."""
        numbers = self._column(model, _VERSION).tolist()
        return [f"{number:012x}" if number else "" for number in numbers]

    def _column(self, model: str, kind: int) -> NDArray[np.uint64]:
        """Return a number of all workers, to read or to write."""
        table = np.frombuffer(self._numbers, dtype=np.uint64)
        return table.reshape(self.n_workers, -1, _WIDTH)[:, self._models.index(model), kind]
