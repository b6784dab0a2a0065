"""Small problems for the kernel that learns vectors, and the same training by the kernel and by its twin."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.reference.embedding import Example, Options, VectorTwin

from labeltree import LabelTree, _native

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Problem:
    """Rows of words with labels, and a tree over the labels."""

    tree: LabelTree
    X: NDArray[np.float32]
    labels: list[list[int]]
    weight: NDArray[np.float32] | None = None

    @property
    def examples(self) -> list[Example]:
        """The rows as the twin takes them."""
        weight = np.ones(len(self.X)) if self.weight is None else self.weight
        return [
            Example({int(word): float(row[word]) for word in np.flatnonzero(row)}, labels, float(of_row))
            for row, labels, of_row in zip(self.X, self.labels, weight, strict=True)
        ]

    @property
    def native_examples(self) -> _native.Examples:
        indptr = np.cumsum([0, *map(len, self.labels)], dtype=np.int64)
        indices = np.array([label for row in self.labels for label in row], dtype=np.int32)
        features = _native.FeatureMatrix.dense(self.X, False)
        return _native.Examples(features, indptr, indices, self.tree.n_labels, self.weight)

    def options(self, dimension: int, passes: int = 1, **options: Any) -> Options:
        """Options that fit the rows: a rate that falls to 0 in `passes` passes, and a root that learns if it must."""
        has_empty = any(not labels for labels in self.labels)
        fitting = {"n_visits": max(passes * len(self.X), 1), "trains_root": has_empty, "initial_range": 0.5}
        return Options(dimension, **fitting | options)


def random_problem(
    tree: LabelTree, n_rows: int, n_words: int, seed: int, *, weighted: bool = True, empty: bool = True
) -> Problem:
    """Rows of no to six words with values of both signs, and no to four labels, one at least unless `empty`."""
    rng = np.random.default_rng(seed)
    n_of_row = rng.integers(0, min(7, n_words + 1), n_rows)
    X = np.zeros((n_rows, n_words), dtype=np.float32)
    for row, n in zip(X, n_of_row, strict=True):
        row[rng.choice(n_words, n, replace=False)] = rng.normal(0.5, 1, n)
    most = min(4, tree.n_labels)
    labels = [
        sorted(rng.choice(tree.n_labels, rng.integers(0 if empty else 1, most + 1), replace=False).tolist())
        for _ in range(n_rows)
    ]
    return Problem(tree, X, labels, rng.uniform(0.2, 2, n_rows).astype(np.float32) if weighted else None)


def native_trainer(problem: Problem, options: Options, n_threads: int = 1) -> _native.VectorTrainer:
    chosen = {
        **vars(options),
        "loss": getattr(_native.NodeLoss, options.loss),
        "solver": getattr(_native.VectorSolver, options.solver),
    }
    return _native.VectorTrainer(
        problem.tree.native, problem.X.shape[1], _native.VectorOptions(**chosen, n_threads=n_threads)
    )


def kernel_arrays(problem: Problem, options: Options, passes: int = 1, n_threads: int = 1) -> Arrays:
    """What the kernel learns."""
    trainer = native_trainer(problem, options, n_threads)
    for _ in range(passes):
        trainer.learn(problem.native_examples, _native.Progress())
    return dict(trainer.arrays())


def twin_arrays(problem: Problem, options: Options, passes: int = 1) -> Arrays:
    """What the twin learns."""
    twin = VectorTwin(problem.tree, problem.X.shape[1], options)
    for _ in range(passes):
        twin.learn(problem.examples)
    return twin.arrays()


def kernel_gradients(problem: Problem, options: Options, passes_before: int) -> tuple[Arrays, Arrays]:
    """Vectors after some passes, and the gradients by which the next pass changes them: one step of a batch of all.

    `options.learning_rate` is the rate of the passes before. Other vectors than those at the start are needed, where
    those of nodes are 0.
    """
    size = max(len(problem.X), 1)
    options = replace(options, solver="sgd", falling_rate=False, batch_size=size, l2=0.0, dropout=0.0)
    trainer = native_trainer(problem, options)
    for _ in range(passes_before):
        trainer.learn(problem.native_examples, _native.Progress())
    before = dict(trainer.arrays())
    trainer.learn(problem.native_examples, _native.Progress())
    after = trainer.arrays()
    return before, {
        name: (before[name].astype(np.float64) - after[name]) / options.learning_rate for name in before
    }


WIDE_TREE = LabelTree.from_nested([*range(90), [90, 91, [92, 93, 94]], [[95, 96], [97, 98]], [[99]]])
WIDE_TRAININGS: dict[str, dict[str, Any]] = {
    "adam": {"solver": "adam", "dropout": 0.3},
    "hard negatives": {"solver": "adagrad", "hard_negatives": 3, "mean": True},
    "softmax": {"loss": "softmax", "solver": "sgd", "l2": 0.001},
}


def wide_problem() -> Problem:
    """Blocks of one to 93 columns, and enough rows for several threads."""
    return random_problem(WIDE_TREE, 150, 400, seed=5)


def wide_options(problem: Problem, kind: str, dimension: int) -> Options:
    return problem.options(dimension, passes=2, batch_size=40, learning_rate=0.05, **WIDE_TRAININGS[kind])
