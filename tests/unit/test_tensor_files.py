"""Safetensors files: written as the safetensors library reads them, and read with every number checked."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st

from labeltree.model_file.tensors import ALIGNMENT, Tensor, map_tensors, write_tensors


@given(
    st.dictionaries(
        st.text("abc", min_size=1, max_size=3),
        st.tuples(st.sampled_from(["?", "u1", "i1", "u2", "i4", "u8", "f2", "f4", "f8"]), st.integers(0, 9)),
    )
)
def test_tensors_of_any_type_and_size_come_back(shapes):
    tensors = {name: Tensor.of(np.arange(n).astype(dtype)) for name, (dtype, n) in shapes.items()}
    buffer = io.BytesIO()
    written = write_tensors(buffer, tensors)
    assert written.n_bytes == len(buffer.getvalue())
    theirs = safetensors.numpy.load(buffer.getvalue())
    assert theirs.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert theirs[name].dtype == tensor.values.dtype
        assert np.array_equal(theirs[name], tensor.values)


def test_strided_arrays_and_other_byte_orders_are_written_right():
    tensors = {
        "strided": Tensor.of(np.arange(10, dtype=np.int32)[::3]),
        "big": Tensor.of(np.arange(5, dtype=">f8")),
        "2-d": Tensor.of(np.arange(6, dtype=np.uint16).reshape(2, 3).T),
    }
    buffer = io.BytesIO()
    write_tensors(buffer, tensors)
    theirs = safetensors.numpy.load(buffer.getvalue())
    for name, tensor in tensors.items():
        assert np.array_equal(theirs[name], tensor.values)


@pytest.fixture
def write(tmp_path):
    """Write a file with the header and data given; returns it opened."""

    def write_file(header, data=b"", length=None):
        text = header if isinstance(header, bytes) else json.dumps(header).encode()
        text += b" " * (-(8 + len(text)) % ALIGNMENT)
        path = tmp_path / "file"
        path.write_bytes((len(text) if length is None else length).to_bytes(8, "little") + text + data)
        return path.open("rb")

    return write_file


METADATA = {"__metadata__": {"content": "0"}}


def entry(begin, end, dtype="U8", shape=None):
    return {"dtype": dtype, "shape": [end - begin] if shape is None else shape, "data_offsets": [begin, end]}


def test_a_header_that_is_fine(write):
    with write(
        {**METADATA, "a": entry(0, 8, "F64", [1]), "b": entry(8, 8), "c": entry(8, 11)}, b"x" * 11
    ) as file:
        tensors = map_tensors(file).tensors
    assert bytes(tensors["c"].values) == b"xxx"
    assert tensors["a"].values.ctypes.data % ALIGNMENT == 0
    assert tensors["b"].values.size == 0


def test_the_order_of_a_header_does_not_matter(write):
    """As in files of other programs; an empty tensor comes before another one that begins in the same place."""
    header = {"d": entry(4, 4), "c": entry(2, 4), "b": entry(2, 2), "a": entry(0, 2)}
    with write({**header, **METADATA}, b"aacc") as file:
        tensors = map_tensors(file).tensors
    assert {name: bytes(tensor.values) for name, tensor in tensors.items()} == {
        "a": b"aa", "b": b"", "c": b"cc", "d": b"",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ({"a": entry(0, 4), "b": entry(3, 8)}, "'b' begins at 3, but the one before it ends at 4"),
        ({"a": entry(0, 4), "b": entry(5, 8)}, "'b' begins at 5, but the one before it ends at 4"),
        ({"a": entry(0, 8), "b": entry(0, 8)}, "'b' begins at 0, but the one before it ends at 8"),
        ({"a": entry(1, 8)}, "'a' begins at 1"),
        ({"a": entry(0, 7)}, "the tensors end at byte"),
        ({}, "the tensors end at byte"),
        ({"a": entry(0, 9)}, "'a' ends after the end of the file"),
        ({"a": entry(0, 2**62)}, "'a' ends after the end of the file"),
        ({"a": entry(0, 8, "U8", [2**32, 2**32])}, "span exactly the items"),
        ({"a": entry(0, 8, "F64", [2**61 + 1])}, "span exactly the items"),
        ({"a": entry(0, 8, "U8", [-8])}, "a shape of at most 2 integers of at least 0"),
        ({"a": entry(0, 8, "U8", [-2, -4])}, "a shape of at most 2 integers of at least 0"),
        ({"a": entry(0, 8, "U8", [8.0])}, "a shape of at most 2 integers of at least 0"),
        ({"a": entry(0, 8, "U8", [True, 8])}, "a shape of at most 2 integers of at least 0"),
        ({"a": entry(0, 8, "U8", [1, 1, 8])}, "a shape of at most 2 integers of at least 0"),
        ({"a": entry(0, 8, "U8", "8")}, "a shape of at most 2 integers of at least 0"),
        ({"a": entry(8, 0, "U8", [8])}, "span exactly the items"),
        ({"a": entry(-8, 0)}, "2 offsets of at least 0"),
        ({"a": {"dtype": "U8", "shape": [8], "data_offsets": [0, 4, 8]}}, "2 offsets of at least 0"),
        ({"a": {"dtype": "U8", "shape": [8]}}, "expected dtype, shape and data_offsets"),
        ({"a": {**entry(0, 8), "more": 1}}, "expected dtype, shape and data_offsets"),
        ({"a": [0, 8]}, "expected dtype, shape and data_offsets"),
        ({"a": entry(0, 8, "F7")}, "one of the types"),
        ({"a": entry(0, 8, ["U8"])}, "one of the types"),
        ({"a": entry(0, 4), "b": entry(4, 8, "U64", [1])}, "span exactly the items"),
        (
            {"a": entry(0, 3), "b": entry(3, 7, "U32", [1]), "c": entry(7, 8)},
            "not a multiple of its item size",
        ),
        ({"__metadata__": None, "a": entry(0, 8)}, "must name the hash"),
        ({"__metadata__": {"content": 1}, "a": entry(0, 8)}, "must name the hash"),
        ({"__metadata__": "content", "a": entry(0, 8)}, "must name the hash"),
    ],
)
def test_headers_that_lie(write, tensors, message):
    with write({**METADATA, **tensors}, b"x" * 8) as file, pytest.raises(ValueError, match=message):
        map_tensors(file)


@pytest.mark.parametrize(
    ("header", "length", "message"),
    [
        (b"", 2**63, "the header ends at byte"),
        (b"", 2**64 - 1, "the header ends at byte"),
        (b"", 57, "the header ends at byte"),
        (b" " * (1 << 21), None, "the header ends at byte"),
        (b"", 0, "not JSON"),
        (b"{}", None, "must name the hash"),
        (b"[]", None, "must be a JSON object"),
        (b"null", None, "must be a JSON object"),
        (b'{"a": 1, "a": 1}', None, "'a' comes twice"),
        (b"[" * 100_000, None, "nested too deeply"),
        (b'{"a": ' + b"9" * 100_000 + b"}", None, "64 bits"),
    ],
    ids=range(11),
)
def test_headers_that_are_none(write, header, length, message):
    with write(header, length=length) as file, pytest.raises(ValueError, match=message):
        map_tensors(file)


@pytest.mark.parametrize("n_bytes", range(9))
def test_files_that_are_too_short(tmp_path, n_bytes):
    (tmp_path / "file").write_bytes(b"\xff" * n_bytes)
    with (
        (tmp_path / "file").open("rb") as file,
        pytest.raises(ValueError, match=r"at least 8 bytes|the header ends"),
    ):
        map_tensors(file)
