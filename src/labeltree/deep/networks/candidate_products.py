"""Products of hidden vectors with the vectors of a few nodes each, in little memory."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

if not torch.sparse.check_sparse_tensor_invariants.is_enabled():
    torch.sparse.check_sparse_tensor_invariants.disable()  # as by default, but torch warns unless it is told

#: The vectors of candidates are gathered for as many rows at a time as have this many numbers.
GATHERED = 1 << 24


class CandidateProducts(torch.autograd.Function):
    """The product of each hidden vector with the vectors of its candidates.

    An ordinary gather would keep a copy of all these vectors, and make a gradient as large. Here they are gathered in
    parts, and again in the backward pass. The gradient of `vectors` is sparse: it has the rows of the candidates only,
    each once.
    """

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, vectors: Tensor, nodes: Tensor) -> Tensor:
        """Return the products, shape (n_rows, n_candidates).

        Parameters
        ----------
        hidden : tensor of shape (n_rows, dimension)
        vectors : tensor of shape (n_nodes, dimension)
        nodes : tensor of int64 of shape (n_rows, n_candidates)
        """
        ctx.save_for_backward(hidden, vectors, nodes)
        parts = [_products(hidden[rows], vectors[nodes[rows]]) for rows in _parts(nodes, hidden.shape[1])]
        return torch.cat(parts)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        """Return the gradients of `hidden`, and of the rows of `vectors` that are candidates."""
        hidden, vectors, nodes = ctx.saved_tensors
        (gradient,) = gradients
        touched, place = torch.unique(nodes, return_inverse=True)
        of_vectors = vectors.new_zeros(len(touched), vectors.shape[1])
        of_hidden = []
        for rows in _parts(nodes, hidden.shape[1]):
            own = gradient[rows].to(vectors.dtype)
            of_hidden.append(torch.einsum("rc,rcd->rd", own, vectors[nodes[rows]]))
            amounts = own.unsqueeze(2) * hidden[rows].to(vectors.dtype).unsqueeze(1)
            of_vectors.index_add_(0, place[rows].flatten(), amounts.flatten(0, 1))
        sparse = torch.sparse_coo_tensor(
            touched.unsqueeze(0), of_vectors, vectors.shape, is_coalesced=True, check_invariants=False
        )
        return torch.cat(of_hidden).to(hidden.dtype), sparse, None


def _products(hidden: Tensor, vectors: Tensor) -> Tensor:
    return torch.einsum("rd,rcd->rc", hidden.to(vectors.dtype), vectors)


def _parts(nodes: Tensor, dimension: int) -> list[slice]:
    n_rows, n_candidates = nodes.shape
    step = max(GATHERED // max(n_candidates * dimension, 1), 1)
    return [slice(begin, begin + step) for begin in range(0, n_rows, step)]
