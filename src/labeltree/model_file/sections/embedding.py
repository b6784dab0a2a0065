"""The section of learned vectors: those of words, and those of the nodes of a label tree."""

from __future__ import annotations

from typing import Any

import numpy as np

from labeltree.embedding.forest import EmbeddingForest
from labeltree.embedding.node_vectors import NodeVectors
from labeltree.embedding.vectors import Vectors, read_vectors
from labeltree.model_file.directory import blaming
from labeltree.model_file.document import Draft, Stored, TensorPart
from labeltree.model_file.fields import LARGEST_COUNT
from labeltree.model_file.information import TreeInfo
from labeltree.model_file.sections import batch, calibration
from labeltree.model_file.tensors import WEIGHT_DTYPES, Tensor
from labeltree.trees import LabelTree
from labeltree.wording import count_text

#: The entry in "files" by which such a model is recognised.
FILES = "embedding"
#: The version of the format that such models came with.
VERSION = 10


def write(draft: Draft, estimator: Any, *, weights: str | None = None) -> None:
    """Add a model; raises `ValueError` if it cannot be saved."""
    model = estimator.model_
    forest = model.forest
    words, nodes = forest.words, forest.nodes
    weights = weights or words.type
    batch.write(draft, estimator, model)
    draft.add(VERSION, weights=weights, dimension=words.dimension)
    draft.add(dense_features=list(model.reader.dense_features))
    calibration.write(draft, forest.calibration)
    tensors = {
        "child_begin": Tensor.of(nodes.tree.child_begin),
        "label": Tensor.of(nodes.tree.label),
        "bias": Tensor.of(nodes.bias),
        **_tensors("word_vector", words.with_type(weights)),
        **_tensors("node_vector", nodes.vectors.with_type(weights)),
    }
    draft.files[FILES] = TensorPart("embedding", tensors)


def _tensors(name: str, vectors: Vectors) -> dict[str, Tensor]:
    tensors = {name: Tensor(WEIGHT_DTYPES[vectors.type], vectors.values)}
    return tensors if vectors.scale is None else {**tensors, f"{name}_scale": Tensor.of(vectors.scale)}


class _Embedding:
    """The section as it is read."""

    def __init__(self, stored: Stored) -> None:
        self._stored = stored
        self.batch = batch.Batch(stored)
        self.weights = stored.fields.choose("weights", tuple(WEIGHT_DTYPES))
        self.dimension = stored.fields.count("dimension", 1, LARGEST_COUNT)
        self.dense_features = stored.fields.feature_range("dense_features", self.batch.n_features)
        self.calibration = calibration.take(stored)
        self.file = stored.files.file(FILES, "embedding")
        stored.needs(VERSION)
        stored.finish()

    def read(self) -> tuple[Vectors, NodeVectors]:
        """Map the vectors of words and nodes, if they are what they must be."""
        tensors = self._stored.tensors(self.file)
        expected = {"child_begin", "label", "bias", "word_vector", "node_vector"}
        if self.weights == "int8":
            expected |= {"word_vector_scale", "node_vector_scale"}
        with blaming(self.file.name):
            if tensors.keys() != expected:
                raise ValueError(f"expected the tensors {sorted(expected)}, got {sorted(tensors)}")
            for name in ("word_vector", "node_vector"):
                if tensors[name].dtype != WEIGHT_DTYPES[self.weights]:
                    raise ValueError(
                        f"model.json says {self.weights} weights, but {name} has {tensors[name].dtype}"
                    )
            arrays = {name: tensor.values for name, tensor in tensors.items()}
            tree = LabelTree(arrays["child_begin"], arrays["label"])
            if tree.n_labels != self.batch.n_labels:
                raise ValueError(
                    f"model.json says {count_text(self.batch.n_labels, 'label')}, but the tree has {tree.n_labels}"
                )
            words = read_vectors(arrays, "word_vector", self.batch.n_features, self.dimension)
            nodes = read_vectors(arrays, "node_vector", tree.n_nodes, self.dimension)
            bias = arrays["bias"]
            if bias.shape != (tree.n_nodes,) or bias.dtype != np.float32:
                raise ValueError(
                    f"bias must have a float32 for each of {tree.n_nodes} nodes, got {bias.dtype} of shape {bias.shape}"
                )
        return words, NodeVectors(tree, nodes, bias)


def read(cls: type[Any], stored: Stored) -> Any:
    """Return the trained estimator."""
    section = _Embedding(stored)
    words, nodes = section.read()
    estimator = section.batch.estimator(cls, [nodes.tree])
    kept = estimator.kept_parameters()
    with blaming(section.file.name):
        if estimator.dimension != section.dimension:
            raise ValueError(
                f"the parameter 'dimension' is {estimator.dimension}, but the vectors have {section.dimension}"
            )
        forest = EmbeddingForest(words, nodes, estimator.link_of(kept["loss"]), kept["pooling"] == "mean")
        if stored.verify:
            forest.verify()
    if section.calibration is not None:
        with blaming(section.calibration.file.name):
            forest = forest.calibrated(section.calibration.read([nodes.tree]))
    return estimator.adopt(section.batch.model(estimator, forest, section.dense_features))


def describe(stored: Stored) -> dict[str, Any]:
    """Return the entries of `ModelInfo` that only this section knows."""
    section = _Embedding(stored)
    words, nodes = section.read()
    tree = nodes.tree
    return {
        **section.batch.describe(),
        "dense_features": section.dense_features,
        "weights": section.weights,
        "trees": [
            TreeInfo(
                n_nodes=tree.n_nodes,
                n_inner_nodes=len(tree.inner_nodes),
                n_weights=nodes.n_weights + words.values.size,
                n_bytes=section.file.n_bytes,
            )
        ],
        "calibration": None if section.calibration is None else section.calibration.method,
    }
