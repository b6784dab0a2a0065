"""`StoreRows`: some of the rows of a store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labeltree import _native
from labeltree import sparse as sp
from labeltree.labels.reading import LabelRows
from labeltree.mapped_rows import MappedRows

from .kernel_rows import taken_csr

if TYPE_CHECKING:
    from labeltree.text.vectorizer import TextVectorizer

    from .store import Store


class StoreRows(MappedRows):
    """Some rows of a store, in any order, which `Store.take` returns. Nothing is copied but their numbers.

    Attributes
    ----------
    store : Store
    rows : array of int
        The numbers of the rows in the store.
    """

    def __init__(self, store: Store, rows: NDArray[Any]) -> None:
        if rows.dtype == bool:
            if rows.shape != (store.n_rows,):
                raise ValueError(f"a mask of rows must have the shape ({store.n_rows},), got {rows.shape}")
            rows = np.flatnonzero(rows)
        if rows.ndim != 1 or (rows.size > 0 and rows.dtype.kind not in "iu"):
            raise ValueError(f"rows must be a 1-d array of integers, got {rows.dtype} of shape {rows.shape}")
        rows = rows.astype(np.int64)
        if rows.size > 0 and not (rows.min() >= 0 and rows.max() < store.n_rows):
            raise ValueError(f"rows must be from 0 to {store.n_rows - 1}, got {rows.min()} to {rows.max()}")
        self.store, self.rows = store, rows

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), self.store.n_features

    @property
    def directory(self) -> Path:
        return self.store.path

    @property
    def labels(self) -> LabelRows:
        return self.store.labels.take(self.rows)

    @property
    def has_filtered_pairs(self) -> bool:
        return self.store.has_filtered_pairs

    @property
    def vectorizer(self) -> TextVectorizer | None:
        return self.store.vectorizer

    @property
    def label_names(self) -> dict[Any, str] | None:
        return self.store.label_names

    def features(
        self, normalize: bool, dense_features: tuple[int, int] | None = None
    ) -> _native.FeatureMatrix:
        return self.store.features(normalize, dense_features).take(self.rows)

    def take(self, rows: ArrayLike) -> StoreRows:
        return StoreRows(self.store, self.rows[np.asarray(rows)])

    def matrix(self) -> sp.csr_matrix:
        """Return a copy of the rows as a CSR matrix."""
        return taken_csr(self.store.csr_arrays(), self.rows, self.store.n_features)

    def check_unchanged(self) -> None:
        self.store.check_unchanged()

    def __repr__(self) -> str:
        return f"StoreRows({len(self.rows)} rows of {self.store!r})"
