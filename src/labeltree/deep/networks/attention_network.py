"""`AttentionNetwork`: words, a BiLSTM over them, and an attention vector for each node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from labeltree.deep.networks.blocks import Blocks
from labeltree.deep.networks.output_layers import AttentionLayer


class WordEncoder(nn.Module):
    """Vectors of words, and a BiLSTM that reads them in both directions.

    Parameters
    ----------
    n_words : int
    dimension : int
        The dimension of the vectors of words.
    hidden : int
        The dimension of the state of each direction.
    word_dropout, dropout : float
        The share of the numbers that training leaves out after the vectors of words, and after the BiLSTM.
    """

    def __init__(
        self, n_words: int, dimension: int, hidden: int, word_dropout: float, dropout: float
    ) -> None:
        super().__init__()
        self.words = nn.Embedding(n_words, dimension, padding_idx=0)
        self.word_dropout = nn.Dropout(word_dropout)
        self.lstm = nn.LSTM(dimension, hidden, batch_first=True, bidirectional=True)
        self.dropout = nn.Dropout(dropout)

    def read(self, tokens: Tensor, sizes: Tensor) -> Tensor:
        """Return the hidden vectors of texts that are filled up to the same length, `sizes` on the CPU."""
        vectors = self.word_dropout(self.words(tokens))
        packed = pack_padded_sequence(vectors, sizes, batch_first=True, enforce_sorted=False)
        hidden, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=tokens.shape[1])
        read: Tensor = self.dropout(hidden)
        return read


class AttentionNetwork(nn.Module):
    """The network of AttentionXML.

    Parameters
    ----------
    encoder : WordEncoder
    output : AttentionLayer
    """

    def __init__(self, encoder: WordEncoder, output: AttentionLayer) -> None:
        super().__init__()
        self.encoder = encoder
        self.output = output

    @classmethod
    def make(
        cls,
        n_words: int,
        sizes: Sequence[int],
        *,
        dimension: int,
        hidden: int,
        layers: Sequence[int],
        word_dropout: float = 0.0,
        dropout: float = 0.0,
    ) -> AttentionNetwork:
        """Return a network with random weights for this number of words, and of nodes of each tier."""
        encoder = WordEncoder(n_words, dimension, hidden, word_dropout, dropout)
        return cls(encoder, AttentionLayer(sizes, 2 * hidden, layers))

    def encode(self, tokens: Tensor, sizes: Tensor) -> tuple[Tensor, Tensor]:
        """Return the hidden vectors of words, and where there are words."""
        # A text without words is one word of padding, so that there is something to attend to.
        sizes = sizes.clamp(min=1)
        is_word = torch.arange(tokens.shape[1], device=tokens.device) < sizes.to(tokens.device).unsqueeze(1)
        return self.encoder.read(tokens, sizes), is_word

    def scores(
        self, encoded: tuple[Tensor, Tensor], tier: int, nodes: Tensor | Blocks | None = None
    ) -> Tensor:
        """Return the scores of nodes: see `AttentionLayer`."""
        scores: Tensor = self.output(encoded, tier, nodes)
        return scores

    def settings(self) -> dict[str, Any]:
        """Return the arguments of `make` that decide the shapes of the weights, beside words and nodes."""
        lstm = self.encoder.lstm
        layers = [step.out_features for step in self.output.shared if isinstance(step, nn.Linear)]
        return {"dimension": lstm.input_size, "hidden": lstm.hidden_size, "layers": layers[:-1]}

    def groups(self, rate: float, node_rate: float, decay: float) -> list[dict[str, Any]]:
        """Return the groups of dense parameters, with their learning rates."""
        nodes = list(self.output.tiers)
        known = set(map(id, nodes))
        others = [weights for weights in self.parameters() if id(weights) not in known]
        return [
            {"params": others, "lr": rate, "weight_decay": decay},
            {"params": nodes[:1], "lr": node_rate, "weight_decay": 0.0},
        ]
