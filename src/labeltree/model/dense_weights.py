"""The weights of dense features: panels of 16 columns of a block, with a row of 16 weights per dense feature.

`native/model/block_arrays.h` says which panel belongs to which block.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from labeltree.errors import ModelFileError
from labeltree.model.weight_types import CHUNK, int8_scale

#: Number of columns in a panel.
PANEL_COLUMNS = 16


def quantize_panels(
    weight: NDArray[np.float32], n_dense: int
) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return the weights in 127 steps up to the largest of their column, and the size of a step for each column.

    Examples
    --------
    >>> import numpy as np
    >>> from labeltree.model.dense_weights import quantize_panels, widen_panels
    >>> weight = np.linspace(-1, 1, 32, dtype=np.float32)
    >>> steps, scale = quantize_panels(weight, n_dense=2)
    >>> int(steps.max()), scale.shape
    (127, (16,))
    >>> bool(np.allclose(widen_panels(steps, scale, n_dense=2), weight, atol=0.005))
    True
    """
    panels = weight.reshape(-1, n_dense, PANEL_COLUMNS)
    quantized = np.empty(panels.shape, dtype=np.int8)
    scale = np.empty((len(panels), PANEL_COLUMNS), dtype=np.float32)
    for part in _parts(len(panels), n_dense):
        largest = np.abs(panels[part]).max(axis=1)
        if not np.isfinite(largest).all():
            raise ValueError(
                "a weight of a dense feature is not finite; int8 cannot hold it, but weights='float32' can"
            )
        scale[part] = int8_scale(largest)
        quantized[part] = np.rint(panels[part] / scale[part][:, np.newaxis])
    return quantized.ravel(), scale.ravel()


def widen_panels(
    quantized: NDArray[np.int8], scale: NDArray[np.float32], n_dense: int
) -> NDArray[np.float32]:
    """Invert `quantize_panels`, except for rounding; raise `ModelFileError` if the sizes do not fit."""
    if n_dense == 0 or len(quantized) != len(scale) * n_dense or len(scale) % PANEL_COLUMNS != 0:
        raise ModelFileError("the sizes of dense_weight and dense_scale do not fit the dense features")
    panels = quantized.reshape(-1, n_dense, PANEL_COLUMNS)
    steps = scale.reshape(-1, 1, PANEL_COLUMNS)
    weight = np.empty(panels.shape, dtype=np.float32)
    for part in _parts(len(panels), n_dense):
        np.multiply(panels[part], steps[part], out=weight[part])
    return weight.ravel()


def _parts(n_panels: int, n_dense: int) -> list[slice]:
    step = max(CHUNK // (n_dense * PANEL_COLUMNS), 1)
    return [slice(begin, begin + step) for begin in range(0, n_panels, step)]
