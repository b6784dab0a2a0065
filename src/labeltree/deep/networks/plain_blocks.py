"""Hidden vectors and the vectors of blocks of siblings, computed by torch: on a CPU, and to check the kernels by."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from labeltree.deep.networks.blocks import Blocks

#: The vectors of candidates are gathered for as many rows at a time as have this many numbers.
GATHERED = 1 << 24


def products(hidden: Tensor, vectors: Tensor, blocks: Blocks) -> Tensor:
    """Return the product of each hidden vector with the vectors of its candidates, and their bias.

    Parameters
    ----------
    hidden : tensor of shape (n_rows, dimension)
    vectors : tensor of shape (n_nodes, dimension + 1)
        The last number of a vector is the bias.
    blocks : Blocks

    Returns
    -------
    tensor of shape (n_rows, n_blocks * width)
        Any finite number where there is no node.
    """
    nodes, hidden = blocks.nodes(), _with_one(hidden, vectors.dtype)
    parts = [
        torch.einsum("rd,rcd->rc", hidden[rows], vectors[nodes[rows]])
        for rows in _parts(nodes, vectors.shape[1])
    ]
    return torch.cat(parts)


def weighted_sums(amounts: Tensor, vectors: Tensor, blocks: Blocks) -> Tensor:
    """Return for each text the sum of the vectors of its candidates, each times its amount; without the bias.

    Amounts have the shape of `products`, and are 0 where there is no node.
    """
    nodes, amounts = blocks.nodes(), amounts.to(vectors.dtype)
    parts = [
        torch.einsum("rc,rcd->rd", amounts[rows], vectors[nodes[rows]][..., :-1])
        for rows in _parts(nodes, vectors.shape[1])
    ]
    return torch.cat(parts)


def gradients(hidden: Tensor, amounts: Tensor, blocks: Blocks, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Return the nodes that are candidates, each once, and for each the sum of hidden vectors times its amounts."""
    nodes, hidden, amounts = blocks.nodes(), _with_one(hidden, dtype), amounts.to(dtype)
    touched, place = torch.unique(nodes, return_inverse=True)
    sums = hidden.new_zeros(len(touched), hidden.shape[1])
    for rows in _parts(nodes, hidden.shape[1]):
        own = amounts[rows].unsqueeze(2) * hidden[rows].unsqueeze(1)
        sums.index_add_(0, place[rows].flatten(), own.flatten(0, 1))
    return touched, sums


def _with_one(hidden: Tensor, dtype: torch.dtype) -> Tensor:
    """Return hidden vectors with a 1 at the end, for the bias."""
    return functional.pad(hidden.to(dtype), (0, 1), value=1.0)


def _parts(nodes: Tensor, dimension: int) -> list[slice]:
    n_rows, n_candidates = nodes.shape
    step = max(GATHERED // max(n_candidates * dimension, 1), 1)
    return [slice(begin, begin + step) for begin in range(0, n_rows, step)]
