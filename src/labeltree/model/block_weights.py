"""`BlockWeights`: a trained tree, and the weights of its blocks as flat arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree import _native
from labeltree.model.dense_weights import widen_panels
from labeltree.model.rounding import first_nodes, rounded
from labeltree.model.weight_types import CHUNK, WEIGHT_TYPES, from_bfloat16
from labeltree.trees import LabelTree

#: The arrays of the blocks and their types; `native/model/block_arrays.h` describes them.
BLOCK_ARRAYS: dict[str, tuple[str, ...]] = {
    "block_entry_begin": ("int64",),
    "column": ("uint8", "uint16", "uint32"),
    "weight": ("float32", "uint16", "int8"),
    "bias": ("float32",),
    "scale": ("float32",),
}

#: The features of blocks, and their numbers of entries: as in `native/model/packed_index.h`, or in older models as in
#: `native/model/block_arrays.h`.
INDEX_ARRAYS: dict[str, tuple[str, ...]] = {"index_begin": ("int64",), "index": ("uint8",)}
FEATURE_ARRAYS: dict[str, tuple[str, ...]] = {
    "block_begin": ("int64",),
    "feature": ("int32",),
    "entry_begin": ("uint32",),
}

#: Additional arrays of models with dense features.
DENSE_ARRAYS: dict[str, tuple[str, ...]] = {
    "dense_weight": ("float32", "uint16", "int8"),
    "dense_scale": ("float32",),
}

#: Additional arrays of models with joint blocks.
JOINT_ARRAYS: dict[str, tuple[str, ...]] = {
    "code_begin": ("int64",),
    "code": ("uint8",),
    "code_bias": ("float32",),
    "code_scale": ("float32",),
}


class BlockWeights:
    """The weights of all node classifiers of one tree.

    Parameters
    ----------
    tree : LabelTree
    arrays : dict
        The arrays named in `BLOCK_ARRAYS`, and in `INDEX_ARRAYS` or `FEATURE_ARRAYS`; with dense features or joint
        blocks also those in `DENSE_ARRAYS` or `JOINT_ARRAYS`. Only int8 weights have scales. Weights in uint16 are
        bfloat16 numbers.
    dense_features : (int, int)
        The range of dense features: the first one, and the one after the last.
    """

    def __init__(
        self, tree: LabelTree, arrays: dict[str, NDArray[Any]], dense_features: tuple[int, int] = (0, 0)
    ) -> None:
        self.tree = tree
        self.arrays = arrays
        self.dense_features = dense_features

    @classmethod
    def from_training(
        cls, tree: LabelTree, arrays: dict[str, NDArray[Any]], dense_features: tuple[int, int] = (0, 0)
    ) -> BlockWeights:
        """Return the weights from the kernel's arrays."""
        return cls(tree, compact(arrays, tree), dense_features)

    def store(
        self,
        n_features: int,
        link: str,
        calibration: Mapping[str, NDArray[Any]] | None = None,
        *,
        fused: bool = True,
    ) -> _native.BlockStore:
        """Return the kernel's view of the arrays; raise `ModelFileError` if they contradict each other.

        The maps of a calibration replace the link. With ``fused=False``, the scores of dense features are the same on
        every processor, bit for bit, but take longer to compute.
        """
        arrays = {**self.arrays, **(calibration or {})}
        return _native.BlockStore(
            self.tree.native, arrays, n_features, getattr(_native.Link, link), self.dense_features, fused
        )

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.arrays.values())

    @property
    def n_dense(self) -> int:
        """The number of dense features."""
        return self.dense_features[1] - self.dense_features[0]

    @property
    def n_weights(self) -> int:
        return len(self.arrays["weight"]) + self.n_dense * n_columns(self.tree.child_begin, self.arrays)

    @property
    def is_joint(self) -> bool:
        """Whether some blocks may be joint; the columns of a joint block are codes of sets of children."""
        return "code_begin" in self.arrays

    def block_of(self, node: int) -> int:
        """Return the block of the children of an inner node."""
        return 1 + int(np.searchsorted(self.tree.inner_nodes, node))

    @property
    def weight_type(self) -> str:
        """The type of the stored weights: "float32", "bfloat16" or "int8"."""
        return WEIGHT_TYPES[self.arrays["weight"].dtype.name]

    def with_weight_type(self, name: str, n_threads: int = 1) -> BlockWeights:
        """Return the weights stored as "float32", "bfloat16" or "int8", which has a scale per node."""
        if name not in WEIGHT_TYPES.values():
            raise ValueError(f"weights must be one of {', '.join(WEIGHT_TYPES.values())}, got {name!r}")
        if name == self.weight_type:
            return self
        scales = ("scale", "dense_scale", "code_scale")
        wide = {key: array for key, array in self.arrays.items() if key not in scales}
        wide["weight"] = self._float32_weights()
        if self.n_dense > 0:
            wide["dense_weight"] = self._float32_dense_weights()
        arrays = rounded(wide, name, self.tree, n_threads)
        return BlockWeights(self.tree, arrays, self.dense_features)

    @property
    def is_packed(self) -> bool:
        """Whether the features of blocks are packed. Only models saved in older formats have unpacked ones."""
        return "index" in self.arrays

    def packed(self) -> BlockWeights:
        """Return the weights with packed features."""
        return self if self.is_packed else BlockWeights(self.tree, packed(self.arrays), self.dense_features)

    def _float32_dense_weights(self) -> NDArray[np.float32]:
        weight = self.arrays["dense_weight"]
        if weight.dtype == np.uint16:
            return from_bfloat16(weight)
        if weight.dtype == np.int8:
            return widen_panels(weight, self.arrays["dense_scale"], self.n_dense)
        return weight

    def _float32_weights(self) -> NDArray[np.float32]:
        weight = self.arrays["weight"]
        if self.weight_type == "bfloat16":
            return from_bfloat16(weight)
        if self.weight_type == "int8":
            wide = weight.astype(np.float32)
            scale = self.arrays["scale"]
            if self.is_joint:
                scale = np.concatenate([scale, self.arrays["code_scale"]])
            for entries, column in self._columns_of_entries():
                wide[entries] *= scale[column]
            return wide
        return weight

    def _columns_of_entries(self) -> Iterator[tuple[slice, NDArray[np.int64]]]:
        """Yield all entries in chunks, with the node of each entry; codes are numbered after all nodes."""
        first = first_nodes(self.tree)
        if self.is_joint:
            code_begin = self.arrays["code_begin"]
            first = np.where(np.diff(code_begin) > 0, self.tree.n_nodes + code_begin[:-1], first)
        for begin in range(0, len(self.arrays["weight"]), CHUNK):
            entries = slice(begin, begin + CHUNK)
            per_block = np.diff(np.clip(self.arrays["block_entry_begin"], begin, begin + CHUNK))
            yield entries, np.repeat(first, per_block) + self.arrays["column"][entries]


def compact(arrays: Mapping[str, NDArray[Any]], tree: LabelTree) -> dict[str, NDArray[Any]]:
    """Return the kernel's arrays with packed features, and columns in the smallest type for the tree's arity."""
    column = arrays["column"].astype(np.min_scalar_type(tree.arity - 1), copy=False)
    return packed({**arrays, "column": column})


def packed(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return arrays of blocks with packed features."""
    index_begin, index = _native.pack_index(dict(arrays))
    kept = {name: array for name, array in arrays.items() if name not in FEATURE_ARRAYS}
    return {**kept, "index_begin": index_begin, "index": index}


def n_columns(child_begin: NDArray[np.int32], arrays: Mapping[str, NDArray[Any]]) -> int:
    """Return the number of columns of all blocks: one for each node, or in joint blocks for each code."""
    if "code_begin" not in arrays:
        return len(child_begin) - 1
    n_children = np.diff(child_begin)
    n_codes = np.diff(arrays["code_begin"])[1:]
    return 1 + int(np.where(n_codes > 0, n_codes, n_children[n_children > 0]).sum())
