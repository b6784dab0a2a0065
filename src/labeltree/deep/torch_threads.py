"""The context in which torch computes answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch


@contextmanager
def computing(device: Any, n_threads: int) -> Iterator[Any]:
    """Compute without gradients, in bfloat16 on a GPU, by this number of threads on a CPU; yields torch."""
    half = torch.autocast(device.type, dtype=torch.bfloat16, enabled=device.type == "cuda")
    with torch.inference_mode(), with_threads(n_threads), half:
        yield torch


@contextmanager
def with_threads(n_threads: int) -> Iterator[None]:
    """Let torch use this number of threads for a while."""
    before = torch.get_num_threads()
    if n_threads == before:
        yield
        return
    torch.set_num_threads(n_threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)
