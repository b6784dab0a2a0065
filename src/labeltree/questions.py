"""`Questions`: everything that a trained model can be asked, written once for every kind of model."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import NotFittedError

from labeltree.decisions.decision import HALF, Decision, Tuning, decide, read_truth
from labeltree.decisions.online_f_measure import OFO
from labeltree.decisions.validation_pairs import ValidationPairs
from labeltree.labels.reading import plain_labels
from labeltree.labels.weights import ranking_weight
from labeltree.metrics.names import Metric, get_metric
from labeltree.model.explanation import Explanation, FeatureNames
from labeltree.model.forest import Features, Search, TopAnswer
from labeltree.model.model import Model
from labeltree.model.top_labels import TopLabels
from labeltree.validation import check_count, check_same_rows, check_threshold, n_threads

#: Maximum number of labels for which `predict_proba` returns a dense array (if y was dense or 1-d).
DENSE_CLASSES = 1000

#: With several trees, `predict` finds the best class on average among this many of the best classes of each tree.
POOLED_CLASSES = 100

_Self = TypeVar("_Self", bound="Questions")


class Questions:
    """A base class with all questions. A subclass has the parameter `n_jobs`, and its trained model in `_model`."""

    n_jobs: int | None
    _model: Any

    @property
    def model_(self) -> Model:
        """The trained model: its forest, labels, features and decision."""
        model: Model | None = vars(self).get("_model")
        if model is None:
            raise NotFittedError(
                f"this {type(self).__name__} is not fitted yet: call 'fit' before asking it, or load a saved model"
            )
        return model

    def adopt(self: _Self, model: Any) -> _Self:
        """Take over a trained model, as if `fit` had made it; return this object."""
        self._model = model
        return self

    def make_search(self, k: int = 1, **wanted: Any) -> Search:
        """Return a `Search` for k labels with the options that the parameters set; `wanted` has other options."""
        return Search(k, n_threads=n_threads(self.n_jobs), **wanted)

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in vars(self)

    # -- what the model knows --------------------------------------------------------------------------------------

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, in the order of their positions."""
        model = self.model_
        with model.reading():
            return model.label_index.classes

    @property
    def label_kind_(self) -> str:
        """The form of the y that the model was trained on."""
        return self.model_.label_kind

    @property
    def label_counts_(self) -> NDArray[np.int64]:
        """The number of training rows with each label."""
        model = self.model_
        with model.reading():
            return model.label_counts

    @property
    def n_samples_fit_(self) -> int:
        """The number of training rows."""
        return self.model_.n_samples_fit

    @property
    def n_features_in_(self) -> int:
        """The number of features."""
        return self.model_.n_features

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the features, if X was a frame."""
        names = self.model_.feature_names
        if names is None:
            raise AttributeError(f"the features of this {type(self).__name__} have no names")
        return names

    @property
    def label_names_(self) -> Mapping[Any, str] | None:
        """Readable names by label, for labels that are codes or URIs; None if there are none.

        Set it to a mapping from label to name, such as that of `labeltree.labels.read_label_names`. Names of labels
        that the model does not have are ignored. The names are saved with the model. Training drops them.

        Examples
        --------
        >>> from labeltree import LabelTreeClassifier
        >>> model = LabelTreeClassifier().fit([[1.0, 0.0], [0.0, 1.0]], [["T1"], ["T2"]])
        >>> model.label_names_ = {"T1": "cats", "T2": "dogs", "T3": "birds"}
        >>> best = model.predict_topk([[1.0, 0.0]], k=1).labels[0, 0]
        >>> best, model.label_names_[best]
        ('T1', 'cats')
        """
        names: Any = self.model_.label_names
        return None if names is None else MappingProxyType(names)

    @label_names_.setter
    def label_names_(self, names: Mapping[Any, str] | None) -> None:
        self._model = self.model_.naming(names)

    @property
    def decision_(self) -> Decision:
        """Which labels `predict` returns."""
        model = self.model_
        with model.reading():
            return model.decision

    @decision_.setter
    def decision_(self, decision: Decision) -> None:
        self._model = self.model_.deciding(decision)

    @decision_.deleter
    def decision_(self) -> None:
        self.decision_ = HALF

    # -- questions -------------------------------------------------------------------------------------------------

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
        """Return the k best labels of every row: by probability, or by weight times probability.

        Parameters
        ----------
        X : sparse matrix, array or frame of shape (n_rows, n_features), or a pair as in `fit`
        k : int
            Number of labels for each row; all labels if there are fewer than k.
        label_weight : {"propensity"}, array of shape (n_labels,), dict or None
            Rank labels by weight times probability; with one tree and exact search this is exact. Weights are finite
            and at least 0, in the order of `classes_`, or by label, where labels that are left out weigh 1. Labels of
            weight 0 come last. ``"propensity"`` weighs labels by their rarity in training, as PSP@k does. These
            weights change the ranking only; the parameter `label_weight` of an estimator changes its training.
        threshold : float
            Leave out labels with a smaller probability.
        allow, deny : collections of labels, optional
            Consider only the allowed labels, and none of the denied ones.
        return_evaluations : bool
            Also return the number of node classifiers that were evaluated for each row.

        Returns
        -------
        TopLabels
            `labels` and `probabilities`, each (n_rows, k), best first; with `return_evaluations` a tuple of these two
            and the counts. Weights do not change the probabilities.

        Examples
        --------
        If "kitten" is worth three times as much as "cat":

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
        model = self.model_
        with model.reading():
            features = model.read(X)
            evaluations = np.empty(features.n_rows, dtype=np.int64) if return_evaluations else None
            allowed = model.label_index.mask(allow, deny)
            weight = None if label_weight is None else ranking_weight(label_weight, model, allowed)
            search = self.make_search(
                min(int(k), len(model.label_index)), threshold=threshold, allowed=allowed, label_weight=weight
            )
            indices, probabilities = model.forest.top_k(features, search, evaluations)
            top = TopLabels(model.label_index.at(indices), probabilities)
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
        """Return the probabilities of the most probable labels, as a sparse matrix.

        After training on a 1-d y, classes exclude each other and rows are scaled to sum to 1; `predict_topk` and
        `explain` return the probabilities before that. After training on a 1-d y or a dense matrix with at most 1000
        labels the result is a dense array with all of them, as scikit-learn's tools expect.

        Parameters
        ----------
        X : sparse matrix, array or frame of shape (n_rows, n_features), or a pair as in `fit`
        top_k : int or None
            The maximum number of labels for each row of a sparse result; None for all that reach the threshold.
        threshold : float or array of shape (n_labels,)
            Leave out labels with a probability below their threshold.
        allow, deny : collections of labels, optional
            Consider only the allowed labels, and none of the denied ones.
        return_evaluations : bool
            Also return the number of node classifiers that were evaluated for each row.

        Returns
        -------
        scipy.sparse.csr_matrix or array of shape (n_rows, n_labels), float32
            With `return_evaluations`, a tuple of this and the counts.
        """
        model = self.model_
        if top_k is not None:
            check_count("top_k", top_k, " or None")
        with model.reading():
            n_labels, is_multiclass = len(model.label_index), model.label_kind == "multiclass"
            dense = model.label_kind in ("multiclass", "dense") and n_labels <= DENSE_CLASSES
            features = model.read(X)
            evaluations = np.empty(features.n_rows, dtype=np.int64) if return_evaluations else None
            bound, label_threshold = _check_thresholds(threshold, n_labels)
            search = self.make_search(
                n_labels if top_k is None or dense else min(int(top_k), n_labels),
                threshold=bound,
                label_threshold=label_threshold,
                allowed=model.label_index.mask(allow, deny),
            )
            if top_k is None or dense or label_threshold is not None:
                indptr, labels, values = model.forest.above(features, search, evaluations)
                found = sp.csr_matrix((values, labels, indptr), shape=(features.n_rows, n_labels))
            else:
                found = _as_matrix(model.forest.top_k(features, search, evaluations), n_labels)
        found.sort_indices()
        if is_multiclass:
            sums = np.asarray(found.sum(axis=1)).ravel()
            found.data /= np.repeat(np.where(sums > 0, sums, 1), np.diff(found.indptr))
        if dense:
            found = found.toarray()
            if is_multiclass:
                found[found.sum(axis=1) == 0] = 1 / n_labels
        return (found, evaluations) if return_evaluations else found

    def predict(
        self, X: Any, *, allow: Collection[Any] | None = None, deny: Collection[Any] | None = None
    ) -> Any:
        """Return the labels of every row, in the form of the y of the training.

        After training on a matrix or on lists, these are the labels that `decision_` chooses: by default those with a
        probability of at least 0.5. Lists have the most probable label first. After training on a 1-d y, it is the most
        probable class.

        Parameters
        ----------
        X : sparse matrix, array or frame of shape (n_rows, n_features), or a pair as in `fit`
        allow, deny : collections of labels, optional
            Consider only the allowed labels, and none of the denied ones.
        """
        model = self.model_
        with model.reading():
            features, index, kind = model.read(X), model.label_index, model.label_kind
            search = self.make_search(allowed=index.mask(allow, deny))
            if kind == "multiclass":
                pool = 1 if model.forest.exact_best else min(POOLED_CLASSES, len(index))
                return index.at(model.forest.top_k(features, search.replace(k=pool))[0][:, 0])
            found = decided_labels(model, features, search)
        if kind == "lists":
            labels = index.classes[found.indices].tolist()
            return [labels[a:b] for a, b in zip(found.indptr[:-1], found.indptr[1:], strict=True)]
        found.data = np.ones(len(found.data), dtype=np.int64)
        found.sort_indices()
        return found if kind == "csr" else found.toarray()

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return the fraction of rows with exactly the right labels, as in scikit-learn; y as in `fit`."""
        predicted = self.predict(X)
        if self.model_.label_kind == "lists":
            true_labels = plain_labels(y)
            check_same_rows(len(predicted), len(true_labels))
            if len(predicted) == 0:
                raise ValueError("a score needs at least one row, got none")
            right = np.array(
                [set(found) == set(true) for found, true in zip(predicted, true_labels, strict=True)]
            )
            weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
            return float(np.average(right, weights=weight))
        from sklearn.metrics import accuracy_score

        return float(accuracy_score(y, predicted, sample_weight=sample_weight))

    def predict_pairs(self, X: Any, rows: ArrayLike, labels: Sequence[Any]) -> NDArray[np.float32]:
        """Return the probability of each pair of a row of X and a label: the product along the label's path."""
        model = self.model_
        with model.reading():
            features, label = model.read(X), model.label_index.positions(labels)
            row = np.asarray(rows)
            if row.ndim != 1 or row.shape != label.shape:
                raise ValueError(f"rows and labels must be of one length, got {row.shape} and {label.shape}")
            if row.size > 0 and (row.dtype.kind not in "iu" or row.min() < 0 or row.max() >= features.n_rows):
                raise ValueError(f"rows must be integers from 0 to {features.n_rows - 1}, the rows of X")
            order = np.argsort(row, kind="stable")
            probabilities = np.empty(len(row), dtype=np.float32)
            probabilities[order] = model.forest.pairs(
                features, row.astype(np.int64)[order], label[order], self.make_search()
            )
        return probabilities

    def iter_labels(
        self, x: Any, *, allow: Collection[Any] | None = None, deny: Collection[Any] | None = None
    ) -> Iterator[tuple[Any, float]]:
        """Return an iterator over the labels of one row, most probable first. Use it if k is not known in advance.

        Exact for any number of trees. Each step costs only what it takes to find the next label.
        """
        model = self.model_
        with model.reading():
            features, classes = model.read_one(x), model.label_index.classes
            search = self.make_search(allowed=model.label_index.mask(allow, deny))
            found = model.forest.enumerate(features, search)
        # An iterator rather than a generator: a wrong x is refused now, not at the first label.
        return ((classes[position], probability) for position, probability in found)

    def explain(
        self, x: Any, label: Any, *, n_features: int = 10, feature_names: FeatureNames = None
    ) -> Explanation:
        """Explain the probability of a label for one row: its path through every tree.

        Parameters
        ----------
        x : one row, in any form `predict` takes
        label : one of `classes_`
        n_features : int
            The maximum number of features for each node: those with the largest contributions.
        feature_names : sequence of str, optional
            Names for the features; by default the names of the frame the model was trained on, or numbers.
        """
        model = self.model_
        with model.reading():
            features = model.read_one(x)
            if feature_names is None:
                feature_names = model.feature_names
            elif len(feature_names) != model.n_features:
                raise ValueError(
                    f"feature_names must name all {model.n_features} features, got {len(feature_names)} names"
                )
            check_count("n_features", n_features)
            position = int(model.label_index.positions([label])[0])
            explanation = model.forest.explain(
                features, position, self.make_search(), n_features, feature_names
            )
        return replace(explanation, label=label)

    def decide_for(
        self: _Self,
        metric: str | Metric,
        X_valid: Any = None,
        y_valid: Any = None,
        *,
        method: str | OFO = "auto",
        floor: float = 0.01,
    ) -> _Self:
        """Choose the labels that `predict` returns so that a metric is largest. The choice, `decision_`, is saved.

        Probabilities do not change, nor do `predict_topk` and `predict_proba`. For metrics at k `predict` returns the k
        most probable labels, or for propensity-scored ones ("psprecision@k") the k best by probability times inverse
        propensity, from the training rows. For others it returns all labels that reach a threshold: one threshold for
        all labels, or one per label for metrics that are averaged over labels ("macro").

        Parameters
        ----------
        metric : str or object of `labeltree.metrics`
            As for `labeltree.metrics.get_metric`: "micro_f1", "macro_f1", "micro_jaccard", "hamming", "macro_am",
            "precision@5" and others.
        X_valid, y_valid : optional
            Rows that the model was not trained on, in any form that `fit` takes. Labels that the model does not know
            count as missed. Not needed where the threshold is known: for Hamming, AM and metrics at k.
        method : {"auto", "fixed", "exact", "ofo"} or OFO
            How thresholds are found. "fixed": from the metric and the shares of training rows with each label.
            "exact": the best on the validation rows. "ofo": by online F-measure optimisation, for F-beta and Jaccard;
            a `labeltree.decisions.OFO` sets its options. "auto": "fixed" if possible, else "exact".
        floor : float
            Smallest threshold that tuning considers. Tuning ignores labels with a smaller probability.

        Examples
        --------
        >>> from labeltree import LabelTreeClassifier
        >>> X, y = [[1.0, 0.0], [0.0, 1.0], [0.9, 0.1]], [["cat"], ["dog"], ["cat", "pet"]]
        >>> model = LabelTreeClassifier(random_state=0).fit(X, y)
        >>> model.predict(X)
        [['cat'], ['dog'], ['cat']]
        >>> model.decide_for("micro_f1", X, y).predict(X)
        [['cat', 'pet'], ['dog'], ['cat', 'pet']]
        >>> model.decide_for("precision@1").predict(X)
        [['cat'], ['dog'], ['cat']]
        """
        model = self.model_
        tuning, chosen = Tuning(method, floor), get_metric(metric)
        if model.label_kind == "multiclass":
            raise ValueError(
                "this model was trained on one class per row, and predict returns the most probable class: there is "
                "nothing to decide; train it on lists of labels or a 0/1 matrix"
            )

        def pairs() -> ValidationPairs:
            if X_valid is None or y_valid is None:
                raise ValueError(
                    f"thresholds for {chosen.name} are tuned on validation rows: pass X_valid and y_valid, or train "
                    "with fit_for, which sets rows aside"
                )
            return validation_pairs(model, X_valid, y_valid, self.make_search(), floor)

        # Under one lock: a model that learns meanwhile may have more labels than the thresholds.
        with model.reading():
            decision = decide(chosen, tuning, model.label_counts, model.n_samples_fit, pairs)
            classes = model.label_index.classes
        self._model = model.deciding(decision, classes)
        return self

    # -- files -----------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a directory, atomically: a reader sees the old model or the new one.

        Parameters
        ----------
        path : path of a directory
            Made if it does not exist. A directory that holds anything but a model is refused.
        """
        from labeltree.model_file import save

        save(self, path)

    @classmethod
    def load(cls: type[_Self], path: str | os.PathLike[str], *, verify: bool = False) -> _Self:
        """Open a saved model. Its arrays are mapped, not read: opening takes milliseconds.

        Parameters
        ----------
        path : path of a directory
        verify : bool
            Read everything and compare it with the checksums.
        """
        from labeltree.model_file import load

        model: _Self = load(path, verify, cls)
        return model


def decided_labels(model: Model, features: Features, search: Search) -> Any:
    """Return the labels that the model's decision chooses, as a sparse matrix, its rows best first.

    `search` has the allowed labels and the parameters of the search; k and thresholds come from the decision.
    """
    decision, n_labels = model.decision, len(model.label_index)
    if decision.k is not None:
        weight = decision.label_weight
        wanted = search.replace(
            k=min(decision.k, n_labels),
            label_weight=None if weight is None else ranking_weight(weight, model, search.allowed),
        )
        return _as_matrix(model.forest.top_k(features, wanted), n_labels)
    threshold, label_threshold = decision.bounds()
    wanted = search.replace(k=n_labels, threshold=threshold, label_threshold=label_threshold)
    indptr, labels, values = model.forest.above(features, wanted)
    return sp.csr_matrix((values, labels, indptr), shape=(features.n_rows, n_labels))


def validation_pairs(model: Model, X: Any, y: Any, search: Search, floor: float) -> ValidationPairs:
    """Return the labels of each row with at least the probability `floor`, beside the true ones."""
    features = model.read(X)
    truth, n_unknown = read_truth(y, model.label_index)
    check_same_rows(features.n_rows, truth.n_rows)
    n_labels = len(model.label_index)
    indptr, labels, values = model.forest.above(features, search.replace(k=n_labels, threshold=floor))
    scores = sp.csr_matrix((values, labels, indptr), shape=(features.n_rows, n_labels))
    return ValidationPairs.of(scores, truth, n_unknown, floor)


def _as_matrix(answer: TopAnswer, n_labels: int) -> Any:
    """The k best labels of every row as a sparse matrix, its rows best first."""
    indices, probabilities = answer
    found = indices >= 0
    indptr = np.concatenate([[0], np.cumsum(found.sum(axis=1))])
    return sp.csr_matrix((probabilities[found], indices[found], indptr), shape=(len(indices), n_labels))


def _check_thresholds(threshold: Any, n_labels: int) -> tuple[float, NDArray[np.float32] | None]:
    """One threshold for all labels, or one for each."""
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
