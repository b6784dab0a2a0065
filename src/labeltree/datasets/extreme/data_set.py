"""Synthetic data sets, in memory or written to files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from scipy.sparse import csr_matrix, vstack

from labeltree.data.row_writer import write_row_blocks
from labeltree.trees import LabelTree

from .rows import ExtremeRows


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
    """Make a synthetic multi-label data set with as many labels as you like.

    Labels are the leaves of a hidden tree, and their frequencies a power law. A row has labels that are near each
    other in the tree. Its words come from its labels, from the nodes above them, each of which has a few words of
    its own, and from a background of Zipf's law; they are weighted by tf-idf, and rows have length 1 (but for
    rounding to five decimals). By default sizes are in the proportions of Amazon-670K, and labels, most of which have
    a handful of rows, are about as hard to tell at every size.

    Row i depends on the parameters but not on `n_rows` and `n_test`: fewer rows are the first of more.
    :func:`write_extreme` writes the same rows to files, without ever having them all in memory.

    Parameters
    ----------
    n_labels : int, default=10_000
        The number of labels, from 2. Those of the tail may have no row.
    n_rows : int, optional
        The number of training rows; by default 0.732 per label.
    n_test : int, optional
        The number of test rows; by default a tenth of `n_rows`, but from 1,000 to 20,000.
    n_features : int, optional
        The number of words; by default 166 times the square root of `n_labels`.
    labels_per_row, features_per_row : float
        The numbers of labels and of different words of a row, on average. Rows have a little less where they would
        need a large part of all there are.
    exponent : float, default=0.5
        The r-th most frequent label is expected in about r^-exponent times as many rows as the first. Amazon-670K
        has 0.5, sets of tags nearer to 1.
    arity : int, default=8
        The number of children of a node of the hidden tree.
    noise : float, default=0.5
        The share of words, from 0 to 1, that have nothing to do with the labels.
    random_state : int, RandomState or None
        The seed. The same seed gives the same data.

    Returns
    -------
    ExtremeMatrices
        X_train, y_train, X_test and y_test as CSR matrices of float32, and the hidden hierarchy.

    Raises
    ------
    ValueError
        When a parameter is not as described.

    Examples
    --------
    >>> from labeltree.datasets import make_extreme
    >>> X_train, y_train, X_test, y_test, hierarchy = make_extreme(2_000, random_state=0)
    >>> X_train.shape, y_train.shape, X_test.shape
    ((1464, 7424), (1464, 2000), (1000, 7424))
    >>> hierarchy
    LabelTree(n_labels=2000, n_nodes=2287, depth=4, arity=8)

    A model recovers enough of the hierarchy to find the labels:

    >>> from labeltree import LabelTreeClassifier
    >>> from labeltree.metrics import precision_at_k
    >>> model = LabelTreeClassifier(random_state=0).fit(X_train, y_train)
    >>> bool(precision_at_k(y_test, model.predict_topk(X_test).labels, k=1) > 0.6)
    True
    """
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
    return ExtremeMatrices(*_joined(rows.train()), *_joined(rows.test()), rows.hierarchy)


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
    """Write the data set of :func:`make_extreme` as ``train.txt`` and ``test.txt``, in the XMLC text format.

    Rows are made and written in blocks, so memory does not depend on their number: 670,000 labels and 490,000 rows take
    half a minute and a quarter of a gigabyte. A file appears under its name only when it is complete, ``train.txt``
    last.

    Parameters
    ----------
    folder : str or path-like
        Where to write; made if it is not there.
    n_labels, n_rows, n_test, n_features, labels_per_row, features_per_row, exponent, arity, noise, random_state
        As in :func:`make_extreme`.
    overwrite : bool, default=False
        Replace files that are there.

    Returns
    -------
    train, test : Path
        The files.

    Raises
    ------
    FileExistsError
        When there is a file of either name and `overwrite` is False.
    ValueError
        When a parameter is not as :func:`make_extreme` describes.

    Examples
    --------
    >>> import tempfile
    >>> from labeltree.data import read_xmlc
    >>> from labeltree.datasets import write_extreme
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     train, test = write_extreme(folder, 2_000, random_state=0)
    ...     X_train, y_train = read_xmlc(train)
    >>> X_train.shape, y_train.shape
    ((1464, 7424), (1464, 2000))
    """
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
            raise FileExistsError(f"{path} is already there: choose another folder, or say overwrite=True")
    Path(folder).mkdir(parents=True, exist_ok=True)
    for path, n_rows, blocks in ((test, rows.n_test, rows.test()), (train, rows.n_rows, rows.train())):
        write_row_blocks(path, blocks, header=(n_rows, rows.n_features, rows.n_labels), first_feature=0)
    return train, test


def _joined(blocks: Iterator[tuple[csr_matrix, csr_matrix]]) -> tuple[csr_matrix, csr_matrix]:
    X, y = zip(*blocks, strict=True)
    return vstack(X, format="csr"), vstack(y, format="csr")
