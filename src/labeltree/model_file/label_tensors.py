"""Labels and feature names as tensors, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree import _native
from labeltree.model_file.tensors import Tensor

Tensors = Mapping[str, Tensor]

_SUPPORTED = (
    "a model file holds labels that are all strings, all integers of at most 64 bits, all floats or all bools"
)


def encode_labels(classes: NDArray[Any]) -> tuple[str, dict[str, Tensor]]:
    """How `classes` is stored, and its tensors.

    ``positions``: the numbers 0 to n - 1, which need no tensor; ``array``: a NumPy array of numbers as it is;
    ``objects``: an object array of Python's int, float or bool; ``text``: an object array of strings, in
    UTF-8; ``fixed_text``: a NumPy array of strings of one width, as it is.
    """
    if classes.dtype == np.int64 and np.array_equal(classes, np.arange(len(classes))):
        return "positions", {}
    if classes.dtype.kind == "U":
        return "fixed_text", {"label": Tensor("U32", _code_points(classes))}
    if classes.dtype != object:
        try:
            return "array", {"label": Tensor.of(classes)}
        except ValueError as error:
            raise ValueError(f"labels: {error}; {_SUPPORTED}") from None
    labels = [label.item() if isinstance(label, np.generic) else label for label in classes.tolist()]
    kind = type(labels[0])
    for label in labels:
        if type(label) is not kind:
            raise ValueError(f"the labels {labels[0]!r} and {label!r} are of different kinds; {_SUPPORTED}")
    if kind is str:
        return "text", encode_texts(labels)
    if kind not in (int, float, bool):
        raise ValueError(f"the label {labels[0]!r} is of type {kind.__name__}; {_SUPPORTED}")
    try:
        return "objects", {"label": Tensor.of(np.array(labels, dtype=np.int64 if kind is int else kind))}
    except OverflowError:
        raise ValueError(f"the label {max(labels, key=abs)!r} is too large; {_SUPPORTED}") from None


def decode_labels(storage: str, tensors: Tensors, n_labels: int) -> NDArray[Any]:
    """The labels as `classes_` had them; raises `ValueError` where the tensors do not fit."""
    if storage == "text":
        return decode_texts(tensors, n_labels)
    if storage == "positions":
        _expect_tensors(tensors)
        return np.arange(n_labels)
    if storage not in ("array", "objects", "fixed_text"):
        raise ValueError(
            f"labels must be positions, array, objects, text or fixed_text, got {storage[:100]!r}"
        )
    _expect_tensors(tensors, "label")
    dtype, values = tensors["label"]
    if storage == "fixed_text":
        return _fixed_text(dtype, values, n_labels)
    if values.shape != (n_labels,) or dtype == "BF16":
        raise ValueError(f"expected {n_labels} labels in a row, got {dtype} of shape {values.shape}")
    if dtype == "BOOL" and (values.view(np.uint8) > 1).any():
        raise ValueError("a label that must be true or false is neither")
    return values.astype(object) if storage == "objects" else values


def decode_counts(tensor: Tensor | None, n_labels: int, n_rows: int) -> NDArray[np.int64]:
    """How many of the training rows had each label; raises `ValueError` where this cannot be."""
    if tensor is None or tensor.dtype != "I64" or tensor.values.shape != (n_labels,):
        raise ValueError(f"expected the tensor 'count' of {n_labels} integers (I64)")
    counts = tensor.values
    if counts.min() < 0 or counts.max() > n_rows:
        raise ValueError(f"the counts of labels must be from 0 to {n_rows}, the number of training rows")
    return counts


def encode_texts(texts: list[str]) -> dict[str, Tensor]:
    """Strings as their UTF-8 bytes, one after another, and where each begins."""
    try:
        encoded = [text.encode() for text in texts]
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{error.object[:100]!r} is not valid Unicode and cannot be stored: {error.reason}"
        ) from None
    begin = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(text) for text in encoded], out=begin[1:])
    return {
        "text": Tensor.of(np.frombuffer(b"".join(encoded), dtype=np.uint8)),
        "text_begin": Tensor.of(begin),
    }


def decode_texts(tensors: Tensors, n_texts: int) -> NDArray[Any]:
    """An object array of strings."""
    _expect_tensors(tensors, "text", "text_begin")
    text, begin = tensors["text"], tensors["text_begin"]
    if text.dtype != "U8" or text.values.ndim != 1:
        raise ValueError(f"text must be a row of bytes, got {text.dtype} of shape {text.values.shape}")
    if begin.dtype != "I64" or begin.values.shape != (n_texts + 1,):
        raise ValueError(f"expected {n_texts + 1} offsets, got {begin.dtype} of shape {begin.values.shape}")
    texts = np.empty(n_texts, dtype=object)
    texts[:] = _native.decode_texts(text.values, begin.values)
    return texts


def _code_points(texts: NDArray[np.str_]) -> NDArray[np.uint32]:
    width = texts.dtype.itemsize // 4
    flat = np.ascontiguousarray(texts, dtype=texts.dtype.newbyteorder("<"))
    return flat.view("<u4").reshape(len(texts), width)


def _fixed_text(dtype: str, values: NDArray[Any], n_labels: int) -> NDArray[np.str_]:
    if dtype != "U32" or values.ndim != 2 or len(values) != n_labels or values.shape[1] < 1:
        raise ValueError(f"expected {n_labels} rows of code points, got {dtype} of shape {values.shape}")
    if values.max() > 0x10FFFF:
        raise ValueError(f"the label has the code point {values.max():#x}, which is not Unicode")
    return values.view(f"<U{values.shape[1]}").reshape(n_labels)


def _expect_tensors(tensors: Tensors, *names: str) -> None:
    if set(tensors) != set(names):
        raise ValueError(f"expected the tensors {list(names)}, got {sorted(tensors)}")
