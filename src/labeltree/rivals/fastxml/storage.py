"""Ensembles of trees over examples on disk."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

import labeltree
from labeltree.model_file.decision_record import encode_decision
from labeltree.model_file.directory import ModelWriter, blaming
from labeltree.model_file.document import StoredText
from labeltree.model_file.example_document import ExampleDocument
from labeltree.model_file.label_tensors import (
    decode_counts,
    decode_labels,
    decode_texts,
    encode_labels,
    encode_texts,
)
from labeltree.model_file.loading import (
    check_estimator,
    read_consistently,
    read_decision,
    read_tensors,
    read_vectorizer,
)
from labeltree.model_file.saving import encode_parameter
from labeltree.model_file.tensors import Tensor
from labeltree.model_file.text_tensors import encode_text
from labeltree.rivals.fastxml.answers import ExampleTreePredictor
from labeltree.rivals.fastxml.example_trees import MEAN_ARRAYS, TREE_ARRAYS, ExampleTrees

_Estimator = TypeVar("_Estimator", bound=ExampleTreePredictor)


def save(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write a trained estimator to a directory, atomically."""
    check_is_fitted(estimator, "example_trees_")
    trees: ExampleTrees = estimator.example_trees_
    # Everything that can be refused is, before the directory is touched; also what was loaded and is damaged.
    trees.forest().verify()
    parameters = {
        name: encode_parameter(name, value) for name, value in estimator._parameters_as_trained().items()
    }
    labels, label_tensors = encode_labels(estimator.classes_)
    label_tensors["count"] = Tensor.of(estimator.label_counts_)
    feature_names = getattr(estimator, "feature_names_in_", None)
    name_tensors = {} if feature_names is None else encode_texts(feature_names.tolist())
    decision, decision_tensors = encode_decision(estimator.decision_)
    text = encode_text(getattr(estimator, "vectorizer_", None))
    tree_tensors = {name: Tensor.of(values) for name, values in trees.arrays.items()}
    with ModelWriter(Path(path)) as writer:
        document = ExampleDocument(
            library_version=labeltree.__version__,
            estimator=type(estimator).__name__,
            parameters=parameters,
            n_features=int(estimator.n_features_in_),
            dense_features=trees.dense_features,
            n_labels=len(estimator.classes_),
            n_samples_fit=estimator.n_samples_fit_,
            label_kind=estimator.label_kind_,
            labels=labels,
            training_report=estimator.training_report_,
            tree_file=writer.add("example-trees", tree_tensors),
            label_file=writer.add("labels", label_tensors),
            feature_name_file=writer.add("feature-names", name_tensors) if name_tensors else None,
            decision=decision,
            decision_file=writer.add("decision", decision_tensors) if decision_tensors else None,
            text=None if text is None else StoredText(text[0], writer.add("text", text[1])),
        )
        writer.commit(document)


def load(cls: type[_Estimator], path: str | os.PathLike[str], verify: bool = False) -> _Estimator:
    """Open a saved model of one class."""

    def open_one(directory: Path, document: Any) -> _Estimator:
        check_estimator(cls, document)
        return open_model(cls, directory, document, verify)

    return read_consistently(path, open_one)


def open_model(cls: type[_Estimator], directory: Path, document: ExampleDocument, verify: bool) -> _Estimator:
    """The model that a document describes."""
    estimator: Any = cls(**_decode(cls, document.parameters))
    estimator._check_parameters()
    estimator.n_features_in_ = document.n_features
    estimator.label_kind_ = document.label_kind
    estimator.n_samples_fit_ = document.n_samples_fit
    estimator._keep_report(document.training_report)
    label_tensors = read_tensors(directory, document.label_file, verify)
    with blaming(document.label_file.name):
        estimator.label_counts_ = decode_counts(
            label_tensors.pop("count", None), document.n_labels, document.n_samples_fit
        )
        estimator.classes_ = decode_labels(document.labels, label_tensors, document.n_labels)
    if document.feature_name_file is not None:
        name_tensors = read_tensors(directory, document.feature_name_file, verify)
        with blaming(document.feature_name_file.name):
            estimator.feature_names_in_ = decode_texts(name_tensors, document.n_features)
    if document.decision is not None:
        estimator.decision_ = read_decision(directory, document, document.n_labels, verify)
    if document.text is not None:
        estimator.vectorizer_ = read_vectorizer(directory, document.text, document.n_features, verify)
    trees = estimator.example_trees_ = read_trees(directory, document, verify)
    with blaming(document.tree_file.name):
        if trees.arrays.keys() != estimator._tree_arrays().keys():
            raise ValueError(f"these are not the tensors of a {cls.__name__}: {sorted(trees.arrays)}")
        if not trees.n_trees == len(document.training_report) == estimator.n_trees:
            raise ValueError("there are not as many trees as model.json says")
        estimator._renew_caches()  # the kernel looks at the shape of the trees
        if verify:
            trees.forest().verify()
    return estimator  # type: ignore[no-any-return]


def read_trees(directory: Path, document: ExampleDocument, verify: bool = False) -> ExampleTrees:
    """Map the trees of a model, if they have the tensors they must have."""
    tensors = read_tensors(directory, document.tree_file, verify)
    expected = TREE_ARRAYS | (MEAN_ARRAYS if "mean_begin" in tensors else {})
    with blaming(document.tree_file.name):
        if tensors.keys() != expected.keys():
            raise ValueError(f"expected the tensors {sorted(expected)}, got {sorted(tensors)}")
        for name, kind in expected.items():
            values = tensors[name].values
            if values.ndim != 1 or values.dtype != np.dtype(kind):
                raise ValueError(
                    f"{name} must be of one dimension and of type {kind}, got {values.dtype} of shape {values.shape}"
                )
    arrays = {name: tensor.values for name, tensor in tensors.items()}
    return ExampleTrees(arrays, document.n_labels, document.n_features, document.dense_features)


def _decode(cls: type, parameters: Mapping[str, Any]) -> dict[str, Any]:
    unknown = parameters.keys() - set(cls._get_param_names())  # type: ignore[attr-defined] # of the estimator
    if unknown:
        raise ValueError(f"{cls.__name__} has no parameter {min(unknown)[:100]!r}")
    if any(isinstance(value, dict | list) for value in parameters.values()):
        raise ValueError("model.json: parameters must be single values")
    return dict(parameters)
