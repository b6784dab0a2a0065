"""The section of label trees whose nodes attend to words: a network for each tree."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.deep.attention_arrays import (
    node_vectors,
    shared_arrays,
    shared_layers,
    shared_names,
    tier_name,
)
from labeltree.embedding.vectors import Vectors
from labeltree.model_file.directory import blaming
from labeltree.model_file.document import Draft, Stored, TensorPart
from labeltree.model_file.fields import Fields, StoredFile, short, stored_file
from labeltree.model_file.information import TreeInfo
from labeltree.model_file.network_tensors import (
    count_network,
    decode_graph,
    decode_network,
    decode_nodes,
    encode_network,
    encode_nodes,
)
from labeltree.model_file.sections import batch, tokenizer
from labeltree.model_file.tensors import WEIGHT_DTYPES, Tensor
from labeltree.trees import LabelTree

#: The entry in "files" by which such a model is recognised.
FILES = "attention"
#: The version of the format that such models came with.
VERSION = 11
#: The largest width of a layer.
_WIDEST = 1 << 20


def write(draft: Draft, estimator: Any, *, weights: str | None = None) -> None:
    """Add a model; raises `ValueError` if it cannot be saved."""
    from labeltree.deep.attention_forest import TorchAttention

    model = estimator.model_
    trees = model.forest.weights
    scorers = [nodes.scorer for nodes in trees]
    runs_torch = isinstance(scorers[0], TorchAttention)
    weights = weights or (scorers[0].weights if runs_torch else scorers[0].vectors.type)
    batch.write(draft, estimator, model)
    network = scorers[0].network.settings() if runs_torch else scorers[0].settings
    draft.add(VERSION, weights=weights, network={"runtime": "torch" if runs_torch else "onnx", **network})
    tokenizer.write(draft, model.reader.tokenizer)
    make = _torch_tensors if runs_torch else _onnx_tensors
    draft.files[FILES] = [
        TensorPart(f"attention-{number}", make(nodes.tree, nodes.scorer, weights))
        for number, nodes in enumerate(trees)
    ]


def _torch_tensors(tree: LabelTree, scorer: Any, weights: str) -> dict[str, Tensor]:
    from labeltree.deep.module_arrays import arrays_of

    arrays, n_tiers = arrays_of(scorer.network), len(scorer.network.output.tiers)
    vectors, bias = node_vectors(arrays, n_tiers)
    for tier in range(n_tiers):
        del arrays[tier_name(tier)]
    return {**encode_nodes(tree, Vectors(vectors), bias, weights), **encode_network(arrays, weights)}


def _onnx_tensors(tree: LabelTree, scorer: Any, weights: str) -> dict[str, Tensor]:
    return {
        **encode_nodes(tree, scorer.vectors, scorer.bias, weights),
        **encode_network(shared_arrays(scorer.shared), "float32"),
        "graph": Tensor.of(scorer.graph),
    }


class _Attention:
    """The section as it is read."""

    def __init__(self, stored: Stored) -> None:
        self._stored = stored
        self.batch = batch.Batch(stored)
        self.weights = stored.fields.choose("weights", tuple(WEIGHT_DTYPES))
        network = Fields(stored.fields.take("network", object), "network")
        self.runtime = network.choose("runtime", ("torch", "onnx"))
        layers = network.take("layers", list)
        if len(layers) > 100 or not all(type(width) is int and 1 <= width <= _WIDEST for width in layers):
            raise ValueError(f"network: layers must be widths from 1 to {_WIDEST}, got {short(layers)}")
        self.settings: dict[str, Any] = {
            "dimension": network.count("dimension", 1, _WIDEST),
            "hidden": network.count("hidden", 1, _WIDEST),
            "layers": layers,
        }
        network.finish()
        self.tokenizer = tokenizer.take(stored)
        self.files = [
            stored_file(entry, f"attention-{number}")
            for number, entry in enumerate(stored.files.take(FILES, list))
        ]
        stored.needs(VERSION)
        stored.finish()
        self.batch.check_reads_texts()
        if not self.files or len(self.batch.reports) != len(self.files):
            raise ValueError("a model must have at least one tree, and a training_report for each")

    @property
    def width(self) -> int:
        """The dimension of the hidden vector of a word."""
        return 2 * int(self.settings["hidden"])

    def tensors(self, file: StoredFile) -> dict[str, Tensor]:
        """Map the file of a tree."""
        return self._stored.tensors(file)

    def nodes(self, tensors: dict[str, Tensor]) -> tuple[LabelTree, Vectors, NDArray[np.float32]]:
        """Return a tree, and the vectors and biases of its nodes, if they are what they must be."""
        others = {"graph"} if self.runtime == "onnx" else set()
        return decode_nodes(tensors, others, self.batch.n_labels, self.width, self.weights)

    def reader(self, device: str | None) -> Any:
        """Return the reader of texts; without a device, one that only says that it is none."""
        from labeltree.deep.attention_forest import TokenReader
        from labeltree.deep.text_model import AbsentReader

        n_words = self.batch.n_features
        if device is None:
            return AbsentReader(n_words)
        reader = TokenReader(self.tokenizer.read(n_words))
        if reader.n_features != n_words:
            raise ValueError(f"model.json says {n_words} words, but the tokenizer has {reader.n_features}")
        return reader

    def tree(self, file: StoredFile, device: str | None, n_jobs: int | None) -> Any:
        """Return a tree with its network, if there is a device."""
        from labeltree.deep.attention_forest import AttentionNodes, TorchAttention, check_scorer, make_network
        from labeltree.deep.levels import TreeLevels

        tensors = self.tensors(file)
        with blaming(file.name):
            tree, vectors, bias = self.nodes(tensors)
            levels = TreeLevels.of(tree)
            scorer: Any = None
            if device is None:
                return AttentionNodes(levels, scorer, self.tokenizer.max_tokens)
            if self.runtime == "onnx":
                scorer = self._exported(tensors, levels.begin, vectors, bias, n_jobs)
                check_scorer(scorer, self.width)
                return AttentionNodes(levels, scorer, self.tokenizer.max_tokens)
            arrays = decode_network(tensors, self.weights, self._stored.verify)
            joined = np.concatenate([vectors.as_float32(), bias[:, np.newaxis]], axis=1)
            for tier in range(levels.n_tiers):
                arrays[tier_name(tier)] = joined[levels.begin[tier] : levels.begin[tier + 1]]
            network = make_network(self.batch.n_features, levels.sizes, self.settings, arrays)
            scorer = TorchAttention(network, device, n_jobs, self.weights)
        return AttentionNodes(levels, scorer, self.tokenizer.max_tokens)

    def _exported(
        self,
        tensors: dict[str, Tensor],
        begin: NDArray[np.int64],
        vectors: Vectors,
        bias: NDArray[np.float32],
        n_jobs: int | None,
    ) -> Any:
        from labeltree.deep.onnx_runtime import OnnxAttention

        arrays = decode_network(tensors, "float32", self._stored.verify)
        widths = [self.width, *self.settings["layers"], 1]
        shapes: dict[str, tuple[int, ...]] = {}
        for number, width in enumerate(widths[1:]):
            shapes |= zip(shared_names(number), ((width, widths[number]), (width,)), strict=True)
        if {name: values.shape for name, values in arrays.items()} != shapes:
            raise ValueError(f"the shared layers must have the shapes {short(shapes)}")
        shared = shared_layers(arrays, len(widths) - 1)
        graph = decode_graph(tensors["graph"])
        return OnnxAttention(graph, begin, vectors, bias, shared, self.settings, n_jobs)


def read(cls: type[Any], stored: Stored, without_network: bool = False) -> Any:
    """Return the trained estimator; without its network, which needs an extra, it can be described only."""
    return _open(cls, stored, None if without_network else "auto")


def check(cls: type[Any], stored: Stored) -> None:
    """Raise what `read` would raise; the memory of a GPU is not touched."""
    _open(cls, stored, "cpu")


def _open(cls: type[Any], stored: Stored, device: str | None) -> Any:
    from labeltree.deep.attention_forest import AttentionForest
    from labeltree.deep.extras import require_runtime

    section = _Attention(stored)
    if device is not None:
        require_runtime(section.runtime)
    n_jobs = section.batch.parameters.get("n_jobs")
    if type(n_jobs) is not int:  # checked with the other parameters, when the trees are there
        n_jobs = None
    nodes = [section.tree(file, device, n_jobs) for file in section.files]
    estimator = section.batch.estimator(cls, [of_tree.tree for of_tree in nodes])
    forest: Any = AttentionForest(nodes)
    return estimator.adopt(section.batch.model(estimator, forest, reader=section.reader(device)))


def describe(stored: Stored) -> dict[str, Any]:
    """Return the entries of `ModelInfo` that only this section knows. Neither torch nor onnxruntime is needed."""
    section = _Attention(stored)
    trees = []
    for file in section.files:
        tensors = section.tensors(file)
        with blaming(file.name):
            tree, vectors, _ = section.nodes(tensors)
        n_weights = vectors.values.size + count_network(tensors)
        trees.append(TreeInfo(tree.n_nodes, len(tree.inner_nodes), n_weights, file.n_bytes))
    return {
        **section.batch.describe(),
        "dense_features": (0, 0),
        "weights": section.weights,
        "trees": trees,
        "runtime": section.runtime,
    }
