"""``model.json`` of an online tree."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from labeltree.labels.reading import LabelKind
from labeltree.model_file.document import (
    FORMAT,
    ONLINE_VERSION,
    TUNED_VERSION,
    Fields,
    StoredFile,
    decision_fields,
    file_from_json,
    file_to_json,
    optional_file,
)


@dataclass(frozen=True)
class OnlineDocument:
    """The contents of ``model.json``; docs/model-format.md says what the fields mean."""

    library_version: str
    estimator: str
    parameters: Mapping[str, Any]
    settings: Mapping[str, Any]
    n_features: int
    named_features: bool
    n_labels: int
    n_examples: int
    stream_start: int
    label_kind: LabelKind
    labels: str
    n_columns: int
    columns: str
    tree_file: StoredFile
    label_file: StoredFile
    column_file: StoredFile | None
    feature_name_file: StoredFile | None
    decision: Mapping[str, Any] | None = None
    decision_file: StoredFile | None = None

    @property
    def format_version(self) -> int:
        """The first version of the format that can hold the model."""
        return ONLINE_VERSION if self.decision is None else TUNED_VERSION

    @property
    def files(self) -> list[StoredFile]:
        """All tensor files."""
        optional = [self.column_file, self.feature_name_file, self.decision_file]
        return [self.tree_file, self.label_file, *(file for file in optional if file is not None)]

    def to_json(self) -> str:
        return json.dumps(
            {
                "format": FORMAT,
                "format_version": self.format_version,
                "library_version": self.library_version,
                "estimator": self.estimator,
                "parameters": dict(self.parameters),
                "settings": dict(self.settings),
                "n_features": self.n_features,
                "named_features": self.named_features,
                "n_labels": self.n_labels,
                "n_examples": self.n_examples,
                "stream_start": self.stream_start,
                "label_kind": self.label_kind,
                "labels": self.labels,
                "n_columns": self.n_columns,
                "columns": self.columns,
                **({"decision": dict(self.decision)} if self.decision is not None else {}),
                "files": {
                    "tree": file_to_json(self.tree_file),
                    "labels": file_to_json(self.label_file),
                    "columns": file_to_json(self.column_file),
                    "feature_names": file_to_json(self.feature_name_file),
                    **({"decision": file_to_json(self.decision_file)} if self.decision_file else {}),
                },
            },
            indent=2,
            ensure_ascii=False,
            allow_nan=False,
        )

    @classmethod
    def from_fields(cls, fields: Fields, version: int) -> OnlineDocument:
        """Take the fields of ``model.json``; raises `ValueError` unless every one is there and can be true."""
        files = Fields(fields.take("files", dict), "files")
        document = cls(
            library_version=fields.take("library_version", str),
            estimator=fields.take("estimator", str),
            parameters=fields.take("parameters", dict),
            settings=fields.take("settings", dict),
            n_features=fields.take("n_features", int),
            named_features=fields.take("named_features", bool),
            n_labels=fields.take("n_labels", int),
            n_examples=fields.take("n_examples", int),
            stream_start=fields.take("stream_start", int),
            label_kind=fields.choose("label_kind", get_args(LabelKind)),
            labels=fields.take("labels", str),
            n_columns=fields.take("n_columns", int),
            columns=fields.take("columns", str),
            tree_file=file_from_json(files.take("tree", object), "online-tree"),
            label_file=file_from_json(files.take("labels", object), "labels"),
            column_file=optional_file(files.take("columns", object), "columns"),
            feature_name_file=optional_file(files.take("feature_names", object), "feature-names"),
            **decision_fields(fields, files, version),
        )
        fields.finish()
        files.finish()
        if document.format_version != version:
            raise ValueError(f"a model of format version {version} must have a decision")
        for name in ("n_features", "n_labels", "n_examples", "n_columns"):
            if not 0 <= getattr(document, name) < 2**63:
                raise ValueError(f"{name} must not be negative, got {getattr(document, name)}")
        if not 0 <= document.stream_start <= document.n_examples:
            raise ValueError(f"stream_start must be from 0 to n_examples, got {document.stream_start}")
        if document.n_features > 2**31 - 2 or document.n_labels > 2**31 - 2 or document.n_columns > 2**31 - 2:
            raise ValueError(f"there must be at most {2**31 - 2} features, labels and columns")
        return document
