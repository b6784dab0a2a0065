"""Weights of networks and vectors of nodes as tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.deep.module_arrays import flat_shape
from labeltree.embedding.vectors import Vectors, read_vectors
from labeltree.model.weight_types import from_bfloat16, to_bfloat16
from labeltree.model_file.tensors import WEIGHT_DTYPES, Tensor
from labeltree.trees import LabelTree
from labeltree.wording import count_text

#: What the names of the weights of a network begin with.
PREFIX = "network."
#: The type of the weights of a network, by that of the vectors of nodes: a network loses too much with int8.
NETWORK_DTYPES = {"float32": "F32", "bfloat16": "BF16", "int8": "BF16"}


def encode_network(arrays: Mapping[str, NDArray[np.float32]], weights: str) -> dict[str, Tensor]:
    """Return the weights of a network; raise `ValueError` if some are not finite."""
    tensors = {}
    for name, values in arrays.items():
        if not np.isfinite(values).all():
            raise ValueError(f"the weights {name} of the network are not finite")
        flat = values.reshape(flat_shape(values.shape))
        if NETWORK_DTYPES[weights] == "BF16":
            flat = to_bfloat16(np.ascontiguousarray(flat).ravel()).reshape(flat.shape)  # type: ignore[assignment]
        tensors[PREFIX + name] = Tensor(NETWORK_DTYPES[weights], flat)
    return tensors


def decode_network(
    tensors: Mapping[str, Tensor], weights: str, verify: bool
) -> dict[str, NDArray[np.float32]]:
    """Return the weights of a network as float32; `verify` looks at all numbers."""
    arrays = {}
    for name, tensor in tensors.items():
        if not name.startswith(PREFIX):
            continue
        if tensor.dtype != NETWORK_DTYPES[weights]:
            raise ValueError(f"model.json says {weights} weights, but {name[:100]} has {tensor.dtype}")
        values = tensor.values if tensor.dtype == "F32" else from_bfloat16(tensor.values)
        if verify and not np.isfinite(values).all():
            raise ValueError(f"the weights {name[:100]} are not finite")
        arrays[name.removeprefix(PREFIX)] = values
    return arrays


def count_network(tensors: Mapping[str, Tensor]) -> int:
    """Return the number of weights of a network."""
    return sum(tensor.values.size for name, tensor in tensors.items() if name.startswith(PREFIX))


def encode_nodes(
    tree: LabelTree, vectors: Vectors, bias: NDArray[np.float32], weights: str
) -> dict[str, Tensor]:
    """Return the tensors of a tree, and of a vector for each of its nodes."""
    typed = vectors.with_type(weights)
    tensors = {
        "child_begin": Tensor.of(tree.child_begin),
        "label": Tensor.of(tree.label),
        "bias": Tensor.of(bias),
        "node_vector": Tensor(WEIGHT_DTYPES[weights], typed.values),
    }
    return tensors if typed.scale is None else {**tensors, "node_vector_scale": Tensor.of(typed.scale)}


def decode_nodes(
    tensors: Mapping[str, Tensor], others: set[str], n_labels: int, dimension: int, weights: str
) -> tuple[LabelTree, Vectors, NDArray[np.float32]]:
    """Return a tree, and the vectors and biases of its nodes; the file must have nothing but a network and `others`."""
    expected = {"child_begin", "label", "bias", "node_vector", *others}
    if weights == "int8":
        expected.add("node_vector_scale")
    found = {name for name in tensors if not name.startswith(PREFIX)}
    if found != expected:
        raise ValueError(f"expected the tensors {sorted(expected)}, got {sorted(found)}")
    if tensors["node_vector"].dtype != WEIGHT_DTYPES[weights]:
        raise ValueError(
            f"model.json says {weights} weights, but node_vector has {tensors['node_vector'].dtype}"
        )
    arrays: dict[str, NDArray[Any]] = {name: tensors[name].values for name in expected}
    tree = LabelTree(arrays["child_begin"], arrays["label"])
    if tree.n_labels != n_labels:
        raise ValueError(f"model.json says {count_text(n_labels, 'label')}, but the tree has {tree.n_labels}")
    bias = arrays["bias"]
    if bias.shape != (tree.n_nodes,) or bias.dtype != np.float32:
        raise ValueError(
            f"bias must have a float32 for each of {tree.n_nodes} nodes, got {bias.dtype} of shape {bias.shape}"
        )
    return tree, read_vectors(arrays, "node_vector", tree.n_nodes, dimension), bias


def decode_graph(tensor: Tensor) -> NDArray[np.uint8]:
    """Return the bytes of a graph of ONNX."""
    if tensor.dtype != "U8" or tensor.values.ndim != 1:
        raise ValueError(f"graph must be bytes, got {tensor.dtype} of shape {tensor.values.shape}")
    return tensor.values
