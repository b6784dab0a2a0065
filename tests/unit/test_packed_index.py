"""The packed features of blocks: the kernel packs and unpacks them as the twin does, and refuses what is not sound."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.hand_made_models import random_tree_weights
from tests.reference.packed_index import packed_block, unpacked, unpacked_block

from labeltree import LabelTree, ModelFileError, _native
from labeltree.model.block_weights import BlockWeights

pytestmark = pytest.mark.native

N_FEATURES = 2**31 - 1
#: Around where a number needs one more byte.
NUMBERS = [0, 1, 14, 15, 16, 142, 143, 144, 16_398, 16_399]
Block = list[tuple[int, int]]

blocks = st.lists(
    st.lists(st.tuples(st.sampled_from(NUMBERS), st.sampled_from(NUMBERS[:7])), max_size=6),
    min_size=1,
    max_size=4,
)


def arrays_of(skips_and_counts: list[Block]) -> dict[str, NDArray[Any]]:
    """`block_begin`, `feature` and `entry_begin` of blocks, given what each feature skips, and its entries."""
    features = [
        (np.cumsum([skip + 1 for skip, _ in block], dtype=np.int64) - 1) for block in skips_and_counts
    ]
    counts = [[count for _, count in block] for block in skips_and_counts]
    return {
        "block_begin": np.cumsum([0, *map(len, features)], dtype=np.int64),
        "feature": np.concatenate(features).astype(np.int32),
        "entry_begin": np.concatenate([np.cumsum([0, *of_block]) for of_block in counts]).astype(np.uint32),
    }


@given(blocks)
@example([[(2**31 - 2, 2**32 - 1)]])
def test_features_are_packed_as_the_twin_does(given_blocks: list[Block]) -> None:
    arrays = arrays_of(given_blocks)
    begin, index = _native.pack_index(arrays)
    for b, block in enumerate(given_blocks):
        of_block = slice(*arrays["block_begin"][b : b + 2])
        packed = index[slice(*begin[b : b + 2])].tobytes()
        counts = [count for _, count in block]
        assert packed == packed_block(arrays["feature"][of_block].tolist(), counts)
        assert unpacked_block(packed) == (arrays["feature"][of_block].tolist(), counts)
    for name, array in unpacked({"index_begin": begin, "index": index}).items():
        np.testing.assert_array_equal(array, arrays[name])


def test_arrays_that_contradict_each_other_are_refused() -> None:
    arrays = arrays_of([[(0, 2), (3, 1)], [(1, 1)]])
    for name in arrays:
        with pytest.raises(ValueError, match="contradict each other"):
            _native.pack_index({**arrays, name: arrays[name][:-1]})
    for block_begin in [[1, 2, 3], [0, 4, 3], [0, -1, 3], [0, 2**40, 3]]:
        with pytest.raises(ValueError, match="contradict each other"):
            _native.pack_index({**arrays, "block_begin": np.array(block_begin, dtype=np.int64)})


@pytest.mark.parametrize("features", [[5, 3], [2, 2], [-1, 2], [-(2**31), 2], [2**31 - 1, 2], [3, -(2**31)]])
def test_features_of_a_damaged_block_are_no_sounder_once_packed(features: list[int]) -> None:
    arrays = {
        "block_begin": np.array([0, 2]),
        "feature": np.array(features, dtype=np.int32),
        "entry_begin": np.array([0, 1, 2], dtype=np.uint32),
    }
    _, index = _native.pack_index(arrays)
    with pytest.raises(ModelFileError, match="a feature is out of range"):
        store_of(index.tobytes(), 2, N_FEATURES).verify()


@pytest.mark.parametrize("n_features", [40, 5000])
@pytest.mark.parametrize("weight_type", ["float32", "bfloat16", "int8"])
def test_packed_blocks_answer_the_same(n_features: int, weight_type: str) -> None:
    rng = np.random.default_rng(3)
    tree = LabelTree.from_nested([[0, 1, [2, 3]], [4, *range(5, 30)], 30])
    plain = random_tree_weights(tree, n_features, rng, weight_type, density=0.2)
    packed = plain.packed()
    assert packed.is_packed
    assert not plain.is_packed
    assert packed.packed() is packed
    assert packed.nbytes < plain.nbytes
    stores = [weights.store(n_features, "exp4") for weights in (plain, packed)]
    row = rng.normal(size=n_features).astype(np.float32) * (rng.random(n_features) < 0.3)
    begin, at = np.array([0, np.count_nonzero(row)], dtype=np.int32), np.flatnonzero(row).astype(np.int32)
    features = _native.FeatureMatrix.csr(begin, at, row[at], n_features, False)
    for block in range(tree.n_blocks + 1):
        np.testing.assert_array_equal(*(store.scores(features, 0, block) for store in stores))
        for one, other in zip(*(store.column(block, 0) for store in stores), strict=True):
            np.testing.assert_array_equal(one, other)
    packed.store(n_features, "exp4").verify()


def store_of(packed: bytes, n_entries: int, n_features: int = 10) -> _native.BlockStore:
    """A flat tree of two labels, whose root has these features."""
    tree = LabelTree.flat(2)
    arrays = {
        "index_begin": np.array([0, 0, len(packed)], dtype=np.int64),
        "index": np.frombuffer(packed, dtype=np.uint8),
        "block_entry_begin": np.array([0, 0, n_entries], dtype=np.int64),
        "column": np.zeros(n_entries, dtype=np.uint8),
        "weight": np.ones(n_entries, dtype=np.float32),
        "bias": np.zeros(3, dtype=np.float32),
    }
    return BlockWeights(tree, arrays).store(n_features, "exp4")


@pytest.mark.parametrize(
    ("packed", "message"),
    [
        (b"\x2a", "a feature is out of range"),
        (b"\x1f", "a number in the index of features does not end"),
        (b"\x1f\x80", "a number in the index of features does not end"),
        (b"\x1f\x80\x80\x80\x80\x80\x00", "a number in the index of features does not end"),
        (b"\x1f\xff\xff\xff\xff\x7f", "a feature is out of range"),
        (b"\xf0\xff\xff\xff\xff\x7f", "features have more entries than their block"),
        (b"\x30", "features have more entries than their block"),
        (b"\x10", "features have fewer entries than their block"),
        (b"", "features have fewer entries than their block"),
        (b"\x10\x10\x10", "features have more entries than their block"),
    ],
)
def test_an_index_that_lies_is_refused(packed: bytes, message: str) -> None:
    store_of(b"\x10\x18", 2).verify()
    store = store_of(packed, 2)
    with pytest.raises(ModelFileError, match=f"block 1: {message}"):
        store.verify()
    with pytest.raises(ModelFileError, match=f"block 1: {message}"):
        store.column(1, 0)


@given(st.binary(max_size=12), st.integers(0, 5))
def test_any_bytes_are_sound_or_refused(packed: bytes, n_entries: int) -> None:
    store = store_of(packed, n_entries)
    try:
        store.verify()
    except ModelFileError:
        return
    features, counts = unpacked_block(packed)
    assert sum(counts) == n_entries
    assert all(feature < 10 for feature in features)
