"""The section of online trees: everything, so that learning resumes as if it had never stopped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields as dataclass_fields
from typing import Any, get_args

import numpy as np

from labeltree import _native
from labeltree.errors import ModelFileError
from labeltree.labels.reading import LabelKind, as_class_array
from labeltree.model_file.directory import blaming
from labeltree.model_file.document import Draft, Stored, TensorPart
from labeltree.model_file.fields import LARGEST_COUNT, StoredFile, stored_file
from labeltree.model_file.information import TreeInfo
from labeltree.model_file.label_tensors import decode_labels, decode_texts, encode_labels, encode_texts
from labeltree.model_file.sections import decision, label_names
from labeltree.model_file.sections.parameters import check_names
from labeltree.model_file.tensors import Tensor
from labeltree.online.feature_space import FeatureSpace
from labeltree.online.growing_model import GrowingModel
from labeltree.online.label_table import LabelTable
from labeltree.online.learners import LARGE_ACCUMULATOR
from labeltree.online.settings import OnlineSettings
from labeltree.validation import parameter_names
from labeltree.wording import count_text

#: The entry in "files" by which such a model is recognised.
FILES = "tree"
#: Online trees came with this version of the format.
VERSION = 3
#: Models that save `_ACCUMULATOR` came with this one.
LATER_VERSION = 9

#: Models with a given tree, or with a tree that is fixed, came with this one.
GIVEN_TREE_VERSION = 12

#: Models of several trees came with this one.
SEVERAL_TREES_VERSION = 13

#: The parameter and the setting that models of earlier versions do not have.
_ACCUMULATOR = "initial_accumulator"

#: `classes_` has an entry for each column of y, so a small file must not claim any number of them.
MAX_COLUMNS = 100_000_000

#: The parameter and the setting that models of one tree do not have.
_N_TREES = "n_trees"
#: The entry in "files" of the trees after the first.
_MORE_FILES = "more_trees"

#: What stands in a file for a policy that is a callable.
_CALLABLE = "callable"

#: What stands in a file for given trees: they are in the model, with the labels that came later.
_TREE = {"stored": "tree"}

#: Where the kernel's array `numbers` has the number of examples.
_N_EXAMPLES = 3


def write(draft: Draft, estimator: Any) -> None:
    """Add a model. A copy is taken while nobody learns; learning may go on while the copy is written."""
    estimator.check_parameters(training=False)  # what was set after training may be wrong
    model: GrowingModel = estimator.growing_model()
    with model.reading():
        states = [tree.state() for tree in model.trees]
        labels, readable = as_class_array(model.labels.labels), model.label_names
        columns, kind, decided = model.labels.columns, model.label_kind, model.decision
        stream_start = model.stream_start
        n_features, has_names = model.n_features, model.features.has_names
        names = model.features.names if has_names else model.feature_names
    if len(columns) > MAX_COLUMNS:
        raise ValueError(f"a model file holds at most {MAX_COLUMNS:,} columns of y, got {len(columns):,}")
    for state in states:
        _check_finite(state)
    label_storage, label_tensors = encode_labels(labels)
    column_storage, column_tensors = encode_labels(
        np.arange(len(columns)) if isinstance(columns, range) else as_class_array(list(columns))
    )
    parameters = {name: _encode(name, value) for name, value in estimator.stored_parameters().items()}
    settings = {name: _encode(name, value) for name, value in vars(model.settings).items()}
    is_later = parameters[_ACCUMULATOR] is not None or settings[_ACCUMULATOR] != LARGE_ACCUMULATOR
    if not is_later:
        del parameters[_ACCUMULATOR], settings[_ACCUMULATOR]
    if len(states) == 1:
        settings.pop(_N_TREES)
        if parameters[_N_TREES] == 1:
            del parameters[_N_TREES]
    if parameters["tree"] is None:
        del parameters["tree"]
    else:  # all labels may have been forgotten
        parameters["tree"] = dict(_TREE) if len(labels) else None
    draft.add(
        _version(parameters, settings),
        parameters=parameters,
        settings=settings,
        n_features=n_features,
        named_features=has_names,
        n_labels=len(labels),
        n_examples=int(states[0]["numbers"][_N_EXAMPLES]),
        stream_start=stream_start,
        label_kind=kind,
        labels=label_storage,
        n_columns=len(columns),
        columns=column_storage,
    )
    parts = [
        TensorPart(stem, {name: Tensor.of(values) for name, values in state.items()})
        for stem, state in zip(_stems(len(states)), states, strict=True)
    ]
    name_tensors = None if names is None else encode_texts([str(name) for name in names])
    draft.files[FILES] = parts[0]
    if len(parts) > 1:
        draft.files[_MORE_FILES] = parts[1:]
    draft.files["labels"] = TensorPart("labels", label_tensors)
    draft.files["columns"] = TensorPart("columns", column_tensors) if column_tensors else None
    draft.files["feature_names"] = None if name_tensors is None else TensorPart("feature-names", name_tensors)
    decision.write(draft, decided)
    label_names.write(draft, readable, labels.tolist())


def _stems(n_trees: int) -> list[str]:
    return ["online-tree", *(f"online-tree-{number}" for number in range(1, n_trees))]


def _check_finite(state: Mapping[str, Any]) -> None:
    """Raise `ModelFileError` for weights that no reader accepts; without another copy of them."""
    for name, values in state.items():
        if values.dtype.kind != "f" or values.size == 0:
            continue
        lowest, highest = values.min(), values.max()  # NaN if one of the values is
        if not (lowest >= 0 if name == "square" else np.isfinite(lowest) and np.isfinite(highest)):
            raise ModelFileError(
                f"the model has values in '{name}' that are not finite, so it could not be opened again; nothing was "
                "written: go back to an earlier version, and scale the features or lower the learning rate"
            )


def _version(parameters: Mapping[str, Any], settings: Mapping[str, Any]) -> int:
    """Return the first version of the format that can hold these."""
    if _N_TREES in settings or _N_TREES in parameters:
        return SEVERAL_TREES_VERSION
    if "tree" in parameters or "fixed" in (parameters.get("policy"), settings.get("policy")):
        return GIVEN_TREE_VERSION
    return LATER_VERSION if _ACCUMULATOR in settings else VERSION


class _OnlineTree:
    """The section as it is read."""

    def __init__(self, stored: Stored) -> None:
        fields, files = stored.fields, stored.files
        self.parameters = fields.take("parameters", dict)
        self.settings = fields.take("settings", dict)
        if (_ACCUMULATOR in self.parameters) != (_ACCUMULATOR in self.settings):
            raise ValueError(f"model.json: {_ACCUMULATOR!r} must be in the parameters and in the settings")
        stored.needs(_version(self.parameters, self.settings))
        self.n_features = fields.count("n_features", 0, LARGEST_COUNT)
        self.named_features = fields.take("named_features", bool)
        self.n_labels = fields.count("n_labels", 0, LARGEST_COUNT)
        self.n_examples = fields.count("n_examples")
        self.stream_start = fields.count("stream_start", 0, self.n_examples)
        self.label_kind: LabelKind = fields.choose("label_kind", get_args(LabelKind))
        self.labels = fields.take("labels", str)
        self.n_columns = fields.count("n_columns", 0, MAX_COLUMNS)
        self.columns = fields.take("columns", str)
        self.decision = decision.take(stored)
        self.label_names = label_names.take(stored)
        self.files = [files.file(FILES, "online-tree")]
        if _MORE_FILES in files:
            entries = files.take(_MORE_FILES, list)
            stems = _stems(len(entries) + 1)[1:]
            self.files += [stored_file(entry, stem) for entry, stem in zip(entries, stems, strict=True)]
        self.label_file = files.file("labels", "labels")
        self.column_file = files.optional_file("columns", "columns")
        self.name_file = files.optional_file("feature_names", "feature-names")
        stored.finish()
        n_trees = self.settings.get(_N_TREES, 1)
        if n_trees != len(self.files) or (_N_TREES in self.settings and n_trees == 1):
            raise ValueError(
                f"model.json: expected {_N_TREES} in the settings of a model of several trees, and as many files, got "
                f"{n_trees!r} and {count_text(len(self.files), 'file')}"
            )


def read(cls: type[Any], stored: Stored, policy: Any = None) -> Any:
    """Return the trained estimator; `policy` takes the place of a policy that is a callable."""
    section = _OnlineTree(stored)
    check_names(cls, section.parameters)
    has_tree = section.parameters.get("tree") == _TREE
    estimator = cls(**_decode({**section.parameters, **({"tree": None} if has_tree else {})}, policy))
    estimator.check_parameters(training=False)
    settings = _settings(cls, _decode(section.settings, policy))
    trees: list[_native.OnlineTree] = []
    for file, of_tree in zip(section.files, settings.tree_policies(), strict=True):
        trees.append(_tree(stored, section, file, settings, of_tree))
        if not np.array_equal(trees[0].label_counts, trees[-1].label_counts):
            raise ValueError("the trees have learned other examples")
    features = _features(stored, section, settings.hashes_names)
    labels = _labels(stored, section)
    names = section.label_names.read(labels.labels)
    model = GrowingModel(settings, trees, labels, features, section.stream_start, label_names=names)
    if section.decision.is_there:
        model.deciding(section.decision.read(len(model.label_index)))
    if has_tree:
        with blaming(section.files[0].name):
            shapes = model.forest.trees
        estimator.tree = shapes if len(shapes) > 1 else shapes[0]
    return estimator.adopt(model)


def _tree(
    stored: Stored,
    section: _OnlineTree,
    file: StoredFile,
    settings: OnlineSettings,
    policy: _native.TreePolicy,
) -> _native.OnlineTree:
    tensors = stored.tensors(file)
    state = {name: np.ascontiguousarray(tensor.values) for name, tensor in tensors.items()}
    with blaming(file.name):
        _check_sizes(settings, state)
        tree = _native.OnlineTree.from_state(settings.options(), policy, state)
        if tree.n_labels != section.n_labels or tree.n_examples != section.n_examples:
            raise ValueError("the tree has other numbers of labels or examples than model.json says")
    return tree


def check(cls: type[Any], stored: Stored) -> None:
    """Raise what `read` would raise, but for the parameters and the tree: `write` has checked them."""
    section = _OnlineTree(stored)
    labels = _labels(stored, section)
    section.decision.read(len(labels.classes))
    section.label_names.read(labels.labels)
    _features(stored, section, section.settings.get("weights") in ("hashed", "shared"))


def _labels(stored: Stored, section: _OnlineTree) -> LabelTable:
    tensors = stored.tensors(section.label_file)
    with blaming(section.label_file.name):
        labels = decode_labels(section.labels, tensors, section.n_labels).tolist()
        if len(set(labels)) < len(labels):
            raise ValueError("a label is there twice")
    columns: Any = range(section.n_columns)
    if section.column_file is not None:
        tensors = stored.tensors(section.column_file)
        if section.columns == "positions":
            raise ValueError("model.json says that columns are positions, which have no file")
        with blaming(section.column_file.name):
            columns = decode_labels(section.columns, tensors, section.n_columns).tolist()
    known = columns if isinstance(columns, range) else set(columns)  # never a set of all numbers of a range
    if section.label_kind in ("csr", "dense") and not all(label in known for label in labels):
        raise ValueError("a label is no column")
    return LabelTable(section.label_kind, labels, columns)


def _features(stored: Stored, section: _OnlineTree, hashes_names: bool) -> FeatureSpace:
    names = None
    if section.name_file is not None:
        tensors = stored.tensors(section.name_file)
        with blaming(section.name_file.name):
            n_names = 0 if section.named_features and hashes_names else section.n_features
            names = decode_texts(tensors, n_names)
    elif section.named_features:
        raise ValueError("model.json says that features have names, but there are none")
    return FeatureSpace(
        hashes_names,
        section.n_features,
        names=names.tolist() if names is not None and section.named_features else None,
        column_names=None if section.named_features else names,
    )


def _settings(cls: type[Any], values: dict[str, Any]) -> OnlineSettings:
    """Settings, checked as a user's parameters are."""
    names = {field.name for field in dataclass_fields(OnlineSettings)}
    values = {_ACCUMULATOR: LARGE_ACCUMULATOR, _N_TREES: 1, **values}
    given = {name: value for name, value in values.items() if name in parameter_names(cls)}
    if values.get("solver") == "adagrad" and given.get("regularization") == 0:
        given["regularization"] = None
    if values.get("solver") != "adagrad" and given.get(_ACCUMULATOR) == LARGE_ACCUMULATOR:
        given[_ACCUMULATOR] = None
    seed = values.get("seed")
    if values.keys() != names or not isinstance(seed, int):
        raise ValueError("model.json: settings must have all that a model was begun with")
    checked = cls(**given)
    checked.check_parameters(training=False)
    settings: OnlineSettings = checked.settings(seed)
    return settings


def _check_sizes(settings: OnlineSettings, state: Mapping[str, Any]) -> None:
    """Raise `ValueError` before the kernel allocates more memory than the file can need."""
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
        return None  # the state of a generator says nothing about the model
    if name == "policy" and not isinstance(value, str):
        return _CALLABLE
    if name == "tree" and value is not None:
        return _TREE
    return value


def _decode(values: Mapping[str, Any], policy: Any) -> dict[str, Any]:
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


def describe(stored: Stored) -> dict[str, Any]:
    """Return the entries of `ModelInfo` that only this section knows."""
    section = _OnlineTree(stored)
    trees = []
    for file in section.files:
        tensors = stored.tensors(file)
        with blaming(file.name):
            if not {"label", "weight", "table", "child_begin"} <= tensors.keys():
                raise ValueError("the tensors of an online tree are not there")
            is_inner = np.diff(tensors["child_begin"].values) > 0
            n_weights = tensors["weight"].values.size or tensors["table"].values.size
        trees.append(TreeInfo(tensors["label"].values.size, int(is_inner.sum()), n_weights, file.n_bytes))
    return {
        "parameters": section.parameters,
        "n_features": section.n_features,
        "dense_features": (0, 0),
        "n_labels": section.n_labels,
        "label_kind": section.label_kind,
        "has_feature_names": section.name_file is not None,
        "has_label_names": section.label_names.file is not None,
        "weights": "float32",
        "trees": trees,
        "training_report": [{"n_examples": section.n_examples}] * len(trees),
    }
