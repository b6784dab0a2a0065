"""One training in several processes that `torchrun` started, a GPU for each: they share every batch.

Every process reads all texts, makes the same tree and has all weights. Of each batch it takes a share. The gradients of
all shares are added up before each step, so that every process makes the same step, which is that of one process with
the whole batch, up to rounding. Without `torchrun` there is one process, and none of this costs anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, distributed, nn
from torch.nn import functional

from labeltree.deep.networks.block_products import BlockGradient
from labeltree.deep.networks.blocks import Blocks
from labeltree.deep.torch_context import draw_from

T = TypeVar("T")


class Processes:
    """The processes of a training.

    Parameters
    ----------
    device : torch.device
        Where this process trains: on GPUs they talk by NCCL, on CPUs by Gloo.

    Attributes
    ----------
    rank : int
        The number of this process.
    count : int
        The number of processes.
    """

    def __init__(self, device: Any) -> None:
        self.device = device
        self.rank, self.count = 0, 1
        if not distributed.is_available():
            return
        if distributed.is_torchelastic_launched() and not distributed.is_initialized():
            if device.type == "cuda":
                torch.cuda.set_device(device)
            # For as long as the process lives: a group cannot be made again under the same name.
            distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
        if distributed.is_initialized():
            self.rank, self.count = distributed.get_rank(), distributed.get_world_size()

    @property
    def is_first(self) -> bool:
        """Whether this process writes checkpoints and shows progress."""
        return self.rank == 0

    def from_first(self, value: T) -> T:
        """Return the value that the first process has."""
        if self.count == 1:
            return value
        values: list[Any] = [value if self.is_first else None]
        distributed.broadcast_object_list(values, device=self.device)
        received: T = values[0]
        return received

    def check_same(self, what: str, value: object) -> None:
        """Raise `ValueError` unless a value is the same in all processes."""
        if self.from_first(value) != value:
            raise ValueError(
                f"process {self.rank} of {self.count} has another {what} than process 0: start all with the same data, "
                "parameters and versions"
            )

    def start(self, network: nn.Module) -> None:
        """Let all processes start from the weights of the first."""
        if self.count > 1:
            for weights in network.state_dict().values():
                distributed.broadcast(weights, 0)

    def seed(self, seed: int, step: int) -> None:
        """Draw the random numbers of a step: other ones in each process, and the same if the training resumes."""
        if self.count > 1:
            drawn = np.random.SeedSequence((seed, step, self.rank)).generate_state(1, np.uint64)
            draw_from(int(drawn[0]), self.device)

    def share(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], float]:
        """Return this process's rows of a batch, and the part of the batch that they are."""
        own = rows[self.rank :: self.count]
        # Without a row of its own, a process goes along with one that does not count.
        return (own, len(own) / len(rows)) if len(own) > 0 else (rows[:1], 0.0)

    @torch.no_grad()
    def add_gradients(self, weights: Iterable[Tensor]) -> None:
        """Add up the gradients of all processes: dense ones in one message, of node vectors what the shares touched."""
        if self.count == 1:
            return
        dense: list[Tensor] = []
        for own in weights:
            factors = BlockGradient.taken_from(own)
            if factors is not None:
                self._joined(factors).leave_with(own)
            elif own.grad is not None and own.grad.is_sparse:
                gradient = own.grad.coalesce()
                rows, values = self._all(gradient.indices()[0]), self._all(gradient.values())
                own.grad = torch.sparse_coo_tensor(rows.unsqueeze(0), values, own.shape)
            elif own.grad is not None:
                dense.append(own.grad)
        flat = torch.cat([gradient.flatten() for gradient in dense])
        distributed.all_reduce(flat)
        for gradient, total in zip(dense, flat.split([g.numel() for g in dense]), strict=True):
            gradient.copy_(total.view_as(gradient))

    def _joined(self, factors: BlockGradient) -> BlockGradient:
        """The factors of the whole batch, which are far smaller than the gradient."""
        blocks = factors.blocks
        # Texts with fewer blocks than others are filled up with blocks without nodes, whose amounts are 0.
        begin, size = self._all(blocks.begin), self._all(blocks.size)
        amounts = self._all(factors.amounts.unflatten(1, (-1, blocks.width))).flatten(1)
        return BlockGradient(self._all(factors.hidden), amounts, Blocks(begin, size, blocks.width))

    def _all(self, own: Tensor) -> Tensor:
        """Return the rows of all processes, each filled up with zeros to the largest shape."""
        shape = torch.tensor(own.shape, device=self.device)
        distributed.all_reduce(shape, distributed.ReduceOp.MAX)
        largest = shape.tolist()
        missing = [
            space
            for have, most in reversed(list(zip(own.shape, largest, strict=True)))
            for space in (0, most - have)
        ]
        filled = functional.pad(own, missing).contiguous()
        parts = [torch.empty_like(filled) for _ in range(self.count)]
        distributed.all_gather(parts, filled)
        return torch.cat(parts)
