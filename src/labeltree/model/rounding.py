"""The weights of blocks, rounded to a smaller type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree import _native
from labeltree.model.dense_weights import PANEL_COLUMNS, quantize_panels
from labeltree.model.weight_types import to_bfloat16
from labeltree.trees import LabelTree


def rounded(
    arrays: Mapping[str, NDArray[Any]],
    name: str,
    tree: LabelTree,
    n_threads: int,
    blocks: tuple[int, int] | None = None,
) -> dict[str, NDArray[Any]]:
    """Return the arrays of blocks, whose weights are float32, with weights of the type "float32", "bfloat16" or "int8".

    A rounded weight depends on the weights of its column only: ranges of blocks, rounded and joined, are the whole
    tree. int8 weights are multiples of 1/127 of the largest weight of their column.

    Parameters
    ----------
    arrays : mapping
        As described in `BlockWeights`, without scales.
    name : str
        The type.
    tree : LabelTree
    n_threads : int
    blocks : (int, int), optional
        The range of blocks that the arrays have; all by default.
    """
    if name == "float32":
        return dict(arrays)
    if name == "bfloat16":
        halves = {key: to_bfloat16(arrays[key]) for key in ("weight", "dense_weight") if key in arrays}
        return {**arrays, **halves}
    first_node = first_nodes(tree)[slice(*blocks) if blocks else slice(None)]
    n_nodes = len(arrays["bias"])
    # Codes are numbered after all nodes.
    first = first_node - first_node[0]
    size = np.diff(np.append(first, n_nodes))
    if "code_begin" in arrays:
        n_codes = np.diff(arrays["code_begin"])
        first = np.where(n_codes > 0, n_nodes + arrays["code_begin"][:-1], first)
        size = np.where(n_codes > 0, n_codes, size)
    n_columns = n_nodes + len(arrays.get("code", ()))
    weight, scale = _native.quantize(dict(arrays), first, size, n_columns, n_threads)
    if not np.isfinite(scale).all():
        at = int(np.argmin(np.isfinite(scale)))
        what = f"node {int(first_node[0]) + at}" if at < n_nodes else f"code {at - n_nodes}"
        raise ValueError(
            f"{what} has a weight that is not finite; int8 cannot hold it, but weights='float32' can"
        )
    result = {**arrays, "weight": weight, "scale": scale[:n_nodes]}
    if "code_begin" in arrays:
        result["code_scale"] = scale[n_nodes:]
    if "dense_weight" in arrays:
        n_panels = int((-(-size // PANEL_COLUMNS)).sum())
        n_dense = len(arrays["dense_weight"]) // (n_panels * PANEL_COLUMNS)
        result["dense_weight"], result["dense_scale"] = quantize_panels(arrays["dense_weight"], n_dense)
    return result


def first_nodes(tree: LabelTree) -> NDArray[np.int64]:
    """Return the first node of each block; the others follow it."""
    return np.concatenate([[0], tree.child_begin[tree.inner_nodes]]).astype(np.int64)
