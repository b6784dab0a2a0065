"""Labels as tensors: sizes and types that do not fit are refused before anything is made of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from labeltree.model_file.label_tensors import decode_counts, decode_labels, encode_labels
from labeltree.model_file.tensors import Tensor


@pytest.mark.parametrize(
    "values",
    [
        np.zeros(3, dtype="u4"),
        np.zeros((2, 4), dtype="u4"),
        np.zeros((4, 4), dtype="u4"),
        np.zeros((3, 4, 1), dtype="u4"),
        np.zeros((3, 0), dtype="u4"),
        np.zeros((3, 4), dtype="i4"),
        np.zeros((3, 4), dtype="u8"),
    ],
    ids=lambda values: f"{values.dtype}{values.shape}",
)
def test_texts_of_one_width_that_are_none(values: Any) -> None:
    with pytest.raises(ValueError, match="expected 3 rows of code points"):
        decode_labels("fixed_text", {"label": Tensor.of(values)}, 3)


@pytest.mark.parametrize("labels", [["a", "bcd", "é"], ["\U0010ffff", "", "x"]])
def test_texts_of_one_width(labels: list[str]) -> None:
    storage, tensors = encode_labels(np.array(labels))
    assert storage == "fixed_text"
    assert decode_labels(storage, tensors, 3).tolist() == labels


@pytest.mark.parametrize(
    ("counts", "is_fine"),
    [([0, 5, 9], True), ([9, 9, 9], True), ([0, 5, 10], False), ([-1, 5, 9], False), ([0, 5], False)],
)
def test_counts_of_labels(counts: list[int], is_fine: bool) -> None:
    tensor = Tensor.of(np.array(counts, dtype=np.int64))
    if is_fine:
        assert decode_counts(tensor, 3, 9).tolist() == counts
        with pytest.raises(ValueError, match="of 3 integers"):
            decode_counts(Tensor.of(np.array(counts, dtype=np.int32)), 3, 9)
    else:
        with pytest.raises(ValueError, match=r"from 0 to 9|of 3 integers"):
            decode_counts(tensor, 3, 9)


def test_there_are_counts() -> None:
    with pytest.raises(ValueError, match="of 3 integers"):
        decode_counts(None, 3, 9)
