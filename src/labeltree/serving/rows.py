"""The matrix X that a model takes, from the texts, sparse rows or named features of a request."""

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
    """Return X for texts."""
    if not served.takes_text:
        raise _wrong_input(served, "was trained on rows of numbers and takes no texts: send 'rows'")
    model = served.model
    if served.is_online or model._has_node_estimators:
        return text_features(model, texts)
    # Half the time of `transform`: the parameters were checked when the model was loaded, and SciPy is not needed.
    vectorizer = model.vectorizer_
    features: TextFeatures = vectorizer.features
    indptr, indices, values = features.csr_arrays(
        texts, n_threads(vectorizer.n_jobs) if len(texts) > 1 else 1
    )
    return _matrix(model, indptr, indices, values, features.n_columns)


def of_rows(served: ServedModel, rows: Sequence[Row], field: str) -> Any:
    """Return X for sparse vectors; `field` is their name in the request."""
    if served.takes_features:
        raise _wrong_input(served, "has features with names: send 'features' or texts")
    model = served.model
    indptr = np.cumsum([0, *(len(row.indices) for row in rows)], dtype=np.int64)
    indices = np.fromiter(chain.from_iterable(row.indices for row in rows), np.int64, indptr[-1])
    values = np.fromiter(chain.from_iterable(row.values for row in rows), np.float32, indptr[-1])
    width, largest = int(model.n_features_in_), int(indices.max(initial=0))
    if served.is_online:
        width = max(width, largest + 1)  # it accepts features that it has never seen
    elif largest >= width:
        i = next(i for i, row in enumerate(rows) if row.indices and row.indices[-1] >= width)
        place = f"rows[{i}]" if field == "rows" else field
        raise Refusal(422, f"{place}: indices must be from 0 to {width - 1}, got {rows[i].indices[-1]}")
    if served.is_online or model._has_node_estimators:
        return sp.csr_matrix((values, indices, indptr), shape=(len(rows), width))
    return _matrix(model, indptr, indices, values, width)


def of_features(served: ServedModel, rows: Sequence[Features]) -> Any:
    """Return X for named features."""
    if not served.takes_features:
        expected = "texts" if served.takes_text else "'rows'"
        raise _wrong_input(served, f"has features that have no names: send {expected}")
    return list(rows)


def _wrong_input(served: ServedModel, reason: str) -> Refusal:
    return Refusal(422, f"the model {served.name} {reason}", "wrong_input")


def _matrix(
    model: Any, indptr: NDArray[Any], indices: NDArray[Any], values: NDArray[Any], width: int
) -> _native.FeatureMatrix:
    """Return X as the kernel reads it, from arrays that are known to be valid."""
    begin, index = indptr.astype(np.int64, copy=False), indices.astype(np.int64, copy=False)
    normalize, dense = bool(model.normalize_), model.dense_features_
    return _native.FeatureMatrix.csr(begin, index, values, width, normalize, dense)
