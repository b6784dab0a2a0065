"""Whether the kernels for GPUs can be used."""

from __future__ import annotations

import logging
from functools import cache
from types import ModuleType

import torch

from labeltree.deep.networks.blocks import Blocks

logger = logging.getLogger(__name__)


def gpu_kernels(device: torch.device) -> ModuleType | None:
    """Return the module `triton_blocks` if a device can run it, else None."""
    return _kernels(device.index or 0) if device.type == "cuda" else None


@cache
def _kernels(number: int) -> ModuleType | None:
    """Try the kernels once: they need Triton, a compiler for C, and a GPU that is not too old."""
    try:
        from labeltree.deep.networks import triton_blocks

        device = torch.device("cuda", number)
        vectors = torch.zeros(2, 17, device=device)
        one = torch.ones(1, 1, dtype=torch.int64, device=device)
        triton_blocks.products(torch.zeros(1, 16, device=device), vectors, Blocks(one, one, 1))
    except Exception as error:  # what a compiler raises is not known in advance
        logger.warning("the output layer is slower than it could be, since Triton does not work: %s", error)
        return None
    return triton_blocks
