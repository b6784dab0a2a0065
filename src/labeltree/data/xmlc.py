"""The text format of the extreme classification (XMLC) repository."""

from __future__ import annotations

import os
from typing import Any, Literal

from labeltree import sparse as sp
from labeltree._native import HeaderRule
from labeltree.validation import n_threads

from .labelled_rows import RowReader
from .row_writer import write_rows
from .sources import Source

_HEADER_RULES = {"auto": HeaderRule.OPTIONAL, True: HeaderRule.REQUIRED, False: HeaderRule.ABSENT}


def read_xmlc(
    path: Source,
    *,
    header: bool | Literal["auto"] = "auto",
    one_based: bool = False,
    n_features: int | None = None,
    n_labels: int | None = None,
    n_jobs: int | None = None,
) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Read a file in the text format of the extreme classification repository.

    The first line may be a header, ``rows features labels``. Every other line is a row:
    ``label,label feature:value feature:value``. A row without labels begins with a space or with its first
    feature.

    Parameters
    ----------
    path : str, path-like or binary file
        The file; ``"-"`` is standard input. Names ending in ``.gz``, ``.xz`` and ``.zst`` are decompressed.
    header : bool or "auto", default="auto"
        Whether the file has a header. ``"auto"`` detects it: a first line of three numbers is a header, never a row.
    one_based : bool, default=False
        Whether the ids of features and labels count from 1 in the file.
    n_features, n_labels : int, optional
        Numbers of columns of X and y. The default is the header's numbers or, without a header, the largest id plus
        one. Set them to give a training and a test file without headers the same columns.
    n_jobs : int, optional
        Number of threads, as in scikit-learn: None is 1, and -1 is all processors. The result is the same for any
        number.

    Returns
    -------
    X : csr_matrix of float32
        The features, with sorted indices. Explicit zeros are kept.
    y : csr_matrix of float32
        1 where a row has a label. A label that occurs twice in a row counts once.

    Raises
    ------
    DataFormatError
        With file and line, if a line has another format, a value is not finite, an id is negative or exceeds the
        header or `n_features` and `n_labels`, a row has a feature twice, the header has another number of rows, or
        the file has neither a header nor a row.

    Examples
    --------
    >>> import io
    >>> from labeltree.data import read_xmlc
    >>> X, y = read_xmlc(io.BytesIO(b"2 4 3\\n0,2 1:0.5 3:1.5\\n 0:2\\n"))
    >>> X.toarray()
    array([[0. , 0.5, 0. , 1.5],
           [2. , 0. , 0. , 0. ]], dtype=float32)
    >>> y.toarray()
    array([[1., 0., 1.],
           [0., 0., 0.]], dtype=float32)
    """
    if header not in _HEADER_RULES:
        raise ValueError(f"expected header to be True, False or 'auto', got {header!r}")
    rows = RowReader(
        header=_HEADER_RULES[header],
        first_feature=int(one_based),
        first_label=int(one_based),
        n_features=n_features,
        n_labels=n_labels,
        n_threads=n_threads(n_jobs),
    )
    return rows.read(path)


def write_xmlc(path: str | os.PathLike[str], X: Any, y: Any) -> None:
    """Write X and y in the text format of the extreme classification repository, with a header.

    Values are written as float32, in the shortest form that :func:`read_xmlc` reads back as the same number.
    The file is written atomically: an incomplete file never has this name.

    Parameters
    ----------
    path : str or path-like
        The file to write. Names ending in ``.gz``, ``.xz`` and ``.zst`` are compressed.
    X : sparse matrix or array of shape (n_rows, n_features)
        The features.
    y : sparse matrix or array of shape (n_rows, n_labels)
        1 where a row has a label, else 0.

    Raises
    ------
    ValueError
        If X and y have different numbers of rows, X has a value that is not a finite float32, or y has a value
        other than 0 and 1.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from labeltree.data import write_xmlc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "train.txt")
    ...     write_xmlc(path, [[0, 0.5], [0.1, 0]], [[1, 0, 1], [0, 0, 0]])
    ...     print(path.read_text(), end="")
    2 2 3
    0,2 1:0.5
     0:0.1
    """
    write_rows(path, X, y, header=True, first_feature=0)
