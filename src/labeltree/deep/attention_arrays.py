"""The names of the weights of an `AttentionNetwork`: vectors of nodes by tier, and layers that all nodes share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Arrays = Mapping[str, NDArray[np.float32]]
#: The weight and the bias of a layer.
Layer = tuple[NDArray[np.float32], NDArray[np.float32]]


def tier_name(tier: int) -> str:
    """Return the name of the vectors of the nodes of a tier; the last number of a vector is the bias."""
    return f"output.tiers.{tier}"


def shared_names(number: int) -> tuple[str, str]:
    """Return the names of the weight and the bias of a shared layer."""
    # Every second step is an activation, which has no weights.
    return f"output.shared.{2 * number}.weight", f"output.shared.{2 * number}.bias"


def node_vectors(arrays: Arrays, n_tiers: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the vectors and the biases of all nodes."""
    joined = np.concatenate([arrays[tier_name(tier)] for tier in range(n_tiers)])
    return np.ascontiguousarray(joined[:, :-1]), np.ascontiguousarray(joined[:, -1])


def shared_layers(arrays: Arrays, n_layers: int) -> list[Layer]:
    """Return the shared layers, in order."""
    names = [shared_names(number) for number in range(n_layers)]
    return [(arrays[weight], arrays[bias]) for weight, bias in names]


def shared_arrays(layers: Sequence[Layer]) -> dict[str, NDArray[np.float32]]:
    """Return the weights of shared layers by name."""
    arrays: dict[str, NDArray[np.float32]] = {}
    for number, layer in enumerate(layers):
        arrays |= zip(shared_names(number), layer, strict=True)
    return arrays
