"""`RerankedPlan`: trains label trees, and one classifier for each label that ranks what the trees propose."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labeltree import _native
from labeltree.calibration.fitting import CERTAIN_SCORE, fit_map
from labeltree.calibration.level_maps import LevelArrays
from labeltree.labels.reading import LabelRows
from labeltree.model.label_classifiers import LabelClassifiers
from labeltree.model.linear_forest import LinearForest
from labeltree.model.reranked_forest import LEAST_PROPOSED, RerankedForest, proposal_scores
from labeltree.training.array_folder import Arrays, new_array
from labeltree.training.column_plan import ColumnPlan
from labeltree.training.examples import Examples
from labeltree.training.label_columns import TrainedColumns
from labeltree.training.linear_learner import LinearLearner
from labeltree.training.linear_nodes import SolverSettings, train_tree
from labeltree.training.plan import Trained
from labeltree.training.proposals import propose
from labeltree.training.run import Run
from labeltree.training.solvers import default_c
from labeltree.training.tree_plan import TreePlan
from labeltree.validation import LARGEST_INTEGER
from labeltree.wording import count_text

#: Label classifiers are trained to this share of the tolerance of the nodes, in as many more passes, and keep weights
#: from this share of `prune` on: scores of labels from all over the tree are compared, not only those of siblings.
FINER = 0.5
PRUNE_SHARE = 0.7
#: Number of random rows that are additional negative examples of each group of labels.
RANDOM_ROWS = 100
#: For the map from scores to probabilities, some groups of labels are trained again without every n-th row.
HELD_OUT_EVERY = 10
#: About this share of the labels is trained again, and at least this many labels.
SAMPLED_SHARE = 0.2
FEWEST_SAMPLED = 1000
#: At most this many rows are left out for the map, and the tree that proposes labels for them is trained roughly.
MOST_HELD_OUT = 5000
ROUGH_TOL, ROUGH_ITER = 0.5, 3
#: Labels by row: indptr and indices.
_Rows = tuple[NDArray[np.int64], NDArray[np.int32]]


@dataclass(frozen=True)
class RerankedPlan:
    """How to train label trees and label classifiers.

    Attributes
    ----------
    trees : TreePlan
        How to train the trees.
    n_proposals : int
        The number of labels that the trees propose for each row.
    """

    trees: TreePlan
    n_proposals: int

    def train(self, examples: Examples, run: Run) -> Trained:
        """Train the trees, then the label classifiers."""
        return self.add_label_classifiers(self.trees.train(examples, run), examples, run)

    def add_label_classifiers(self, trained: Trained, examples: Examples, run: Run) -> Trained:
        """Return trained trees with label classifiers for their proposals."""
        forest, learner = trained.forest, self.trees.learner
        assert isinstance(forest, LinearForest)
        assert isinstance(learner, LinearLearner)
        started = time.perf_counter()
        judges = train_label_classifiers(
            forest, examples, learner.settings, self.n_proposals, self.trees.seeds[0], run
        )
        seconds = {**trained.seconds, "label_classifiers": time.perf_counter() - started}
        return replace(trained, forest=RerankedForest(forest, judges, self.n_proposals), seconds=seconds)


def train_label_classifiers(
    forest: LinearForest, examples: Examples, settings: SolverSettings, n_proposals: int, seed: int, run: Run
) -> LabelClassifiers:
    """Train the classifier of each label on its rows, and on rows that the trees propose it for.

    Labels that are siblings in the first tree are trained together, on the rows of all of them and a few random rows.
    """
    settings = replace(
        settings,
        siblings="independent",
        C=_label_c(settings, forest.trees[0].depth),
        tol=FINER * settings.tol,
        max_iter=min(round(settings.max_iter / FINER), LARGEST_INTEGER),
        prune=PRUNE_SHARE * settings.prune,
    )
    labels = examples.labels
    counts = np.bincount(labels.indices, minlength=labels.n_labels)
    # The trees know these rows: most labels of a row are among its proposals, and no negative examples.
    n_true = math.ceil(len(labels.indices) / labels.n_rows)
    proposals = propose(forest, examples, n_proposals + n_true, run)
    plan = ColumnPlan.by_siblings(forest.trees[0], counts, labels.n_rows)
    arrays = _train(plan, examples, proposals, settings, seed, run)
    arrays["bias"][counts == labels.n_rows] = CERTAIN_SCORE
    of_scores = _fit_map(forest, plan, examples, proposals, settings, n_proposals, seed, run)
    judges = LabelClassifiers(arrays, of_scores, examples.features.dense_features)
    return judges.with_weight_type(settings.weights, partial(new_array, _folder(run, " rounded")))


def _label_c(settings: SolverSettings, depth: int) -> float:
    """Return the C of label classifiers: between that of the leaves and half of the default."""
    C = settings.C[min(depth, len(settings.C) - 1)] if isinstance(settings.C, Sequence) else settings.C
    default = default_c(settings.solver, settings.loss, settings.penalty)
    return math.sqrt(default / 2 * C)


def _train(
    plan: ColumnPlan,
    examples: Examples,
    proposals: _Rows,
    settings: SolverSettings,
    seed: int,
    run: Run,
    purpose: str = "",
) -> Arrays:
    """Return the arrays of all labels; those that the plan does not have are never positive."""
    columns = TrainedColumns(plan, _folder(run, purpose))
    run.phase(
        f"training {count_text(len(plan.label), 'label classifier')}{purpose}",
        lambda progress: _native.train_columns(
            examples.native,
            plan.native(list(range(plan.n_chunks))),
            _native.Negatives(*proposals, RANDOM_ROWS),
            settings.options(seed, run.n_threads),
            columns.add,
            progress,
        ),
    )
    first, last = examples.features.dense_features
    return columns.joined(examples.labels.n_labels, last - first)


def _folder(run: Run, purpose: str) -> Path | None:
    """Return where the arrays of label classifiers go; None if they stay in memory."""
    directory = run.workplace.directory
    return None if directory is None else directory / f"label classifiers{purpose}".replace(" ", "-")


def _fit_map(
    forest: LinearForest,
    plan: ColumnPlan,
    examples: Examples,
    proposals: _Rows,
    settings: SolverSettings,
    n_proposals: int,
    seed: int,
    run: Run,
) -> LevelArrays:
    """Fit the map from scores to probabilities on rows that nothing was trained on.

    The first tree is trained again without these rows, roughly, and so are the classifiers of some labels. What the
    tree proposes for these rows and the classifiers score is then what happens to new rows.
    """
    labels = examples.labels
    random = np.random.default_rng(seed)
    n_held_out = min(max(labels.n_rows // HELD_OUT_EVERY, 1), MOST_HELD_OUT)
    rows = np.sort(random.permutation(labels.n_rows)[:n_held_out])
    held_out = np.isin(np.arange(labels.n_rows), rows)
    rest = _without_rows(examples, held_out)
    rough = replace(settings, tol=max(settings.tol, ROUGH_TOL), max_iter=min(settings.max_iter, ROUGH_ITER))
    weights, _ = train_tree(forest.trees[0], rest, rough, seed, run)
    aside = examples.take(rows)
    new = LinearForest([weights], forest.n_features, forest.link)
    indptr, found = propose(new, aside, n_proposals, run, LEAST_PROPOSED)
    cost = np.bincount(proposals[1], minlength=labels.n_labels)
    sample = plan.sample(SAMPLED_SHARE, FEWEST_SAMPLED, cost, random.random())
    arrays = _train(
        sample, rest, _rows_without(proposals, held_out), settings, seed, run, " for probabilities"
    )
    of_pair = np.repeat(np.arange(len(rows)), np.diff(indptr))
    chosen = np.isin(found, sample.label)
    columns = LabelClassifiers(arrays, {}, examples.features.dense_features).native(forest.n_features)
    scores = proposal_scores(
        columns, aside.features, of_pair[chosen], found[chosen], aside.labels, run.n_threads
    )
    if aside.sample_weight is not None:
        scores = replace(scores, weight=aside.sample_weight[of_pair[chosen]].astype(np.float64))
    return fit_map(scores)


def _without_rows(examples: Examples, left_out: NDArray[np.bool_]) -> Examples:
    """Return the examples with these rows neither positive nor, to any effect, negative."""
    labels = examples.labels
    weight = np.ones(labels.n_rows, np.float32) if examples.sample_weight is None else examples.sample_weight
    rows = LabelRows(*_rows_without((labels.indptr, labels.indices), left_out), labels.classes, labels.kind)
    return replace(examples, labels=rows, sample_weight=np.where(left_out, np.float32(0), weight))


def _rows_without(rows: _Rows, left_out: NDArray[np.bool_]) -> _Rows:
    """Return labels by row without those of some rows."""
    sizes = np.diff(rows[0])
    kept = ~np.repeat(left_out, sizes)
    return np.concatenate([[0], np.cumsum(np.where(left_out, 0, sizes))]), rows[1][kept]
