"""The choice of C on held-out rows: `C="auto"` and `C="auto_per_level"`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labeltree import _native
from labeltree.model.forest import empty_answer
from labeltree.training.examples import Examples
from labeltree.training.linear_nodes import SolverSettings, train_tree
from labeltree.training.plan import Run
from labeltree.trees import LabelTree
from labeltree.wording import count_text

#: Size of the sample of rows; every third row of the sample is held out.
SAMPLE = 10_000
_HELD_OUT = 3
#: With fewer rows the default C is used: differences would be noise.
FEWEST_ROWS = 12

#: C is multiplied and divided by this factor, at most MOST_STEPS times.
STEP = 2.0
MOST_STEPS = 12

#: A model is scored by its mean precision at these k.
_K = (1, 3, 5)

FloatMatrix = NDArray[np.float64]


@dataclass(frozen=True)
class ChosenC:
    """The chosen C and the scores of all C that were tried.

    Attributes
    ----------
    C : float or list of float
        One value, or one for each level.
    scores : dict
        By C: the mean of P@1, P@3 and P@5, or a list with the log loss per row of each level.
    """

    C: float | list[float]
    scores: dict[float, float | list[float]]


def choose_regularization(
    tree: LabelTree,
    examples: Examples,
    settings: SolverSettings,
    link: str,
    per_level: bool,
    seed: int,
    run: Run,
) -> ChosenC:
    """Train a tree on a sample with several C, and return the C that is best on held-out rows.

    One C for all levels is judged by the precision of the predictions; a C per level by the log loss of the nodes on
    that level, over the rows that reach them. The search halves and doubles the C of `settings` as long as that helps.
    Every C within one standard error of the best (of the difference, row by row) counts as equally good; of these, the
    one nearest to the start is chosen.
    """
    start = settings.C
    assert isinstance(start, float)  # a list is a result of this function
    n_rows = examples.labels.n_rows
    if n_rows < FEWEST_ROWS:
        return ChosenC([start] * (tree.depth + 1) if per_level else start, {})
    sample = np.random.default_rng(seed).permutation(n_rows)[:SAMPLE]
    n_held_out = len(sample) // _HELD_OUT
    held_out, kept = examples.take(np.sort(sample[:n_held_out])), examples.take(np.sort(sample[n_held_out:]))
    measure = level_losses if per_level else missed_precision

    def losses_with(C: float) -> FloatMatrix:
        sample_run = replace(run, prefix=f"choosing C: {C:g}, {count_text(kept.labels.n_rows, 'row')}: ")
        trained, _ = train_tree(tree, kept, replace(settings, C=C), seed, sample_run)
        # Not fused: the chosen C must not depend on the processor.
        store = trained.store(held_out.features.n_features, link, fused=False)
        return held_out.weigh(measure(store, tree, held_out, run.n_threads))

    tried = climb(start, losses_with)
    chosen = nearest_of_the_best(start, tried)
    if per_level:
        return ChosenC(chosen, {C: losses.mean(axis=0).tolist() for C, losses in sorted(tried.items())})
    return ChosenC(chosen[0], {C: 1 - float(losses.mean()) for C, losses in sorted(tried.items())})


def climb(start: float, losses_with: Callable[[float], FloatMatrix]) -> dict[float, FloatMatrix]:
    """Halve and double C until no column of the losses improves; return the losses by C.

    Losses have a row for each example; smaller is better.
    """
    tried = {start: losses_with(start)}
    for factor in (1 / STEP, STEP):
        C = start * factor
        for _ in range(MOST_STEPS):
            if not any(_may_improve(C, tried, column) for column in range(tried[start].shape[1])):
                break
            tried[C] = losses_with(C)
            C *= factor
    return tried


def _may_improve(C: float, tried: dict[float, FloatMatrix], column: int) -> bool:
    """Return whether C, one step beyond those tried, may be better than all of them.

    It cannot if its neighbour is clearly worse than the best C, nor if the best C is four steps away.
    """
    best, differences = _differences(tried, column)
    neighbour = min(tried, key=lambda other: abs(math.log(other / C)))
    mean, error = differences[neighbour]
    return mean <= error and abs(math.log(best / C, STEP)) < 3.5


def _differences(
    tried: dict[float, FloatMatrix], column: int
) -> tuple[float, dict[float, tuple[float, float]]]:
    """Return the best C, and for each C the mean difference of its losses to the best with its standard error."""
    best = min(tried, key=lambda C: float(tried[C][:, column].mean()))
    differences = {}
    for C, losses in tried.items():
        difference = losses[:, column] - tried[best][:, column]
        differences[C] = float(difference.mean()), float(difference.std() / math.sqrt(len(difference)))
    return best, differences


def nearest_of_the_best(start: float, tried: dict[float, FloatMatrix]) -> list[float]:
    """Return, for each column of the losses, the C nearest to `start` that is within the error of the best."""
    chosen = []
    for column in range(tried[start].shape[1]):
        _, differences = _differences(tried, column)
        good = [C for C, (mean, error) in differences.items() if mean <= error]
        chosen.append(min(good, key=lambda C: abs(math.log(C / start))))
    return chosen


def level_losses(
    store: _native.BlockStore, tree: LabelTree, examples: Examples, n_threads: int
) -> FloatMatrix:
    """Return the log loss of every row at every level of the tree."""
    losses = np.empty((examples.labels.n_rows, tree.depth + 1))
    store.held_out_loss(examples.native, n_threads, losses)
    return losses


def missed_precision(
    store: _native.BlockStore, tree: LabelTree, examples: Examples, n_threads: int
) -> FloatMatrix:
    """Return 1 minus the mean of P@1, P@3 and P@5 of every row; hits count with the weights of their labels."""
    labels = examples.labels
    k = min(max(_K), tree.n_labels)
    found, probabilities = empty_answer(labels.n_rows, k)
    forest = _native.Forest([store], [1.0])
    forest.top_k(examples.features, _native.Search(k, n_threads=n_threads), found, probabilities)
    worth = np.ones(tree.n_labels) if examples.label_weight is None else examples.label_weight
    truth = sp.csr_matrix(
        (worth[labels.indices], labels.indices, labels.indptr), shape=(labels.n_rows, tree.n_labels)
    )
    hits = truth[np.arange(labels.n_rows)[:, None], found].toarray()
    precision = np.mean([hits[:, :at].sum(axis=1) / at for at in _K], axis=0)
    return np.asarray(1 - precision[:, None], dtype=np.float64)
