"""Training of models of label trees: what is the same whatever is learned at the nodes."""

from __future__ import annotations

from copy import copy
from numbers import Integral
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from labeltree.labels.reading import LabelRows, read_labels
from labeltree.progress import phases
from labeltree.trained_trees import TrainedTrees
from labeltree.training.examples import Examples
from labeltree.training.fitting import NodeLearner, Run, TrainedForest, train_forest
from labeltree.trees.recipe import TreeRecipe
from labeltree.validation import adopt_features, check_features, check_sample_weight, n_threads

_Estimator = TypeVar("_Estimator", bound="ForestLearner")


class ForestLearner(TrainedTrees):
    """`fit`, for every estimator that says what its trees are and what learns their nodes."""

    normalize: bool
    random_state: Any
    verbose: int

    def _check_training_parameters(self) -> None:
        """Raise `ValueError` unless all parameters are what they must be to train."""
        raise NotImplementedError

    def _recipes(self) -> list[TreeRecipe]:
        """How each tree is made."""
        raise NotImplementedError

    def _learner(self, checked: Any, X: Any) -> NodeLearner:
        """What trains the nodes; `checked` has the number and the names of the features of X."""
        raise NotImplementedError

    def _training_label_weight(self, labels: LabelRows) -> NDArray[np.float32] | None:
        """How much positive examples of each label count; None is 1."""
        return None

    def _warn_of(self, learner: NodeLearner, forest: TrainedForest) -> None:
        """Warn whoever called `fit` of what came of it, if that is not what they want."""

    def _keep_choices(self, learner: NodeLearner) -> None:
        """At the end of `fit`: keep what the learner chose by itself."""

    def fit(self: _Estimator, X: Any, y: Any, sample_weight: Any = None) -> _Estimator:
        """Train on the examples X with labels y.

        Parameters
        ----------
        X : sparse matrix, array or frame of shape (n_rows, n_features), or a pair of a sparse matrix and an array
            A pair has the features of both, the sparse ones first.
        y : sparse or dense 0/1 matrix of shape (n_rows, n_labels), sequence of collections of labels, or 1-d array
            Rows without any label are welcome.
        sample_weight : array of shape (n_rows,), optional
            How much each example counts, 1 by default: its loss is multiplied by this.
        """
        self._check_training_parameters()
        # Everything is stored at the end: a failed fit leaves an earlier model as it was.
        checked = copy(self)
        examples = self._examples(checked, X, read_labels(y), sample_weight)
        learner = self._learner(checked, X)
        recipes = self._recipes()
        with phases(self.verbose) as shown:
            forest = train_forest(
                recipes, self._seeds(len(recipes)), examples, learner, Run(n_threads(self.n_jobs), shown)
            )
        self._warn_of(learner, forest)
        adopt_features(self, checked)
        labels = examples.labels
        self.classes_ = labels.classes
        self.label_kind_ = labels.kind
        self.label_counts_ = np.bincount(labels.indices, minlength=labels.n_labels).astype(np.int64)
        self.n_samples_fit_ = labels.n_rows
        self.weights_ = forest.weights
        self._keep_report(forest.reports)
        self.fit_seconds_ = forest.seconds
        for name in ("C_", "C_scores_", "calibration_", "decision_", "vectorizer_"):
            vars(self).pop(name, None)
        self._keep_choices(learner)
        self._renew_caches()
        return self

    def _examples(
        self, checked: Any, X: Any, labels: LabelRows, sample_weight: Any, reset: bool = True
    ) -> Examples:
        """What is to be learned; the number and names of the features are recorded in `checked`, or compared."""
        dense = None if reset or checked._has_node_estimators else checked.dense_features_
        examples = Examples(
            check_features(checked, X, normalize=self.normalize, reset=reset, dense_features=dense),
            labels,
            check_sample_weight(sample_weight, labels.n_rows),
            self._training_label_weight(labels),
        )
        examples.check()
        return examples

    def _seeds(self, n_trees: int, n_before: int = 0) -> list[int]:
        """One for each tree. An integer `random_state` gives the same ones whether trees are trained now or later."""
        n_skipped = n_before if isinstance(self.random_state, Integral) else 0
        random = check_random_state(self.random_state)
        seeds: list[int] = random.randint(np.iinfo(np.int32).max, size=n_skipped + n_trees).tolist()
        return seeds[n_skipped:]
