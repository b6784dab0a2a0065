"""Hard negative examples: a label tree proposes labels that each row is easily confused with."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from labeltree import _native
from labeltree.classifier import LabelTreeClassifier
from labeltree.model.linear_forest import LinearForest
from labeltree.training.examples import Examples
from labeltree.training.proposals import propose
from labeltree.training.run import Run
from labeltree.training.tree_plan import TreePlan
from labeltree.trees import LabelTree

#: Default number of labels that the tree proposes for each row.
DEFAULT_NEGATIVES = 20
#: Number of random rows that are additional negative examples of each group of labels. Without them, a label never
#: sees rows that are unlike its own, but prediction asks all labels about all rows.
RANDOM_ROWS = 1000


@dataclass(frozen=True)
class Negatives:
    """The labels that a label tree proposes for each row.

    Row i is a negative example of the labels ``indices[indptr[i]:indptr[i + 1]]`` that it does not have.
    """

    tree: LabelTree
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]

    @property
    def native(self) -> _native.Negatives:
        """Return the kernel's view, with the number of random rows."""
        return _native.Negatives(self.indptr, self.indices, RANDOM_ROWS)


def find_negatives(examples: Examples, n_negatives: int, seed: int, run: Run) -> Negatives:
    """Train a `LabelTreeClassifier` with a balanced tree, and return its best labels for every training row.

    Labels are trained by the blocks of this tree. Blocks of equal size fill the lanes best. A trial would not pay: the
    labels that the tree finds hard hardly depend on C.
    """
    tree = LabelTreeClassifier(
        tree="kmeans", arity=32, max_leaves=100, C=None, link="exp4", weights="float32"
    )
    plan = tree.make_plan()
    assert isinstance(plan, TreePlan)
    plan = replace(plan, seeds=[seed])
    trained = plan.train(examples, run).forest
    assert isinstance(trained, LinearForest)
    indptr, indices = propose(trained, examples, n_negatives, run)
    return Negatives(trained.trees[0], indptr, indices)
