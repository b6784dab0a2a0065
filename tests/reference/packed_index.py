"""The features of blocks and their numbers of entries, packed as `native/model/packed_index.h` describes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree import LabelTreeClassifier
from labeltree.model.block_weights import BlockWeights
from labeltree.model.linear_forest import LinearForest

MOST = 15


def packed_block(features: list[int], counts: list[int]) -> bytes:
    """The features of one block, ascending, and the number of entries of each."""
    out = bytearray()
    following = 0
    for feature, count in zip(features, counts, strict=True):
        skipped = feature - following
        out.append(min(skipped, MOST) + 16 * min(count, MOST))
        for number in (skipped, count):
            if number >= MOST:
                out += _rest(number - MOST)
        following = feature + 1
    return bytes(out)


def unpacked_block(data: bytes) -> tuple[list[int], list[int]]:
    """The features of one block, and the number of entries of each."""
    features, counts = [], []
    numbers = iter(data)
    following = 0
    for byte in numbers:
        skipped, count = byte % 16, byte // 16
        skipped += _taken(numbers) if skipped == MOST else 0
        count += _taken(numbers) if count == MOST else 0
        features.append(following + skipped)
        counts.append(count)
        following += skipped + 1
    return features, counts


def unpacked(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The arrays of blocks with `block_begin`, `feature` and `entry_begin`, as models had them before version 13."""
    if "index" not in arrays:
        return dict(arrays)
    begin, index = arrays["index_begin"], arrays["index"]
    block_begin, feature, entry_begin = [0], [], []
    for first, last in pairwise(begin):
        features, counts = unpacked_block(index[first:last].tobytes())
        feature += features
        block_begin.append(len(feature))
        entry_begin += [0, *np.cumsum(counts, dtype=np.int64).tolist()]
    return {
        **{name: array for name, array in arrays.items() if name not in ("index", "index_begin")},
        "block_begin": np.array(block_begin, dtype=np.int64),
        "feature": np.array(feature, dtype=np.int32),
        "entry_begin": np.array(entry_begin, dtype=np.uint32),
    }


def unpack_model(model: LabelTreeClassifier) -> LabelTreeClassifier:
    """Give a model the arrays that models had before version 13."""
    trained: Any = model.model_
    forest = trained.forest
    weights = [BlockWeights(tree.tree, unpacked(tree.arrays), tree.dense_features) for tree in forest.weights]
    older = LinearForest(weights, forest.n_features, forest.link, forest.tree_weight, forest.calibration)
    return model.adopt(replace(trained, forest=older))


def _rest(number: int) -> bytes:
    out = bytearray()
    while number >= 128:
        out.append(number % 128 + 128)
        number //= 128
    out.append(number)
    return bytes(out)


def _taken(numbers: Iterator[int]) -> int:
    total, unit = 0, 1
    for byte in numbers:
        total += byte % 128 * unit
        unit *= 128
        if byte < 128:
            break
    return total
