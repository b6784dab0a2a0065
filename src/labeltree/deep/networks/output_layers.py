"""The output layers: scores of the nodes of a tree, of a whole tier or of candidates."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from labeltree.deep.networks.block_products import BlockProducts
from labeltree.deep.networks.blocks import Blocks

if not torch.sparse.check_sparse_tensor_invariants.is_enabled():
    torch.sparse.check_sparse_tensor_invariants.disable()  # as by default, but torch warns unless it is told


class NodeVectorLayer(nn.Module):
    """A vector for each node: its product with the hidden vector of a text is the score.

    The last number of a vector is the bias. There is a parameter for each tier: the gradient of a whole tier is dense,
    and that of candidates is a `BlockGradient`.

    Parameters
    ----------
    sizes : sequence of int
        The number of nodes of each tier.
    dimension : int
        The dimension of hidden vectors.
    """

    def __init__(self, sizes: Sequence[int], dimension: int) -> None:
        super().__init__()
        self.tiers = nn.ParameterList([nn.Parameter(torch.zeros(size, dimension + 1)) for size in sizes])

    def forward(self, hidden: Tensor, tier: int, blocks: Blocks | None = None) -> Tensor:
        """Return the scores of all nodes of a tier, or of the places of blocks: see `plain_blocks.products`."""
        vectors = self.tiers[tier]
        if blocks is None:
            return nn.functional.linear(hidden, vectors[:, :-1], vectors[:, -1])
        scores: Tensor = BlockProducts.apply(hidden, vectors, blocks)
        return scores

    @torch.no_grad()
    def start(self, bias: Tensor, vectors: Tensor | None = None) -> None:
        """Set the bias of every node, and its vector if there are vectors to start from."""
        for tier, own in zip(self.tiers, bias.split([len(tier) for tier in self.tiers]), strict=True):
            tier[:, -1] = own
        if vectors is not None:
            for tier, some in zip(self.tiers, vectors.split([len(tier) for tier in self.tiers]), strict=True):
                tier[:, :-1] = some


class AttentionLayer(nn.Module):
    """An attention vector for each node, which looks for what it needs in the hidden vectors of all words of a text.

    What a node finds is the mean of the hidden vectors, weighted by the softmax of their products with its vector. One
    network, shared by all nodes, makes the score of it. A node has a bias of its own.

    Parameters
    ----------
    sizes : sequence of int
        The number of nodes of each tier.
    width : int
        The dimension of the hidden vector of a word.
    layers : sequence of int
        The widths of the shared network.
    """

    def __init__(self, sizes: Sequence[int], width: int, layers: Sequence[int]) -> None:
        super().__init__()
        self.tiers = nn.ParameterList([nn.Parameter(torch.zeros(size, width + 1)) for size in sizes])
        for tier in self.tiers:
            nn.init.xavier_uniform_(tier[:, :-1])
        steps: list[nn.Module] = []
        for before, after in zip([width, *layers], layers, strict=False):
            steps += [nn.Linear(before, after), nn.ReLU()]
        self.shared = nn.Sequential(*steps, nn.Linear(layers[-1] if layers else width, 1))

    @property
    def sizes(self) -> list[int]:
        """The number of nodes of each tier."""
        return [len(tier) for tier in self.tiers]

    def forward(
        self, encoded: tuple[Tensor, Tensor], tier: int, nodes: Tensor | Blocks | None = None
    ) -> Tensor:
        """Return the scores of all nodes of a tier, or of these.

        Parameters
        ----------
        encoded : pair of tensors
            The hidden vectors of words, shape (n_rows, n_words, width), and whether there is a word, (n_rows, n_words).
        tier : int
        nodes : tensor of int64 of shape (n_rows, n_candidates) or (n_candidates,), or Blocks, optional
            The candidates of each row, or the same for all rows.
        """
        hidden, is_word = encoded
        vectors = self.tiers[tier]
        if isinstance(nodes, Blocks):
            nodes = nodes.nodes()
        if nodes is not None:
            vectors = nn.functional.embedding(nodes, vectors, sparse=True)
        weights = torch.matmul(vectors[..., :-1].to(hidden.dtype), hidden.transpose(1, 2))
        weights = weights.masked_fill(~is_word.unsqueeze(1), float("-inf")).softmax(dim=2)
        found = torch.matmul(weights.to(hidden.dtype), hidden)
        scores: Tensor = self.shared(found).squeeze(2).float() + vectors[..., -1]
        return scores

    @torch.no_grad()
    def start(self, bias: Tensor) -> None:
        """Set the bias of every node."""
        for tier, own in zip(self.tiers, bias.split([len(tier) for tier in self.tiers]), strict=True):
            tier[:, -1] = own
