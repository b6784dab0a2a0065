"""A label tree as a sampler of negative examples: each row against the labels it is easily taken for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree import _native
from labeltree.classifier import LabelTreeClassifier
from labeltree.model.forest import Search
from labeltree.training.examples import Examples
from labeltree.training.plan import Run
from labeltree.trees import LabelTree

#: So many labels are proposed for each row, if nothing else is said.
DEFAULT_NEGATIVES = 20
#: So many rows, drawn at random, are negative examples of a group of labels besides. Without any, a label knows nothing
#: of rows that are unlike its own, and all labels are asked about all rows.
RANDOM_ROWS = 1000


@dataclass(frozen=True)
class Negatives:
    """What a label tree proposed: row i is a negative example of ``indices[indptr[i]:indptr[i + 1]]``, if it is none of
    their positive ones."""

    tree: LabelTree
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]

    @property
    def native(self) -> _native.Negatives:
        """The kernel's view, with the rows that are drawn at random."""
        return _native.Negatives(self.indptr, self.indices, RANDOM_ROWS)


def find_negatives(examples: Examples, n_negatives: int, seed: int, run: Run) -> Negatives:
    """Train a `LabelTreeClassifier` with its defaults, and ask it for the best labels of every training row."""
    plan = replace(LabelTreeClassifier().make_plan(), seeds=[seed])
    trained: Any = plan.train(examples, run).forest
    # Not fused: the negatives, and so the model, must not depend on the processor.
    forest = trained.unfused()
    features = examples.features
    search = Search(min(n_negatives, examples.labels.n_labels), n_threads=run.n_threads)
    found, _ = run.phases.run(
        f"finding negative examples for {features.n_rows:,} rows",
        lambda progress: forest.top_k(features, search, progress=progress),
    )
    proposed = found >= 0
    indptr = np.concatenate([[0], np.cumsum(proposed.sum(axis=1))])
    return Negatives(forest.trees[0], indptr, found[proposed])
