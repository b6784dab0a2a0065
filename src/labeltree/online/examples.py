"""Examples as a journal has them: ``{"text": …, "labels": […]}``, or ``row`` or ``features`` in place of a text."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

from labeltree import sparse as sp


def features_of(model: Any, examples: list[dict[str, Any]]) -> Any:
    """Return X for an online model.

    Rows of numbers cannot be mixed with texts and named features. Raises `ValueError` for examples of another kind than
    those that the model has learned.
    """
    rows = [example["row"] for example in examples if "row" in example]
    if rows and len(rows) < len(examples):
        raise ValueError("examples: expected all of one kind, got rows of numbers and others")
    if rows:
        return _matrix(model, rows)
    if not model.named_features_:
        raise ValueError("the model was trained on rows of numbers, without names of features: send 'row'")
    texts = iter(model.model_.text_rows([example["text"] for example in examples if "text" in example]))
    return [next(texts) if "text" in example else example["features"] for example in examples]


def labels_of(examples: list[dict[str, Any]]) -> list[list[Any]]:
    """Return y."""
    return [example["labels"] for example in examples]


def _matrix(model: Any, rows: list[dict[str, Any]]) -> sp.csr_matrix:
    if model.named_features_:
        raise ValueError("the model has features with names: send 'features' or 'text'")
    n_features = int(model.n_features_in_)
    for i, row in enumerate(rows):
        # One large index would take all memory.
        if model.weights == "dense" and row["indices"] and row["indices"][-1] >= n_features:
            expected = f"expected indices from 0 to {n_features - 1}, got {row['indices'][-1]}"
            raise ValueError(f"examples[{i}].row: dense weights learn no new features: {expected}")
    indptr = np.cumsum([0, *(len(row["indices"]) for row in rows)], dtype=np.int64)
    indices = np.fromiter(chain.from_iterable(row["indices"] for row in rows), np.int64, indptr[-1])
    values = np.fromiter(chain.from_iterable(row["values"] for row in rows), np.float32, indptr[-1])
    width = max(n_features, int(indices.max(initial=0)) + 1)
    return sp.csr_matrix((values, indices, indptr), shape=(len(rows), width))
