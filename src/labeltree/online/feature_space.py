"""The features of an online model: columns of matrices whose width may grow, or names."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree import _native
from labeltree import sparse as sp
from labeltree.model.feature_reader import feature_checker
from labeltree.validation import check_features, is_empty, is_pair, is_rows_of_names

#: Number of values of the hash function for names.
N_HASHED_NAMES = 2**24

#: The class of the estimator, for error messages.
OWNER = "OnlineLabelTreeClassifier"

LARGEST_VALUE = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class FeatureRows:
    """X for the kernel, and the features to remember when X is learned."""

    matrix: _native.FeatureMatrix
    n_features: int
    column_names: NDArray[Any] | None = None
    new_names: Sequence[str] | None = None


class FeatureSpace:
    """Reads X, and remembers its width and the names of its features.

    Rows are the rows of a matrix, or dictionaries from names to values, which may have new names at any time. A name
    gets a number. With hashed weights the number is a hash.

    Parameters
    ----------
    hashes : bool
        Whether names are hashed; their text is then not kept.
    n_features : int
        Number of features so far.
    names : iterable of str, optional
        The names by number; None if rows are not dictionaries.
    column_names : array, optional
        The names of the columns, if X was a frame.
    """

    def __init__(
        self,
        hashes: bool,
        n_features: int = 0,
        names: Iterable[str] | None = None,
        column_names: NDArray[Any] | None = None,
    ) -> None:
        self.hashes = hashes
        self.n_features = n_features
        self.column_names = column_names
        self._number = None if names is None else {name: i for i, name in enumerate(names)}

    @property
    def has_names(self) -> bool:
        """Whether rows are dictionaries."""
        return self._number is not None

    @property
    def names(self) -> list[str] | None:
        """The names by number; empty if they are hashed, None if rows are not dictionaries."""
        return None if self._number is None else list(self._number)

    def read(self, X: Any, *, normalize: bool, learning: bool) -> FeatureRows:
        """Read X for the kernel. The result has the new names only if `learning`."""
        if is_rows_of_names(X) or (self.has_names and not learning and is_empty(X)):
            if self.n_features > 0 and not self.has_names:
                raise ValueError(
                    "X has names of features, but learning began with numbered features: keep to one form"
                )
            return self._read_names(X, normalize, learning)
        if self.has_names:
            raise ValueError(
                "X must be a list of dictionaries from names to values, as when learning began, got a "
                f"{type(X).__name__}: keep to one form"
            )
        if is_pair(X):
            raise ValueError(
                "X is a pair of sparse and dense features, which online trees do not support: join them with "
                "scipy.sparse.hstack"
            )
        return self._read_matrix(X, normalize, learning)

    def adopt(self, rows: FeatureRows) -> None:
        """Remember the features of rows that are being learned."""
        self.n_features = max(self.n_features, rows.n_features)
        if rows.column_names is not None:
            self.column_names = rows.column_names
        if rows.new_names is not None:
            self._number = {} if self._number is None else self._number
            for name in rows.new_names:
                self._number.setdefault(name, len(self._number))

    def release(self, rows: FeatureRows, learned: NDArray[np.int64]) -> None:
        """Forget the new names of adopted rows that were not learned; these are the last names."""
        if self._number is None or not rows.new_names:
            return
        n_before = len(self._number) - len(rows.new_names)
        n_used = 1 + max((int(rows.matrix.row(i)[0].max(initial=-1)) for i in learned.tolist()), default=-1)
        self._number = dict(islice(self._number.items(), max(n_before, n_used)))
        self.n_features = len(self._number)

    def _read_matrix(self, X: Any, normalize: bool, learning: bool) -> FeatureRows:
        reset = self.n_features == 0
        # A new checker for every X: scikit-learn records the features in it, and `adopt` remembers them later.
        checker = feature_checker(OWNER, None if reset else self.n_features, self.column_names)
        if sp.issparse(X) and X.ndim == 2 and X.shape[1] > 0 and self.column_names is None:
            checker.n_features_in_ = X.shape[1]  # a sparse matrix may have any number of columns
            reset = False
        matrix = check_features(
            checker,
            X,
            normalize=normalize,
            reset=reset,
            dense_features=(0, 0),
            min_rows=1 if learning or reset else 0,
        )
        return FeatureRows(matrix, matrix.n_features, getattr(checker, "feature_names_in_", None))

    def _read_names(self, rows: Sequence[Mapping[str, Any]], normalize: bool, learning: bool) -> FeatureRows:
        known = self._number or {}
        new: dict[str, int] = {}
        indptr = np.zeros(len(rows) + 1, dtype=np.int64)
        indices: list[int] = []
        data: list[float] = []
        for i, row in enumerate(rows):
            for name, value in row.items():
                name, number = _name_and_value(i, name, value)
                if self.hashes:
                    index = zlib.crc32(name.encode(errors="surrogatepass")) % N_HASHED_NAMES
                elif name in known:
                    index = known[name]
                else:  # it has no weight yet, but counts in the length of the row
                    index = new.setdefault(name, len(known) + len(new))
                indices.append(index)
                data.append(number)
            indptr[i + 1] = len(indices)
        if learning:
            for name in new:
                _check_unicode(name)
        n_features = N_HASHED_NAMES if self.hashes else len(known) + len(new)
        # At least one column, even if the model has no names yet: the kernel needs one.
        shape = (len(rows), max(n_features, 1))
        X = sp.csr_matrix((np.array(data, np.float32), np.array(indices, np.int64), indptr), shape=shape)
        X.sum_duplicates()
        matrix = _native.FeatureMatrix.csr(
            X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data, shape[1], normalize, (0, 0)
        )
        return FeatureRows(matrix, n_features, new_names=list(new) if learning else None)


def _check_unicode(name: str) -> None:
    """Refuse a name that cannot be saved, before it is learned."""
    try:
        name.encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"the names of features must be valid Unicode, got {name[:100]!r}, with half of a surrogate pair"
        ) from None


def _name_and_value(row: int, name: Any, value: Any) -> tuple[str, float]:
    """Return the name and value of a feature; a text as value becomes part of the name, with the value 1."""
    if type(name) is str and type(value) is float and -LARGEST_VALUE <= value <= LARGEST_VALUE:
        return name, value  # the fast path for most values: three times as fast as the checks below
    if not isinstance(name, str):
        raise ValueError(f"X, row {row}: the names of features must be strings, got {name!r}")
    if isinstance(value, str):
        return f"{name}={value}", 1.0
    if not isinstance(value, Real | np.bool_):
        raise ValueError(f"X, row {row}: the feature {name!r} must be a number or a text, got {value!r}")
    number = float(value)
    if not abs(number) <= LARGEST_VALUE:
        raise ValueError(
            f"X, row {row}: the feature {name!r} is NaN, inf or too large for float32: {value!r}"
        )
    return name, number
