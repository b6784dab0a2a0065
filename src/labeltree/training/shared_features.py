"""Rows of features that the tasks of a training share: held by the process, or in files that every worker maps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

from labeltree import _native
from labeltree.engines import Place
from labeltree.engines.shared_rows import opened_store, publish_store
from labeltree.mapped_rows import MappedRows
from labeltree.training.shared_arrays import SharedArrays
from labeltree.training.workplace import Workplace


class SharedFeatures(Protocol):
    """A handle of rows, as an argument of tasks."""

    def open(self) -> _native.FeatureMatrix:
        """Return the rows as the kernel reads them, wherever this runs."""


@dataclass(frozen=True, eq=False)
class HeldFeatures:
    """Rows for tasks that run in this process."""

    features: _native.FeatureMatrix

    def open(self) -> _native.FeatureMatrix:
        return self.features


@dataclass(frozen=True)
class FiledFeatures:
    """Rows in files, which every worker maps.

    Attributes
    ----------
    arrays : SharedArrays
        The arrays "X0", "X1", … in the order of the kernel: one of a dense matrix, three of a CSR matrix, four of a
        pair; and "rows", if these are some of the rows only.
    n_features : int
    normalize : bool
    dense_features : (int, int)
        The range of dense features.
    """

    arrays: SharedArrays
    n_features: int
    normalize: bool
    dense_features: tuple[int, int]

    def open(self) -> _native.FeatureMatrix:
        return _opened(self)

    def held(self) -> HeldFeatures:
        """Return the rows for tasks that run in this process; nothing keeps them after the last task."""
        return HeldFeatures(_read(self))


@dataclass(frozen=True)
class StoredFeatures:
    """Rows of a store, which every worker maps where it is.

    Attributes
    ----------
    place : Place
        The directory of the store.
    rows : SharedArrays, optional
        The array "rows", if these are some of the rows only.
    normalize : bool
    dense_features : (int, int)
    """

    place: Place
    rows: SharedArrays | None
    normalize: bool
    dense_features: tuple[int, int]

    def open(self) -> _native.FeatureMatrix:
        return _opened_store(self)


def share_features(features: _native.FeatureMatrix, name: str, workplace: Workplace) -> SharedFeatures:
    """Return a handle of rows for the tasks of a workplace."""
    if workplace.is_here:
        return HeldFeatures(features)
    arrays = {f"X{number}": array.ravel() for number, array in enumerate(features.arrays)}
    if features.rows is not None:
        arrays["rows"] = features.rows
    return FiledFeatures(
        workplace.share(name, arrays), features.n_features, features.normalize, features.dense_features
    )


def share_store(
    store: MappedRows, features: _native.FeatureMatrix, name: str, workplace: Workplace
) -> SharedFeatures:
    """Return a handle of the rows of a store for the tasks of a workplace; the store is not copied."""
    rows = None if features.rows is None else workplace.share(name, {"rows": features.rows})
    place = publish_store(store, workplace.engine)
    return StoredFeatures(place, rows, features.normalize, features.dense_features)


@lru_cache(maxsize=2)
def _opened_store(stored: StoredFeatures) -> _native.FeatureMatrix:
    features = opened_store(stored.place).features(stored.normalize, stored.dense_features)
    return features if stored.rows is None else features.take(stored.rows.open()["rows"])


@lru_cache(maxsize=4)  # the kernel checks arrays when they are opened: once for all tasks of a worker
def _opened(filed: FiledFeatures) -> _native.FeatureMatrix:
    return _read(filed)


def _read(filed: FiledFeatures) -> _native.FeatureMatrix:
    arrays = filed.arrays.open()
    X = [array for name, array in arrays.items() if name != "rows"]
    kernel: Any = _native.FeatureMatrix  # arrays of any type that the kernel has
    begin, end = filed.dense_features
    if len(X) == 1:
        features = kernel.dense(X[0].reshape(-1, filed.n_features), filed.normalize, filed.dense_features)
    elif len(X) == 3:
        features = kernel.csr(*X, filed.n_features, filed.normalize, filed.dense_features)
    else:
        features = kernel.pair(*X[:3], begin, X[3].reshape(-1, end - begin), filed.normalize)
    taken: _native.FeatureMatrix = features.take(arrays["rows"]) if "rows" in arrays else features
    return taken
