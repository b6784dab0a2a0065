"""Training of ensembles of trees over examples."""

from __future__ import annotations

import time
from copy import copy
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from labeltree import _native
from labeltree.labels.reading import read_labels
from labeltree.progress import Phases, phases
from labeltree.rivals.fastxml.answers import ExampleTreePredictor
from labeltree.rivals.fastxml.example_trees import ExampleTrees
from labeltree.training.examples import Examples
from labeltree.validation import adopt_features, check_features, check_sample_weight, n_threads

_Estimator = TypeVar("_Estimator", bound="ExampleTreeLearner")


class ExampleTreeLearner(ExampleTreePredictor):
    """`fit`, for FastXML and what is made of it."""

    n_trees: int
    C: float
    max_leaf: int
    leaf_labels: int
    max_iter: int
    tol: float
    normalize: bool
    bias: bool
    random_state: Any
    verbose: int

    def _check_training_parameters(self) -> None:
        """Raise `ValueError` unless all parameters are what they must be to train."""
        self._check_parameters()

    def _label_gain(self, examples: Examples) -> NDArray[np.float64] | None:
        """What finding each label is worth; None for 1."""
        return None

    def _beside_the_trees(self, examples: Examples, n_threads: int, shown: Phases) -> dict[str, NDArray[Any]]:
        """Arrays that are learned beside the trees."""
        return {}

    def fit(self: _Estimator, X: Any, y: Any, sample_weight: Any = None) -> _Estimator:
        """Train on the examples X with labels y.

        Parameters
        ----------
        X : sparse matrix, array or frame of shape (n_rows, n_features), or a pair of a sparse matrix and an array
            A pair has the features of both, the sparse ones first.
        y : sparse or dense 0/1 matrix of shape (n_rows, n_labels), sequence of collections of labels, or 1-d array
            Rows without any label are welcome.
        sample_weight : array of shape (n_rows,), optional
            How much each example counts, 1 by default: in rankings, separators and leaves. A weight of 0 is as good as
            no row; `max_leaf` counts all others alike.
        """
        self._check_training_parameters()
        # Everything is stored at the end: a failed fit leaves an earlier model as it was.
        checked = copy(self)
        labels = read_labels(y)
        examples = Examples(
            check_features(checked, X, normalize=self.normalize, reset=True),
            labels,
            check_sample_weight(sample_weight, labels.n_rows),
        )
        examples.check()
        started, threads = time.perf_counter(), n_threads(self.n_jobs)
        with phases(self.verbose) as shown:
            arrays = self._grow(examples, threads, shown)
            n_rounds = arrays.pop("n_rounds")
            arrays |= self._beside_the_trees(examples, threads, shown)
        trees = ExampleTrees(
            arrays, labels.n_labels, examples.features.n_features, examples.features.dense_features
        )
        adopt_features(self, checked)
        self.classes_ = labels.classes
        self.label_kind_ = labels.kind
        self.label_counts_ = np.bincount(labels.indices, minlength=labels.n_labels).astype(np.int64)
        self.n_samples_fit_ = labels.n_rows
        self.example_trees_ = trees
        self._keep_report(
            [
                {"n_leaves": shape.n_leaves, "n_passes": passes}
                for shape, passes in zip(trees.shapes(), n_rounds.tolist(), strict=True)
            ]
        )
        self.fit_seconds_ = {"training": time.perf_counter() - started}
        for name in ("decision_", "vectorizer_"):
            vars(self).pop(name, None)
        self._renew_caches()
        return self

    def _grow(self, examples: Examples, n_threads: int, shown: Phases) -> dict[str, NDArray[Any]]:
        gain = self._label_gain(examples)
        options = _native.ExampleTreeOptions(
            C=float(self.C),
            tol=float(self.tol),
            max_iter=int(self.max_iter),
            bias=1.0 if self.bias else 0.0,
            max_leaf=int(self.max_leaf),
            leaf_labels=int(self.leaf_labels),
            normalize_gain=gain is None,
            n_threads=n_threads,
        )
        random = check_random_state(self.random_state)
        seeds = random.randint(np.iinfo(np.int32).max, size=int(self.n_trees)).tolist()
        return shown.run(
            f"growing {self.n_trees} trees",
            lambda progress: _native.grow_example_trees(examples.native, gain, seeds, options, progress),
        )

    def _keep_report(self, reports: list[dict[str, int]]) -> None:
        self.training_report_ = reports
        self.n_iter_ = max([1, *(report.get("n_passes", 1) for report in reports)])
        # What trees were grown with goes with them, whatever is set later.
        self.normalize_ = bool(self.normalize)

    def _parameters_as_trained(self) -> dict[str, Any]:
        parameters: dict[str, Any] = self.get_params(deep=False)  # type: ignore[attr-defined] # of the estimator
        return {**parameters, "normalize": self.normalize_, "n_trees": self.example_trees_.n_trees}
