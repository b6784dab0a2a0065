"""The matrix X that a model takes, from the texts, sparse rows or named features of a request."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.serving.errors import Refusal
from labeltree.serving.registry import ServedModel
from labeltree.serving.schemas import Features, Row


def check_takes_text(served: ServedModel) -> None:
    """Refuse texts for a model that was trained on numbers."""
    if not served.takes_text:
        raise _wrong_input(served, "was trained on rows of numbers and takes no texts: send 'rows'")


def check_fields(served: ServedModel, texts: Sequence[Any]) -> None:
    """Refuse texts with fields for a model without them, and texts without any of its fields."""
    if all(isinstance(text, str) for text in texts):
        return
    fields = served.model.model_.text_fields
    if not fields:
        raise _wrong_input(served, "was trained on texts without fields: send each text as a string")
    for i, text in enumerate(texts):
        if not isinstance(text, str) and not any(field in text for field in fields):
            place = "text" if len(texts) == 1 else f"texts[{i}]"
            raise Refusal(422, f"{place}: expected at least one of the fields {', '.join(fields)}, got none")


def check_texts(served: ServedModel, texts: Sequence[Any]) -> None:
    """Refuse texts that the model cannot take."""
    check_takes_text(served)
    check_fields(served, texts)


def of_texts(served: ServedModel, texts: Sequence[Any]) -> Any:
    """Return X for texts, which may be mappings if the model has fields."""
    check_texts(served, texts)
    return served.model.model_.read_texts(texts)


def csr_arrays(served: ServedModel, rows: Sequence[Row]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return sparse vectors as the arrays of a CSR matrix."""
    if served.takes_features:
        raise _wrong_input(served, "has features with names: send 'features' or texts")
    indptr = np.cumsum([0, *(len(row.indices) for row in rows)], dtype=np.int64)
    indices = np.fromiter(chain.from_iterable(row.indices for row in rows), np.int64, indptr[-1])
    values = np.fromiter(chain.from_iterable(row.values for row in rows), np.float32, indptr[-1])
    return indptr, indices, values


def of_rows(served: ServedModel, rows: Sequence[Row], field: str) -> Any:
    """Return X for sparse vectors; `field` is their name in the request."""
    indptr, indices, values = csr_arrays(served, rows)
    model = served.model.model_
    width, largest = int(model.n_features), int(indices.max(initial=0))
    if largest >= width and not served.is_online:  # an online model accepts features that it has never seen
        i = next(i for i, row in enumerate(rows) if row.indices and row.indices[-1] >= width)
        place = f"rows[{i}]" if field == "rows" else field
        raise Refusal(422, f"{place}: indices must be from 0 to {width - 1}, got {rows[i].indices[-1]}")
    try:
        return model.read_csr(indptr, indices, values, width)
    except ValueError as error:  # a mix of models with different features
        raise _wrong_input(served, f"takes no rows: {error}") from None


def of_features(served: ServedModel, rows: Sequence[Features]) -> Any:
    """Return X for named features."""
    if not served.takes_features:
        expected = "texts" if served.takes_text else "'rows'"
        raise _wrong_input(served, f"has features that have no names: send {expected}")
    return list(rows)


def bad_features(features: Sequence[Features] | None, error: ValueError) -> Exception:
    """Return the refusal of named features that a model cannot take, or the error if there are none."""
    place = re.match(r"X, row (\d+): ", str(error))
    if features is None or place is None:
        return error
    return Refusal(422, f"features[{place[1]}]: {str(error)[place.end() :]}")


def _wrong_input(served: ServedModel, reason: str) -> Refusal:
    return Refusal(422, f"the model {served.name} {reason}", "wrong_input")
