"""Exports of networks to ONNX: graphs that `labeltree.deep.onnx_runtime` runs without torch."""

from __future__ import annotations

import logging
import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy, deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.deep.attention_arrays import node_vectors, shared_layers
from labeltree.deep.attention_forest import AttentionForest, AttentionNodes, TorchAttention
from labeltree.deep.encoder_tree import EncoderReader
from labeltree.deep.encoders import TorchEncoder
from labeltree.deep.estimator import DeepClassifier
from labeltree.deep.extras import import_extra
from labeltree.deep.module_arrays import arrays_of
from labeltree.deep.onnx_runtime import OnnxAttention, OnnxEncoder
from labeltree.embedding.vectors import Vectors
from labeltree.mixing.mixed_model import MixedModel
from labeltree.model.model import Model
from labeltree.wording import with_article

_OPSET = 18
#: The version of the file format of ONNX that goes with the operations of our own graphs.
_IR_VERSION = 8
#: The largest difference between a vector of torch and of the exported graph, relative to the largest number.
_TOLERANCE = 1e-3
#: The smallest mean cosine of a vector of torch and of a graph of int8.
_INT8_COSINE = 0.95


def export_onnx(model: Any, path: str | os.PathLike[str], *, int8: bool = False) -> None:
    """Save a classifier over texts, or a mix that has some, with its networks as ONNX graphs.

    Parameters
    ----------
    model : trained AttentionXMLClassifier, EncoderTreeClassifier, MixedModel or Tagger
    path : path of a directory
    int8 : bool
        Store the weights of the networks as int8.

    Raises
    ------
    ValueError
        If the model has no network of torch, or the exported encoder makes other vectors.
    """
    from labeltree.model_file import save

    save(exported(getattr(model, "classifier_", model), int8), path)


def exported(model: Any, int8: bool) -> Any:
    """Return a copy of a model that onnxruntime runs."""
    if not isinstance(model, MixedModel):
        return _exported(model, int8)
    if not any(isinstance(member, DeepClassifier) for member in model.members_):
        raise ValueError("no model of this mix has a network: there is nothing to export to ONNX")
    members = [
        _exported(member, int8) if isinstance(member, DeepClassifier) else member for member in model.members_
    ]
    mixed = MixedModel(members, model.weights_, model.n_jobs)
    mixed.decision_ = model.decision_
    mixed.label_names_ = model.label_names_
    return mixed


def _exported(classifier: Any, int8: bool) -> Any:
    if not isinstance(classifier, DeepClassifier):
        raise ValueError(
            f"{with_article(type(classifier).__name__)} has no network: there is nothing to export to ONNX. It answers "
            "without torch as it is"
        )
    model = classifier.model_
    if isinstance(model.reader, EncoderReader):
        changed = _with_encoder(model, int8)
    else:
        forest: Any = model.forest
        changed = replace(
            model, forest=AttentionForest([_with_graph(nodes, int8) for nodes in forest.weights])
        )
    return copy(classifier).adopt(changed)


def _with_encoder(model: Model, int8: bool) -> Model:
    reader: Any = model.reader
    encoder = reader.encoder
    _check_torch(isinstance(encoder, TorchEncoder))
    graph = encoder_graph(encoder.module)
    made = OnnxEncoder(_quantized(graph) if int8 else graph, encoder.dimension, encoder.n_jobs)
    _check_agreement(encoder, made, int8)
    return replace(model, reader=EncoderReader(reader.tokenizer, made))


def _with_graph(nodes: Any, int8: bool) -> AttentionNodes:
    scorer = nodes.scorer
    _check_torch(isinstance(scorer, TorchAttention))
    arrays = arrays_of(scorer.network)
    settings = scorer.network.settings()
    vectors, bias = node_vectors(arrays, len(scorer.network.output.tiers))
    graph = word_graph(arrays)
    made = OnnxAttention(
        _quantized(graph) if int8 else graph,
        nodes.levels.begin,
        Vectors(vectors).with_type(scorer.weights),
        bias,
        shared_layers(arrays, len(settings["layers"]) + 1),
        settings,
        scorer.n_jobs,
    )
    return AttentionNodes(nodes.levels, made, nodes.longest)


def _check_torch(is_torch: bool) -> None:
    if not is_torch:
        raise ValueError("this model was exported to ONNX already: export the model that it was made of")


def encoder_graph(module: Any) -> NDArray[np.uint8]:
    """Return a `PooledEncoder` as a graph with the inputs ``tokens`` and ``is_token``, of any shape."""
    torch = import_extra("torch", "an export to ONNX")
    import_extra("onnx", "an export to ONNX", "torch")
    import_extra("onnxscript", "an export to ONNX", "torch")
    on_cpu = deepcopy(module).cpu().eval()
    # Two tensors, of different content: the same one twice would become one input.
    tokens, is_token = torch.zeros(2, 7, dtype=torch.int64), torch.ones(2, 7, dtype=torch.int64)
    free = {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}
    with _silence(), torch.no_grad():
        program = torch.onnx.export(
            on_cpu,
            (tokens, is_token),
            dynamo=True,
            input_names=["tokens", "is_token"],
            output_names=["vectors"],
            dynamic_shapes={"tokens": free, "is_token": dict(free)},
            opset_version=_OPSET,
            verbose=False,
        )
        return _as_array(_without_remarks(program.model_proto))


def _without_remarks(model: Any) -> Any:
    """Remove what the exporter notes about its work: most of a small graph, and paths of files on this machine."""
    parts = [model.graph, *model.functions]
    nodes = [node for part in parts for node in part.node]
    values = [
        *model.graph.input,
        *model.graph.output,
        *(value for part in parts for value in part.value_info),
    ]
    for noted in (*parts, *nodes, *values):
        noted.ClearField("metadata_props")
        noted.ClearField("doc_string")
    return model


def word_graph(arrays: dict[str, NDArray[np.float32]]) -> NDArray[np.uint8]:
    """Return a `WordEncoder` as a graph with the input ``tokens``: rows of the same length."""
    onnx = import_extra("onnx", "an export to ONNX", "torch")
    helper, types = onnx.helper, onnx.TensorProto
    directions = ("", "_reverse")
    lstm = {name.removeprefix("encoder.lstm."): values for name, values in arrays.items() if ".lstm." in name}

    def gates(values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Torch has the gates input, forget, cell and output; ONNX has input, output, forget and cell."""
        first, forget, cell, last = np.split(values, 4)
        return np.concatenate([first, last, forget, cell])

    weights = {
        "words": arrays["encoder.words.weight"],
        "W": np.stack([gates(lstm[f"weight_ih_l0{way}"]) for way in directions]),
        "R": np.stack([gates(lstm[f"weight_hh_l0{way}"]) for way in directions]),
        "B": np.stack(
            [
                np.concatenate([gates(lstm[f"bias_ih_l0{way}"]), gates(lstm[f"bias_hh_l0{way}"])])
                for way in directions
            ]
        ),
        "rows_words_width": np.array([0, 0, -1], dtype=np.int64),
    }
    hidden = weights["R"].shape[2]
    nodes = [
        helper.make_node("Gather", ["words", "tokens"], ["vectors"]),
        helper.make_node("Transpose", ["vectors"], ["by_word"], perm=[1, 0, 2]),
        helper.make_node(
            "LSTM", ["by_word", "W", "R", "B"], ["states"], hidden_size=hidden, direction="bidirectional"
        ),
        # From (words, directions, rows, hidden) to (rows, words, directions, hidden).
        helper.make_node("Transpose", ["states"], ["by_row"], perm=[2, 0, 1, 3]),
        helper.make_node("Reshape", ["by_row", "rows_words_width"], ["hidden"]),
    ]
    graph = helper.make_graph(
        nodes,
        "words",
        [helper.make_tensor_value_info("tokens", types.INT64, ["rows", "words"])],
        [helper.make_tensor_value_info("hidden", types.FLOAT, ["rows", "words", 2 * hidden])],
        [
            onnx.numpy_helper.from_array(np.ascontiguousarray(values), name)
            for name, values in weights.items()
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=_IR_VERSION)
    return _as_array(model)


def _as_array(model: Any) -> NDArray[np.uint8]:
    try:
        return np.frombuffer(model.SerializeToString(), dtype=np.uint8)
    except ValueError as error:  # Protocol Buffers end at 2 GiB
        raise ValueError(f"the network is too large for one graph of ONNX: {error}") from error


def _quantized(graph: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return a graph whose matrices are int8, with a scale per column; of 7 bits, because some processors saturate."""
    import_extra("onnxruntime", "an export to int8")
    onnx = import_extra("onnx", "an export to ONNX", "torch")
    with tempfile.TemporaryDirectory() as folder, _silence():
        from onnxruntime.quantization import QuantType, quantize_dynamic

        path = Path(folder) / "int8.onnx"
        quantize_dynamic(
            onnx.load_model_from_string(graph.tobytes()),
            path,
            per_channel=True,
            reduce_range=True,
            weight_type=QuantType.QInt8,
        )
        return np.frombuffer(path.read_bytes(), dtype=np.uint8)


def _check_agreement(encoder: TorchEncoder, made: OnnxEncoder, int8: bool) -> None:
    """Raise `ValueError` unless both encoders make nearly the same vectors of random tokens."""
    rng = np.random.default_rng(0)
    n_tokens = encoder.module.body.get_input_embeddings().weight.shape[0]
    for shape in ((1, 1), (8, 5)):
        tokens = rng.integers(n_tokens, size=shape)
        is_token = (np.arange(shape[1]) <= np.arange(shape[0])[:, np.newaxis] + 1).astype(np.int64)
        expected, found = encoder.vectors(tokens, is_token), made.vectors(tokens, is_token)
        if int8:
            _check_cosine(expected, found)
            continue
        # A GPU computes in bfloat16.
        tolerance = _TOLERANCE if encoder.device.type == "cpu" else 0.1
        if not np.abs(expected - found).max() <= tolerance * max(np.abs(expected).max(), 1.0):
            raise ValueError("the exported graph answers otherwise than the encoder: it cannot be exported")


def _check_cosine(expected: NDArray[np.float32], found: NDArray[np.float32]) -> None:
    lengths = np.linalg.norm(expected, axis=1) * np.linalg.norm(found, axis=1)
    cosine = float(np.mean((expected * found).sum(axis=1) / np.maximum(lengths, 1e-12)))
    if not cosine >= _INT8_COSINE:  # also if it is not a number
        raise ValueError(
            f"with int8 the encoder makes other vectors: their cosine with those of float32 is {cosine:.2f}, expected "
            f"at least {_INT8_COSINE}. Export without int8"
        )


@contextmanager
def _silence() -> Iterator[None]:
    """Keep the remarks of the exporters about their own inside from the user."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
