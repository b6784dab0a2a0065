"""What worker processes tell each other: counters, which versions of the models they have, and that they answer."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from multiprocessing.context import BaseContext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.serving.metrics import cells

#: What is known of a worker and a model: how often the worker asked all to reload it, how many such requests of all
#: workers it has followed, and the version that it has.
_ASKED, _FOLLOWED, _VERSION = range(3)


class Board:
    """Tables in shared memory. A worker writes only its own rows, so there is no lock that a dead one could hold.

    Parameters
    ----------
    models : sequence of str
        The names of the models.
    n_workers : int
    context : multiprocessing context, optional
        That of the workers; by default the tables are this process's own.
    """

    def __init__(self, models: Sequence[str], n_workers: int = 1, context: BaseContext | None = None) -> None:
        self.models = tuple(models)
        self.n_workers = n_workers
        n_cells, n_numbers = n_workers * len(cells(models)), n_workers * len(models) * 3
        self._counters: Any
        self._numbers: Any
        self._answering: Any
        if context is None:
            self._counters, self._numbers = (ctypes.c_double * n_cells)(), (ctypes.c_uint64 * n_numbers)()
            self._answering = (ctypes.c_bool * n_workers)()
        else:  # these travel to processes that the context starts
            self._counters = context.RawArray(ctypes.c_double, n_cells)
            self._numbers = context.RawArray(ctypes.c_uint64, n_numbers)
            self._answering = context.RawArray(ctypes.c_bool, n_workers)

    @property
    def counters(self) -> NDArray[np.float64]:
        """The table for `Metrics`."""
        return np.frombuffer(self._counters, dtype=np.float64).reshape(self.n_workers, -1)

    @property
    def _table(self) -> NDArray[np.uint64]:
        return np.frombuffer(self._numbers, dtype=np.uint64).reshape(self.n_workers, len(self.models), 3)

    def answers(self, worker: int) -> bool:
        """Whether a worker came so far as to answer requests."""
        return bool(self._answering[worker])

    def note_answering(self, worker: int, answers: bool) -> None:
        """Note whether a worker has come so far."""
        self._answering[worker] = answers

    def ask(self, worker: int, model: str) -> int:
        """Ask all workers to reload a model; the number of this request."""
        at = self.models.index(model)
        self._table[worker, at, _ASKED] += np.uint64(1)
        return self.asked(model)

    def asked(self, model: str) -> int:
        """How often workers were asked to reload a model."""
        return int(self._table[:, self.models.index(model), _ASKED].sum())

    def follow(self, worker: int, model: str, request: int, version: str) -> None:
        """Note that a worker has done what was asked up to this request, and the version that it has."""
        at = self.models.index(model)
        self._table[worker, at, _VERSION] = int(version, 16)
        self._table[worker, at, _FOLLOWED] = request

    def followed(self, worker: int, model: str) -> int:
        """The last request that a worker has followed."""
        return int(self._table[worker, self.models.index(model), _FOLLOWED])

    def have_all_followed(self, model: str, request: int) -> bool:
        """Whether all workers have done what was asked."""
        return bool((self._table[:, self.models.index(model), _FOLLOWED] >= request).all())

    def versions(self, model: str) -> list[str]:
        """The version that each worker has."""
        numbers = self._table[:, self.models.index(model), _VERSION].tolist()
        return [f"{number:012x}" if number else "" for number in numbers]
