"""What a trained model of label trees is made of, and how the kernel is asked about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from labeltree import _native
from labeltree.labels.names import LabelNames
from labeltree.labels.reading import LabelKind
from labeltree.labels.weights import weight_of_each
from labeltree.metrics.propensity import inverse_propensity_of_counts
from labeltree.model.block_weights import TreeWeights
from labeltree.node_estimators.estimators import NodeEstimators, check_estimator_features
from labeltree.node_estimators.forest import EstimatorForest
from labeltree.trees import LabelTree
from labeltree.validation import check_features, check_tree_weight, is_rows_of_names, n_threads

if TYPE_CHECKING:  # calibration asks models, and so imports this
    from labeltree.calibration.level_maps import Calibration
    from labeltree.text.vectorizer import TextVectorizer


class TrainedTrees:
    """The state that prediction needs, and nothing of how it was trained.

    The estimator's parameters named below are read at every call. Nothing is written but caches: any number of
    threads may ask one model at once.
    """

    search: str
    beam: int
    tree_weight: Sequence[float] | None
    missing_estimates: str
    normalize_siblings: bool
    n_jobs: int | None

    classes_: NDArray[Any]
    label_kind_: LabelKind
    label_counts_: NDArray[np.int64]
    n_samples_fit_: int
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    normalize_: bool
    weights_: list[TreeWeights]
    training_report_: list[dict[str, int]]
    calibration_: Calibration  # only once it is calibrated
    vectorizer_: TextVectorizer  # only of a tagger: what makes features of texts

    @property
    def tree_(self) -> LabelTree:
        """The tree; of several, the first."""
        return self.weights_[0].tree

    @property
    def trees_(self) -> list[LabelTree]:
        """All trees."""
        return [weights.tree for weights in self.weights_]

    def _tree_shapes(self) -> Sequence[Any]:
        """What is told of each tree: its `n_nodes`, `depth` and `arity`."""
        return self.trees_

    @property
    def dense_features_(self) -> tuple[int, int]:
        """The range of features that are handled as dense ones: the first of them and the one after the last."""
        return self.weights_[0].dense_features

    def _check_trained(self) -> None:
        """Raise `NotFittedError` unless there is something to ask."""
        check_is_fitted(self, "weights_")

    @property
    def _is_one_tree(self) -> bool:
        return len(self.weights_) == 1

    def _features(self, X: Any) -> _native.FeatureMatrix:
        if isinstance(X, _native.FeatureMatrix):  # whoever made it knows what this model takes
            return X
        self._check_trained()
        if self._has_node_estimators:  # which read X themselves; their forest knows
            features = check_estimator_features(self, X, normalize=self.normalize_)
            return cast("_native.FeatureMatrix", features)
        return check_features(
            self, X, normalize=self.normalize_, reset=False, dense_features=self.dense_features_
        )

    def _features_of_one(self, x: Any) -> _native.FeatureMatrix:
        if isinstance(x, Mapping):  # of names of features to values, which online trees take
            x = [x]
        elif isinstance(x, list | np.ndarray) and np.ndim(x) == 1 and not is_rows_of_names(x):
            x = np.asarray(x).reshape(1, -1)
        features = self._features(x)
        if features.n_rows != 1:
            raise ValueError(f"expected one row, got {features.n_rows}; ask for one row at a time")
        return features

    @property
    def _n_threads(self) -> int:
        return n_threads(self.n_jobs)

    @property
    def _normalizes_siblings(self) -> bool:
        return bool(self.normalize_siblings)  # a bool of NumPy is none to the kernel

    @property
    def _has_node_estimators(self) -> bool:
        return isinstance(self.weights_[0], NodeEstimators)

    def _forest(self) -> _native.Forest:
        if self._has_node_estimators:  # it answers the same calls
            trees = cast("list[NodeEstimators]", self.weights_)
            return cast("_native.Forest", EstimatorForest(trees, self._weights_of_trees()))
        return self._forest_and_stores()[0]

    def _forest_and_stores(self) -> tuple[_native.Forest, list[_native.BlockStore]]:
        link, tree_weight = self._link(), self._weights_of_trees()
        calibration = getattr(self, "calibration_", None)
        key = (link, tree_weight, calibration)
        cached = self.__dict__.get("_cached_forest")
        if cached is None or cached[0] != key:
            maps = [None] * len(self.weights_) if calibration is None else calibration.trees
            stores = [
                weights.store(self.n_features_in_, link, of_tree)
                for weights, of_tree in zip(self.weights_, maps, strict=True)
            ]
            forest = _native.Forest(stores, tree_weight)
            cached = self.__dict__["_cached_forest"] = (key, (forest, stores))
        return cast("tuple[_native.Forest, list[_native.BlockStore]]", cached[1])

    def _enumeration(
        self, features: _native.FeatureMatrix, allowed: NDArray[np.uint8] | None
    ) -> Iterator[tuple[int, float]]:
        """The positions of the labels of the only row, best first, and their probabilities."""
        forest: Any = self._forest()
        if self._has_node_estimators:
            return cast(
                "Iterator[tuple[int, float]]", forest.enumerate(features, self._search(1, allowed=allowed))
            )
        return iter(_native.Enumeration(forest, features, 0, self._search(1, allowed=allowed)).next, None)

    def _weights_of_trees(self) -> list[float]:
        """How much each tree counts in the average."""
        if self.tree_weight is None:
            return [1.0] * len(self.weights_)
        return check_tree_weight(self.tree_weight, len(self.weights_))

    def _link(self) -> str:
        """The link of the node classifiers."""
        raise NotImplementedError

    def _keep_report(self, reports: list[dict[str, int]]) -> None:
        """After training or loading: keep what training told, and the parameters that it heeded."""
        raise NotImplementedError

    def _parameters_as_trained(self) -> dict[str, Any]:
        """All parameters, those that only training heeds as they were then."""
        raise NotImplementedError

    def _check_parameters(self) -> None:
        """Raise `ValueError` unless all parameters are what they must be."""
        raise NotImplementedError

    def _label_names(self) -> LabelNames:
        names: LabelNames | None = self.__dict__.get("_cached_names")
        if names is None or names.classes is not self.classes_:
            names = self.__dict__["_cached_names"] = LabelNames(self.classes_)
        return names

    def _renew_caches(self) -> None:
        """After training or loading; prediction itself then changes nothing."""
        self.__dict__.pop("_cached_forest", None)
        self._forest()
        self._label_names()

    def __getstate__(self) -> dict[str, Any]:
        state = cast("dict[str, Any]", super().__getstate__())
        return {name: value for name, value in state.items() if not name.startswith("_cached_")}

    def _ranking_weight(
        self, label_weight: Any, mask: NDArray[np.uint8] | None
    ) -> NDArray[np.float64] | None:
        """What labels weigh in a ranking; those that are not allowed nothing, so that no search goes on for them."""
        if label_weight is None:
            return None
        if not isinstance(label_weight, str):
            weight = weight_of_each(label_weight, self._label_names(), np.float64)
        elif label_weight == "propensity":
            weight = inverse_propensity_of_counts(self.label_counts_, self.n_samples_fit_)
        else:
            raise ValueError(
                "label_weight must be 'propensity', one weight per label, a dictionary from labels to weights, or "
                f"None; got {label_weight!r}"
            )
        return weight if mask is None else weight * mask

    def _search(self, k: int, **wishes: Any) -> _native.Search:
        return _native.Search(
            k, normalize_siblings=self._normalizes_siblings, n_threads=self._n_threads, **wishes
        )

    def _top_k(
        self,
        features: _native.FeatureMatrix,
        k: int,
        threshold: float,
        allowed: NDArray[np.uint8] | None,
        evaluations: NDArray[np.int64] | None,
        label_weight: NDArray[np.float64] | None = None,
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        k = min(k, len(self.classes_))
        labels = np.empty((features.n_rows, k), dtype=np.int32)
        probabilities = np.empty((features.n_rows, k), dtype=np.float32)
        search = self._search(
            k,
            threshold=threshold,
            allowed=allowed,
            label_weight=label_weight,
            beam=int(self.beam) if self.search == "beam" else 0,
            missing_as_zero=self.missing_estimates == "zero",
        )
        self._forest().top_k(features, search, labels, probabilities, evaluations)
        return labels, probabilities

    def _above(
        self,
        features: _native.FeatureMatrix,
        k: int | None,
        threshold: float,
        label_threshold: NDArray[np.float32] | None,
        allowed: NDArray[np.uint8] | None,
        evaluations: NDArray[np.int64] | None,
    ) -> Any:
        """A sparse matrix, its rows best first."""
        n_labels = len(self.classes_)
        search = self._search(
            n_labels if k is None else k,
            threshold=threshold,
            label_threshold=label_threshold,
            allowed=allowed,
        )
        indptr, labels, probabilities = self._forest().above(features, search, evaluations)
        return sp.csr_matrix((probabilities, labels, indptr), shape=(features.n_rows, n_labels))

    def _as_matrix(self, indices: NDArray[np.int32], probabilities: NDArray[np.float32]) -> Any:
        """The k best labels of every row as a sparse matrix, its rows best first."""
        there = indices >= 0
        indptr = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
        return sp.csr_matrix(
            (probabilities[there], indices[there], indptr), shape=(len(indices), len(self.classes_))
        )
