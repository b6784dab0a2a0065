"""Made-up embeddings beside documents, and the forms in which both can be given."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from tests.documents import documents


def embedded_documents(
    n_rows: int = 200, n_words: int = 60, n_dense: int = 12, n_labels: int = 30, *, seed: int = 0
) -> tuple[sp.csr_matrix, NDArray[np.float32], sp.csr_matrix]:
    """Word weights, embeddings that have to do with the labels (some of them zero) and labels."""
    words, y = documents(n_rows, n_words, n_labels, unlabelled=0.1, seed=seed)
    rng = np.random.default_rng(seed)
    meaning = rng.standard_normal((n_labels, n_dense))
    noise = rng.standard_normal((n_rows, n_dense))
    embedding = (3 * (y @ meaning + 0.3 * noise)).astype(np.float32)
    embedding[::50] = 0
    return words, embedding, y


def side_by_side(words: sp.csr_matrix, embedding: Any) -> sp.csr_matrix:
    """Both as one sparse matrix."""
    return sp.csr_matrix(sp.hstack([words, embedding]))


def scaled_halves(words: sp.csr_matrix, embedding: Any) -> sp.csr_matrix:
    """What a mixed row is scaled to: each part to a squared length of one half, if it has any."""
    parts = [sp.csr_matrix(part, dtype=np.float64) for part in (words, embedding)]
    lengths = [np.sqrt(np.asarray(part.multiply(part).sum(axis=1)).ravel()) for part in parts]
    return sp.csr_matrix(
        sp.hstack(
            [
                sp.diags(np.sqrt(0.5) / np.where(length > 0, length, 1)) @ part
                for part, length in zip(parts, lengths, strict=True)
            ]
        )
    )
