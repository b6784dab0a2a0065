"""From what a request has, texts, numbers or names, to the X that a model takes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from labeltree import _native
from labeltree.serving.errors import Refusal
from labeltree.serving.registry import ServedModel
from labeltree.serving.schemas import Features, Row
from labeltree.text.features import TextFeatures
from labeltree.text.text_input import text_features
from labeltree.validation import n_threads


def of_texts(served: ServedModel, texts: Sequence[str]) -> Any:
    """X of texts."""
    if not served.takes_text:
        raise Refusal(
            422,
            f"the model {served.name} was trained on rows of numbers and takes no texts: send 'rows'",
            "wrong_input",
        )
    model = served.model
    if served.is_online or model._has_node_estimators:
        return text_features(model, texts)
    # Parameters were checked when the model was loaded: not to do it again, and to do without SciPy, halves the time
    # that one text takes.
    vectorizer = model.vectorizer_
    features: TextFeatures = vectorizer.features
    indptr, indices, values = features.csr_arrays(
        texts, n_threads(vectorizer.n_jobs) if len(texts) > 1 else 1
    )
    return _matrix(model, indptr, indices, values, features.n_columns)


def of_rows(served: ServedModel, rows: Sequence[Row], field: str) -> Any:
    """X of sparse vectors."""
    if served.takes_features:
        raise Refusal(
            422,
            f"the model {served.name} has features with names: send 'features' or texts",
            "wrong_input",
        )
    model = served.model
    indptr = np.zeros(len(rows) + 1, dtype=np.int64)
    indptr[1:] = [len(row.indices) for row in rows]
    indptr = indptr.cumsum()
    indices = np.fromiter(chain.from_iterable(row.indices for row in rows), np.int64, indptr[-1])
    values = np.fromiter(chain.from_iterable(row.values for row in rows), np.float32, indptr[-1])
    width = int(model.n_features_in_)
    if served.is_online:  # which has never seen the last of its features
        width = max(width, int(indices.max(initial=0)) + 1)
        return sp.csr_matrix((values, indices, indptr), shape=(len(rows), width))
    _check_width(served, rows, field, indptr, indices, width)
    if model._has_node_estimators:
        return sp.csr_matrix((values, indices, indptr), shape=(len(rows), width))
    # The schema has checked all else.
    return _matrix(model, indptr, indices, values, width)


def of_features(served: ServedModel, rows: Sequence[Features]) -> Any:
    """X of features by name."""
    if not served.takes_features:
        raise Refusal(
            422,
            f"the features of the model {served.name} have no names: send "
            + ("texts" if served.takes_text else "'rows'"),
            "wrong_input",
        )
    return list(rows)


def _matrix(
    model: Any, indptr: NDArray[Any], indices: NDArray[Any], values: NDArray[Any], width: int
) -> _native.FeatureMatrix:
    """X as the kernel reads it, of arrays that are known to be right."""
    begin, index = indptr.astype(np.int64, copy=False), indices.astype(np.int64, copy=False)
    return _native.FeatureMatrix.csr(
        begin, index, values, width, bool(model.normalize_), model.dense_features_
    )


def _check_width(
    served: ServedModel,
    rows: Sequence[Row],
    field: str,
    indptr: NDArray[np.int64],
    indices: NDArray[np.int64],
    width: int,
) -> None:
    if indices.max(initial=0) < width:
        return
    row = int(np.searchsorted(indptr, np.argmax(indices >= width), side="right")) - 1
    place = f"{field}[{row}]" if field == "rows" else field
    raise Refusal(
        422,
        f"{place}: indices must be from 0 to {width - 1}, the features of the model {served.name}, got "
        f"{rows[row].indices[-1]}",
    )
