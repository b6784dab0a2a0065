"""The rows of a synthetic data set. Each row can be made without the others."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.utils import check_random_state

from labeltree.validation import LARGEST_INTEGER, Number

from .hashed_draws import Bits, hashed
from .label_hierarchy import LabelHierarchy
from .vocabulary import Vocabulary

#: Approximate number of entries of X and y in a block: enough to be fast, few enough for the processor's cache.
_BLOCK_ENTRIES = 1 << 18
#: Maximum of the average numbers of features and labels of a row.
_MAX_PER_ROW = 100_000

#: Default sizes: Amazon-670K has 0.732 rows per label and 166 √n_labels features.
_ROWS_PER_LABEL = 0.732
_FEATURES_PER_ROOT = 166
_MIN_TEST, _MAX_TEST = 1_000, 20_000


class ExtremeRows:
    """Draws rows, each from its own seed. `make_extreme` documents the parameters."""

    def __init__(
        self,
        n_labels: int,
        n_rows: int | None,
        n_test: int | None,
        n_features: int | None,
        *,
        labels_per_row: float,
        features_per_row: float,
        exponent: float,
        arity: int,
        noise: float,
        random_state: Any,
    ) -> None:
        _check("n_labels", n_labels, _size(2))
        n_rows = round(_ROWS_PER_LABEL * n_labels) if n_rows is None else n_rows
        _check("n_rows", n_rows, _size(1))
        n_test = min(max(_MIN_TEST, n_rows // 10), _MAX_TEST) if n_test is None else n_test
        _check("n_test", n_test, _size(0))
        n_features = round(_FEATURES_PER_ROOT * math.sqrt(n_labels)) if n_features is None else n_features
        _check("n_features", n_features, _size(1))
        _check("labels_per_row", labels_per_row, Number(1, min(n_labels, _MAX_PER_ROW)))
        _check("features_per_row", features_per_row, Number(1, min(n_features, _MAX_PER_ROW)))
        _check("exponent", exponent, Number(0, 10))
        _check("arity", arity, _size(2))
        _check("noise", noise, Number(0, 1))
        seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)

        self.n_rows, self.n_test = n_rows, n_test
        self.n_features, self.n_labels = n_features, n_labels
        self.seed = seed
        self._key = hashed(seed, 0)
        self.labels = LabelHierarchy(
            n_labels, arity=arity, exponent=exponent, labels_per_row=labels_per_row, key=hashed(seed, 1)
        )
        self._words = Vocabulary(
            n_features, arity, self.labels.depth, features_per_row, noise, key=hashed(seed, 2)
        )
        self._block_rows = max(1, int(_BLOCK_ENTRIES / (features_per_row + labels_per_row)))

    def blocks(
        self, *, test: bool, first_row: int = 0, n_threads: int = 1
    ) -> Iterator[tuple[csr_matrix, csr_matrix]]:
        """Yield X and y of the training or test rows from `first_row` on, a block at a time."""
        seeds = hashed(self._key, int(test))
        n_rows = self.n_test if test else self.n_rows

        def draw(begin: int) -> tuple[csr_matrix, csr_matrix]:
            return self._draw(hashed(seeds, np.arange(begin, min(begin + self._block_rows, n_rows))))

        # At least one block, even without rows.
        begins = range(first_row, max(first_row + 1, n_rows), self._block_rows)
        if n_threads == 1:
            yield from map(draw, begins)
            return
        with ThreadPoolExecutor(n_threads) as pool:
            waiting: deque[Future[tuple[csr_matrix, csr_matrix]]] = deque()
            for begin in begins:
                waiting.append(pool.submit(draw, begin))
                if len(waiting) > 2 * n_threads:  # few blocks are in memory at once
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def _draw(self, keys: Bits) -> tuple[csr_matrix, csr_matrix]:
        label_indptr, positions = self.labels.draw(hashed(keys, 0))
        indptr, features, values = self._words.draw(hashed(keys, 1), label_indptr, positions)
        ones, labels = np.ones(len(positions), dtype=np.float32), self.labels.label_at[positions]
        X = csr_matrix((values, features, indptr), shape=(len(keys), self.n_features))
        y = csr_matrix((ones, labels, label_indptr), shape=(len(keys), self.n_labels))
        y.sort_indices()
        return X, y


def _size(low: int) -> Number:
    return Number(low, LARGEST_INTEGER, integer=True)


def _check(name: str, value: object, constraint: Number) -> None:
    if not constraint.accepts(value):
        raise ValueError(f"{name} must be {constraint}, got {value!r}")
