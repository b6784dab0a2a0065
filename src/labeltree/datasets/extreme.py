"""Synthetic extreme multi-label data: labels of a power law, topical words, a hidden hierarchy."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from scipy.sparse import csr_matrix, vstack

from labeltree.data.row_writer import write_row_blocks
from labeltree.trees import LabelTree

from .extreme_rows import ExtremeRows


class ExtremeMatrices(NamedTuple):
    """Synthetic rows as sparse matrices of float32, and the hierarchy that they were made from."""

    X_train: csr_matrix
    y_train: csr_matrix
    X_test: csr_matrix
    y_test: csr_matrix
    hierarchy: LabelTree
    """Labels that are near each other in it share words and occur together."""


def make_extreme(
    n_labels: int = 10_000,
    n_rows: int | None = None,
    n_test: int | None = None,
    n_features: int | None = None,
    *,
    labels_per_row: float = 4.9,
    features_per_row: float = 90.0,
    exponent: float = 0.5,
    arity: int = 8,
    noise: float = 0.5,
    random_state: Any = None,
) -> ExtremeMatrices:
    rows = ExtremeRows(
        n_labels,
        n_rows,
        n_test,
        n_features,
        labels_per_row=labels_per_row,
        features_per_row=features_per_row,
        exponent=exponent,
        arity=arity,
        noise=noise,
        random_state=random_state,
    )
    return ExtremeMatrices(*_matrices(rows.train()), *_matrices(rows.test()), rows.hierarchy)


def write_extreme(
    folder: str | os.PathLike[str],
    n_labels: int = 10_000,
    n_rows: int | None = None,
    n_test: int | None = None,
    n_features: int | None = None,
    *,
    labels_per_row: float = 4.9,
    features_per_row: float = 90.0,
    exponent: float = 0.5,
    arity: int = 8,
    noise: float = 0.5,
    random_state: Any = None,
    overwrite: bool = False,
) -> tuple[Path, Path]:
    rows = ExtremeRows(
        n_labels,
        n_rows,
        n_test,
        n_features,
        labels_per_row=labels_per_row,
        features_per_row=features_per_row,
        exponent=exponent,
        arity=arity,
        noise=noise,
        random_state=random_state,
    )
    train, test = Path(folder, "train.txt"), Path(folder, "test.txt")
    for path in (train, test):
        if path.exists() and not overwrite:
            raise FileExistsError(f"{path} exists; choose another folder, or say overwrite=True")
    train.parent.mkdir(parents=True, exist_ok=True)
    for path, n, blocks in ((test, rows.n_test, rows.test()), (train, rows.n_rows, rows.train())):
        write_row_blocks(path, blocks, header=(n, rows.n_features, rows.n_labels), first_feature=0)
    return train, test


def _matrices(blocks: Iterator[tuple[csr_matrix, csr_matrix]]) -> tuple[csr_matrix, csr_matrix]:
    X, y = zip(*blocks, strict=True)
    return vstack(X, format="csr"), vstack(y, format="csr")
