"""The contexts in which torch computes: threads, precision and random numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from labeltree.validation import n_threads


@contextmanager
def computing(device: Any, n_jobs: int | None) -> Iterator[Any]:
    """Compute answers without gradients; yields torch."""
    with torch.inference_mode(), with_threads(n_jobs), autocast(device):
        yield torch


def autocast(device: Any) -> Any:
    """Return a context in which products are computed in bfloat16 on a GPU, and in float32 on a CPU."""
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=device.type == "cuda")


@contextmanager
def with_threads(n_jobs: int | None) -> Iterator[None]:
    """Let torch use this number of threads for a while, as in scikit-learn: None is one, -1 is one per processor.

    It is a setting of the whole process: while several threads ask with different numbers, any of these may be in use.
    """
    before, wanted = torch.get_num_threads(), n_threads(n_jobs)
    if wanted == before:
        yield
        return
    torch.set_num_threads(wanted)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def seeded(seed: int, device: Any) -> Iterator[None]:
    """Draw random numbers from a seed of one's own, and leave those of others as they were."""
    on_gpu = device.type == "cuda"
    with torch.random.fork_rng([device] if on_gpu else []):
        draw_from(seed, device)
        yield


def draw_from(seed: int, device: Any) -> None:
    """Draw further random numbers from a seed, on the CPU and on this device."""
    torch.default_generator.manual_seed(seed)
    if device.type == "cuda":
        with torch.cuda.device(device):
            torch.cuda.manual_seed(seed)
