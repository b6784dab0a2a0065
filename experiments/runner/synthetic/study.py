"""A run of the study: a label tree and hierarchical softmax on the same tree, trained on one synthetic problem."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.stats import binomtest

from experiments.runner.figures import Mean
from experiments.runner.run import code_of
from experiments.runner.synthetic.sources import (
    Array,
    DependentLabels,
    IndependentLabels,
    MultiClass,
    Source,
    in_ball,
)
from experiments.runner.table import SOFTMAX, TREES
from labeltree import HierarchicalSoftmaxClassifier, LabelTreeClassifier
from labeltree.trees import complete_tree

#: Of both models. C and tol are the numbers that LIBLINEAR has as defaults for the logistic loss.
PARAMETERS: Mapping[str, Any] = {
    "C": 1.0,
    "tol": 0.01,
    "max_iter": 1000,
    "prune": 0.0,
    "normalize": False,
    "bias": True,
    "random_state": 0,
    "verbose": -1,
}


@dataclass(frozen=True)
class PaperLine:
    """What the paper prints: P@1 in per cent with standard errors, wins, ties and losses of label trees, p-value."""

    tree: tuple[float, float]
    softmax: tuple[float, float]
    counts: tuple[int, int, int]
    p_value: float | None


@dataclass(frozen=True)
class Setting:
    """A kind of data; `source` makes one at random of n labels, n dimensions, the scale and a generator."""

    name: str
    source: Callable[[int, int, float, np.random.Generator], Source]
    paper: PaperLine


_DEPENDENT = PaperLine((72.31, 0.94), (71.29, 0.98), (45, 0, 5), 4.21e-9)

SETTINGS = (
    Setting(
        "dependent, variance 0.25",
        lambda *size: DependentLabels.at_random(*size, noise=0.5),
        _DEPENDENT,
    ),
    Setting(
        "dependent, deviation 0.25",
        lambda *size: DependentLabels.at_random(*size, noise=0.25),
        _DEPENDENT,
    ),
    Setting(
        "independent",
        IndependentLabels.at_random,
        PaperLine((32.64, 0.08), (32.66, 0.08), (22, 3, 25), 0.4799),
    ),
    Setting("multi-class", MultiClass.at_random, PaperLine((61.23, 1.14), (61.23, 1.14), (0, 50, 0), None)),
)


@dataclass(frozen=True)
class Size:
    """How large a problem is; the paper's by default. Half of the rows are for training."""

    n_rows: int = 100_000
    n_labels: int = 32
    n_dimensions: int = 3


@dataclass(frozen=True)
class Problem:
    """Rows of a source: features, labels and their probabilities, for training and for testing."""

    X_train: NDArray[np.float32]
    y_train: sp.csr_matrix
    X_test: NDArray[np.float32]
    y_test: NDArray[np.bool_]
    eta_test: Array


@dataclass(frozen=True)
class Outcome:
    """What came of a run, all shares of test rows.

    Attributes
    ----------
    tree, softmax : float
        P@1.
    tree_expected, softmax_expected : float
        The mean probability of the label that is first: P@1 without the chance of which labels the test rows got.
    ceiling : float
        The mean probability of the most probable label, which no classifier exceeds in expectation.
    unlabelled : float
        Rows without any label, where nothing is right.
    """

    tree: float
    softmax: float
    tree_expected: float
    softmax_expected: float
    ceiling: float
    unlabelled: float


@dataclass(frozen=True)
class Run:
    """A problem and the seed that makes it."""

    setting: Setting
    scale: float
    size: Size
    seed: int

    def as_json(self) -> dict[str, Any]:
        return {
            "setting": self.setting.name,
            "scale": self.scale,
            "size": asdict(self.size),
            "seed": self.seed,
            "parameters": dict(PARAMETERS),
        }

    @property
    def file(self) -> str:
        return "synthetic"

    def code(self) -> str:
        """A hash of the code of both models."""
        return code_of(TREES) + code_of(SOFTMAX)

    def contents(self) -> str:
        """Nothing: the script makes the data."""
        return ""

    def problem(self) -> Problem:
        rng = np.random.default_rng(self.seed)
        n_rows, n_dimensions = self.size.n_rows, self.size.n_dimensions
        source = self.setting.source(self.size.n_labels, n_dimensions, self.scale, rng)
        X = in_ball(n_rows, n_dimensions, rng)
        y = source.draw(X, rng)
        half = n_rows // 2
        features = X.astype(np.float32)
        return Problem(
            features[:half], sp.csr_matrix(y[:half]), features[half:], y[half:], source.marginals(X[half:])
        )


def models(problem: Problem, n_jobs: int) -> tuple[LabelTreeClassifier, HierarchicalSoftmaxClassifier]:
    """Both models, not trained, with the complete binary tree that the frequencies of the training labels make."""
    counts = np.bincount(problem.y_train.indices, minlength=problem.y_train.shape[1])
    tree = complete_tree(counts, arity=2)
    return (
        LabelTreeClassifier(link="sigmoid", tree=tree, loss="logistic", n_jobs=n_jobs, **PARAMETERS),
        HierarchicalSoftmaxClassifier(tree=tree, n_jobs=n_jobs, **PARAMETERS),
    )


def measure(problem: Problem, n_jobs: int = 1) -> Outcome:
    """Train both models and judge their first labels."""
    first = [
        model.fit(problem.X_train, problem.y_train).predict_topk(problem.X_test, 1).labels[:, 0]
        for model in models(problem, n_jobs)
    ]
    rows = np.arange(len(problem.y_test))
    found = [float(problem.y_test[rows, labels].mean()) for labels in first]
    expected = [float(problem.eta_test[rows, labels].mean()) for labels in first]
    return Outcome(
        tree=found[0],
        softmax=found[1],
        tree_expected=expected[0],
        softmax_expected=expected[1],
        ceiling=float(problem.eta_test.max(axis=1).mean()),
        unlabelled=float(1 - problem.y_test.any(axis=1).mean()),
    )


@dataclass(frozen=True)
class Comparison:
    """How often the first of two won, tied and lost, and how probable so uneven a result is if neither is better."""

    wins: int
    ties: int
    losses: int
    p_value: float | None
    difference: Mean

    @classmethod
    def of(cls, first: Sequence[float], second: Sequence[float]) -> Comparison:
        """By the exact two-sided sign test, which ties say nothing to; without a win or a loss there is no p-value."""
        wins = sum(a > b for a, b in zip(first, second, strict=True))
        losses = sum(a < b for a, b in zip(first, second, strict=True))
        p_value = float(binomtest(wins, wins + losses).pvalue) if wins + losses else None
        difference = Mean.of([a - b for a, b in zip(first, second, strict=True)])
        return cls(wins, len(first) - wins - losses, losses, p_value, difference)
