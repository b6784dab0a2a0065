"""Online models on disk: everything, so that learning goes on as if it had never stopped."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

import labeltree
from labeltree import _native
from labeltree.labels.reading import as_class_array
from labeltree.model_file.decision_record import encode_decision
from labeltree.model_file.directory import ModelWriter, blaming
from labeltree.model_file.label_tensors import decode_labels, decode_texts, encode_labels, encode_texts
from labeltree.model_file.loading import check_estimator, read_consistently, read_decision, read_tensors
from labeltree.model_file.online_document import OnlineDocument
from labeltree.model_file.tensors import Tensor
from labeltree.online.feature_space import FeatureSpace
from labeltree.online.growing_model import GrowingModel, OnlineSettings
from labeltree.online.label_table import LabelTable

_Estimator = TypeVar("_Estimator")

#: What stands in a file for a policy that is a callable.
_CALLABLE = "callable"


def save(estimator: Any, model: GrowingModel, path: str | os.PathLike[str]) -> None:
    """Write the whole state of a model to a directory, atomically."""
    # A copy is taken while nobody learns; writing it takes longer, and learning may go on meanwhile.
    with model.lock.reading():
        state = model.tree.state()
        labels = as_class_array(model.labels.labels)
        columns, kind = model.labels.columns, model.labels.kind
        stream_start = model.stream_start
        decision = estimator.decision_
        n_features, has_names = model.features.n_features, model.features.has_names
        names = model.features.names if has_names else model.features.column_names
    assert kind is not None
    label_storage, label_tensors = encode_labels(labels)
    column_storage, column_tensors = encode_labels(as_class_array(list(columns)))
    name_tensors = encode_texts([str(name) for name in names]) if names is not None else {}
    decision_fields, decision_tensors = encode_decision(decision)
    parameters = {name: _encode(name, value) for name, value in estimator.get_params(deep=False).items()}
    settings = {name: _encode(name, value) for name, value in vars(model.settings).items()}
    with ModelWriter(Path(path)) as writer:
        document = OnlineDocument(
            library_version=labeltree.__version__,
            estimator=type(estimator).__name__,
            parameters=parameters,
            settings=settings,
            n_features=n_features,
            named_features=has_names,
            n_labels=len(labels),
            n_examples=int(state["numbers"][_N_EXAMPLES]),
            stream_start=stream_start,
            label_kind=kind,
            labels=label_storage,
            n_columns=len(columns),
            columns=column_storage,
            tree_file=writer.add("online-tree", {name: Tensor.of(values) for name, values in state.items()}),
            label_file=writer.add("labels", label_tensors),
            column_file=writer.add("columns", column_tensors) if column_tensors else None,
            feature_name_file=writer.add("feature-names", name_tensors) if names is not None else None,
            decision=decision_fields,
            decision_file=writer.add("decision", decision_tensors) if decision_tensors else None,
        )
        writer.commit(document)


#: Where the kernel's array `numbers` has the number of examples.
_N_EXAMPLES = 3


def load(
    cls: type[_Estimator], path: str | os.PathLike[str], policy: Any = None, verify: bool = False
) -> _Estimator:
    """Open a saved model of one class."""

    def open_one(directory: Path, document: Any) -> _Estimator:
        check_estimator(cls, document)
        return open_model(cls, directory, document, verify, policy)

    return read_consistently(path, open_one)


def open_model(
    cls: type[_Estimator], directory: Path, document: OnlineDocument, verify: bool, policy: Any = None
) -> _Estimator:
    """The model that a document describes."""
    estimator: Any = cls(**_decode(document.parameters, cls._get_param_names(), policy))  # type: ignore[attr-defined]
    estimator._check_parameters()
    settings = _settings(
        cls, _decode(document.settings, [field.name for field in fields(OnlineSettings)], policy)
    )
    state = {
        name: np.ascontiguousarray(tensor.values)
        for name, tensor in read_tensors(directory, document.tree_file, verify).items()
    }
    with blaming(document.tree_file.name):
        _check_sizes(settings, state)
        tree = _native.OnlineTree.from_state(settings.options(), settings.tree_policy(), state)
        if tree.n_labels != document.n_labels or tree.n_examples != document.n_examples:
            raise ValueError("the tree has other numbers of labels or examples than model.json says")
    label_tensors = read_tensors(directory, document.label_file, verify)
    with blaming(document.label_file.name):
        labels = decode_labels(document.labels, label_tensors, document.n_labels).tolist()
        if len(set(labels)) < len(labels):
            raise ValueError("a label is there twice")
    columns: Any = range(document.n_columns)
    if document.column_file is not None:
        column_tensors = read_tensors(directory, document.column_file, verify)
        with blaming(document.column_file.name):
            columns = decode_labels(document.columns, column_tensors, document.n_columns).tolist()
    if document.label_kind in ("csr", "dense") and not set(labels) <= set(columns):
        raise ValueError("a label is no column")
    estimator._begin(
        GrowingModel(
            settings,
            tree,
            LabelTable(document.label_kind, labels, columns),
            _features(directory, document, settings, verify),
            document.stream_start,
        )
    )
    if document.decision is not None:
        estimator.decision_ = read_decision(directory, document, len(estimator.classes_), verify)
    return estimator  # type: ignore[no-any-return]


def _features(
    directory: Path, document: OnlineDocument, settings: OnlineSettings, verify: bool
) -> FeatureSpace:
    names = None
    if document.feature_name_file is not None:
        tensors = read_tensors(directory, document.feature_name_file, verify)
        with blaming(document.feature_name_file.name):
            n_names = 0 if document.named_features and settings.hashes_names else document.n_features
            names = decode_texts(tensors, n_names)
    elif document.named_features:
        raise ValueError("model.json says that features have names, but there are none")
    return FeatureSpace(
        settings.hashes_names,
        document.n_features,
        names=names.tolist() if names is not None and document.named_features else None,
        column_names=None if document.named_features else names,
    )


def _settings(cls: type, values: dict[str, Any]) -> OnlineSettings:
    """Settings that are as checked as a user's parameters."""
    parameters = {name: value for name, value in values.items() if name in cls._get_param_names()}  # type: ignore[attr-defined]
    if values.get("solver") == "adagrad" and parameters.get("regularization") == 0:
        parameters["regularization"] = None
    checked: Any = cls(**parameters)
    checked._check_parameters()
    seed = values.get("seed")
    if values.keys() != {field.name for field in fields(OnlineSettings)} or not isinstance(seed, int):
        raise ValueError("model.json: settings must have all that a model was begun with")
    settings: OnlineSettings = checked._settings(seed)
    return settings


def _check_sizes(settings: OnlineSettings, state: Mapping[str, Any]) -> None:
    """So that no more memory is asked for than the file has a use for."""
    length = settings.length
    if settings.weights == "shared" and state.get("table", np.empty(0)).size not in (length, 2 * length):
        raise ValueError(f"the shared table must have {length:,} weights")
    rows = np.diff(state.get("row_begin", np.empty(0)))
    if settings.weights == "hashed" and not (len(rows) > 0 and (rows[1:] == length + 1).all()):
        raise ValueError(f"every node must have {length:,} hashed features and a bias")


def _encode(name: str, value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if name == "random_state" and not isinstance(value, int | None):
        return None  # a generator: where it stands now says nothing about the model
    if name == "policy" and not isinstance(value, str):
        return _CALLABLE
    return value


def _decode(values: Mapping[str, Any], names: Any, policy: Any) -> dict[str, Any]:
    unknown = values.keys() - set(names)
    if unknown:
        raise ValueError(f"model.json: there is no parameter {min(unknown)[:100]!r}")
    if any(isinstance(value, dict | list) for value in values.values()):
        raise ValueError("model.json: parameters must be single values")
    decoded = dict(values)
    if decoded.get("policy") == _CALLABLE:
        if policy is None:
            raise ValueError(
                "the policy of this model is a callable, which no file can hold: pass it as load(path, policy=...)"
            )
        decoded["policy"] = policy
    return decoded
