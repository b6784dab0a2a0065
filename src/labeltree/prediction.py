"""Everything a trained model of label trees can be asked."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labeltree import _native
from labeltree.decision_maker import DecisionMaker
from labeltree.model.explanation import Explanation, Step, explain_path
from labeltree.model.top_labels import TopLabels
from labeltree.validation import check_count, check_threshold

#: Up to so many labels `predict_proba` is a dense array if y was one, as scikit-learn's tools expect.
DENSE_CLASSES = 1000

#: From so many classes per tree `predict` chooses the best on average.
POOLED_CLASSES = 100

_Predictor = TypeVar("_Predictor", bound="LabelTreePredictor")


class LabelTreePredictor(DecisionMaker):
    """The questions, for every estimator that learns label trees."""

    def predict_topk(
        self,
        X: Any,
        k: int = 5,
        *,
        label_weight: Any = None,
        threshold: float = 0.0,
        allow: Collection[Any] | None = None,
        deny: Collection[Any] | None = None,
        return_evaluations: bool = False,
    ) -> Any:
        """The k most probable labels of every row, or with weights the k that are worth most.

        Parameters
        ----------
        X : sparse matrix, array or frame of shape (n_rows, n_features), or a pair as in `fit`
        k : int
            Where there are fewer labels than k, all of them are returned.
        label_weight : {"propensity"}, array of shape (n_labels,), dict or None
            Labels are ranked by weight times probability; with one tree and exact search this is exact. Weights are
            finite and at least 0, in the order of `classes_`, or by label, where labels that are left out weigh 1.
            Labels of weight 0 come last. ``"propensity"`` weighs labels by their rarity in training, as PSP@k does.
            Weights in training, though of the same name, are another matter.
        threshold : float
            Labels with a smaller probability are left out.
        allow, deny : collections of labels, optional
            Only the allowed, none of the denied labels are considered.
        return_evaluations : bool
            Also return how many node classifiers were asked for every row.

        Returns
        -------
        TopLabels
            `labels` and `probabilities`, each (n_rows, k), best first; with `return_evaluations` a tuple of these two
            and the counts. Probabilities are those of the labels, whatever they weigh.

        Examples
        --------
        Where to name a kitten is worth three times as much as to name a cat:

        >>> from labeltree import LabelTreeClassifier
        >>> X = [[1, 0], [0, 1]] * 4
        >>> y = [["cat"], ["cat", "kitten"]] * 2 + [["cat"], ["cat"]] * 2
        >>> model = LabelTreeClassifier(random_state=0).fit(X, y)
        >>> model.predict_topk([[0, 1]], k=2).labels.tolist()
        [['cat', 'kitten']]
        >>> model.predict_topk([[0, 1]], k=2, label_weight={"kitten": 3}).labels.tolist()
        [['kitten', 'cat']]
        """
        check_count("k", k)
        check_threshold(threshold)
        features = self._features(X)
        evaluations = np.empty(features.n_rows, dtype=np.int64) if return_evaluations else None
        mask = self._label_names().mask(allow, deny)
        weight = self._ranking_weight(label_weight, mask)
        indices, probabilities = self._top_k(features, int(k), threshold, mask, evaluations, weight)
        top = TopLabels(self._label_names().at(indices), probabilities)
        return (*top, evaluations) if return_evaluations else top

    def predict_proba(
        self,
        X: Any,
        top_k: int | None = 100,
        threshold: float | ArrayLike = 0.0,
        *,
        allow: Collection[Any] | None = None,
        deny: Collection[Any] | None = None,
        return_evaluations: bool = False,
    ) -> Any:
        """Probabilities of the most probable labels, as a sparse matrix.

        After training on a 1-d y, classes exclude each other and rows are scaled to sum to 1; `predict_topk` and
        `explain` give the probabilities before that. After training on a 1-d y or a dense matrix with at most 1000
        labels the result is a dense array with all of them, as scikit-learn's tools expect.

        Parameters
        ----------
        X : sparse matrix, array or frame of shape (n_rows, n_features), or a pair as in `fit`
        top_k : int or None
            In a sparse result, at most so many labels per row; None for all that reach the threshold.
        threshold : float or array of shape (n_labels,)
            Labels with a probability below their threshold are left out.
        allow, deny : collections of labels, optional
            Only the allowed, none of the denied labels are considered.
        return_evaluations : bool
            Also return how many node classifiers were asked for every row.

        Returns
        -------
        scipy.sparse.csr_matrix or array of shape (n_rows, n_labels), float32
        """
        self._check_trained()
        if top_k is not None:
            check_count("top_k", top_k, " or None")
        dense = self.label_kind_ in ("multiclass", "dense") and len(self.classes_) <= DENSE_CLASSES
        features = self._features(X)
        evaluations = np.empty(features.n_rows, dtype=np.int64) if return_evaluations else None
        mask = self._label_names().mask(allow, deny)
        probabilities = self._sparse_probabilities(
            features, None if dense else top_k, threshold, mask, evaluations
        )
        if self.label_kind_ == "multiclass":
            sums = np.asarray(probabilities.sum(axis=1)).ravel()
            probabilities.data /= np.repeat(np.where(sums > 0, sums, 1), np.diff(probabilities.indptr))
        if dense:
            probabilities = probabilities.toarray()
            if self.label_kind_ == "multiclass":
                probabilities[probabilities.sum(axis=1) == 0] = 1 / len(self.classes_)
        return (probabilities, evaluations) if return_evaluations else probabilities

    def predict(
        self, X: Any, *, allow: Collection[Any] | None = None, deny: Collection[Any] | None = None
    ) -> Any:
        """The labels of every row, in the form y had.

        A sparse or dense 0/1 matrix, or lists of labels (most probable first), with all labels of probability 0.5 or
        more, or those that `decide_for` has decided for; or, after training on a 1-d y, the most probable class.

        Parameters
        ----------
        X : sparse matrix, array or frame of shape (n_rows, n_features), or a pair as in `fit`
        allow, deny : collections of labels, optional
            Only the allowed, none of the denied labels are considered.
        """
        self._check_trained()
        features = self._features(X)
        mask = self._label_names().mask(allow, deny)
        if self.label_kind_ == "multiclass":
            # Of several trees, the best on average need not be the best of any one.
            pool = 1 if self._is_one_tree else POOLED_CLASSES
            indices, _ = self._top_k(features, pool, 0.0, mask, None)
            return self._label_names().at(indices[:, 0])
        found = self._decided(features, mask)
        if self.label_kind_ == "lists":
            names = self.classes_[found.indices].tolist()
            return [names[a:b] for a, b in zip(found.indptr[:-1], found.indptr[1:], strict=True)]
        found.data = np.ones(len(found.data), dtype=np.int64)
        found.sort_indices()
        return found if self.label_kind_ == "csr" else found.toarray()

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """The fraction of rows whose labels are predicted exactly, as in scikit-learn; y in any form `fit` takes."""
        if getattr(self, "label_kind_", None) != "lists":
            return float(super().score(X, y, sample_weight))  # type: ignore[misc] # ClassifierMixin's
        right = np.array([set(found) == set(true) for found, true in zip(self.predict(X), y, strict=True)])
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        return float(np.average(right, weights=weight))

    def predict_pairs(self, X: Any, rows: ArrayLike, labels: Sequence[Any]) -> NDArray[np.float32]:
        """The probability of each given (row of X, label): the product along the label's path."""
        features = self._features(X)
        row = np.asarray(rows)
        label = self._label_names().positions(labels)
        if row.ndim != 1 or row.shape != label.shape:
            raise ValueError(f"rows and labels must be of one length, got {row.shape} and {label.shape}")
        if row.size > 0 and (row.dtype.kind not in "iu" or row.min() < 0 or row.max() >= features.n_rows):
            raise ValueError(f"rows must be integers from 0 to {features.n_rows - 1}, the rows of X")
        row = row.astype(np.int64)
        order = np.argsort(row, kind="stable")
        found = np.empty(len(row), dtype=np.float32)
        self._forest().pairs(features, row[order], label[order], self._search(1), found)
        probabilities = np.empty_like(found)
        probabilities[order] = found
        return probabilities

    def iter_labels(
        self, x: Any, *, allow: Collection[Any] | None = None, deny: Collection[Any] | None = None
    ) -> Iterator[tuple[Any, float]]:
        """The labels of one row, most probable first, one by one: k need not be known beforehand.

        Exact for any number of trees. Each step costs only what it takes to find the next label.
        """
        features = self._features_of_one(x)
        mask = self._label_names().mask(allow, deny)
        found = self._enumeration(features, mask)
        # An iterator rather than a generator: what is wrong with x is said now, not at the first label.
        return ((self.classes_[position], probability) for position, probability in found)

    def explain(
        self, x: Any, label: Any, *, n_features: int = 10, feature_names: Sequence[str] | None = None
    ) -> Explanation:
        """Why one row has this probability for a label.

        Parameters
        ----------
        x : one row, in any form `predict` takes
        label : one of `classes_`
        n_features : int
            How many of the features that weighed most are given for each node.
        feature_names : sequence of str, optional
            Names to use for the features; by default the names of the frame the model was trained on, or numbers.
        """
        features = self._features_of_one(x)
        if feature_names is None:
            feature_names = getattr(self, "feature_names_in_", None)
        elif len(feature_names) != self.n_features_in_:
            raise ValueError(
                f"feature_names must name all {self.n_features_in_} features, got {len(feature_names)} names"
            )
        check_count("n_features", n_features)
        index = int(self._label_names().positions([label])[0])
        paths = self._paths(features, index, n_features, feature_names)
        probability = float(
            np.average([path[-1].probability_so_far for path in paths], weights=self._weights_of_trees())
        )
        return Explanation(label, probability, paths)

    def calibrate(
        self: _Predictor, X: Any, y: Any, *, method: str = "isotonic", random_state: int = 0
    ) -> _Predictor:
        """Make probabilities right, by rows that the model was not trained on.

        For each level of each tree a map from the scores of nodes to probabilities is fitted, which takes the place of
        the link in all that follows and is saved with the model. The maps are monotone: siblings keep their order.
        A model that is calibrated already is calibrated anew. A decision of `decide_for` is forgotten: it was made for
        other probabilities. `labeltree.calibration` has measures.

        Parameters
        ----------
        X, y
            Held-out examples, in any form that `fit` takes, with labels that the model knows.
        method : {"isotonic", "platt"}
            A map of any shape that never descends, which fits best; or a sigmoid, which keeps all scores apart.
        random_state : int
            The seed of the sample of negative nodes, where there are many millions.

        Examples
        --------
        >>> from labeltree import LabelTreeClassifier
        >>> X, y = [[1.0, 0.0], [0.0, 1.0], [0.9, 0.1]], [["cat"], ["dog"], ["cat", "pet"]]
        >>> model = LabelTreeClassifier(random_state=0).fit(X, y)
        >>> model.calibrate(X, y, method="platt").calibration_.method
        'platt'
        """
        from labeltree.calibration.fitting import fit_calibration

        self._check_trained()
        self.calibration_ = fit_calibration(self, X, y, method, random_state)
        vars(self).pop("decision_", None)  # its thresholds were for other probabilities
        self._renew_caches()
        return self

    def _paths(
        self,
        features: _native.FeatureMatrix,
        index: int,
        n_features: int,
        feature_names: Sequence[str] | None,
    ) -> list[list[Step]]:
        """The steps to a label in every tree, for the only row."""
        if self._has_node_estimators:
            raise ValueError("explain needs linear node classifiers, but this model has a node_estimator")
        if any(weights.is_joint for weights in self.weights_):
            raise ValueError(
                "explain needs a classifier per node, but siblings='joint' gave children one together: their "
                "probabilities are no sum of contributions; train with siblings='independent'"
            )
        return [
            explain_path(
                weights, store, features, index, self._normalizes_siblings, n_features, feature_names
            )
            for weights, store in zip(self.weights_, self._forest_and_stores()[1], strict=True)
        ]

    def _sparse_probabilities(
        self,
        features: _native.FeatureMatrix,
        top_k: int | None,
        threshold: float | ArrayLike,
        allowed: NDArray[np.uint8] | None,
        evaluations: NDArray[np.int64] | None,
    ) -> Any:
        bound, label_threshold = self._check_thresholds(threshold)
        if top_k is None or label_threshold is not None:
            found = self._above(features, top_k, bound, label_threshold, allowed, evaluations)
        else:
            found = self._as_matrix(*self._top_k(features, top_k, bound, allowed, evaluations))
        found.sort_indices()
        return found

    def _check_thresholds(self, threshold: Any) -> tuple[float, NDArray[np.float32] | None]:
        """One threshold for all labels, or one for each."""
        if np.ndim(threshold) == 0:
            check_threshold(threshold)
            return float(threshold), None
        per_label = np.ascontiguousarray(threshold, dtype=np.float32)
        if per_label.shape != (len(self.classes_),) or np.isnan(per_label).any():
            raise ValueError(
                f"threshold must be a number or one number per label, {len(self.classes_)} in all, "
                f"got an array of shape {per_label.shape}"
            )
        return 0.0, per_label
