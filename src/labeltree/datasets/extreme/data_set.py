"""Synthetic data sets, in memory or written to files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

from scipy.sparse import csr_matrix, vstack

from labeltree.data.row_writer import write_row_blocks
from labeltree.trees import LabelTree
from labeltree.validation import n_threads

from .rows import ExtremeRows


class ExtremeMatrices(NamedTuple):
    """Synthetic rows as sparse matrices of float32, and the hierarchy from which they were made."""

    X_train: csr_matrix
    y_train: csr_matrix
    X_test: csr_matrix
    y_test: csr_matrix
    hierarchy: LabelTree
    """Labels that are close to each other in the tree share words and occur together."""


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
    """Make a synthetic multi-label data set with any number of labels.

    Labels are the leaves of a hidden tree, and their frequencies follow a power law. The labels of a row are close to
    each other in the tree. The words of a row come from its labels, from their ancestors, each of which has a few
    words of its own, and from a background with Zipf's law. Words are weighted by tf-idf, and rows have length 1, up
    to rounding to five decimals. The default sizes have the proportions of Amazon-670K. Most labels have only a few
    rows, and they are about equally hard to predict at every size.

    Row i depends on the parameters but not on `n_rows` and `n_test`: a smaller data set is the beginning of a larger
    one. `write_extreme` writes the same rows to files without holding all of them in memory.

    Parameters
    ----------
    n_labels : int, default=10_000
        Number of labels, at least 2. Rare labels may have no row.
    n_rows : int, optional
        Number of training rows. The default is 0.732 per label.
    n_test : int, optional
        Number of test rows. The default is a tenth of `n_rows`, but at least 1,000 and at most 20,000.
    n_features : int, optional
        Number of words. The default is 166 times the square root of `n_labels`.
    labels_per_row, features_per_row : float
        Average numbers of labels and of distinct words of a row. Rows have slightly fewer if this is a large part of
        all labels or words.
    exponent : float, default=0.5
        Exponent of the power law: the r-th most frequent label is expected in about r^-exponent times as many rows as
        the first. Amazon-670K has 0.5; use a value closer to 1 to imitate tags.
    arity : int, default=8
        Number of children of a node of the hidden tree.
    noise : float, default=0.5
        Share of words, from 0 to 1, that are independent of the labels. Increase it to make labels harder to predict.
    random_state : int, RandomState or None
        Seed. The same seed gives the same data.

    Returns
    -------
    ExtremeMatrices
        X_train, y_train, X_test and y_test as CSR matrices of float32, and the hidden hierarchy.

    Raises
    ------
    ValueError
        If a parameter is out of range.

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
    train, test = _joined(rows.blocks(test=False)), _joined(rows.blocks(test=True))
    return ExtremeMatrices(*train, *test, rows.labels.to_tree())


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
    format: Literal["xmlc", "store"] = "xmlc",
    overwrite: bool = False,
    n_jobs: int | None = None,
) -> tuple[Path, Path]:
    """Write the data set of `make_extreme` as ``train.txt`` and ``test.txt``, in the XMLC text format.

    Rows are made and written in blocks, so memory does not depend on their number: 670,000 labels and 490,000 rows take
    half a minute and a quarter of a gigabyte. Each file is written atomically, ``train.txt`` last.

    With ``format="store"``, the rows go straight into the stores ``train.store`` and ``test.store``, which are several
    times smaller and need not be read again. Writing a store resumes where it was interrupted.

    Parameters
    ----------
    folder : str or path-like
        Folder of the files. It is created if it does not exist.
    n_labels, n_rows, n_test, n_features, labels_per_row, features_per_row, exponent, arity, noise, random_state
        As in `make_extreme`.
    format : {"xmlc", "store"}, default="xmlc"
        What to write: text files, or a :class:`labeltree.data.Store` for each.
    overwrite : bool, default=False
        Whether to overwrite existing files.
    n_jobs : int, optional
        Number of threads that make rows, as in scikit-learn. The rows are the same for any number.

    Returns
    -------
    train, test : Path
        Paths of the files or stores.

    Raises
    ------
    FileExistsError
        If one of the files, or a store of other data, exists and `overwrite` is False.
    ValueError
        If a parameter is out of range.

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
    if format not in ("xmlc", "store"):
        raise ValueError(f"format must be 'xmlc' or 'store', got {format!r}")
    parameters: dict[str, Any] = {
        "labels_per_row": labels_per_row,
        "features_per_row": features_per_row,
        "exponent": exponent,
        "arity": arity,
        "noise": noise,
    }
    rows = ExtremeRows(n_labels, n_rows, n_test, n_features, **parameters, random_state=random_state)
    suffix = "txt" if format == "xmlc" else "store"
    train, test = Path(folder, f"train.{suffix}"), Path(folder, f"test.{suffix}")
    for path in (train, test):
        if path.exists() and not overwrite and format == "xmlc":  # a store may be resumed
            raise FileExistsError(f"{path} already exists: choose another folder, or use overwrite=True")
    Path(folder).mkdir(parents=True, exist_ok=True)
    for path, n_written in ((test, rows.n_test), (train, rows.n_rows)):
        is_test, threads = path == test, n_threads(n_jobs)
        if format == "xmlc":
            header = (n_written, rows.n_features, rows.n_labels)
            blocks = rows.blocks(test=is_test, n_threads=threads)
            write_row_blocks(path, blocks, header=header, first_feature=0)
        else:
            job = {"make_extreme": parameters, "test": is_test, "seed": rows.seed, "rows": n_written}
            _write_store(path, rows, job, overwrite, is_test, threads)
    return train, test


def _write_store(
    path: Path, rows: ExtremeRows, job: dict[str, Any], overwrite: bool, test: bool, n_threads: int
) -> None:
    from labeltree.data import StoreWriter
    from labeltree.data.store.store import finished

    sizes: dict[str, Any] = {"n_features": rows.n_features, "n_labels": rows.n_labels}
    job = {**job, **sizes}
    if not overwrite and finished(path, job) is not None:
        return
    with StoreWriter(path, **sizes, job=job, overwrite=overwrite) as writer:
        for X, y in rows.blocks(test=test, first_row=writer.n_rows, n_threads=n_threads):
            writer.append(X, y)


def _joined(blocks: Iterator[tuple[csr_matrix, csr_matrix]]) -> tuple[csr_matrix, csr_matrix]:
    X, y = zip(*blocks, strict=True)
    return vstack(X, format="csr"), vstack(y, format="csr")
