"""`Blocks`: the candidates of texts, as blocks of siblings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor


@dataclass(frozen=True)
class Blocks:
    """The candidates of each text: some blocks of siblings, whose nodes follow each other.

    Attributes
    ----------
    begin : tensor of int64 of shape (n_rows, n_blocks)
        The first node of each block.
    size : tensor of int64 of shape (n_rows, n_blocks)
        The number of its nodes; 0 where a text has fewer blocks.
    width : int
        The largest number of nodes of a block. Every block has as many places.
    """

    begin: Tensor
    size: Tensor
    width: int

    def is_node(self) -> Tensor:
        """Return which places have a node, shape (n_rows, n_blocks * width)."""
        return (_offsets(self.width, self.size.device) < self.size.unsqueeze(2)).flatten(1)

    def nodes(self) -> Tensor:
        """Return the node of each place, shape (n_rows, n_blocks * width); 0 where there is none."""
        return self.places().masked_fill(~self.is_node(), 0)

    def places(self) -> Tensor:
        """Return the number that the node of each place has or would have."""
        return (self.begin.unsqueeze(2) + _offsets(self.width, self.begin.device)).flatten(1)


@cache
def _offsets(width: int, device: torch.device) -> Tensor:
    with torch.inference_mode(False):
        return torch.arange(width, device=device)
