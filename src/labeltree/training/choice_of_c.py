"""The choice of C by rows that are held out: `C="auto"` and `C="auto_per_level"`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labeltree import _native
from labeltree.progress import Phases
from labeltree.training.examples import Examples
from labeltree.training.linear_nodes import SolverSettings, train_tree
from labeltree.trees import LabelTree

#: Rows that are looked at, of which every third is held out.
SAMPLE = 10_000
_HELD_OUT = 3
#: With fewer rows nothing can be told, and the default stands.
FEWEST_ROWS = 12

#: C is doubled and halved, at most so many times.
STEP = 2.0
MOST_STEPS = 12

#: Precision at these k, averaged, tells how good a model is.
_K = (1, 3, 5)

FloatMatrix = NDArray[np.float64]


@dataclass(frozen=True)
class ChosenC:
    """The C that was chosen, one for each level if so asked, and the scores of all that were tried.

    A score is the mean of P@1, P@3 and P@5, or for each level its log loss per row.
    """

    C: float | list[float]
    scores: dict[float, float | list[float]]


def choose_regularization(
    tree: LabelTree,
    examples: Examples,
    settings: SolverSettings,
    link: str,
    *,
    per_level: bool,
    seed: int,
    n_threads: int,
    phases: Phases,
) -> ChosenC:
    """Train a tree on a sample with several C and see which one knows the rows best that were held out.

    Globally by the precision of the answers, per level by the log loss of the level's nodes, over the rows that reach
    them. From the C of `settings` on, it is halved and doubled as long as that helps. Of those that cannot be told from
    the best (by one standard error of the difference, row by row) the nearest to that is taken.
    """
    start = settings.C
    assert isinstance(start, float)  # a list is what this function returns
    n_rows = examples.labels.n_rows
    if n_rows < FEWEST_ROWS:
        return ChosenC([start] * (tree.depth + 1) if per_level else start, {})
    sample = np.random.default_rng(seed).permutation(n_rows)[:SAMPLE]
    n_held_out = len(sample) // _HELD_OUT
    held_out, kept = examples.take(np.sort(sample[:n_held_out])), examples.take(np.sort(sample[n_held_out:]))

    def losses_with(C: float) -> FloatMatrix:
        trained, _ = train_tree(
            tree,
            kept,
            replace(settings, C=C),
            seed,
            n_threads,
            phases,
            f"choosing C: {C:g}, {kept.labels.n_rows:,} rows: ",
        )
        # Not fused: the C that is chosen must not depend on the processor.
        store = trained.store(held_out.features.n_features, link, fused=False)
        measure = level_losses if per_level else missed_precision
        return held_out.weigh(measure(store, tree, held_out, n_threads))

    tried = climb(start, losses_with)
    chosen = nearest_of_the_best(start, tried)
    if per_level:
        return ChosenC(chosen, {C: losses.mean(axis=0).tolist() for C, losses in sorted(tried.items())})
    return ChosenC(chosen[0], {C: 1 - float(losses.mean()) for C, losses in sorted(tried.items())})


def climb(start: float, losses_with: Callable[[float], FloatMatrix]) -> dict[float, FloatMatrix]:
    """Halve and double C until that helps no column of the losses: a row for each example, the less the better."""
    tried = {start: losses_with(start)}
    for factor in (1 / STEP, STEP):
        for step in range(1, MOST_STEPS + 1):
            C = start * factor**step
            if step == 1 and not any(
                _may_improve(C, tried, column) for column in range(tried[start].shape[1])
            ):
                break  # the other direction was better
            tried[C] = losses_with(C)
            if not any(_may_improve(C * factor, tried, column) for column in range(tried[C].shape[1])):
                break
    return tried


def _may_improve(C: float, tried: dict[float, FloatMatrix], column: int) -> bool:
    """Whether a C one step beyond those tried may be better than all of them.

    Not if the one before it is clearly worse than the best, nor if the best is four steps away.
    """
    best, differences = _differences(tried, column)
    before = min(tried, key=lambda other: abs(math.log(other / C)))
    mean, error = differences[before]
    return mean <= error and abs(math.log(best / C, STEP)) < 3.5


def _differences(
    tried: dict[float, FloatMatrix], column: int
) -> tuple[float, dict[float, tuple[float, float]]]:
    """The best C, and of all the mean difference of their losses to its, with the standard error."""
    best = min(tried, key=lambda C: float(tried[C][:, column].mean()))
    differences = {}
    for C, losses in tried.items():
        difference = losses[:, column] - tried[best][:, column]
        differences[C] = float(difference.mean()), float(difference.std() / math.sqrt(len(difference)))
    return best, differences


def nearest_of_the_best(start: float, tried: dict[float, FloatMatrix]) -> list[float]:
    """For each column of the losses: of those C that cannot be told from the best, the nearest to `start`."""
    chosen = []
    for column in range(tried[start].shape[1]):
        _, differences = _differences(tried, column)
        good = [C for C, (mean, error) in differences.items() if mean <= error]
        chosen.append(min(good, key=lambda C: abs(math.log(C / start))))
    return chosen


def level_losses(
    store: _native.BlockStore, tree: LabelTree, examples: Examples, n_threads: int
) -> FloatMatrix:
    """The log loss of every row at every level of the tree."""
    losses = np.empty((examples.labels.n_rows, tree.depth + 1))
    store.held_out_loss(examples.native, n_threads, losses)
    return losses


def missed_precision(
    store: _native.BlockStore, tree: LabelTree, examples: Examples, n_threads: int
) -> FloatMatrix:
    """1 less the mean of P@1, P@3 and P@5 of every row; where labels have weights, so have those that are found."""
    labels = examples.labels
    k = min(max(_K), tree.n_labels)
    found = np.empty((labels.n_rows, k), dtype=np.int32)
    probabilities = np.empty((labels.n_rows, k), dtype=np.float32)
    forest = _native.Forest([store], [1.0])
    forest.top_k(examples.features, _native.Search(k, n_threads=n_threads), found, probabilities)
    worth = np.ones(tree.n_labels) if examples.label_weight is None else examples.label_weight
    truth = sp.csr_matrix(
        (worth[labels.indices], labels.indices, labels.indptr), shape=(labels.n_rows, tree.n_labels)
    )
    hits = truth[np.arange(labels.n_rows)[:, None], found].toarray()
    precision = np.mean([hits[:, :at].sum(axis=1) / at for at in _K], axis=0)
    return np.asarray(1 - precision[:, None], dtype=np.float64)
