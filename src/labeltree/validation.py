"""The door: features and parameters are checked here, once; behind it, code assumes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from joblib import cpu_count
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, validate_data

from labeltree import _native

#: The kernel counts in 32 bits.
LARGEST_INTEGER = 2**31 - 1
#: Each has tables of its own; more would only cost memory.
MOST_THREADS = 1024


@dataclass(frozen=True)
class Number:
    """A parameter that is a finite number within bounds (`low` excluded where `open_low`)."""

    low: float = -math.inf
    high: float = math.inf
    integer: bool = False
    open_low: bool = False
    optional: bool = False

    def __str__(self) -> str:
        style = "," if self.integer else "g"
        bounds = []
        if self.low > -math.inf:
            bounds.append(f"{'above' if self.open_low else 'of at least'} {self.low:{style}}")
        if self.high < math.inf:
            bounds.append(f"{'at most' if bounds else 'of at most'} {self.high:{style}}")
        kind = "an integer" if self.integer else "a finite number"
        return " ".join([kind, " and ".join(bounds)]).rstrip() + (" or None" if self.optional else "")

    def accepts(self, value: Any) -> bool:
        if value is None:
            return self.optional
        if isinstance(value, bool | np.bool_) or not isinstance(value, Integral if self.integer else Real):
            return False
        number: Any = value  # what Real promises, the type checker does not know
        above = self.low < number if self.open_low else self.low <= number
        return bool(above and number <= self.high and math.isfinite(number))


@dataclass(frozen=True)
class Choice:
    """A parameter that is one of some words, or an instance of one of some types."""

    words: Sequence[str]
    types: tuple[type, ...] = ()
    optional: bool = False

    def __str__(self) -> str:
        names = [repr(word) for word in self.words] + [f"a {kind.__name__}" for kind in self.types]
        return "one of " + ", ".join(names) + (" or None" if self.optional else "")

    def accepts(self, value: Any) -> bool:
        if value is None:
            return self.optional
        return (isinstance(value, str) and value in self.words) or isinstance(value, self.types)


@dataclass(frozen=True)
class WordOrNumber:
    """A parameter that is one of some words, or a number, or (`or_sequence`) a sequence of such numbers."""

    words: Sequence[str]
    number: Number
    or_sequence: bool = False

    def __str__(self) -> str:
        several = " or a sequence of such numbers" if self.or_sequence else ""
        return ", ".join(map(repr, self.words)) + f", {self.number}{several}"

    def accepts(self, value: Any) -> bool:
        if self.or_sequence and isinstance(value, list | tuple | np.ndarray):
            return (
                np.ndim(value) == 1
                and len(value) > 0
                and all(map(replace(self.number, optional=False).accepts, value))
            )
        return (isinstance(value, str) and value in self.words) or self.number.accepts(value)


@dataclass(frozen=True)
class Flag:
    """A parameter that is True or False."""

    def __str__(self) -> str:
        return "True or False"

    def accepts(self, value: Any) -> bool:
        return isinstance(value, bool | np.bool_)


@dataclass(frozen=True)
class WordOrMatrix:
    """A parameter that is one of some words, or a sparse matrix or 2-d array of numbers."""

    words: Sequence[str]
    optional: bool = False

    def __str__(self) -> str:
        names = [repr(word) for word in self.words] + ["a sparse matrix or 2-d array of numbers"]
        return "one of " + ", ".join(names) + (" or None" if self.optional else "")

    def accepts(self, value: Any) -> bool:
        if value is None or isinstance(value, str):
            return value in self.words or (value is None and self.optional)
        if not (sp.issparse(value) or isinstance(value, np.ndarray)):
            return False
        return bool(value.ndim == 2 and value.dtype.kind in "fiub")


class Constraint(Protocol):
    """What a parameter may be; as a string, in words."""

    def accepts(self, value: Any) -> bool: ...


def check_parameters(estimator: BaseEstimator, constraints: Mapping[str, Constraint]) -> None:
    """Raise `ValueError` for the first parameter that is not what it must be."""
    # Attributes, not get_params: a subclass may take fewer parameters than it has.
    check_arguments(type(estimator).__name__, vars(estimator), constraints)


def check_arguments(owner: str, arguments: Mapping[str, Any], constraints: Mapping[str, Constraint]) -> None:
    """Raise `ValueError` for the first of the owner's arguments that is not what it must be."""
    for name, constraint in constraints.items():
        if name in arguments and not constraint.accepts(arguments[name]):
            raise ValueError(f"{owner}: the parameter {name!r} must be {constraint}, got {arguments[name]!r}")


def n_threads(n_jobs: int | None) -> int:
    """How many threads `n_jobs` means, as in scikit-learn: None is 1, -1 is one per processor."""
    # Not joblib's effective_n_jobs: it speaks of processes, and warns where those cannot be started.
    if n_jobs is None:
        return 1
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0: None is one thread, -1 one per processor")
    return min(int(n_jobs), MOST_THREADS) if n_jobs > 0 else max(1, int(cpu_count() + 1 + n_jobs))


def check_features(
    estimator: BaseEstimator,
    X: Any,
    *,
    normalize: bool,
    reset: bool,
    dense_features: tuple[int, int] | None = None,
) -> _native.FeatureMatrix:
    """X as the kernel reads it, without a copy where none is needed.

    With `reset` (in ``fit``) the number and names of the features are recorded, else compared. The range
    `dense_features` is what the model was trained with; None to tell it from X.
    """
    if isinstance(X, tuple | list) and len(X) == 2 and any(map(sp.issparse, X)) and not is_pair(X):
        raise ValueError(
            "X as a pair of sparse and dense features must be a tuple of a sparse matrix and an array, in this order, "
            f"got a {type(X).__name__} of {type(X[0]).__name__} and {type(X[1]).__name__}"
        )
    if is_pair(X):
        return _check_pair(estimator, X, normalize, reset, dense_features)
    # scikit-learn's own checks take longer than a prediction: what a plain CSR matrix needs of them is done here.
    is_plain = (
        sp.issparse(X) and X.format == "csr" and X.ndim == 2 and X.dtype.kind in "fiub" and X.shape[0] > 0
    )
    if reset or not is_plain or hasattr(estimator, "feature_names_in_"):
        X = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr",
            accept_large_sparse=True,
            dtype=[np.float32, np.float64],
            order="C",
        )
    elif X.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )
    if not sp.issparse(X):
        return _native.FeatureMatrix.dense(np.ascontiguousarray(X), bool(normalize), dense_features)

    def view(X: Any) -> _native.FeatureMatrix:
        return _native.FeatureMatrix.csr(*_csr_arrays(X), X.shape[1], bool(normalize), dense_features)

    features = view(X)
    return features if features.canonical else view(_canonical(X))


def is_pair(X: Any) -> bool:
    """Whether X is a sparse and a dense matrix side by side, rather than rows."""
    return isinstance(X, tuple) and len(X) == 2 and sp.issparse(X[0])


def is_rows_of_names(X: Any) -> bool:
    """Whether X is a list of dictionaries."""
    return isinstance(X, list | tuple) and len(X) > 0 and all(isinstance(row, Mapping) for row in X)


def adopt_features(estimator: BaseEstimator, checked: BaseEstimator) -> None:
    """Take over the number and names of the features that `check_features` recorded in another estimator."""
    vars(estimator).pop("feature_names_in_", None)
    for name in ("n_features_in_", "feature_names_in_"):
        if name in vars(checked):
            setattr(estimator, name, getattr(checked, name))


def _check_pair(
    estimator: BaseEstimator,
    pair: tuple[Any, Any],
    normalize: bool,
    reset: bool,
    dense_features: tuple[int, int] | None,
) -> _native.FeatureMatrix:
    """The features of both parts, the sparse ones first. They have no names."""
    if sp.issparse(pair[1]):
        raise ValueError(
            "X is a pair of two sparse matrices; the second one must be dense: join them with "
            "scipy.sparse.hstack, or give X[1].toarray() if it is dense in truth"
        )
    sparse = check_array(
        pair[0], accept_sparse="csr", dtype=[np.float32, np.float64], input_name="X[0]", estimator=estimator
    )
    dense = check_array(
        pair[1], order="C", dtype=[np.float32, np.float64], input_name="X[1]", estimator=estimator
    )
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
            f"{type(estimator).__name__} is expecting {estimator.n_features_in_} features as input, of which "
            + (f"those from {begin} to {end - 1} are dense" if end > begin else "none are dense")
        )

    def view(X: Any) -> _native.FeatureMatrix:
        return _native.FeatureMatrix.pair(
            *_csr_arrays(X), X.shape[1], np.ascontiguousarray(dense), bool(normalize)
        )

    features = view(sparse)
    return features if features.canonical else view(_canonical(sparse))


def _csr_arrays(X: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """indptr, indices and data in types that the kernel has."""
    data = X.data if X.data.dtype in (np.float32, np.float64) else X.data.astype(np.float32)
    index = np.int32 if X.indices.dtype == np.int32 and X.indptr.dtype == np.int32 else np.int64
    return (
        np.ascontiguousarray(X.indptr, dtype=index),
        np.ascontiguousarray(X.indices, dtype=index),
        np.ascontiguousarray(data),
    )


def _canonical(X: Any) -> Any:
    """A copy whose rows are sorted and free of duplicates."""
    X = X.copy()
    X.sum_duplicates()
    return X


def check_sample_weight(sample_weight: Any, n_rows: int) -> NDArray[np.float32] | None:
    """One finite weight of at least 0 per row, not all 0; None stays None."""
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
    """Raise `ValueError` unless a value is a count."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be an integer of at least {least}{otherwise}, got {value!r}")


def check_threshold(threshold: Any) -> None:
    """Raise `ValueError` unless a value can be a probability."""
    if not isinstance(threshold, int | float | np.floating | np.integer) or not 0 <= threshold <= 1:
        raise ValueError(f"threshold must be a number from 0 to 1, got {threshold!r}")


def check_tree_weight(tree_weight: Any, n_trees: int) -> list[float]:
    """One finite number above 0 for each tree."""
    is_sequence = isinstance(tree_weight, list | tuple | np.ndarray)
    weight = np.asarray(tree_weight, dtype=np.float64) if is_sequence else np.empty(0)
    if weight.shape != (n_trees,) or not (np.isfinite(weight) & (weight > 0)).all():
        raise ValueError(
            f"tree_weight must be {n_trees} finite numbers above 0, one for each tree, got {tree_weight!r}"
        )
    return [float(value) for value in weight]
