"""Made-up documents that look like real ones: few frequent words and labels, many rare ones."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


def power_law(n: int) -> np.ndarray:
    weight = 1 / np.arange(1, n + 1)
    return weight / weight.sum()


def documents(
    n_rows: int = 300, n_words: int = 400, n_labels: int = 40, *, unlabelled: float = 0.0, seed: int = 0
) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Word weights X (float32) and labels y (0/1).

    Every label likes some words of its own; a document has one to four labels and mixes their words with common
    ones. With `unlabelled` that share of the rows lose their labels, but not their words.
    """
    rng = np.random.default_rng(seed)
    common = power_law(n_words)
    topics = [rng.permutation(n_words)[: max(2, n_words // 20)] for _ in range(n_labels)]
    y = np.zeros((n_rows, n_labels))
    X = np.zeros((n_rows, n_words), dtype=np.float32)
    for i in range(n_rows):
        labels = rng.choice(
            n_labels, size=min(n_labels, rng.integers(1, 5)), replace=False, p=power_law(n_labels)
        )
        y[i, labels] = 1
        words = [rng.choice(n_words, size=12, p=common), *(rng.choice(topics[j], size=6) for j in labels)]
        for word in np.concatenate(words):
            X[i, word] += 1
    idf = 1 + np.log(n_rows / np.maximum(1, (X > 0).sum(axis=0)))
    X = np.where(X > 0, (1 + np.log(np.maximum(X, 1))) * idf, 0).astype(np.float32)
    y[rng.random(n_rows) < unlabelled] = 0
    return sp.csr_matrix(X), sp.csr_matrix(y)
