"""Proposals: the labels that trees rank highest for training rows. Wrong ones are hard negative examples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from labeltree.model.forest import Search
from labeltree.model.linear_forest import LinearForest
from labeltree.training.examples import Examples
from labeltree.training.run import Run
from labeltree.wording import count_text


def propose(
    forest: LinearForest, examples: Examples, n_labels: int, run: Run, threshold: float = 0.0
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the best labels of every row that are at least so probable.

    Row i has the labels ``indices[indptr[i]:indptr[i + 1]]``.
    """
    features = examples.features
    # Not fused: the proposals, and so the model, must not depend on the processor.
    unfused = forest.unfused()
    search = Search(min(n_labels, examples.labels.n_labels), threshold=threshold, n_threads=run.n_threads)
    found, _ = run.phase(
        f"finding negative examples for {count_text(features.n_rows, 'row')}",
        lambda progress: unfused.top_k(features, search, progress=progress),
    )
    proposed = found >= 0
    return np.concatenate([[0], np.cumsum(proposed.sum(axis=1))]), found[proposed]
