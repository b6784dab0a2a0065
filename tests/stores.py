"""Small stores for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from labeltree.data import Store, StoreWriter


def random_rows(n_rows: int = 60, n_features: int = 20, n_labels: int = 9, seed: int = 0) -> tuple[Any, Any]:
    """Rows whose labels can be told from their features; the last row is empty."""
    rng = np.random.default_rng(seed)
    y = (rng.random((n_rows, n_labels)) < 0.2).astype(np.float32)
    X = (rng.random((n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.3)).astype(np.float32)
    X[:, :n_labels] += y
    X[-1], y[-1] = 0, 0
    return csr_matrix(X), csr_matrix(y)


def write_store(path: Path, X: Any = None, y: Any = None, batch: int = 13, **settings: Any) -> Store:
    """Write rows to a store in batches of odd sizes."""
    if X is None:
        X, y = random_rows()
    with StoreWriter(path, n_features=X.shape[1], n_labels=y.shape[1], **settings) as writer:
        for begin in range(0, X.shape[0], batch):
            writer.append(X[begin : begin + batch], y[begin : begin + batch])
    return Store(path)


def files_of(path: Path) -> dict[str, bytes]:
    """The content of all files of a directory."""
    return {file.name: file.read_bytes() for file in sorted(path.iterdir()) if file.is_file()}


def change_document(path: Path, **fields: Any) -> None:
    """Change fields of ``store.json``."""
    document = json.loads((path / "store.json").read_text())
    (path / "store.json").write_text(json.dumps({**document, **fields}))
