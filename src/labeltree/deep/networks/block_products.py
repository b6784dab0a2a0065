"""Products of hidden vectors with the vectors of a few blocks of siblings each, in little memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from labeltree.deep.networks import plain_blocks
from labeltree.deep.networks.blocks import Blocks
from labeltree.deep.networks.gpu_kernels import gpu_kernels


class BlockProducts(torch.autograd.Function):
    """The products of hidden vectors with the vectors of candidates: see `plain_blocks.products`.

    An ordinary gather would keep a copy of all these vectors, and make a gradient as large. Here they are gathered in
    parts, and again in the backward pass; on a GPU, kernels read them where they are. The backward pass leaves a
    `BlockGradient` with the vectors, instead of a gradient.
    """

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, vectors: Tensor, blocks: Blocks) -> Tensor:
        """Return the products, shape (n_rows, n_blocks * width)."""
        ctx.save_for_backward(hidden)
        ctx.vectors, ctx.blocks = vectors, blocks
        found: Tensor = _backend(vectors).products(hidden, vectors, blocks)
        return found

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, None, None]:
        """Return the gradient of `hidden`, and leave that of `vectors` with them."""
        (hidden,), (amounts,) = ctx.saved_tensors, gradients
        BlockGradient(hidden, amounts, ctx.blocks).leave_with(ctx.vectors)
        if not ctx.needs_input_grad[0]:
            return None, None, None
        sums = _backend(ctx.vectors).weighted_sums(amounts, ctx.vectors, ctx.blocks)
        return sums.to(hidden.dtype), None, None


@dataclass(frozen=True)
class BlockGradient:
    """The gradient of the vectors of nodes, as the factors that it is made of.

    The gradient of a vector is the sum of the hidden vectors of texts, each times the gradient of its product with the
    vector. A few texts touch many vectors, so that the factors are far smaller than the sums.

    Attributes
    ----------
    hidden : tensor of shape (n_rows, dimension)
    amounts : tensor of shape (n_rows, n_blocks * width)
        The gradients of the products; 0 where there is no node.
    blocks : Blocks
    """

    hidden: Tensor
    amounts: Tensor
    blocks: Blocks

    def leave_with(self, vectors: Tensor) -> None:
        """Keep this gradient with the vectors that it belongs to."""
        vectors.block_gradient = self

    @staticmethod
    def taken_from(vectors: Tensor) -> BlockGradient | None:
        """Return the gradient that was left with the vectors, and forget it."""
        found: BlockGradient | None = vars(vectors).pop("block_gradient", None)
        return found

    def sums(self, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """Return the nodes that are candidates, each once, and the gradients of their vectors."""
        return plain_blocks.gradients(self.hidden, self.amounts, self.blocks, dtype)


def _backend(vectors: Tensor) -> Any:
    return gpu_kernels(vectors.device) or plain_blocks
