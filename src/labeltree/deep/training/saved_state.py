"""The state of a training as arrays, so that a killed training can resume."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from labeltree.deep.module_arrays import flat_shape
from labeltree.deep.training.averaged_weights import AveragedWeights

Arrays = dict[str, NDArray[Any]]


def to_arrays(
    network: nn.Module,
    optimizers: list[torch.optim.Optimizer],
    averaged: AveragedWeights,
    best: Mapping[str, Tensor],
    counts: Mapping[str, Any],
    device: Any,
) -> Arrays:
    """Return everything that the rest of a training depends on."""
    arrays: Arrays = {f"network.{name}": _array(value) for name, value in network.state_dict().items()}
    for number, optimizer in enumerate(optimizers):
        for at, state in optimizer.state_dict()["state"].items():
            for name, value in state.items():
                arrays[f"optimizer.{number}.{at}.{name}"] = _array(torch.as_tensor(value))
    arrays |= {f"averaged.{name}": _array(value) for name, value in averaged.mean.items()}
    arrays |= {f"best.{name}": _array(value) for name, value in best.items()}
    arrays["random.cpu"] = _array(torch.get_rng_state())
    if device.type == "cuda":
        arrays["random.cuda"] = _array(torch.cuda.get_rng_state(device))
    text = json.dumps({**counts, "n_added": averaged.n_added})
    arrays["counts"] = np.frombuffer(text.encode(), dtype=np.uint8)
    return arrays


def from_arrays(
    arrays: Arrays,
    network: nn.Module,
    optimizers: list[torch.optim.Optimizer],
    averaged: AveragedWeights,
    device: Any,
) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Restore the state of a training; return the best weights so far, and the counts."""
    shapes = {name: weights.shape for name, weights in network.state_dict().items()}

    def part(prefix: str) -> dict[str, Tensor]:
        return {
            name.removeprefix(prefix): torch.from_numpy(values.copy())
            for name, values in arrays.items()
            if name.startswith(prefix)
        }

    def weights(prefix: str) -> dict[str, Tensor]:
        return {name: value.reshape(shapes[name]) for name, value in part(prefix).items()}

    network.load_state_dict(weights("network."))
    for number, optimizer in enumerate(optimizers):
        trained = [own for group in optimizer.param_groups for own in group["params"]]
        state: dict[int, dict[str, Tensor]] = {}
        for name, value in part(f"optimizer.{number}.").items():
            at, _, key = name.partition(".")
            own = trained[int(at)]
            same = value.numel() == own.numel() and value.ndim > 0
            state.setdefault(int(at), {})[key] = value.reshape(own.shape) if same else value
        optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
    counts: dict[str, Any] = json.loads(arrays["counts"].tobytes())
    mean = {name: value.to(device) for name, value in weights("averaged.").items()}
    averaged.set(mean, counts.pop("n_added"))
    torch.set_rng_state(torch.from_numpy(arrays["random.cpu"].copy()))
    if "random.cuda" in arrays and device.type == "cuda":
        torch.cuda.set_rng_state(torch.from_numpy(arrays["random.cuda"].copy()), device)
    return weights("best."), counts


def _array(value: Tensor) -> NDArray[Any]:
    array: NDArray[Any] = value.detach().cpu().numpy()
    return array.reshape(flat_shape(array.shape))
