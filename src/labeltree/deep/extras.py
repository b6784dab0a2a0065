"""Imports of packages that come with an extra, and the choice of a device."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

#: The extra that brings each package.
_EXTRA = {
    "torch": "torch",
    "transformers": "torch",
    "onnx": "torch",
    "onnxscript": "torch",
    "onnxruntime": "onnx",
    "tokenizers": "onnx",
}

#: Said of a network that answers with NaN or infinity.
NOT_FINITE = (
    "the network makes numbers that are not finite: its weights are damaged, or its training has diverged; train with "
    "a lower learning_rate"
)


def import_extra(name: str, purpose: str, extra: str | None = None) -> Any:
    """Import a package; raise an `ImportError` that says how to install it, if that is not possible."""
    try:
        return import_module(name)
    except ImportError as error:
        if error.name is not None and error.name.partition(".")[0] != name.partition(".")[0]:
            raise  # the package is there, but something that it needs is not
        extra = extra or _EXTRA[name.partition(".")[0]]
        raise ImportError(f"{purpose} needs the package {name}: pip install 'labeltree[{extra}]'") from error


def require_runtime(name: str) -> None:
    """Raise an `ImportError` that says what to install, if "torch" or "onnx" cannot run the network of a model."""
    if name == "onnx":
        import_extra("onnxruntime", "a model that was exported to ONNX")
        import_extra("tokenizers", "a model that was exported to ONNX")
        return
    try:
        import_extra("torch", "this model")
        import_extra("transformers", "this model")
    except ImportError as error:
        raise ImportError(
            f"{error}. Or export the model where torch is installed, with 'labeltree export': the export needs "
            "'labeltree[onnx]' only"
        ) from error


def process_number(variable: str = "RANK") -> int | None:
    """Return the number that `torchrun` gave to this process, here or on its machine; None without `torchrun`."""
    return int(os.environ[variable]) if "TORCHELASTIC_RUN_ID" in os.environ else None


def device_named(name: str) -> Any:
    """Return the device of torch for "auto", "cpu", "cuda" or "cuda:1"; raise `ValueError` if it is missing.

    Under `torchrun`, every process has a GPU of its own.
    """
    torch = import_extra("torch", "a neural network")
    n_devices = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if name == "auto":
        name = "cuda" if n_devices > 0 else "cpu"
    kind, _, number = name.partition(":")
    own = process_number("LOCAL_RANK")
    if kind == "cuda" and own is not None and n_devices > 0:
        if number or own >= n_devices:
            raise ValueError(
                f"device={name!r}: torchrun starts one process for each GPU, and torch sees {n_devices} of them: use "
                f"device='cuda' and --nproc-per-node={n_devices} or fewer, or device='cpu'"
            )
        return torch.device("cuda", own)
    if kind == "cuda" and n_devices <= int(number or 0):
        raise ValueError(
            f"device={name!r} asks for a GPU, but torch sees {n_devices} of them: use device='cpu' or 'auto'"
        )
    return torch.device(name)
