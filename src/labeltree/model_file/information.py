"""What can be said about a saved model without opening it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from labeltree.model.block_weights import n_columns
from labeltree.model_file.directory import blaming
from labeltree.model_file.example_document import ExampleDocument
from labeltree.model_file.loading import AnyDocument, read_consistently, read_tensors, read_tree_tensors
from labeltree.model_file.online_document import OnlineDocument


@dataclass(frozen=True)
class TreeInfo:
    """One tree of a model: its nodes, inner nodes and weights, and the bytes of its file, or of its part of one."""

    n_nodes: int
    n_inner_nodes: int
    n_weights: int
    n_bytes: int


@dataclass(frozen=True)
class ModelInfo:
    """A saved model: what it is, how it was made, how large it is.

    `weights` is how weights are stored; `label_kind` is the form of the y it was trained on; `n_bytes` counts
    all tensor files; `training_report` has an entry per tree; `dense_features` is the range of features that are
    handled as dense ones; `calibration` is the method that it was calibrated by, if it was.
    """

    path: str
    estimator: str
    library_version: str
    format_version: int
    parameters: Mapping[str, Any]
    n_features: int
    dense_features: tuple[int, int]
    n_labels: int
    label_kind: str
    has_feature_names: bool
    weights: str
    n_bytes: int
    trees: list[TreeInfo]
    training_report: list[dict[str, int]]
    calibration: str | None = None


def read_info(path: str | os.PathLike[str]) -> ModelInfo:
    """Describe a saved model from ``model.json`` and the headers of its files; its arrays are not looked at.

    Parameters
    ----------
    path : path of a directory

    Raises
    ------
    ModelFileError
        If there is no model, or what was read of it is damaged.

    Examples
    --------
    >>> import tempfile
    >>> from labeltree import LabelTreeClassifier
    >>> from labeltree.model_file import read_info
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     LabelTreeClassifier().fit([[1.0], [2.0]], [["cat"], ["dog"]]).save(f"{folder}/pets")
    ...     info = read_info(f"{folder}/pets")
    >>> info.estimator, info.n_labels, info.weights, info.trees[0].n_nodes
    ('LabelTreeClassifier', 2, 'float32', 3)
    """
    return read_consistently(path, _describe)


def _describe(directory: Path, document: AnyDocument) -> ModelInfo:
    if isinstance(document, OnlineDocument):
        return _describe_online(directory, document)
    if isinstance(document, ExampleDocument):
        return _describe_example_trees(directory, document)
    trees = []
    for file in document.tree_files:
        tensors = read_tree_tensors(directory, file, document)
        arrays = {name: tensor.values for name, tensor in tensors.items()}
        trees.append(
            TreeInfo(
                n_nodes=tensors["label"].values.size,
                n_inner_nodes=tensors["block_begin"].values.size - 2,
                n_weights=tensors["weight"].values.size
                + document.n_dense * n_columns(arrays["child_begin"], arrays),
                n_bytes=file.n_bytes,
            )
        )
    return ModelInfo(
        path=str(directory),
        estimator=document.estimator,
        library_version=document.library_version,
        format_version=document.format_version,
        parameters=document.parameters,
        n_features=document.n_features,
        dense_features=document.dense_features,
        n_labels=document.n_labels,
        label_kind=document.label_kind,
        has_feature_names=document.feature_name_file is not None,
        weights=document.weights,
        n_bytes=sum(file.n_bytes for file in document.files),
        trees=trees,
        training_report=document.training_report,
        calibration=None if document.calibration is None else document.calibration.method,
    )


def _describe_online(directory: Path, document: OnlineDocument) -> ModelInfo:
    tensors = read_tensors(directory, document.tree_file)
    with blaming(document.tree_file.name):
        if not {"label", "weight", "table", "child_begin"} <= tensors.keys():
            raise ValueError("the tensors of an online tree are not there")
        is_inner = np.diff(tensors["child_begin"].values) > 0
        n_weights = tensors["weight"].values.size or tensors["table"].values.size
    return ModelInfo(
        path=str(directory),
        estimator=document.estimator,
        library_version=document.library_version,
        format_version=document.format_version,
        parameters=document.parameters,
        n_features=document.n_features,
        dense_features=(0, 0),
        n_labels=document.n_labels,
        label_kind=document.label_kind,
        has_feature_names=document.feature_name_file is not None,
        weights="float32",
        n_bytes=sum(file.n_bytes for file in document.files),
        trees=[
            TreeInfo(
                n_nodes=tensors["label"].values.size,
                n_inner_nodes=int(is_inner.sum()),
                n_weights=n_weights,
                n_bytes=document.tree_file.n_bytes,
            )
        ],
        training_report=[{"n_examples": document.n_examples}],
    )


def _describe_example_trees(directory: Path, document: ExampleDocument) -> ModelInfo:
    from labeltree.rivals.fastxml.storage import read_trees

    trees = read_trees(directory, document)
    with blaming(document.tree_file.name):
        trees.forest()  # which looks at the shape of the trees
        begin = trees.arrays["tree_begin"]
        n_weights = np.diff(trees.arrays["weight_begin"][begin])
        n_pairs = np.diff(trees.arrays["pair_begin"][begin])
    n_nodes = np.diff(begin)
    return ModelInfo(
        path=str(directory),
        estimator=document.estimator,
        library_version=document.library_version,
        format_version=document.format_version,
        parameters=document.parameters,
        n_features=document.n_features,
        dense_features=document.dense_features,
        n_labels=document.n_labels,
        label_kind=document.label_kind,
        has_feature_names=document.feature_name_file is not None,
        weights="float32",
        n_bytes=sum(file.n_bytes for file in document.files),
        trees=[
            TreeInfo(
                n_nodes=int(nodes),
                n_inner_nodes=int(nodes - 1) // 2,
                n_weights=int(weights),
                n_bytes=int(24 * nodes + 8 * (weights + pairs)),
            )
            for nodes, weights, pairs in zip(n_nodes, n_weights, n_pairs, strict=True)
        ],
        training_report=document.training_report,
    )
