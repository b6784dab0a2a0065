"""Random numbers by index, so that any part of a data set can be made without the rest."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Bits: TypeAlias = NDArray[np.uint64]
Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

# The increment and the finaliser of splitmix64.
_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


def hashed(key: Any, index: Any) -> Bits:
    """Return item `index` of the random sequence of `key`; arrays are broadcast."""
    with np.errstate(over="ignore"):  # NumPy warns only if both are scalars
        bits = np.asarray(index, dtype=np.uint64) * _STEP
        bits = bits + (np.asarray(key, dtype=np.uint64) + _STEP)
        bits ^= bits >> np.uint64(30)
        bits *= _MIX_1
        bits ^= bits >> np.uint64(27)
        bits *= _MIX_2
        bits ^= bits >> np.uint64(31)
    return bits


def uniform(bits: Bits, low_bit: int = 11, n_bits: int = 53) -> Floats:
    """Return `n_bits` of each number, starting at `low_bit`, as a fraction in [0, 1)."""
    mask = np.uint64((1 << n_bits) - 1)
    fraction: Floats = ((bits >> np.uint64(low_bit)) & mask).astype(np.float64)
    fraction *= 0.5**n_bits
    return fraction


def permutation(key: Any, n: int) -> Integers:
    """Return the random permutation of 0 to `n` - 1 that belongs to `key`."""
    return np.argsort(hashed(key, np.arange(n)), kind="stable")
