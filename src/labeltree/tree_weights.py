"""One trained tree: its shape and the weights of its blocks, as flat arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree import _native
from labeltree.trees import LabelTree

#: The arrays of the blocks and their types; `native/block_arrays.h` says what they mean.
BLOCK_ARRAYS: dict[str, tuple[str, ...]] = {
    "block_begin": ("int64",),
    "block_entry_begin": ("int64",),
    "feature": ("int32",),
    "entry_begin": ("uint32",),
    "column": ("uint16", "uint32"),
    "weight": ("float32", "uint16", "int8"),
    "bias": ("float32",),
    "scale": ("float32",),
}


class TreeWeights:
    """The weights of all node classifiers of one tree.

    Parameters
    ----------
    tree : LabelTree
    arrays : dict
        The arrays named in `BLOCK_ARRAYS`; `scale` only with int8 weights. Weights in uint16 are bfloat16 numbers.
    """

    def __init__(self, tree: LabelTree, arrays: dict[str, NDArray[Any]]) -> None:
        self.tree = tree
        self.arrays = arrays

    @classmethod
    def from_training(cls, tree: LabelTree, arrays: dict[str, NDArray[Any]]) -> TreeWeights:
        """Take what the kernel returned, columns in as few bytes as the tree's arity needs."""
        if tree.arity <= 2**16:
            arrays = {**arrays, "column": arrays["column"].astype(np.uint16)}
        return cls(tree, arrays)

    def store(self, n_features: int, link: str) -> _native.BlockStore:
        """The kernel's view of these arrays; raises `_native.CorruptModel` if they contradict each other."""
        arrays = {**self.arrays, "child_begin": self.tree.child_begin, "label": self.tree.label}
        return _native.BlockStore(arrays, self.tree.n_labels, n_features, getattr(_native.Link, link))

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.arrays.values())

    @property
    def n_weights(self) -> int:
        return len(self.arrays["weight"])

    def block_of(self, node: int) -> int:
        """The block that holds the children of an inner node."""
        return 1 + int(np.searchsorted(self.tree.inner_nodes, node))

    def with_weight_type(self, name: str) -> TreeWeights:
        """A copy with float32 weights stored as "float32", "bfloat16" or "int8" (a scale per node)."""
        weight = self.arrays["weight"]
        if weight.dtype != np.float32:
            raise ValueError(
                f"the weights are stored as {weight.dtype} already; train or load a float32 model"
            )
        if name == "float32":
            return self
        if name == "bfloat16":
            return TreeWeights(self.tree, {**self.arrays, "weight": to_bfloat16(weight)})
        node = self._node_of_entries()
        largest = np.zeros(self.tree.n_nodes, dtype=np.float32)
        np.maximum.at(largest, node, np.abs(weight))
        scale = np.where(largest > 0, largest / 127, 1).astype(np.float32)
        quantized = np.rint(weight / scale[node]).astype(np.int8)
        return TreeWeights(self.tree, {**self.arrays, "weight": quantized, "scale": scale})

    def _node_of_entries(self) -> NDArray[np.int64]:
        first_node = np.concatenate([[0], self.tree.child_begin[self.tree.inner_nodes]])
        per_block = np.diff(self.arrays["block_entry_begin"])
        return np.repeat(first_node, per_block) + self.arrays["column"].astype(np.int64)


def to_bfloat16(values: NDArray[np.float32]) -> NDArray[np.uint16]:
    """The upper halves of float32 numbers, rounded to nearest even."""
    bits = values.view(np.uint32)
    rounded = bits + 0x7FFF + ((bits >> 16) & 1)
    return (rounded >> 16).astype(np.uint16)
