"""`ModelInfo`: the description of a saved model, read without loading the model."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from labeltree.model_file.document import Stored, read_consistently


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
    handled as dense ones; `calibration` is the method that it was calibrated by, if it was; `has_label_names` is
    whether labels have readable names; `rerank` is the number of labels that the trees propose for label classifiers to
    rank, or 0; `runtime` is what runs the network of a model that has one: "torch" or "onnx".
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
    has_label_names: bool = False
    rerank: int = 0
    runtime: str | None = None


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
    ('LabelTreeClassifier', 2, 'int8', 3)
    """
    from labeltree.model_file.loading import section_in

    def describe(stored: Stored) -> ModelInfo:
        described = section_in(stored).describe(stored)
        return ModelInfo(
            path=str(stored.directory),
            estimator=stored.estimator,
            library_version=stored.library_version,
            format_version=stored.version,
            n_bytes=stored.n_bytes(),
            **described,
        )

    return read_consistently(path, False, describe)
