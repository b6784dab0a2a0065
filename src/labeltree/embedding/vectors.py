"""`Vectors`: one vector for each word or node, in the type in which they are stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.model.weight_types import CHUNK, WEIGHT_TYPES, from_bfloat16, int8_scale, to_bfloat16


class Vectors:
    """Vectors of the same dimension. They never change.

    Parameters
    ----------
    values : array of shape (n_vectors, dimension)
        Of float32; of uint16, the bits of bfloat16 numbers; or of int8, multiples of `scale`.
    scale : array of shape (n_vectors,), optional
        The size of a step of each vector, for int8 only.

    Examples
    --------
    >>> import numpy as np
    >>> from labeltree.embedding.vectors import Vectors
    >>> small = Vectors(np.array([[1.0, -2.0], [0.5, 0.25]], dtype=np.float32)).with_type("int8")
    >>> small.values, small.type
    (array([[  64, -127],
           [ 127,   64]], dtype=int8), 'int8')
    >>> bool(np.allclose(small.as_float32(), [[1.0, -2.0], [0.5, 0.25]], atol=0.01))
    True
    """

    def __init__(self, values: NDArray[Any], scale: NDArray[np.float32] | None = None) -> None:
        self.values = values
        self.scale = scale

    @property
    def n_vectors(self) -> int:
        return int(self.values.shape[0])

    @property
    def dimension(self) -> int:
        return int(self.values.shape[1])

    @property
    def nbytes(self) -> int:
        return self.values.nbytes + (0 if self.scale is None else self.scale.nbytes)

    @property
    def type(self) -> str:
        """The type of the numbers: "float32", "bfloat16" or "int8"."""
        return WEIGHT_TYPES[self.values.dtype.name]

    def as_float32(self) -> NDArray[np.float32]:
        """Return the vectors as float32; a copy unless that is their type."""
        return self.rows(slice(None))

    def rows(self, rows: Any) -> NDArray[np.float32]:
        """Return some of the vectors as float32."""
        values: NDArray[Any] = self.values[rows]
        if self.type == "bfloat16":
            return from_bfloat16(values)
        if self.scale is not None:
            with np.errstate(over="ignore", invalid="ignore"):  # the scales of a file may be any numbers
                wide: NDArray[np.float32] = values.astype(np.float32) * self.scale[rows][..., np.newaxis]
            return wide
        return np.asarray(values, dtype=np.float32)

    def with_type(self, name: str) -> Vectors:
        """Return the vectors as "float32", "bfloat16" or "int8", which has a step size for each vector."""
        if name not in WEIGHT_TYPES.values():
            raise ValueError(f"weights must be one of {', '.join(WEIGHT_TYPES.values())}, got {name!r}")
        if name == self.type:
            return self
        wide = self.as_float32()
        if name == "float32":
            return Vectors(wide)
        if name == "bfloat16":
            return Vectors(to_bfloat16(wide.ravel()).reshape(wide.shape))
        return _quantized(wide)


def _quantized(values: NDArray[np.float32]) -> Vectors:
    """Return the vectors in 127 steps up to the largest number of each."""
    quantized = np.empty(values.shape, dtype=np.int8)
    scale = np.empty(len(values), dtype=np.float32)
    step = max(CHUNK // max(values.shape[1], 1), 1)
    for begin in range(0, len(values), step):
        part = slice(begin, begin + step)
        scale[part] = int8_scale(np.abs(values[part]).max(axis=1, initial=0.0))
        quantized[part] = np.rint(values[part] / scale[part, np.newaxis])
    return Vectors(quantized, scale)


def read_vectors(arrays: Mapping[str, Any], name: str, n_vectors: int, dimension: int) -> Vectors:
    """Return stored vectors; raise `ValueError` if the arrays are not of the shape and type they must have."""
    values = arrays[name]
    if values.shape != (n_vectors, dimension) or values.dtype.name not in WEIGHT_TYPES:
        raise ValueError(
            f"{name} must be of shape {(n_vectors, dimension)}, got {values.dtype.name} of shape {values.shape}"
        )
    scale = arrays.get(f"{name}_scale")
    if (scale is not None) != (values.dtype == np.int8):
        raise ValueError(f"{name}: vectors of int8, and only these, have scales")
    if scale is not None and (scale.shape != (n_vectors,) or scale.dtype != np.float32):
        raise ValueError(
            f"{name}_scale must be of shape {(n_vectors,)} and of float32, got {scale.dtype.name} of shape "
            f"{scale.shape}"
        )
    return Vectors(values, scale)
