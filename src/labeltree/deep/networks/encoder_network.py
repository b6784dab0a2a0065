"""`EncoderNetwork`: a pretrained encoder of texts, and a vector for each node."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from labeltree.deep.networks.blocks import Blocks
from labeltree.deep.networks.output_layers import NodeVectorLayer


class PooledEncoder(nn.Module):
    """An encoder of tokens, and the pooling that makes one vector of those of all tokens.

    Parameters
    ----------
    body : module
        A model of ``transformers``.
    pooling : {"mean", "first"}
        The mean of the vectors of all tokens, or the vector of the first.
    """

    def __init__(self, body: nn.Module, pooling: str) -> None:
        super().__init__()
        self.body = body
        self.pooling = pooling

    @property
    def dimension(self) -> int:
        """The dimension of the vectors of texts."""
        config: Any = self.body.config
        return int(config.hidden_size)

    def forward(self, tokens: Tensor, is_token: Tensor) -> Tensor:
        """Return a vector for each row of tokens; `is_token` is 1 where there is a token and 0 after the end."""
        hidden: Tensor = self.body(input_ids=tokens, attention_mask=is_token).last_hidden_state
        if self.pooling == "first":
            return hidden[:, 0]
        weight = is_token.unsqueeze(2).to(hidden.dtype)
        return (hidden * weight).sum(dim=1) / weight.sum(dim=1).clamp(min=1.0)


class EncoderNetwork(nn.Module):
    """A pretrained encoder with an output layer of node vectors.

    Parameters
    ----------
    encoder : PooledEncoder
    output : NodeVectorLayer
    dropout : float
        The share of the numbers of a hidden vector that training leaves out.
    """

    def __init__(self, encoder: PooledEncoder, output: NodeVectorLayer, dropout: float = 0.0) -> None:
        super().__init__()
        self.encoder = encoder
        self.output = output
        self.dropout = nn.Dropout(dropout)

    def encode(self, tokens: Tensor, sizes: Tensor) -> Tensor:
        """Return a hidden vector for each text."""
        places = torch.arange(tokens.shape[1], device=tokens.device)
        is_token = (places < sizes.to(tokens.device, non_blocking=True).unsqueeze(1)).to(torch.int64)
        hidden: Tensor = self.dropout(self.encoder(tokens, is_token))
        return hidden

    def scores(self, encoded: Tensor, tier: int, blocks: Blocks | None = None) -> Tensor:
        """Return the scores of nodes: see `NodeVectorLayer`."""
        scores: Tensor = self.output(encoded, tier, blocks)
        return scores

    def groups(self, rate: float, node_rate: float, decay: float) -> list[dict[str, Any]]:
        """Return the groups of dense parameters, with their learning rates."""
        weights = [weights for weights in self.encoder.parameters() if weights.requires_grad]
        return [
            {"params": [w for w in weights if w.ndim > 1], "lr": rate, "weight_decay": decay},
            {"params": [w for w in weights if w.ndim <= 1], "lr": rate, "weight_decay": 0.0},
            {"params": list(self.output.tiers)[:1], "lr": node_rate, "weight_decay": 0.0},
        ]
