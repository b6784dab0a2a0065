"""From a directory to an estimator that is ready to be asked."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from labeltree.decisions.decision import Decision
from labeltree.model.block_weights import BLOCK_ARRAYS, DENSE_ARRAYS, JOINT_ARRAYS, BlockWeights
from labeltree.model_file.calibration_tensors import decode_calibration
from labeltree.model_file.decision_record import decode_decision
from labeltree.model_file.directory import blaming, open_inside, read_document
from labeltree.model_file.document import (
    EXAMPLE_VERSION,
    ONLINE_VERSION,
    TUNED_VERSION,
    WEIGHT_DTYPES,
    Document,
    StoredFile,
    StoredText,
    open_fields,
)
from labeltree.model_file.example_document import ExampleDocument
from labeltree.model_file.label_tensors import decode_counts, decode_labels, decode_texts
from labeltree.model_file.online_document import OnlineDocument
from labeltree.model_file.tensors import Tensor, file_sha256, map_tensors
from labeltree.model_file.text_tensors import decode_text
from labeltree.prediction import LabelTreePredictor
from labeltree.trees import LabelTree

if TYPE_CHECKING:
    from labeltree.text.vectorizer import TextVectorizer

#: The estimators that a model file may name, and where they are.
ESTIMATORS = {
    "FastXMLClassifier": "labeltree.rivals.fastxml.classifier",
    "HierarchicalSoftmaxClassifier": "labeltree.rivals.softmax.classifier",
    "LabelTreeClassifier": "labeltree.classifier",
    "OneVsRestClassifier": "labeltree.rivals.one_vs_rest.classifier",
    "OnlineLabelTreeClassifier": "labeltree.online.classifier",
    "PfastreXMLClassifier": "labeltree.rivals.fastxml.classifier",
}

#: What ``model.json`` may be.
AnyDocument: TypeAlias = Document | OnlineDocument | ExampleDocument

_Estimator = TypeVar("_Estimator", bound=LabelTreePredictor)
_Answer = TypeVar("_Answer")

#: What the link "auto" meant for each loss before it was saved by name.
_FIRST_LINKS = {"squared_hinge": "exp3", "logistic": "sigmoid"}


def load(path: str | os.PathLike[str], verify: bool = False) -> LabelTreePredictor:
    """Open a saved model of any class; `load_classifier` says how.

    Examples
    --------
    >>> import tempfile
    >>> from labeltree import LabelTreeClassifier
    >>> from labeltree.model_file import load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     LabelTreeClassifier(max_leaves=9).fit([[1.0], [2.0]], [["cat"], ["dog"]]).save(f"{folder}/pets")
    ...     load(f"{folder}/pets")
    LabelTreeClassifier(link='exp4', max_leaves=9)
    """

    def open_any(directory: Path, document: AnyDocument) -> LabelTreePredictor:
        module = ESTIMATORS.get(document.estimator)
        if module is None:
            raise ValueError(
                f"the model is of the class {document.estimator[:100]!r}, which this version of labeltree "
                f"does not have; call the load() of that class, or upgrade labeltree"
            )
        cls: type[LabelTreePredictor] = getattr(importlib.import_module(module), document.estimator)
        check_estimator(cls, document)
        if isinstance(document, Document):
            return _open_model(cls, directory, document, verify)
        home = (
            "labeltree.online.storage"
            if isinstance(document, OnlineDocument)
            else "labeltree.rivals.fastxml.storage"
        )
        storage: Any = importlib.import_module(home)
        opened: LabelTreePredictor = storage.open_model(cls, directory, document, verify)
        return opened

    return read_consistently(path, open_any)


def load_classifier(cls: type[_Estimator], path: str | os.PathLike[str], verify: bool = False) -> _Estimator:
    """Open a saved model of one class.

    The weights are mapped, not read: this takes milliseconds, and processes that open the same model share
    its memory. The shape of the model is checked at once; the inside of a block of weights when it is first
    used.

    Parameters
    ----------
    cls : the estimator's class
    path : path of a directory
    verify : bool
        Read everything now: compare all files with their checksums and check every block.

    Raises
    ------
    ModelFileError
        If the model is missing, damaged, of another class or of a newer version. A damaged block that is
        found later raises it in prediction.
    """

    def open_one(directory: Path, document: AnyDocument) -> _Estimator:
        check_estimator(cls, document)
        assert isinstance(document, Document)
        return _open_model(cls, directory, document, verify)

    return read_consistently(path, open_one)


def check_estimator(cls: type, document: AnyDocument) -> None:
    """Raise `ValueError` unless the model is one of this class."""
    if document.estimator != cls.__name__ or not isinstance(document, _document_of(cls.__name__)):
        raise ValueError(
            f"the model is a {document.estimator[:100]}, not a {cls.__name__}; "
            f"use {document.estimator[:100]}.load or labeltree.model_file.load"
        )


def _document_of(estimator: str) -> type[AnyDocument]:
    """What describes a model of this class."""
    if "Online" in estimator:
        return OnlineDocument
    return ExampleDocument if "fastxml" in ESTIMATORS.get(estimator, "") else Document


def parse_document(text: bytes) -> AnyDocument:
    """Read ``model.json`` of any version."""
    fields, version = open_fields(text)
    is_online = version == TUNED_VERSION and "Online" in str(fields.values.get("estimator"))
    if version == ONLINE_VERSION or is_online:
        return OnlineDocument.from_fields(fields, version)
    if version == EXAMPLE_VERSION:
        return ExampleDocument.from_fields(fields, version)
    return Document.from_fields(fields, version)


def read_consistently(path: str | os.PathLike[str], read: Callable[[Path, Any], _Answer]) -> _Answer:
    """Read ``model.json`` and then what it names; again, if a save has replaced the model in between."""
    directory = Path(path)
    with blaming(directory):
        text = read_document(directory)
        while True:
            try:
                return read(directory, parse_document(text))
            except (ValueError, OSError):
                last, text = text, read_document(directory)
                if text == last:
                    raise


def read_tensors(directory: Path, file: StoredFile, verify: bool = False) -> dict[str, Tensor]:
    """Map a file of the model, if it is the one that ``model.json`` means."""
    with blaming(file.name), open_inside(directory, file.name) as opened:
        n_bytes = opened.seek(0, os.SEEK_END)
        if n_bytes != file.n_bytes:
            raise ValueError(f"model.json says that this file has {file.n_bytes} bytes, but it has {n_bytes}")
        mapped = map_tensors(opened)
        if mapped.content[:32] != file.content:
            raise ValueError(
                "name and header of the file disagree about its content: it was swapped or damaged"
            )
        if verify and file_sha256(opened) != file.sha256:
            raise ValueError("the checksum is not the one in model.json: the file is damaged")
        return mapped.tensors


def _open_model(cls: type[_Estimator], directory: Path, document: Document, verify: bool) -> _Estimator:
    weights = [_read_tree(directory, file, document, verify) for file in document.tree_files]
    estimator = cls(**_decode_parameters(cls, document.parameters, [trained.tree for trained in weights]))
    estimator._check_parameters()
    estimator.n_features_in_ = document.n_features
    estimator.label_kind_ = document.label_kind
    estimator.weights_ = weights
    estimator._keep_report(document.training_report)
    estimator.n_samples_fit_ = document.n_samples_fit
    estimator.classes_, estimator.label_counts_ = _read_labels(directory, document, verify)
    if document.feature_name_file is not None:
        tensors = read_tensors(directory, document.feature_name_file, verify)
        with blaming(document.feature_name_file.name):
            estimator.feature_names_in_ = decode_texts(tensors, document.n_features)
    if document.decision is not None:
        estimator.decision_ = read_decision(directory, document, document.n_labels, verify)
    if document.text is not None:
        estimator.vectorizer_ = read_vectorizer(directory, document.text, document.n_features, verify)
    for file, trained in zip(document.tree_files, weights, strict=True):
        with blaming(file.name):
            store = trained.store(document.n_features, estimator._link())
            if verify:
                store.verify()
    if document.calibration is not None:
        file = document.calibration.file
        with blaming(file.name):
            tensors = read_tensors(directory, file, verify)
            estimator.calibration_ = decode_calibration(
                document.calibration.method, tensors, estimator.trees_
            )
            estimator._renew_caches()  # the kernel looks at the maps
    return estimator


def read_tree_tensors(
    directory: Path, file: StoredFile, document: Document, verify: bool = False
) -> dict[str, Tensor]:
    """Map the file of a tree, if it has the tensors it must have."""
    tensors = read_tensors(directory, file, verify)
    expected = {"child_begin", "label", *BLOCK_ARRAYS}
    if document.n_dense > 0:
        expected |= set(DENSE_ARRAYS)
    if document.joint_blocks and "code_begin" in tensors:  # not all trees need have such blocks
        expected |= set(JOINT_ARRAYS)
    if document.weights != "int8":
        expected -= {"scale", "dense_scale", "code_scale"}
    with blaming(file.name):
        if tensors.keys() != expected:
            raise ValueError(f"expected the tensors {sorted(expected)}, got {sorted(tensors)}")
        for name in expected & {"weight", "dense_weight"}:
            if tensors[name].dtype != WEIGHT_DTYPES[document.weights]:
                raise ValueError(
                    f"model.json says {document.weights} weights, but they are {tensors[name].dtype}"
                )
        # The kernel looks at the others; these are decoded before it sees them.
        for name in expected & DENSE_ARRAYS.keys():
            values = tensors[name].values
            if values.ndim != 1 or values.dtype.name not in DENSE_ARRAYS[name]:
                raise ValueError(
                    f"{name} must be of one dimension and of type {' or '.join(DENSE_ARRAYS[name])}, "
                    f"got {values.dtype.name} of shape {values.shape}"
                )
    return tensors


def _read_tree(directory: Path, file: StoredFile, document: Document, verify: bool) -> BlockWeights:
    tensors = read_tree_tensors(directory, file, document, verify)
    arrays = {name: tensor.values for name, tensor in tensors.items()}
    with blaming(file.name):
        tree = LabelTree(arrays.pop("child_begin"), arrays.pop("label"))
        if tree.n_labels != document.n_labels:
            raise ValueError(f"model.json says {document.n_labels} labels, but the tree has {tree.n_labels}")
    return BlockWeights(tree, arrays, document.dense_features)


def _read_labels(directory: Path, document: Document, verify: bool) -> tuple[NDArray[Any], NDArray[np.int64]]:
    tensors = read_tensors(directory, document.label_file, verify)
    with blaming(document.label_file.name):
        counts = decode_counts(tensors.pop("count", None), document.n_labels, document.n_samples_fit)
        return decode_labels(document.labels, tensors, document.n_labels), counts


def read_decision(directory: Path, document: AnyDocument, n_labels: int, verify: bool) -> Decision:
    """What the model decides, if it is a decision for so many labels."""
    assert document.decision is not None
    file = document.decision_file
    if file is None:
        return decode_decision(document.decision, None, n_labels)
    tensors = read_tensors(directory, file, verify)
    with blaming(file.name):
        return decode_decision(document.decision, tensors, n_labels)


def read_vectorizer(directory: Path, stored: StoredText, n_features: int, verify: bool) -> TextVectorizer:
    """What makes features of texts, if it makes as many as the model has."""
    tensors = read_tensors(directory, stored.file, verify)
    with blaming(stored.file.name):
        return decode_text(stored.settings, tensors, n_features)


def _is_list_of_numbers(value: Any) -> bool:
    return isinstance(value, list) and all(type(number) in (int, float) for number in value)


def _decode_trees(entries: list[Any], trees: list[LabelTree]) -> list[Any]:
    """The parameter `tree` as a list: words, and trees that are those of the model in the same place."""
    if len(entries) != len(trees):
        raise ValueError(f"the parameter 'tree' has {len(entries)} entries, but there are {len(trees)} trees")
    return [
        tree if entry == {"stored": "tree"} else entry for entry, tree in zip(entries, trees, strict=True)
    ]


def _decode_parameters(
    cls: type[LabelTreePredictor], parameters: Mapping[str, Any], trees: list[LabelTree]
) -> dict[str, Any]:
    unknown = parameters.keys() - set(cls._get_param_names())  # type: ignore[attr-defined] # of the estimator
    if unknown:
        raise ValueError(f"{cls.__name__} has no parameter {min(unknown)[:100]!r}")
    decoded: dict[str, Any] = {}
    for name, value in parameters.items():
        if value == {"stored": "tree"}:
            decoded[name] = trees[0]
        elif value == {"stored": "trees"}:
            decoded[name] = list(trees)
        elif name == "tree" and isinstance(value, list):
            decoded[name] = _decode_trees(value, trees)
        elif isinstance(value, dict | list) and not (
            name in ("tree_weight", "C") and _is_list_of_numbers(value)
        ):
            raise ValueError(f"the parameter {name!r} must be a single value, got {str(value)[:100]}")
        else:
            decoded[name] = value
    # The first models: all labels were clustered, and the link was not saved by name.
    if "frequent_share" in cls._get_param_names():  # type: ignore[attr-defined] # of the estimator
        decoded.setdefault("frequent_share", 0.0)
    if decoded.get("link") == "auto":
        decoded["link"] = _FIRST_LINKS.get(decoded.get("loss", ""), "auto")
    return decoded
