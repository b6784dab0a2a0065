"""``model.json``: what it says, as JSON and as checked Python values."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, get_args

from labeltree.calibration.level_maps import LEVEL_ARRAYS
from labeltree.labels.reading import LabelKind
from labeltree.model_file.strict_json import parse_json

FORMAT = "labeltree"
#: The versions that are read. A model is written in the first that can hold it: dense features and joint blocks came
#: with the second, online trees with the third, which has nothing else. The fourth holds models of both kinds that were
#: tuned after training: those with a calibration or a decision. The fifth is of trees over examples, and has nothing
#: else. The sixth holds models of the first, second and fourth, and besides what makes features of texts.
FORMAT_VERSIONS = (1, 2, 3, 4, 5, 6)
ONLINE_VERSION = 3
TUNED_VERSION = 4
EXAMPLE_VERSION = 5
TEXT_VERSION = 6

#: Names of tensor files: what is inside, and the first half of the hash of its content.
TENSOR_FILE_NAME = re.compile(
    r"(tree-[0-9]{1,6}|online-tree|example-trees|labels|columns|feature-names|calibration|decision|text)"
    r"-([0-9a-f]{32})\.safetensors",
    re.ASCII,
)

#: How weights may be stored, by the type of their tensor.
WEIGHT_DTYPES = {"float32": "F32", "bfloat16": "BF16", "int8": "I8"}

_Value = TypeVar("_Value")


@dataclass(frozen=True)
class StoredFile:
    """A tensor file as ``model.json`` lists it."""

    name: str
    n_bytes: int
    sha256: str

    @property
    def content(self) -> str:
        """The part of the name that the hash of the content must begin with."""
        return self.name.split(".")[0][-32:]


@dataclass(frozen=True)
class StoredCalibration:
    """The calibration of a model as ``model.json`` lists it."""

    method: str
    file: StoredFile

    def to_json(self) -> dict[str, Any]:
        return {"method": self.method, "file": file_to_json(self.file)}

    @classmethod
    def from_json(cls, value: Any) -> StoredCalibration:
        fields = Fields(value, "calibration")
        method = fields.choose("method", tuple(LEVEL_ARRAYS))
        stored = cls(method, file_from_json(fields.take("file", object), "calibration"))
        fields.finish()
        return stored


@dataclass(frozen=True)
class StoredText:
    """What makes features of texts, as ``model.json`` lists it."""

    settings: Mapping[str, Any]
    file: StoredFile

    def to_json(self) -> dict[str, Any]:
        return {"settings": dict(self.settings), "file": file_to_json(self.file)}

    @classmethod
    def from_json(cls, value: Any) -> StoredText:
        fields = Fields(value, "text")
        stored = cls(fields.take("settings", dict), file_from_json(fields.take("file", object), "text"))
        fields.finish()
        return stored


@dataclass(frozen=True)
class Document:
    """The contents of ``model.json``; docs/model-format.md says what the fields mean."""

    library_version: str
    estimator: str
    parameters: Mapping[str, Any]
    n_features: int
    n_labels: int
    n_samples_fit: int
    label_kind: LabelKind
    labels: str
    weights: str
    training_report: list[dict[str, int]]
    tree_files: list[StoredFile]
    label_file: StoredFile
    feature_name_file: StoredFile | None
    dense_features: tuple[int, int] = (0, 0)
    joint_blocks: bool = False
    calibration: StoredCalibration | None = None
    decision: Mapping[str, Any] | None = None
    decision_file: StoredFile | None = None
    text: StoredText | None = None

    @property
    def format_version(self) -> int:
        """The first version of the format that can hold the model."""
        if self.text is not None:
            return TEXT_VERSION
        if self.calibration is not None or self.decision is not None:
            return TUNED_VERSION
        return 2 if self.n_dense > 0 or self.joint_blocks else 1

    @property
    def n_dense(self) -> int:
        """The number of dense features."""
        return self.dense_features[1] - self.dense_features[0]

    @property
    def files(self) -> list[StoredFile]:
        """All tensor files."""
        optional = [
            self.feature_name_file,
            None if self.calibration is None else self.calibration.file,
            self.decision_file,
            None if self.text is None else self.text.file,
        ]
        return [*self.tree_files, self.label_file, *(file for file in optional if file is not None)]

    def to_json(self) -> str:
        return json.dumps(
            {
                "format": FORMAT,
                "format_version": self.format_version,
                "library_version": self.library_version,
                "estimator": self.estimator,
                "parameters": dict(self.parameters),
                "n_features": self.n_features,
                **({"dense_features": list(self.dense_features)} if self.n_dense > 0 else {}),
                "n_labels": self.n_labels,
                "n_samples_fit": self.n_samples_fit,
                "label_kind": self.label_kind,
                "labels": self.labels,
                "weights": self.weights,
                **({"joint_blocks": True} if self.joint_blocks else {}),
                "training_report": self.training_report,
                **({"calibration": self.calibration.to_json()} if self.calibration is not None else {}),
                **({"decision": dict(self.decision)} if self.decision is not None else {}),
                **({"text": self.text.to_json()} if self.text is not None else {}),
                "files": {
                    "trees": [file_to_json(file) for file in self.tree_files],
                    "labels": file_to_json(self.label_file),
                    "feature_names": file_to_json(self.feature_name_file),
                    **({"decision": file_to_json(self.decision_file)} if self.decision_file else {}),
                },
            },
            indent=2,
            ensure_ascii=False,
            allow_nan=False,
        )

    @classmethod
    def from_fields(cls, fields: Fields, version: int) -> Document:
        """Take the fields of ``model.json``; raises `ValueError` unless every one is there and can be true."""
        files = Fields(fields.take("files", dict), "files")
        newer = fields.values if version > 1 else {}  # what the first version did not have
        document = cls(
            library_version=fields.take("library_version", str),
            estimator=fields.take("estimator", str),
            parameters=fields.take("parameters", dict),
            n_features=fields.take("n_features", int),
            n_labels=fields.take("n_labels", int),
            n_samples_fit=fields.take("n_samples_fit", int),
            label_kind=fields.choose("label_kind", get_args(LabelKind)),
            labels=fields.take("labels", str),
            weights=fields.choose("weights", tuple(WEIGHT_DTYPES)),
            training_report=[report_from_json(report) for report in fields.take("training_report", list)],
            tree_files=[
                file_from_json(entry, f"tree-{number}")
                for number, entry in enumerate(files.take("trees", list))
            ],
            label_file=file_from_json(files.take("labels", object), "labels"),
            feature_name_file=optional_file(files.take("feature_names", object), "feature-names"),
            dense_features=range_from_json(fields.take("dense_features", list))
            if "dense_features" in newer
            else (0, 0),
            joint_blocks="joint_blocks" in newer and fields.take("joint_blocks", bool),
            calibration=StoredCalibration.from_json(fields.take("calibration", object))
            if version >= 4 and "calibration" in fields.values
            else None,
            text=StoredText.from_json(fields.take("text", object)) if version >= TEXT_VERSION else None,
            **decision_fields(fields, files, version),
        )
        fields.finish()
        files.finish()
        if not document.tree_files or len(document.training_report) != len(document.tree_files):
            raise ValueError("a model must have at least one tree, and a training_report for each")
        for name in ("n_features", "n_labels"):
            if not 1 <= getattr(document, name) < 2**31 - 1:
                raise ValueError(f"{name} must be from 1 to {2**31 - 2}, got {getattr(document, name)}")
        begin, end = document.dense_features
        if "dense_features" in newer and not (0 <= begin < end <= document.n_features):
            raise ValueError(f"dense_features must be a range within the features, got {begin} to {end}")
        if document.format_version != version:
            tuned = "a calibration or a decision"
            expected = tuned if version == TUNED_VERSION else "dense features or joint blocks"
            raise ValueError(f"a model of format version {version} must have {expected}")
        return document


def open_fields(text: bytes) -> tuple[Fields, int]:
    """The fields of ``model.json`` and the version of the format; raises `ValueError` if it is none that we know."""
    fields = Fields(parse_json(text), "model.json")
    if not is_model(fields.values):
        raise ValueError("this is not a model of labeltree")
    fields.take("format", str)
    version = fields.take("format_version", int)
    if version not in FORMAT_VERSIONS:
        advice = ": upgrade labeltree to read it" if version > FORMAT_VERSIONS[-1] else ""
        raise ValueError(
            f"the model has format version {version}, but this version of labeltree knows only "
            f"{', '.join(map(str, FORMAT_VERSIONS[:-1]))} and {FORMAT_VERSIONS[-1]}{advice}"
        )
    return fields, version


def is_model(value: Any) -> bool:
    """Whether parsed JSON is a ``model.json`` of any version."""
    return isinstance(value, dict) and value.get("format") == FORMAT


class Fields:
    """The fields of a JSON object, to be taken one by one."""

    def __init__(self, value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise ValueError(f"{where} must be a JSON object, got {_short(value)}")
        self.values = value
        self.where = where
        self._taken: set[str] = set()

    def take(self, name: str, kind: type[_Value]) -> _Value:
        if name not in self.values:
            raise ValueError(f"{self.where} has no {name!r}")
        self._taken.add(name)
        value = self.values[name]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
            raise ValueError(f"{self.where}: {name!r} must be of type {kind.__name__}, got {_short(value)}")
        return value

    def choose(self, name: str, choices: tuple[Any, ...]) -> Any:
        value = self.take(name, str)
        if value not in choices:
            raise ValueError(
                f"{self.where}: {name!r} must be one of {', '.join(choices)}, got {_short(value)}"
            )
        return value

    def finish(self) -> None:
        unknown = self.values.keys() - self._taken
        if unknown:
            raise ValueError(f"{self.where} has the unknown field {_short(min(unknown))}")


def range_from_json(value: list[Any]) -> tuple[int, int]:
    if len(value) != 2 or not all(type(item) is int for item in value):
        raise ValueError(f"dense_features must be two integers, got {_short(value)}")
    return value[0], value[1]


def report_from_json(value: Any) -> dict[str, int]:
    fields = Fields(value, "training_report")
    return {name: fields.take(name, int) for name in fields.values}


def decision_fields(fields: Fields, files: Fields, version: int) -> dict[str, Any]:
    """The fields about a decision, which is there in tuned models only."""
    taken: dict[str, Any] = {}
    if version >= TUNED_VERSION and "decision" in fields.values:
        taken["decision"] = fields.take("decision", dict)
        if "decision" in files.values:
            taken["decision_file"] = file_from_json(files.take("decision", object), "decision")
    return taken


def optional_file(value: Any, stem: str) -> StoredFile | None:
    return None if value is None else file_from_json(value, stem)


def file_from_json(value: Any, stem: str) -> StoredFile:
    fields = Fields(value, f"files, {stem}")
    name, n_bytes, sha256 = fields.take("name", str), fields.take("bytes", int), fields.take("sha256", str)
    fields.finish()
    # The pattern has no room for a separator: a name cannot lead out of the directory.
    match = TENSOR_FILE_NAME.fullmatch(name)
    if match is None or match[1] != stem:
        raise ValueError(f"files: expected a name like {stem}-….safetensors, got {_short(name)}")
    if re.fullmatch("[0-9a-f]{64}", sha256) is None:
        raise ValueError(f"files, {stem}: expected a SHA-256 in 64 hexadecimal digits, got {_short(sha256)}")
    return StoredFile(name, n_bytes, sha256)


def file_to_json(file: StoredFile | None) -> dict[str, Any] | None:
    return None if file is None else {"name": file.name, "bytes": file.n_bytes, "sha256": file.sha256}


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 100 else text[:99] + "…"
