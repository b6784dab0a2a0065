"""Weights of a module of torch as arrays, and back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def arrays_of(module: Any) -> dict[str, NDArray[np.float32]]:
    """Return all weights of a module by name, as float32.

    Raises
    ------
    ValueError
        If some are no floating-point numbers.
    """
    state = module.state_dict()
    for name, tensor in state.items():
        if not tensor.is_floating_point():
            raise ValueError(f"the weights {name} are of type {tensor.dtype}, which a model cannot keep")
    return {name: tensor.detach().float().cpu().numpy() for name, tensor in state.items()}


def check_shapes(module: Any, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Raise `ValueError` unless the arrays are the weights that a module has, by name and shape."""
    expected = {name: tuple(tensor.shape) for name, tensor in module.state_dict().items()}
    if expected.keys() != arrays.keys():
        missing, unknown = sorted(expected.keys() - arrays.keys()), sorted(arrays.keys() - expected.keys())
        raise ValueError(
            f"the weights are not those of the network: {len(missing)} are missing {missing[:2]}, {len(unknown)} are "
            f"unknown {unknown[:2]}"
        )
    for name, shape in expected.items():
        if flat_shape(arrays[name].shape) != flat_shape(shape):
            raise ValueError(f"the weights {name} must have the shape {shape}, got {arrays[name].shape}")


def flat_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape of at most two dimensions, as files have it."""
    return shape if len(shape) <= 2 else (shape[0], math.prod(shape[1:]))


def fill(module: Any, arrays: Mapping[str, NDArray[np.float32]]) -> Any:
    """Set all weights of a module to copies of these arrays, which `check_shapes` has passed; return the module."""
    import torch

    state = {
        name: torch.from_numpy(np.array(arrays[name]).reshape(tuple(old.shape)))
        for name, old in module.state_dict().items()
    }
    module.load_state_dict(state, assign=True)
    return module
