"""`EmbeddingPlan`: builds a tree, and learns the vectors of words and nodes together."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree import _native
from labeltree.embedding.forest import EmbeddingForest
from labeltree.embedding.node_vectors import CERTAIN_SCORE, NodeVectors
from labeltree.embedding.vectors import Vectors
from labeltree.training.examples import Examples
from labeltree.training.plan import Trained
from labeltree.training.run import Run
from labeltree.trees import LabelTree
from labeltree.trees.recipe import TreeRecipe
from labeltree.wording import count_text

#: How scores become probabilities, by the loss of the nodes.
LINKS = {"logistic": "sigmoid", "softmax": "softmax"}


@dataclass(frozen=True)
class StartVectors:
    """Vectors that some words have before training.

    Attributes
    ----------
    words : array of int64
        The features that have a vector.
    values : array of float32 of shape (len(words), dimension)
    frozen : bool
        Whether training leaves them as they are.
    """

    words: NDArray[np.int64]
    values: NDArray[np.float32]
    frozen: bool


@dataclass(frozen=True)
class EmbeddingPlan:
    """How to learn vectors under a label tree.

    Attributes
    ----------
    recipe : TreeRecipe
        How to build the tree.
    options : dict
        Options of the kernel, by name.
    epochs : int
        Number of passes over the examples.
    vector_type : str
        The type that the trained vectors are rounded to.
    seed : int
    start : callable, optional
        Returns the vectors that words have before training, for a number of features.
    """

    recipe: TreeRecipe
    options: Mapping[str, Any]
    epochs: int
    vector_type: str
    seed: int
    start: Callable[[int], StartVectors] | None = None

    @property
    def loss(self) -> str:
        return str(self.options["loss"])

    def train(self, examples: Examples, run: Run) -> Trained:
        """Build the tree and learn the vectors."""
        started = time.perf_counter()
        n_rows, n_features = examples.labels.n_rows, examples.features.n_features
        start = self.start_vectors(n_features)
        tree = self.grow_tree(examples, run)
        built = time.perf_counter()
        has_empty = bool((np.diff(examples.labels.indptr) == 0).any())
        trainer = self.trainer(tree, n_features, n_rows, has_empty, run.n_threads, start)

        def learn(progress: _native.Progress) -> None:
            for _ in range(self.epochs):
                trainer.learn(examples.native, progress)

        run.phase(f"learning vectors of {count_text(examples.features.n_features, 'feature')}", learn)
        forest = self.forest(trainer, tree, has_empty)
        seconds = {"clustering": built - started, "training": time.perf_counter() - built}
        return Trained(forest, [{"n_passes": self.epochs}], seconds)

    def start_vectors(self, n_features: int) -> StartVectors | None:
        """Read the vectors that words start from, if there are some: a bad file is refused before anything else."""
        return None if self.start is None else self.start(n_features)

    def grow_tree(self, examples: Examples, run: Run) -> LabelTree:
        """Build the tree of these examples."""
        self.recipe.check(examples.labels.n_labels)
        return self.recipe.grow(examples, self.seed, run)

    def trainer(
        self,
        tree: LabelTree,
        n_features: int,
        n_rows: int,
        has_empty: bool,
        n_threads: int,
        start: StartVectors | None,
    ) -> _native.VectorTrainer:
        """Return the kernel's trainer, with the vectors that words start from.

        `n_rows` is the number of rows in one pass, and `has_empty` tells whether some of them have no label.
        """
        options = _native.VectorOptions(
            **{
                **self.options,
                "loss": getattr(_native.NodeLoss, self.loss),
                "solver": getattr(_native.VectorSolver, self.options["solver"]),
                "n_visits": self.epochs * n_rows,
                "trains_root": has_empty,
                "seed": self.seed,
                "n_threads": n_threads,
            }
        )
        trainer = _native.VectorTrainer(tree.native, n_features, options)
        if start is not None:
            trainer.set_words(start.words, start.values, start.frozen)
        return trainer

    def forest(self, trainer: _native.VectorTrainer, tree: LabelTree, has_empty: bool) -> EmbeddingForest:
        """Return the trained forest; raise `ValueError` if the vectors grew beyond all bounds."""
        arrays = trainer.arrays()
        nodes, bias = arrays["node_vector"], arrays["bias"]
        if not (
            np.isfinite(arrays["word_vector"]).all() and np.isfinite(nodes).all() and np.isfinite(bias).all()
        ):
            raise ValueError(
                "training diverged: vectors are no longer finite. Lower learning_rate, or scale X (normalize=True)"
            )
        if not has_empty:
            bias[0] = CERTAIN_SCORE  # every row has a label
        if self.loss == "softmax":
            # Of two children that exclude each other, the first was trained.
            inner = tree.inner_nodes
            first = tree.child_begin[inner][np.diff(tree.child_begin)[inner] == 2]
            nodes[first + 1], bias[first + 1] = -nodes[first], -bias[first]
        words, of_nodes = (Vectors(v).with_type(self.vector_type) for v in (arrays["word_vector"], nodes))
        mean = bool(self.options["mean"])
        return EmbeddingForest(words, NodeVectors(tree, of_nodes, bias), LINKS[self.loss], mean)
