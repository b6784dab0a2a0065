"""Checks of features and parameters. Public functions check their arguments here once; other code relies on it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labeltree import _native, scikit_learn
from labeltree import sparse as sp
from labeltree.mapped_rows import MappedRows
from labeltree.wording import with_article

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

#: The kernel counts in 32 bits.
LARGEST_INTEGER = 2**31 - 1
#: Every thread has its own tables; more threads would only cost memory.
MOST_THREADS = 1024
#: The types of features in the kernel.
_FLOATS = [np.float32, np.float64]
#: Made once: single rows are checked in less time than it takes to make these.
_KERNEL_FLOATS, _INT32 = tuple(map(np.dtype, _FLOATS)), np.dtype(np.int32)
_INTEGERS = (int, np.integer)
_REALS = (int, float, np.integer, np.floating)

#: The first dense feature of a matrix and the one after the last; None if it is not known.
DenseRange = tuple[int, int] | None


@dataclass(frozen=True)
class Constraint:
    """The values that a parameter may have: a description for error messages, and a test for values but None."""

    description: str
    test: Callable[[Any], bool]
    optional: bool = False

    def __str__(self) -> str:
        return self.description + (" or None" if self.optional else "")

    def accepts(self, value: Any) -> bool:
        return self.optional if value is None else self.test(value)


class Number(Constraint):
    """A parameter that is a finite number from `low` to `high`; `open_low` excludes `low` itself."""

    def __init__(
        self,
        low: float = -math.inf,
        high: float = math.inf,
        integer: bool = False,
        open_low: bool = False,
        optional: bool = False,
    ) -> None:
        style = "," if integer else "g"
        words = ["an integer" if integer else "a finite number"]
        if low > -math.inf:
            words.append(f"{'above' if open_low else 'of at least'} {low:{style}}")
        if high < math.inf:
            words.append(f"and at most {high:{style}}")

        kind: Any = Integral if integer else Real

        def test(value: Any) -> bool:
            if isinstance(value, bool | np.bool_) or not isinstance(value, kind):
                return False
            above = low < value if open_low else low <= value
            return bool(above and value <= high and math.isfinite(value))

        super().__init__(" ".join(words), test, optional)


class Choice(Constraint):
    """A parameter that is one of some words, or an instance of one of some types."""

    def __init__(self, words: Sequence[str], types: tuple[type, ...] = (), optional: bool = False) -> None:
        names = [*map(repr, words), *(with_article(kind.__name__) for kind in types)]

        def test(value: Any) -> bool:
            return isinstance(value, types) or _is_one_of(words, value)

        super().__init__("one of " + ", ".join(names), test, optional)


class WordOrNumber(Constraint):
    """A parameter that is one of some words or a number; with `or_sequence`, also a sequence of such numbers."""

    def __init__(self, words: Sequence[str], number: Number, or_sequence: bool = False) -> None:
        def test(value: Any) -> bool:
            if or_sequence and isinstance(value, list | tuple | np.ndarray):
                return np.ndim(value) == 1 and len(value) > 0 and all(map(number.test, value))
            return _is_one_of(words, value) or number.test(value)

        names = [*map(repr, words), number.description]
        several = " or a sequence of such numbers" if or_sequence else ""
        super().__init__(", ".join(names) + several, test, number.optional)


class WordOrMatrix(Constraint):
    """A parameter that is one of some words, or a sparse matrix or 2-d array of numbers."""

    def __init__(self, words: Sequence[str], optional: bool = False) -> None:
        def test(value: Any) -> bool:
            is_array = sp.issparse(value) or isinstance(value, np.ndarray)
            is_matrix = is_array and value.ndim == 2 and value.dtype.kind in "fiub"
            return is_matrix or _is_one_of(words, value)

        names = [*map(repr, words), "a sparse matrix or 2-d array of numbers"]
        super().__init__("one of " + ", ".join(names), test, optional)


class Flag(Constraint):
    """A parameter that is True or False."""

    def __init__(self) -> None:
        super().__init__("True or False", lambda value: isinstance(value, bool | np.bool_))


def _is_one_of(words: Sequence[str], value: Any) -> bool:
    return isinstance(value, str) and value in words


def check_parameters(estimator: BaseEstimator, constraints: Mapping[str, Constraint]) -> None:
    """Raise `ValueError` for the first parameter of an estimator that its constraint does not accept."""
    # Attributes, not get_params: a subclass may take fewer parameters than it has.
    check_arguments(type(estimator).__name__, vars(estimator), constraints)


def check_arguments(owner: str, arguments: Mapping[str, Any], constraints: Mapping[str, Constraint]) -> None:
    """Raise `ValueError` for the first argument of a class or function that its constraint does not accept."""
    for name, constraint in constraints.items():
        if name in arguments and not constraint.accepts(arguments[name]):
            raise ValueError(f"{owner}: the parameter {name!r} must be {constraint}, got {arguments[name]!r}")


def parameter_names(cls: Any) -> frozenset[str]:
    """Return the names of the parameters of a class of estimators."""
    return _inspected(cls)


@cache  # scikit-learn inspects the signature each time
def _inspected(cls: Any) -> frozenset[str]:
    return frozenset(cls._get_param_names())


def n_threads(n_jobs: int | None) -> int:
    """Return the number of threads for `n_jobs`, as in scikit-learn: 1 for None, one per processor for -1."""
    # Not joblib's effective_n_jobs: it counts processes, and warns where it cannot start them.
    if n_jobs is None:
        return 1
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0: None is one thread, -1 one per processor")
    if n_jobs > 0:
        return min(int(n_jobs), MOST_THREADS)
    return max(1, _processors(int(time.monotonic())) + 1 + int(n_jobs))


@lru_cache(maxsize=1)
def _processors(second: int) -> int:
    """Count the processors once a second: joblib reads files of the system, which takes longer than a prediction."""
    return cpu_count()


def cpu_count() -> int:
    """Return the number of processors that this process may use."""
    from joblib import cpu_count

    return int(cpu_count())


def check_features(
    estimator: BaseEstimator,
    X: Any,
    *,
    normalize: bool,
    reset: bool,
    dense_features: DenseRange = None,
    min_rows: int = 1,
) -> _native.FeatureMatrix:
    """Return X for the kernel, without a copy where possible.

    With `reset` (in ``fit``) the number and names of the features are recorded, otherwise they are compared with the
    recorded ones. `dense_features` is the range of dense features that the model was trained with; None to take it
    from X. An X with fewer than `min_rows` rows is refused.
    """
    # scikit-learn's checks take longer than a prediction, so a plain CSR matrix is checked here.
    is_plain = (
        sp.issparse(X)
        and X.format == "csr"
        and X.ndim == 2
        and X.dtype.kind in "fiub"
        and X.shape[0] >= min_rows
    )
    if is_plain and not reset and not hasattr(estimator, "feature_names_in_"):
        _check_width(estimator, X.shape[1])
        return _checked_csr(X, normalize, dense_features)
    if isinstance(X, MappedRows):
        return _check_mapped(estimator, X, normalize, reset, dense_features, min_rows)
    if is_pair(X):
        return _check_pair(estimator, X, normalize, reset, dense_features, min_rows)
    if min_rows == 0 and is_empty(X):  # scikit-learn would refuse it, because it has no columns
        X = sp.csr_matrix((0, estimator.n_features_in_), dtype=np.float32)
    if isinstance(X, tuple | list) and len(X) == 2 and any(map(sp.issparse, X)):
        raise ValueError(
            "X as a pair of sparse and dense features must be a tuple of a sparse matrix and an array, in this order, "
            f"got {with_article(type(X).__name__)} of {type(X[0]).__name__} and {type(X[1]).__name__}"
        )
    from sklearn.utils.validation import validate_data

    X = validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr",
        dtype=_FLOATS,
        order="C",
        ensure_min_samples=min_rows,
    )
    if not sp.issparse(X):
        return _native.FeatureMatrix.dense(np.ascontiguousarray(X), bool(normalize), dense_features)
    return _checked_csr(X, normalize, dense_features)


def _checked_csr(X: Any, normalize: bool, dense_features: DenseRange) -> _native.FeatureMatrix:
    def make(X: Any) -> _native.FeatureMatrix:
        return _native.FeatureMatrix.csr(*_csr_arrays(X), X.shape[1], bool(normalize), dense_features)

    return _canonical(X, make)


def is_pair(X: Any) -> bool:
    """Return whether X is a pair of a sparse and a dense matrix with the same rows."""
    return isinstance(X, tuple) and len(X) == 2 and sp.issparse(X[0])


def is_empty(X: Any) -> bool:
    """Return whether X is a list or array without rows, and so without columns."""
    return (isinstance(X, list | tuple) and len(X) == 0) or (isinstance(X, np.ndarray) and X.shape == (0,))


def is_rows_of_names(X: Any) -> bool:
    """Return whether X is a list of dictionaries from names of features to values."""
    return isinstance(X, list | tuple) and len(X) > 0 and all(isinstance(row, Mapping) for row in X)


def take_rows(X: Any, rows: ArrayLike) -> Any:
    """Return some rows of X, in the form of X."""
    if isinstance(X, MappedRows):
        return X.take(rows)
    from sklearn.utils import _safe_indexing

    return tuple(_safe_indexing(part, rows) for part in X) if is_pair(X) else _safe_indexing(X, rows)


def _check_mapped(
    estimator: BaseEstimator,
    X: MappedRows,
    normalize: bool,
    reset: bool,
    dense_features: DenseRange,
    min_rows: int,
) -> _native.FeatureMatrix:
    """Return the rows of a store, which have no names, where they are."""
    n_rows, n_features = X.shape
    if n_rows < min_rows or (reset and n_features == 0):
        raise ValueError(
            f"expected a store with at least {min_rows} row and 1 feature, got {n_rows} rows and {n_features} features"
        )
    if reset:
        estimator.n_features_in_ = n_features
        vars(estimator).pop("feature_names_in_", None)
    else:
        _check_width(estimator, n_features)
    return X.features(bool(normalize), dense_features)


def _check_width(estimator: BaseEstimator, n_features: int) -> None:
    if n_features != estimator.n_features_in_:
        raise ValueError(
            f"X has {n_features} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )


def _check_pair(
    estimator: BaseEstimator,
    X: tuple[Any, Any],
    normalize: bool,
    reset: bool,
    dense_features: DenseRange,
    min_rows: int,
) -> _native.FeatureMatrix:
    """Return the features of both parts, the sparse ones first. They have no names."""
    if sp.issparse(X[1]):
        raise ValueError(
            "X is a pair of two sparse matrices; the second one must be dense: join them with "
            "scipy.sparse.hstack, or pass X[1].toarray() if most of its values are not 0"
        )
    checks = {"dtype": _FLOATS, "estimator": estimator, "ensure_min_samples": min_rows}
    sparse = scikit_learn.check_array(X[0], accept_sparse="csr", input_name="X[0]", **checks)
    dense = scikit_learn.check_array(X[1], order="C", input_name="X[1]", **checks)
    if sparse.shape[0] != dense.shape[0]:
        raise ValueError(
            f"the two parts of X must have equally many rows, got {sparse.shape[0]} and {dense.shape[0]}"
        )
    found = (sparse.shape[1], sparse.shape[1] + dense.shape[1])
    if reset:
        estimator.n_features_in_ = found[1]
        vars(estimator).pop("feature_names_in_", None)
    elif found[1] != estimator.n_features_in_ or (dense_features is not None and found != dense_features):
        begin, end = dense_features or (0, 0)
        raise ValueError(
            f"X is a pair of {sparse.shape[1]} sparse and {dense.shape[1]} dense features, but "
            f"{type(estimator).__name__} is expecting {estimator.n_features_in_} features as input, "
            + (f"and features {begin} to {end - 1} must be dense" if end > begin else "none of them dense")
        )

    def make(X: Any) -> _native.FeatureMatrix:
        return _native.FeatureMatrix.pair(
            *_csr_arrays(X), X.shape[1], np.ascontiguousarray(dense), bool(normalize)
        )

    return _canonical(sparse, make)


def _canonical(X: Any, make: Callable[[Any], _native.FeatureMatrix]) -> _native.FeatureMatrix:
    """Make the kernel's matrix, after sorting the rows of X and merging duplicates if necessary."""
    features = make(X)
    if not features.canonical:
        X = X.copy()
        X.sum_duplicates()
        features = make(X)
    return features


def _csr_arrays(X: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return indptr, indices and data in types that the kernel has."""
    indptr, indices, data = X.indptr, X.indices, X.data
    if data.dtype not in _KERNEL_FLOATS:
        data = data.astype(np.float32)
    if indptr.dtype != _INT32 or indices.dtype != _INT32:
        indptr, indices = indptr.astype(np.int64, copy=False), indices.astype(np.int64, copy=False)
    return np.ascontiguousarray(indptr), np.ascontiguousarray(indices), np.ascontiguousarray(data)


def check_same_rows(n_X: int, n_y: int) -> None:
    """Raise `ValueError` unless X and y have the same number of rows."""
    if n_X != n_y:
        raise ValueError(f"X and y must have the same number of rows (inconsistent: {n_X} and {n_y})")


def check_sample_weight(sample_weight: Any, n_rows: int) -> NDArray[np.float32] | None:
    """Return one finite weight of at least 0 per row, not all 0; None stays None."""
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight, dtype=np.float32, order="C")
    if weight.ndim == 0:
        weight = np.full(n_rows, weight, dtype=np.float32)
    if weight.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must have shape ({n_rows},), one weight per row of X, got {weight.shape}"
        )
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(f"sample_weight must be finite and at least 0, but row {row} has {weight[row]!r}")
    if not weight.any():
        raise ValueError("sample_weight must not be zero for all rows")
    return weight


def check_count(name: str, value: Any, otherwise: str = "", least: int = 1) -> None:
    """Raise `ValueError` unless a value is an integer of at least `least`."""
    if not isinstance(value, _INTEGERS) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be an integer of at least {least}{otherwise}, got {value!r}")


def check_threshold(threshold: Any) -> None:
    """Raise `ValueError` unless a value is a number from 0 to 1."""
    if not isinstance(threshold, _REALS) or not 0 <= threshold <= 1:
        raise ValueError(f"threshold must be a number from 0 to 1, got {threshold!r}")


def check_thresholds(threshold: Any, n_labels: int) -> tuple[float, NDArray[np.float32] | None]:
    """Return one threshold for all labels, or 0 and one for each; raise `ValueError` for others."""
    if np.ndim(threshold) == 0:
        check_threshold(threshold)
        return float(threshold), None
    per_label = np.ascontiguousarray(threshold, dtype=np.float32)
    if per_label.shape != (n_labels,) or np.isnan(per_label).any():
        raise ValueError(
            f"threshold must be a number or one number per label, {n_labels} in all, got an array of shape "
            f"{per_label.shape}"
        )
    return 0.0, per_label


def check_tree_weight(tree_weight: Any, n_trees: int) -> list[float]:
    """Return one finite number above 0 for each tree; so is their sum."""
    is_sequence = isinstance(tree_weight, list | tuple | np.ndarray)
    weight = np.asarray(tree_weight, dtype=np.float64) if is_sequence else np.empty(0)
    if weight.shape != (n_trees,) or not (weight > 0).all() or not sum(weight.tolist()) < np.inf:
        raise ValueError(
            f"tree_weight must be {n_trees} finite numbers above 0, one for each tree, with a finite sum, "
            f"got {tree_weight!r}"
        )
    return [float(value) for value in weight]
