"""`NodeVectors`: a tree, and a vector for each of its nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree import _native
from labeltree.embedding.vectors import Vectors
from labeltree.trees import LabelTree

#: The score of a root that is always positive: see `kCertainScore` in the kernel.
CERTAIN_SCORE = 1000.0


class NodeVectors:
    """The output layer: the score of a node is its vector times the hidden vector of a row, plus its bias.

    Parameters
    ----------
    tree : LabelTree
    vectors : Vectors
        The vector of each node.
    bias : array of shape (n_nodes,)
    """

    is_joint = False

    def __init__(self, tree: LabelTree, vectors: Vectors, bias: NDArray[np.float32]) -> None:
        self.tree = tree
        self.vectors = vectors
        self.bias = bias
        self.dense_features = (0, vectors.dimension)
        self.arrays = {"bias": bias}

    @property
    def nbytes(self) -> int:
        return self.vectors.nbytes + self.bias.nbytes

    @property
    def n_weights(self) -> int:
        return int(self.vectors.values.size)

    @property
    def weight_type(self) -> str:
        """The type of the stored weights: "float32", "bfloat16" or "int8"."""
        return self.vectors.type

    def block_of(self, node: int) -> int:
        """Return the block of the children of an inner node."""
        return 1 + int(np.searchsorted(self.tree.inner_nodes, node))

    def store(
        self,
        n_features: int,
        link: str,
        calibration: Mapping[str, NDArray[Any]] | None = None,
        *,
        fused: bool = True,
    ) -> _native.BlockStore:
        """Return the kernel's view of the vectors; raise `ModelFileError` if they do not fit the tree."""
        n_blocks = len(self.tree.inner_nodes) + 1
        arrays: dict[str, NDArray[Any]] = {
            # There are no sparse weights.
            "block_begin": np.zeros(n_blocks + 1, dtype=np.int64),
            "block_entry_begin": np.zeros(n_blocks + 1, dtype=np.int64),
            "feature": np.empty(0, dtype=np.int32),
            "entry_begin": np.zeros(n_blocks, dtype=np.uint32),
            "column": np.empty(0, dtype=np.uint8),
            "weight": np.empty(0, dtype=np.float32),
            "bias": self.bias,
            "node_vector": self.vectors.values.reshape(-1),
            **({} if self.vectors.scale is None else {"node_scale": self.vectors.scale}),
            **(calibration or {}),
        }
        return _native.BlockStore(
            self.tree.native, arrays, n_features, getattr(_native.Link, link), self.dense_features, fused
        )
