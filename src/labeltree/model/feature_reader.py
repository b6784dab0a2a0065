"""`FeatureReader`: X in any form that users have it in, as the kernel reads it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labeltree import _native, scikit_learn
from labeltree.cached import cached_property
from labeltree.model.texts import Text
from labeltree.validation import check_features, is_rows_of_names

if TYPE_CHECKING:
    from labeltree.text.features import TextFeatures


@dataclass(frozen=True, eq=False)
class FeatureReader:
    """The features that a model was trained on, and how rows of them are read.

    Attributes
    ----------
    owner : str
        The class of the estimator, for error messages.
    normalize : bool
        Scale every row to unit length.
    n_features : int
    names : array of str, optional
        The names of the columns, if X was a frame.
    dense_features : (int, int)
        The range of dense features: the first of them and the one after the last.
    """

    owner: str
    normalize: bool
    n_features: int
    names: NDArray[Any] | None = None
    dense_features: tuple[int, int] = (0, 0)

    @classmethod
    def learn(cls, owner: str, X: Any, normalize: bool) -> tuple[FeatureReader, _native.FeatureMatrix]:
        """Read the X of `fit`; return the reader for rows that come later, and X as the kernel reads it."""
        checked = feature_checker(owner)
        matrix = check_features(checked, X, normalize=normalize, reset=True)
        names = getattr(checked, "feature_names_in_", None)
        return cls(owner, bool(normalize), checked.n_features_in_, names, matrix.dense_features), matrix

    def read_rows(self, X: Any) -> _native.FeatureMatrix:
        """Read rows to train on; the kernel clusters labels by them, whatever the node classifiers read."""
        return FeatureReader.read(self, X)

    def read(self, X: Any) -> _native.FeatureMatrix:
        """Read rows; raises `ValueError` unless they have the features that the model was trained on."""
        if isinstance(X, _native.FeatureMatrix):  # made for this model already
            return X
        return check_features(
            self.checked,
            X,
            normalize=self.normalize,
            reset=False,
            dense_features=self.dense_features,
            min_rows=0,
        )

    def read_texts(self, features: TextFeatures, texts: Iterable[Text], n_threads: int) -> Any:
        """Read texts, whose terms are the features."""
        return features.read(texts, n_threads, self.normalize, self.dense_features)

    def read_csr(
        self, indptr: NDArray[Any], indices: NDArray[Any], values: NDArray[Any], n_features: int
    ) -> Any:
        """Read the rows of a CSR matrix that is known to be valid."""
        begin, index = indptr.astype(np.int64, copy=False), indices.astype(np.int64, copy=False)
        return _native.FeatureMatrix.csr(
            begin, index, values, n_features, self.normalize, self.dense_features
        )

    @cached_property
    def checked(self) -> Any:
        """The features as scikit-learn's checks want them."""
        return feature_checker(self.owner, self.n_features, self.names)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "checked"}


def feature_checker(owner: str, n_features: int | None = None, names: NDArray[Any] | None = None) -> Any:
    """Return an estimator of the class `owner` with these features only, for scikit-learn's checks."""
    estimator: Any = type(owner, (scikit_learn.BaseEstimator,), {})()
    if n_features is not None:
        estimator.n_features_in_ = n_features
    if names is not None:
        estimator.feature_names_in_ = names
    return estimator


def one_row(x: Any) -> Any:
    """Return X with the only row x, which may be 1-d or a dictionary."""
    if isinstance(x, Mapping):
        return [x]
    if isinstance(x, list | np.ndarray) and np.ndim(x) == 1 and not is_rows_of_names(x):
        x = np.asarray(x)
        return x if x.dtype.kind in "UO" and isinstance(x[0], str) else x.reshape(1, -1)
    return x
