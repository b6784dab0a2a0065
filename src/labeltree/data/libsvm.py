"""The multi-label form of the libsvm (SVMlight) format."""

from __future__ import annotations

import os
from typing import Any

from labeltree import sparse as sp
from labeltree.validation import n_threads

from .labelled_rows import RowReader
from .row_writer import write_rows
from .sources import Source


def read_libsvm(
    path: Source,
    *,
    one_based: bool = True,
    n_features: int | None = None,
    n_labels: int | None = None,
    n_jobs: int | None = None,
) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Read a multi-label file in the libsvm format.

    Every line is a row: ``label,label feature:value feature:value``, with labels that are integers from 0. A
    row without labels begins with a space or with its first feature. ``#`` begins a comment. A line with only a
    comment is skipped; a blank line is a row.

    Parameters
    ----------
    path : str, path-like or binary file
        The file; ``"-"`` is standard input. Names ending in ``.gz``, ``.xz`` and ``.zst`` are decompressed.
    one_based : bool, default=True
        Whether the ids of features count from 1 in the file, as the format specifies. Labels always count from 0.
    n_features, n_labels : int, optional
        Numbers of columns of X and y. The default is the largest id plus one.
    n_jobs : int, optional
        Number of threads, as in :func:`read_xmlc`.

    Returns
    -------
    X, y : csr_matrix of float32
        As :func:`read_xmlc` returns them.

    Raises
    ------
    DataFormatError
        As :func:`read_xmlc` does.

    Examples
    --------
    >>> import io
    >>> from labeltree.data import read_libsvm
    >>> X, y = read_libsvm(io.BytesIO(b"# two rows\\n0,2 1:0.5 3:1.5\\n1 2:2\\n"))
    >>> X.toarray()
    array([[0.5, 0. , 1.5],
           [0. , 2. , 0. ]], dtype=float32)
    >>> y.toarray()
    array([[1., 0., 1.],
           [0., 1., 0.]], dtype=float32)
    """
    rows = RowReader(
        first_feature=int(one_based),
        comments=True,
        n_features=n_features,
        n_labels=n_labels,
        n_threads=n_threads(n_jobs),
    )
    return rows.read(path)


def write_libsvm(path: str | os.PathLike[str], X: Any, y: Any) -> None:
    """Write X and y in the libsvm format: features count from 1, labels from 0.

    The format does not store the numbers of features and labels. Values are written as by :func:`write_xmlc`, with the
    same errors.

    Parameters
    ----------
    path : str or path-like
        The file to write. Names ending in ``.gz``, ``.xz`` and ``.zst`` are compressed.
    X : sparse matrix or array of shape (n_rows, n_features)
        The features.
    y : sparse matrix or array of shape (n_rows, n_labels)
        1 where a row has a label, else 0.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from labeltree.data import write_libsvm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "train.svm")
    ...     write_libsvm(path, [[0, 0.5], [0.1, 0]], [[1, 0, 1], [0, 1, 0]])
    ...     print(path.read_text(), end="")
    0,2 2:0.5
    1 1:0.1
    """
    write_rows(path, X, y, header=False, first_feature=1)
