"""How a model of label trees is trained: from the estimator's parameters and the user's examples."""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import fields, replace
from numbers import Real
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from labeltree.forest_learner import ForestLearner
from labeltree.labels.reading import LabelRows, read_labels, read_labels_of
from labeltree.labels.weights import read_label_weight
from labeltree.node_estimators.estimators import check_estimator_features
from labeltree.progress import phases
from labeltree.training.fitting import (
    EstimatorLearner,
    LinearLearner,
    NodeLearner,
    Run,
    TrainedForest,
    grower,
    train_forest,
)
from labeltree.training.linear_nodes import SolverSettings, warn_if_all_is_pruned
from labeltree.training.solvers import default_c, incremental_settings
from labeltree.trees import LabelTree
from labeltree.trees.recipe import TreeRecipe, more_trees
from labeltree.validation import check_count, n_threads

_Estimator = TypeVar("_Estimator", bound="LabelTreeLearner")


class LabelTreeLearner(ForestLearner):
    """Training, for the estimator whose parameters these are; docstrings and checks are with it."""

    n_trees: int
    tree: Any
    solver: str
    loss: str
    penalty: str
    siblings: str
    C: Any
    label_weight: Any
    tol: float
    max_iter: int
    learning_rate: float | None
    epochs: int
    regularization: float | None
    prune: float
    bias: bool
    node_estimator: Any

    def _link_of(self, loss: str) -> str:
        """The link that goes with a loss."""
        raise NotImplementedError

    def add_trees(
        self: _Estimator, X: Any, y: Any, n_trees: int = 1, *, tree: Any = None, sample_weight: Any = None
    ) -> _Estimator:
        """Train more trees and add them to a trained model, whose trees stay as they are.

        With the same examples, `n_trees` and trees added later make the model that as many trees from the start would,
        if `random_state` is an integer. `n_trees`, `tree` and, if it is set, `tree_weight` (1 for the new ones) become
        those of all trees.

        Parameters
        ----------
        X, y
            Examples, in any form that `fit` takes, with labels that the model knows.
        n_trees : int
            Trees to add.
        tree : optional
            How these are made, as the parameter of this name; by default as the model's trees were.
        sample_weight : array of shape (n_rows,), optional
            How much each example counts.

        Examples
        --------
        >>> from labeltree import LabelTreeClassifier
        >>> X, y = [[1.0, 0.0], [0.0, 1.0], [0.9, 0.1]], [["cat"], ["dog"], ["cat", "pet"]]
        >>> model = LabelTreeClassifier(random_state=0).fit(X, y)
        >>> len(model.add_trees(X, y, n_trees=2, tree="huffman").trees_)
        3
        """
        check_is_fitted(self, "weights_")
        if getattr(self, "calibration_", None) is not None:
            raise ValueError(
                "the model is calibrated, and trees that are added would not be: del model.calibration_, add them, "
                "and calibrate again"
            )
        grown = self._with_more_trees(n_trees, tree)
        grown._check_training_parameters()
        examples = grown._examples(
            grown, X, read_labels_of(y, self.classes_, self.label_kind_), sample_weight, reset=False
        )
        learner = grown._learner(grown, X, chosen=getattr(self, "C_", None))
        n_old = len(self.weights_)
        with phases(self.verbose) as shown:
            forest = train_forest(
                grown._recipes()[n_old:],
                grown._seeds(n_trees, n_old),
                examples,
                learner,
                Run(n_threads(self.n_jobs), shown),
            )
        self._warn_of(learner, forest)
        self.n_trees, self.tree, self.tree_weight = grown.n_trees, grown.tree, grown.tree_weight
        self.weights_ = [*self.weights_, *forest.weights]
        self._keep_report([*self.training_report_, *forest.reports])
        before = getattr(self, "fit_seconds_", {})
        self.fit_seconds_ = {name: before.get(name, 0.0) + spent for name, spent in forest.seconds.items()}
        self._renew_caches()
        return self

    def _with_more_trees(self: _Estimator, n_trees: int, tree: Any) -> _Estimator:
        """A copy whose parameters ask for so many trees more."""
        check_count("n_trees", n_trees)
        for name in ("loss", "normalize"):
            if getattr(self, name) != getattr(self, f"{name}_"):
                raise ValueError(
                    f"all trees of a model have the same {name}: set it to {getattr(self, f'{name}_')!r}, as the "
                    f"model was trained, got {getattr(self, name)!r}"
                )
        if self._has_node_estimators != (self.node_estimator is not None):
            raise ValueError(
                "all trees of a model have node estimators, or none has: set node_estimator as it was"
            )
        grown = copy(self)
        grown.n_trees = len(self.weights_) + n_trees
        grown.tree = more_trees(self.tree, len(self.weights_), tree, n_trees)
        if self.tree_weight is not None:
            grown.tree_weight = [*self._weights_of_trees(), *[1.0] * n_trees]
        return grown

    def build_tree(self, X: Any, y: Any, sample_weight: Any = None) -> LabelTree:
        """Return the first tree that `fit` would train on these examples, without training it.

        Examples
        --------
        >>> from labeltree import LabelTreeClassifier
        >>> LabelTreeClassifier(tree="huffman", arity=2).build_tree([[1], [2], [3]], [["a"], ["b"], ["a", "c"]]).depth
        2
        """
        self._check_parameters()
        examples = self._examples(copy(self), X, read_labels(y), sample_weight)
        recipe = self._recipes()[0]
        recipe.check(examples.labels.n_labels)
        with phases(self.verbose) as shown:
            return shown.run(
                recipe.describe(examples.labels.n_labels),
                grower(recipe, examples, self._seeds(1)[0], n_threads(self.n_jobs)),
            )

    def _learner(
        self, checked: LabelTreeLearner, X: Any, chosen: float | list[float] | None = None
    ) -> LinearLearner | EstimatorLearner:
        """What trains the nodes; if C is to be chosen, not a second time."""
        if self.node_estimator is not None:
            rows = check_estimator_features(checked, X, normalize=self.normalize)
            return EstimatorLearner(self.node_estimator, rows, self.n_jobs)
        settings = SolverSettings(
            solver=self.solver,
            loss=self.loss,
            penalty=self.penalty,
            siblings=self.siblings,
            C=self._given_c(),
            tol=self.tol,
            max_iter=self.max_iter,
            incremental=incremental_settings(
                self.solver, self.loss, self.learning_rate, self.epochs, self.regularization
            ),
            bias=float(self.bias),
            prune=self.prune,
        )
        choose = self.C if isinstance(self.C, str) else None
        if choose is not None and chosen is not None:
            settings, choose = replace(settings, C=chosen), None
        return LinearLearner(settings, self._link_of(self.loss), choose)

    def _training_label_weight(self, labels: LabelRows) -> NDArray[np.float32] | None:
        return read_label_weight(self.label_weight, labels)

    def _warn_of(self, learner: NodeLearner, forest: TrainedForest) -> None:
        if isinstance(learner, LinearLearner):
            warn_if_all_is_pruned(self.prune, forest.weights, forest.reports)
        if self.siblings == "joint" and not any(report.get("n_joint", 0) for report in forest.reports):
            warnings.warn(
                "siblings='joint' found no node with at most five children, so that all are independent: use a smaller "
                "arity and max_leaves, and frequent_share=0",
                UserWarning,
                stacklevel=3,
            )

    def _keep_choices(self, learner: NodeLearner) -> None:
        if isinstance(learner, LinearLearner) and self.solver == "descent":
            self.C_ = learner.settings.C
            self.C_scores_ = learner.scores

    def _given_c(self) -> float | list[float]:
        """C as it is given, or what it is by default, where a choice starts from."""
        if isinstance(self.C, Real):
            return float(self.C)
        if self.C is None or isinstance(self.C, str):
            return default_c(self.solver, self.loss, self.penalty)
        return [float(number) for number in self.C]

    def _recipes(self) -> list[TreeRecipe]:
        return recipe_of(self).for_each(self.n_trees)


def recipe_of(estimator: Any) -> TreeRecipe:
    """What an estimator's tree parameters say."""
    return TreeRecipe(**{field.name: getattr(estimator, field.name) for field in fields(TreeRecipe)})
