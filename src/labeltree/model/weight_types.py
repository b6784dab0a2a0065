"""Types of stored weights: float32, bfloat16 and int8, and how one becomes another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: How weights may be stored, by the type of their array: uint16 holds the bits of bfloat16 numbers.
WEIGHT_TYPES = {"float32": "float32", "uint16": "bfloat16", "int8": "int8"}

#: This many weights are converted at a time: the work needs little memory beside the result.
CHUNK = 1 << 20


def to_bfloat16(values: NDArray[np.float32]) -> NDArray[np.uint16]:
    """Return the upper halves of float32 numbers, rounded to nearest even; NaN stays NaN."""
    halves = np.empty(len(values), dtype=np.uint16)
    for begin in range(0, len(values), CHUNK):
        part = values[begin : begin + CHUNK]
        bits = part.view(np.uint32)
        rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
        # Rounding a NaN may change its sign bit.
        halves[begin : begin + CHUNK] = np.where(np.isnan(part), 0x7FC0, rounded)
    return halves


def from_bfloat16(halves: NDArray[np.uint16]) -> NDArray[np.float32]:
    """Return the float32 numbers with these upper halves."""
    return (halves.astype(np.uint32) << 16).view(np.float32)


def int8_scale(largest: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the size of a step, so that 127 steps reach the largest weight."""
    scale: NDArray[np.float32] = np.maximum(largest / 127, np.finfo(np.float32).tiny)
    return scale
