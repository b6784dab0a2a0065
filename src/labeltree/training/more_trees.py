"""`add_trees`: trains more trees for a model that has some."""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from labeltree.labels.reading import read_labels_of
from labeltree.mapped_rows import labels_given
from labeltree.model.linear_forest import LinearForest
from labeltree.model.reranked_forest import RerankedForest
from labeltree.node_estimators.forest import EstimatorForest
from labeltree.progress import phases
from labeltree.training.examples import Examples
from labeltree.training.reranking import RerankedPlan
from labeltree.training.run import Run
from labeltree.training.workplace import workplace
from labeltree.trees.recipe import TreeRecipe, more_trees
from labeltree.validation import check_count, check_sample_weight, n_threads

if TYPE_CHECKING:
    from labeltree.classifier import LabelTreeClassifier

_Growing = TypeVar("_Growing", bound="LabelTreeClassifier")


def add_trees(
    self: _Growing, X: Any, y: Any = None, n_trees: int = 1, *, tree: Any = None, sample_weight: Any = None
) -> _Growing:
    """Train more trees and add them to a trained model, whose trees do not change.

    With the same examples and an integer `random_state`, the model is the same as if all trees had been trained at
    once. The parameters `n_trees`, `tree` and `tree_weight` are updated; a new tree has the weight 1. With
    `rerank`, the label classifiers are trained again.

    Parameters
    ----------
    X, y
        Examples, in any form that `fit` takes, with labels that the model knows.
    n_trees : int
        The number of trees to add.
    tree : optional
        How the new trees are built, as the parameter `tree`; by default as the trees of the model were.
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
    model = self.model_
    old: Any = model.forest
    calibration = getattr(old, "calibration", None)
    if calibration is not None and calibration.source == "calibrate":
        raise ValueError(
            "the model is calibrated, and new trees would not be: del model.calibration_, add them, and calibrate "
            "again"
        )
    grown = _with_more_trees(self, n_trees, tree, old)
    grown.check_parameters()
    reader: Any = model.reader
    labels = read_labels_of(labels_given(X, y), self.classes_, model.label_kind)
    weight = check_sample_weight(sample_weight, labels.n_rows)
    X = model.feature_rows(X)
    examples = Examples(reader.read_rows(X), labels, weight, reader=reader, X=X)
    examples.check()
    recipes = TreeRecipe.of(grown).for_each(grown.n_trees)[old.n_trees :]
    plan = grown.plan_of(recipes, grown.seeds(n_trees, old.n_trees), model.training.facts.get("C_"))
    trees: Any = old.proposer if isinstance(old, RerankedForest) else old
    with phases(self.verbose) as shown, workplace(self.task_memory(examples)) as place:
        run = Run(n_threads(self.n_jobs), shown, workplace=place)
        trained = plan.train(examples, run)
        joined = trees.joined(trained.forest, grown.weight_of_trees(grown.n_trees))
        trained = replace(trained, forest=joined)
        if isinstance(old, RerankedForest):
            # The new trees propose other labels, so that the label classifiers learn from other rows.
            plan = replace(plan, seeds=grown.seeds(1))
            trained = RerankedPlan(plan, old.n_proposals).add_label_classifiers(trained, examples, run)
    before = model.training.seconds or {}
    record = replace(
        model.training,
        reports=[*model.training.reports, *trained.reports],
        seconds={name: before.get(name, 0.0) + spent for name, spent in trained.seconds.items()},
        maps=None,  # the new trees have none
    )
    self.n_trees, self.tree, self.tree_weight = grown.n_trees, grown.tree, grown.tree_weight
    self._model = replace(model, forest=trained.forest, training=record)
    for message in trained.warnings:
        warnings.warn(message, UserWarning, stacklevel=2)
    return self


def _with_more_trees(self: _Growing, n_trees: int, tree: Any, old: Any) -> _Growing:
    """Return a copy with parameters for `n_trees` more trees."""
    check_count("n_trees", n_trees)
    for name in ("loss", "normalize"):
        if getattr(self, name) != getattr(self, f"{name}_"):
            raise ValueError(
                f"all trees of a model have the same {name}: set it to {getattr(self, f'{name}_')!r}, as the "
                f"model was trained, got {getattr(self, name)!r}"
            )
    stored = old.weights[0].weight_type if isinstance(old, LinearForest | RerankedForest) else self.weights
    if self.weights != stored:
        raise ValueError(
            f"all trees of a model have weights of one type: set weights to {stored!r}, as the model has, got "
            f"{self.weights!r}"
        )
    trained_rerank = old.n_proposals if isinstance(old, RerankedForest) else 0
    if self.rerank != trained_rerank:
        raise ValueError(
            f"the model was trained with rerank={trained_rerank}, which new trees do not change: set rerank to it, "
            f"got {self.rerank}"
        )
    if isinstance(old, EstimatorForest) != (self.node_estimator is not None):
        raise ValueError(
            "all trees of a model have node estimators, or none has: set node_estimator as it was"
        )
    grown = copy(self)
    grown.n_trees = old.n_trees + n_trees
    grown.tree = more_trees(self.tree, old.n_trees, tree, n_trees)
    if self.tree_weight is not None:
        grown.tree_weight = [*self.weight_of_trees(old.n_trees), *[1.0] * n_trees]
    return grown
