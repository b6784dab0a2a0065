"""The section of a fine-tuned encoder of texts, and of the vectors of the nodes of a label tree."""

from __future__ import annotations

from typing import Any

from labeltree.embedding.node_vectors import NodeVectors
from labeltree.model.linear_forest import LinearForest
from labeltree.model_file.directory import blaming
from labeltree.model_file.document import Draft, Stored, TensorPart
from labeltree.model_file.fields import Fields
from labeltree.model_file.information import TreeInfo
from labeltree.model_file.network_tensors import (
    count_network,
    decode_graph,
    decode_network,
    decode_nodes,
    encode_network,
    encode_nodes,
)
from labeltree.model_file.sections import batch, calibration, tokenizer
from labeltree.model_file.tensors import WEIGHT_DTYPES, Tensor

#: The entry in "files" by which such a model is recognised.
FILES = "encoder"
#: The version of the format that such models came with.
VERSION = 11


def write(draft: Draft, estimator: Any, *, weights: str | None = None) -> None:
    """Add a model; raises `ValueError` if it cannot be saved."""
    from labeltree.deep.encoders import TorchEncoder, configuration
    from labeltree.deep.module_arrays import arrays_of

    model = estimator.model_
    forest, reader = model.forest, model.reader
    nodes, encoder = forest.weights[0], reader.encoder
    weights = weights or nodes.vectors.type
    tensors = encode_nodes(nodes.tree, nodes.vectors, nodes.bias, weights)
    if isinstance(encoder, TorchEncoder):
        module = encoder.module
        described = {
            "runtime": "torch",
            "pooling": module.pooling,
            "configuration": configuration(module.body),
        }
        tensors |= encode_network(arrays_of(module.body), weights)
    else:
        described = {"runtime": "onnx"}
        tensors["graph"] = Tensor.of(encoder.graph)
    batch.write(draft, estimator, model)
    draft.add(VERSION, weights=weights, encoder=described)
    tokenizer.write(draft, reader.tokenizer)
    calibration.write(draft, forest.calibration)
    draft.files[FILES] = TensorPart("encoder", tensors)


class _Encoder:
    """The section as it is read."""

    def __init__(self, stored: Stored) -> None:
        self._stored = stored
        self.batch = batch.Batch(stored)
        self.weights = stored.fields.choose("weights", tuple(WEIGHT_DTYPES))
        described = Fields(stored.fields.take("encoder", object), "encoder")
        self.runtime = described.choose("runtime", ("torch", "onnx"))
        self.pooling, self.configuration = "", {}
        if self.runtime == "torch":
            self.pooling = described.choose("pooling", ("mean", "first"))
            self.configuration = described.take("configuration", dict)
        described.finish()
        self.tokenizer = tokenizer.take(stored)
        self.calibration = calibration.take(stored)
        self.file = stored.files.file(FILES, "encoder")
        stored.needs(VERSION)
        stored.finish()
        self.batch.check_reads_texts()

    def tensors(self) -> dict[str, Tensor]:
        """Map the file."""
        return self._stored.tensors(self.file)

    def nodes(self, tensors: dict[str, Tensor]) -> NodeVectors:
        """Return the vectors of the nodes, if they are what they must be."""
        others = {"graph"} if self.runtime == "onnx" else set()
        with blaming(self.file.name):
            return NodeVectors(
                *decode_nodes(tensors, others, self.batch.n_labels, self.batch.n_features, self.weights)
            )

    def reader(self, tensors: dict[str, Tensor], device: str | None, n_jobs: int | None) -> Any:
        """Return the reader of texts; without a device, one that only says that it is none."""
        from labeltree.deep.extras import require_runtime
        from labeltree.deep.text_model import AbsentReader

        if device is None:
            return AbsentReader(self.batch.n_features)
        require_runtime(self.runtime)
        from labeltree.deep.encoder_tree import EncoderReader

        encoder, n_known = self._encoder(tensors, device, n_jobs)
        return EncoderReader(self.tokenizer.read(n_known), encoder)

    def _encoder(self, tensors: dict[str, Tensor], device: str, n_jobs: int | None) -> tuple[Any, int | None]:
        """Return the encoder, and the number of its tokens if that is known."""
        from labeltree.deep.encoders import (
            TorchEncoder,
            check_encoder,
            longest_text,
            make_body,
            torch_encoder,
        )

        dimension = self.batch.n_features
        with blaming(self.file.name):
            arrays = decode_network(tensors, self.weights, self._stored.verify)
            if self.runtime == "onnx":
                from labeltree.deep.onnx_runtime import OnnxEncoder

                if arrays:
                    raise ValueError("there are weights of a network beside a graph")
                exported = OnnxEncoder(decode_graph(tensors["graph"]), dimension, n_jobs)
                check_encoder(exported, dimension)
                return exported, None
            body = make_body(self.configuration, arrays)
            longest = longest_text(body.config)
            if self.tokenizer.max_tokens > longest:
                raise ValueError(
                    f"max_tokens is {self.tokenizer.max_tokens}, but the encoder reads at most {longest} tokens"
                )
            # On the CPU: what fails on a GPU may take the process with it.
            encoder = torch_encoder(body, self.pooling, "cpu", n_jobs)
            check_encoder(encoder, dimension)
            n_known = int(body.get_input_embeddings().weight.shape[0])
        return TorchEncoder(encoder.module, device, n_jobs), n_known


def read(cls: type[Any], stored: Stored, without_network: bool = False) -> Any:
    """Return the trained estimator; without its network, which needs an extra, it can be described only."""
    return _open(cls, stored, None if without_network else "auto")


def check(cls: type[Any], stored: Stored) -> None:
    """Raise what `read` would raise; the memory of a GPU is not touched."""
    _open(cls, stored, "cpu")


def _open(cls: type[Any], stored: Stored, device: str | None) -> Any:
    section = _Encoder(stored)
    tensors = section.tensors()
    nodes = section.nodes(tensors)
    estimator = section.batch.estimator(cls, [nodes.tree])
    with blaming(section.file.name):
        forest = LinearForest([nodes], section.batch.n_features, "sigmoid")  # type: ignore[list-item]
        if stored.verify:
            forest.verify()
    if section.calibration is not None:
        with blaming(section.calibration.file.name):
            forest = forest.calibrated(section.calibration.read([nodes.tree]))
    reader = section.reader(tensors, device, estimator.n_jobs)
    return estimator.adopt(section.batch.model(estimator, forest, reader=reader))


def describe(stored: Stored) -> dict[str, Any]:
    """Return the entries of `ModelInfo` that only this section knows. Neither torch nor onnxruntime is needed."""
    section = _Encoder(stored)
    tensors = section.tensors()
    nodes = section.nodes(tensors)
    tree = nodes.tree
    return {
        **section.batch.describe(),
        "dense_features": (0, 0),
        "weights": section.weights,
        "trees": [
            TreeInfo(
                n_nodes=tree.n_nodes,
                n_inner_nodes=len(tree.inner_nodes),
                n_weights=nodes.n_weights + count_network(tensors),
                n_bytes=section.file.n_bytes,
            )
        ],
        "calibration": None if section.calibration is None else section.calibration.method,
        "runtime": section.runtime,
    }
