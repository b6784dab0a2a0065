"""`Questions`: everything that a trained model can be asked, written once for every kind of model."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labeltree import sparse as sp
from labeltree.decisions.decision import Tuning, decide
from labeltree.decisions.online_f_measure import OFO
from labeltree.decisions.validation_pairs import ValidationPairs
from labeltree.fitted import Fitted
from labeltree.labels.reading import plain_labels
from labeltree.labels.weights import ranking_weight
from labeltree.mapped_rows import labels_given
from labeltree.metrics.names import Metric, get_metric
from labeltree.model.explanation import Explanation, FeatureNames
from labeltree.model.label_matrix import (
    all_above,
    as_matrix,
    check_fits,
    decided_labels,
    shares_of_classes,
    validation_pairs,
)
from labeltree.model.top_labels import TopLabels
from labeltree.validation import check_count, check_same_rows, check_threshold, check_thresholds
from labeltree.wording import count_text

#: With several trees, `predict` finds the best class on average among this many of the best classes of each tree.
POOLED_CLASSES = 100

#: A sparse matrix; an array after training on a 1-d y.
Probabilities: TypeAlias = "sp.csr_matrix | NDArray[np.float32]"

#: Labels in the form of the y of the training: lists, a sparse matrix, or an array.
Predicted: TypeAlias = "list[list[Any]] | sp.csr_matrix | NDArray[Any]"

_Self = TypeVar("_Self", bound="Questions")


class Questions(Fitted):
    """A base class with all questions."""

    @overload
    def predict_topk(
        self,
        X: Any,
        k: int = ...,
        *,
        label_weight: Any = ...,
        threshold: float = ...,
        allow: Collection[Any] | None = ...,
        deny: Collection[Any] | None = ...,
        return_evaluations: Literal[False] = False,
    ) -> TopLabels: ...

    @overload
    def predict_topk(
        self,
        X: Any,
        k: int = ...,
        *,
        label_weight: Any = ...,
        threshold: float = ...,
        allow: Collection[Any] | None = ...,
        deny: Collection[Any] | None = ...,
        return_evaluations: Literal[True],
    ) -> tuple[NDArray[Any], NDArray[np.float32], NDArray[np.int64]]: ...

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
    ) -> TopLabels | tuple[NDArray[Any], NDArray[np.float32], NDArray[np.int64]]:
        """Return the k best labels of every row: by probability, or by weight times probability.

        Parameters
        ----------
        X : sparse matrix, array or frame of shape (n_rows, n_features), or a pair as in `fit`
            Or texts, if the model was trained on texts; so everywhere.
        k : int
            Number of labels for each row; all labels if there are fewer than k.
        label_weight : {"propensity"}, array of shape (n_labels,), dict or None
            Rank labels by weight times probability; with exact search this is exact. Weights are finite and at least 0,
            in the order of `classes_`, or by label, where labels that are left out weigh 1. Labels of
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
        return top if evaluations is None else (*top, evaluations)

    @overload
    def predict_proba(
        self,
        X: Any,
        top_k: int | None = ...,
        threshold: float | ArrayLike = ...,
        *,
        allow: Collection[Any] | None = ...,
        deny: Collection[Any] | None = ...,
        return_evaluations: Literal[False] = False,
    ) -> Probabilities: ...

    @overload
    def predict_proba(
        self,
        X: Any,
        top_k: int | None = ...,
        threshold: float | ArrayLike = ...,
        *,
        allow: Collection[Any] | None = ...,
        deny: Collection[Any] | None = ...,
        return_evaluations: Literal[True],
    ) -> tuple[Probabilities, NDArray[np.int64]]: ...

    def predict_proba(
        self,
        X: Any,
        top_k: int | None = 100,
        threshold: float | ArrayLike = 0.0,
        *,
        allow: Collection[Any] | None = None,
        deny: Collection[Any] | None = None,
        return_evaluations: bool = False,
    ) -> Probabilities | tuple[Probabilities, NDArray[np.int64]]:
        """Return the probabilities of the most probable labels as a sparse matrix, or those of all classes as an array.

        After training on a matrix or on lists, the result is sparse. After training on a 1-d y it is an array, as
        scikit-learn's tools expect: classes exclude each other, and rows are scaled to sum to 1. `predict_topk` and
        `explain` return the probabilities before that.

        Parameters
        ----------
        X : sparse matrix, array or frame of shape (n_rows, n_features), or a pair as in `fit`
        top_k : int or None
            The maximum number of labels for each row of a sparse result; None for all that reach the threshold. An
            array has all classes.
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

        Raises
        ------
        ValueError
            If an array would have more than 4 GiB: `predict_topk` returns the k best classes only.
        """
        model = self.model_
        if top_k is not None:
            check_count("top_k", top_k, " or None")
        with model.reading():
            n_labels, dense = len(model.label_index), model.label_kind == "multiclass"
            features = model.read(X)
            if dense:
                check_fits(features.n_rows, n_labels)
            evaluations = np.empty(features.n_rows, dtype=np.int64) if return_evaluations else None
            bound, label_threshold = check_thresholds(threshold, n_labels)
            search = self.make_search(
                n_labels if top_k is None or dense else min(int(top_k), n_labels),
                threshold=bound,
                label_threshold=label_threshold,
                allowed=model.label_index.mask(allow, deny),
            )
            if top_k is None or dense or label_threshold is not None:
                found = all_above(model, features, search, evaluations)
            else:
                found = as_matrix(model.forest.top_k(features, search, evaluations), n_labels)
        found.sort_indices()
        if dense:
            found = shares_of_classes(found)
        return found if evaluations is None else (found, evaluations)

    def predict(
        self, X: Any, *, allow: Collection[Any] | None = None, deny: Collection[Any] | None = None
    ) -> Predicted:
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
                pool = 1 if model.forest.exact_best(search) else min(POOLED_CLASSES, len(index))
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

        Exact for any number of trees. Each step costs only what it takes to find the next label. If an online model
        learns or forgets between two steps, the next step raises `RuntimeError`.
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
                    f"feature_names must name all {model.n_features} features, got "
                    f"{count_text(len(feature_names), 'name')}"
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
            y = labels_given(X_valid, y_valid)
            if X_valid is None or y is None:
                raise ValueError(
                    f"thresholds for {chosen.name} are tuned on validation rows: pass X_valid and y_valid, or train "
                    "with fit_for, which sets rows aside"
                )
            return validation_pairs(model, X_valid, y, self.make_search(), floor)

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
