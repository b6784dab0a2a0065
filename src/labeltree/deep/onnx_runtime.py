"""Networks that onnxruntime runs: they need neither torch nor transformers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.deep.onnx_graph import OnnxGraph
from labeltree.deep.tokens import TokenRows
from labeltree.embedding.vectors import Vectors

#: The hidden vectors of texts of the same length, and the numbers of these texts.
Encoded = list[tuple[NDArray[np.int64], NDArray[np.float32]]]


class _OnnxNetwork:
    """A network with a graph.

    Parameters
    ----------
    graph : array of uint8
    n_jobs : int, optional
        Number of threads of the graph.
    """

    def __init__(self, graph: NDArray[np.uint8], n_jobs: int | None) -> None:
        self._graph = OnnxGraph(graph, n_jobs)

    @property
    def graph(self) -> NDArray[np.uint8]:
        return self._graph.graph

    @property
    def n_jobs(self) -> int | None:
        return self._graph.n_jobs

    @n_jobs.setter
    def n_jobs(self, n_jobs: int | None) -> None:
        self._graph.n_jobs = n_jobs


class OnnxEncoder(_OnnxNetwork):
    """An encoder of texts as a graph with the inputs ``tokens`` and ``is_token``.

    Parameters
    ----------
    graph : array of uint8
    dimension : int
        The dimension of the vectors that it makes.
    n_jobs : int, optional
        Number of threads.
    """

    def __init__(self, graph: NDArray[np.uint8], dimension: int, n_jobs: int | None = None) -> None:
        super().__init__(graph, n_jobs)
        self.dimension = dimension

    def vectors(self, tokens: NDArray[np.int64], is_token: NDArray[np.int64]) -> NDArray[np.float32]:
        return self._graph.run(tokens=tokens, is_token=is_token)


class OnnxAttention(_OnnxNetwork):
    """A BiLSTM over words as a graph with the input ``tokens``; the nodes attend to its words in NumPy.

    Parameters
    ----------
    graph : array of uint8
    begin : array of shape (n_tiers + 1,)
        The first node of each tier: see `TreeLevels`.
    vectors : Vectors
        The attention vector of each node.
    bias : array of shape (n_nodes,)
    shared : sequence of pairs of arrays
        Weights and biases of the layers that all nodes share.
    settings : dict
        Those of `AttentionNetwork.settings`, which a file has.
    n_jobs : int, optional
        Number of threads of the graph.
    """

    def __init__(
        self,
        graph: NDArray[np.uint8],
        begin: NDArray[np.int64],
        vectors: Vectors,
        bias: NDArray[np.float32],
        shared: Sequence[tuple[NDArray[np.float32], NDArray[np.float32]]],
        settings: Mapping[str, Any],
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(graph, n_jobs)
        self.begin = begin
        self.vectors = vectors
        self.bias = bias
        self.shared = list(shared)
        self.settings = dict(settings)

    def encode(self, rows: TokenRows) -> Encoded:
        # As in training, a text without words is one padding.
        tokens, _ = rows.padded(0)
        sizes = np.maximum(rows.sizes, 1)
        encoded = []
        for size in np.unique(sizes).tolist():
            own = np.flatnonzero(sizes == size)
            encoded.append((own, self._graph.run(tokens=np.ascontiguousarray(tokens[own, :size]))))
        return encoded

    def scores(self, encoded: Any, tier: int, nodes: NDArray[np.int64]) -> NDArray[np.float32]:
        n_rows = sum(len(own) for own, _ in encoded)
        scores = np.empty((n_rows, nodes.shape[-1]), dtype=np.float32)
        first = self.begin[tier]
        for own, hidden in encoded:
            wanted = first + (nodes if nodes.ndim == 1 else nodes[own])
            scores[own] = self._attend(hidden, self.vectors.rows(wanted)) + self.bias[wanted]
        return scores

    @np.errstate(over="ignore", invalid="ignore")  # the weights of a file may have any numbers
    def _attend(self, hidden: NDArray[np.float32], vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        weights: Any = vectors @ hidden.transpose(0, 2, 1)
        weights -= weights.max(axis=2, keepdims=True)
        np.exp(weights, out=weights)
        weights /= weights.sum(axis=2, keepdims=True)
        found: Any = weights @ hidden
        for number, (weight, bias) in enumerate(self.shared):
            found = (np.maximum(found, 0) if number > 0 else found) @ weight.T + bias
        scores: NDArray[np.float32] = found[:, :, 0]
        return scores
