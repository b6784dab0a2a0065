"""One safetensors file: written in a stream, mapped without a copy, every number in its header checked."""

from __future__ import annotations

import hashlib
import json
import math
import mmap
from collections.abc import Iterable, Mapping
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labeltree.model_file.strict_json import parse_json

#: The types of safetensors and how NumPy sees them. NumPy has no bfloat16: it gets the bits.
DTYPES = {
    "BOOL": "?",
    "U8": "<u1",
    "I8": "<i1",
    "U16": "<u2",
    "I16": "<i2",
    "U32": "<u4",
    "I32": "<i4",
    "U64": "<u8",
    "I64": "<i8",
    "F16": "<f2",
    "BF16": "<u2",
    "F32": "<f4",
    "F64": "<f8",
}
_NAME_OF_DTYPE = {np.dtype(code): name for name, code in DTYPES.items() if name != "BF16"}

#: The types that weights may have, by their name in ``model.json``.
WEIGHT_DTYPES = {"float32": "F32", "bfloat16": "BF16", "int8": "I8"}

#: Tensors begin at a multiple of this, in the file and so in memory.
ALIGNMENT = 64
MAX_HEADER_BYTES = 1 << 20


class Tensor(NamedTuple):
    """An array and the name of its type in the file."""

    dtype: str
    values: NDArray[Any]

    @classmethod
    def of(cls, values: NDArray[Any]) -> Tensor:
        """The tensor with the type that the array has; `ValueError` if safetensors knows no such type."""
        try:
            return cls(_NAME_OF_DTYPE[values.dtype.newbyteorder("<")], values)
        except KeyError:
            raise ValueError(f"arrays of type {values.dtype} cannot be stored") from None


class TensorFile(NamedTuple):
    """The tensors of a file that is mapped, and the hash of the content that its header claims."""

    tensors: dict[str, Tensor]
    content: str


class Written(NamedTuple):
    """What was written: the hash of the content (all but the metadata), size and hash of the whole file."""

    content: str
    n_bytes: int
    sha256: str


def write_tensors(file: BinaryIO, tensors: Mapping[str, Tensor]) -> Written:
    """Write a safetensors file, array after array, without a second copy of them in memory."""
    table, data = _layout(tensors)
    end = sum(map(len, data))
    content = _sha256([_compact_json(table), *data])
    header = _compact_json({"__metadata__": {"format": "labeltree", "content": content}, **table})
    header += b" " * (-(8 + len(header)) % ALIGNMENT)
    start = len(header).to_bytes(8, "little") + header
    parts: list[bytes | memoryview] = [start, *data]
    for part in parts:
        file.write(part)
    return Written(content, len(start) + end, _sha256(parts))


def content_hash(tensors: Mapping[str, Tensor]) -> str:
    """The hash of the content that a file with these tensors has in its header."""
    table, data = _layout(tensors)
    return _sha256([_compact_json(table), *data])


def map_tensors(file: BinaryIO) -> TensorFile:
    """Map a safetensors file read-only; raises `ValueError` if any part of it is not as it must be.

    The arrays look into the mapping, which lives as long as one of them.
    """
    n_bytes = file.seek(0, 2)
    if n_bytes < 8:
        raise ValueError(f"a safetensors file has at least 8 bytes, but this one has {n_bytes}")
    mapping = mmap.mmap(file.fileno(), n_bytes, access=mmap.ACCESS_READ)
    header_end = 8 + int.from_bytes(mapping[:8], "little")
    if header_end > min(n_bytes, MAX_HEADER_BYTES):
        raise ValueError(
            f"the header ends at byte {header_end}, after the end of the file ({n_bytes}) "
            f"or after {MAX_HEADER_BYTES}, where it must have ended"
        )
    header = parse_json(mapping[8:header_end])
    if not isinstance(header, dict):
        raise ValueError("the header must be a JSON object")
    metadata = header.pop("__metadata__", None)
    content = metadata.get("content") if isinstance(metadata, dict) else None
    if not isinstance(content, str):
        raise ValueError("the header's __metadata__ must name the hash of the content")

    entries = {name: _check_entry(name, entry) for name, entry in header.items()}
    tensors = {}
    end = 0
    for name, (dtype, shape, begin, stop) in sorted(entries.items(), key=lambda item: item[1][2:]):
        if begin != end:
            raise ValueError(f"tensor {name!r} begins at {begin}, but the one before it ends at {end}")
        end = stop
        if header_end + end > n_bytes:
            raise ValueError(f"tensor {name!r} ends after the end of the file")
        at = header_end + begin
        if at % np.dtype(DTYPES[dtype]).itemsize != 0:
            raise ValueError(f"tensor {name!r} begins at byte {at}, which is not a multiple of its item size")
        flat = np.frombuffer(mapping, dtype=DTYPES[dtype], count=math.prod(shape), offset=at)
        tensors[name] = Tensor(dtype, flat.reshape(shape))
    if header_end + end != n_bytes:
        raise ValueError(f"the tensors end at byte {header_end + end}, but the file has {n_bytes}")
    return TensorFile(tensors, content)


def file_sha256(file: BinaryIO) -> str:
    """The hash of a whole file."""
    file.seek(0)
    digest = hashlib.sha256()
    while chunk := file.read(1 << 20):
        digest.update(chunk)
    return digest.hexdigest()


def _layout(tensors: Mapping[str, Tensor]) -> tuple[dict[str, Any], list[memoryview]]:
    """The header's table of the tensors, and their bytes in the order of the file."""
    # The largest items first: they fill the file without gaps, as safetensors demands, and all are aligned. Dense
    # weights, a multiple of 16 of them, come before all: they begin, and end, where a vector may.
    named = sorted(
        tensors.items(),
        key=lambda item: (
            item[0] != "dense_weight",
            -np.dtype(DTYPES[item[1].dtype]).itemsize,
            item[0],
        ),
    )
    data = [_as_bytes(tensor) for _, tensor in named]
    table: dict[str, Any] = {}
    end = 0
    for (name, tensor), its_bytes in zip(named, data, strict=True):
        begin, end = end, end + len(its_bytes)
        table[name] = {"dtype": tensor.dtype, "shape": tensor.values.shape, "data_offsets": [begin, end]}
    return table, data


def _check_entry(name: str, entry: Any) -> tuple[str, tuple[int, ...], int, int]:
    """Type, shape, begin and end of a tensor, if they fit together."""

    def fail(expected: str) -> ValueError:
        return ValueError(f"tensor {name[:100]!r}: {expected}, got {str(entry)[:200]}")

    if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
        raise fail("expected dtype, shape and data_offsets")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise fail(f"expected one of the types {', '.join(DTYPES)}")
    if not _is_list_of_sizes(shape) or len(shape) > 2:
        raise fail("expected a shape of at most 2 integers of at least 0")
    if not _is_list_of_sizes(offsets) or len(offsets) != 2:
        raise fail("expected 2 offsets of at least 0")
    begin, end = offsets
    # Python's integers do not overflow, whatever the shape.
    if end - begin != math.prod(shape) * np.dtype(DTYPES[dtype]).itemsize:
        raise fail("expected offsets that span exactly the items of the shape")
    return dtype, tuple(shape), begin, end


def _is_list_of_sizes(value: Any) -> bool:
    return isinstance(value, list) and all(type(item) is int and item >= 0 for item in value)


def _as_bytes(tensor: Tensor) -> memoryview:
    """The bytes of a tensor, without a copy unless the array has gaps or another byte order."""
    values = np.ascontiguousarray(tensor.values, dtype=DTYPES[tensor.dtype])
    return values.reshape(-1).view(np.uint8).data


def _compact_json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _sha256(parts: Iterable[bytes | memoryview]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()
