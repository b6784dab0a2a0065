import enum

import numpy as np
from numpy.typing import NDArray

class HeaderRule(enum.Enum):
    """Whether the first line is a header."""

    ABSENT = 0
    OPTIONAL = 1
    REQUIRED = 2

class TextFormatError(ValueError): ...

def read_text_format(
    text: NDArray[np.uint8],
    *,
    header: HeaderRule,
    first_feature: int,
    first_label: int,
    n_features: int | None,
    n_labels: int | None,
    comments: bool,
    n_threads: int,
    chunk_bytes: int = 1048576,
) -> tuple[
    int,
    int,
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.float32],
    NDArray[np.int64],
    NDArray[np.int32],
]:
    """Parse lines into n_features, n_labels, features (indptr, ids, values), labels (indptr, ids)."""

def format_text_rows(
    feature_indptr: NDArray[np.int64],
    feature_ids: NDArray[np.int32],
    values: NDArray[np.float32],
    label_indptr: NDArray[np.int64],
    label_ids: NDArray[np.int32],
) -> bytes:
    """Format rows of two CSR matrices as lines of text."""
