"""From a trained estimator to a directory."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

import labeltree
from labeltree.model.block_weights import BlockWeights
from labeltree.model_file.calibration_tensors import encode_calibration
from labeltree.model_file.decision_record import encode_decision
from labeltree.model_file.directory import ModelWriter
from labeltree.model_file.document import WEIGHT_DTYPES, Document, StoredCalibration, StoredText
from labeltree.model_file.label_tensors import encode_labels, encode_texts
from labeltree.model_file.tensors import Tensor
from labeltree.model_file.text_tensors import encode_text
from labeltree.prediction import LabelTreePredictor
from labeltree.trees import LabelTree
from labeltree.trees.recipe import TreeSource


def save_classifier(
    estimator: LabelTreePredictor, path: str | os.PathLike[str], weights: str | None = None
) -> None:
    """Write a trained estimator to a directory, atomically.

    Whatever happens, the directory then holds the old model or the new one. One writer at a time; readers,
    and processes that have the old model open, are not disturbed.

    Parameters
    ----------
    estimator : a trained classifier of this library
    path : path of a directory
        Made if it is not there. A directory with anything but a model in it is refused.
    weights : {"float32", "bfloat16", "int8"}, optional
        How weights are stored; by default as they are.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the estimator is not trained.
    ValueError
        If its labels or parameters are of a kind that the format does not have.
    ModelFileError
        If there is something else at `path`, or the estimator was loaded from a damaged model.

    Examples
    --------
    >>> import tempfile
    >>> from labeltree import LabelTreeClassifier
    >>> from labeltree.model_file import load, save_classifier
    >>> model = LabelTreeClassifier(random_state=0).fit([[1.0, 0.0], [0.0, 1.0]], [["cat"], ["dog"]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_classifier(model, f"{folder}/pets.labeltree", weights="int8")
    ...     load(f"{folder}/pets.labeltree").predict([[1.0, 0.0]])
    [['cat']]
    """
    check_is_fitted(estimator, "weights_")
    if estimator._has_node_estimators:
        raise ValueError(
            "a model with a node_estimator cannot be saved: the format holds numbers only, no Python objects; "
            "use pickle or joblib.dump"
        )
    # Everything that can be refused is, before the directory is touched; also what was loaded and is damaged.
    for trained in estimator.weights_:
        trained.store(estimator.n_features_in_, estimator._link()).verify()
    if weights is None:
        # All trees of a file have weights of one type; some may have been added to others that are stored smaller.
        types = {trained.weight_type for trained in estimator.weights_}
        weights = types.pop() if len(types) == 1 else "float32"
    stored = [trained.with_weight_type(weights) for trained in estimator.weights_]
    parameters = _encode_parameters(estimator._parameters_as_trained(), len(stored))
    labels, label_tensors = encode_labels(estimator.classes_)
    label_tensors["count"] = Tensor.of(estimator.label_counts_)
    feature_names = getattr(estimator, "feature_names_in_", None)
    name_tensors = {} if feature_names is None else encode_texts(feature_names.tolist())
    calibration = getattr(estimator, "calibration_", None)
    decision, decision_tensors = encode_decision(estimator.decision_)
    text = encode_text(getattr(estimator, "vectorizer_", None))

    with ModelWriter(Path(path)) as writer:
        document = Document(
            library_version=labeltree.__version__,
            estimator=type(estimator).__name__,
            parameters=parameters,
            n_features=int(estimator.n_features_in_),
            n_labels=len(estimator.classes_),
            n_samples_fit=estimator.n_samples_fit_,
            label_kind=estimator.label_kind_,
            labels=labels,
            weights=weights,
            training_report=estimator.training_report_,
            tree_files=[writer.add(f"tree-{t}", _tree_tensors(tree)) for t, tree in enumerate(stored)],
            label_file=writer.add("labels", label_tensors),
            feature_name_file=writer.add("feature-names", name_tensors) if name_tensors else None,
            dense_features=estimator.dense_features_,
            joint_blocks=any(tree.is_joint for tree in stored),
            calibration=None
            if calibration is None
            else StoredCalibration(
                calibration.method, writer.add("calibration", encode_calibration(calibration))
            ),
            decision=decision,
            decision_file=writer.add("decision", decision_tensors) if decision_tensors else None,
            text=None if text is None else StoredText(text[0], writer.add("text", text[1])),
        )
        writer.commit(document)


def _tree_tensors(trained: BlockWeights) -> dict[str, Tensor]:
    tensors = {name: Tensor.of(values) for name, values in trained.arrays.items()}
    for name in tensors.keys() & {"weight", "dense_weight"}:
        tensors[name] = Tensor(WEIGHT_DTYPES[trained.weight_type], trained.arrays[name])
    tensors["child_begin"] = Tensor.of(trained.tree.child_begin)
    tensors["label"] = Tensor.of(trained.tree.label)
    return tensors


def _encode_parameters(parameters: Mapping[str, Any], n_trees: int) -> dict[str, Any]:
    return {
        name: _encode_tree(value, n_trees) if name == "tree" else encode_parameter(name, value)
        for name, value in parameters.items()
    }


def _encode_tree(tree: Any, n_trees: int) -> Any:
    """Trees that were given are in the model anyway; words are written as they are."""
    if isinstance(tree, LabelTree):
        return {"stored": "tree"}
    if isinstance(tree, TreeSource):
        return {"stored": "tree" if n_trees == 1 else "trees"}
    if not isinstance(tree, list | tuple):
        return encode_parameter("tree", tree)
    if all(isinstance(entry, LabelTree) for entry in tree):
        return {"stored": "trees"}
    if len(tree) != n_trees:
        raise ValueError(
            f"the parameter 'tree' has {len(tree)} entries, but the model has {n_trees} trees; "
            f"set it to what the model was trained with"
        )
    return [entry if isinstance(entry, str) else {"stored": "tree"} for entry in tree]


def encode_parameter(name: str, value: Any) -> Any:
    """A parameter as it stands in ``model.json``; raises `ValueError` for one that cannot."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and np.isfinite(value):
        return value
    if name == "tree_weight" or (name == "C" and isinstance(value, list | tuple | np.ndarray)):
        return [float(number) for number in value]
    if name == "label_weight":
        return "given"  # an array or a dictionary, which only training heeds
    if name == "random_state":
        return None  # a generator: where it stands now says nothing about the model
    if name == "label_vectors":
        return (
            None  # a matrix that may be larger than the model, which has no need of it once the tree is built
        )
    raise ValueError(
        f"the parameter {name!r} is {value!r}, which a model file cannot hold; set it to another value"
    )
