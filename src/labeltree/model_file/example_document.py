"""``model.json`` of an ensemble of trees over examples."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from labeltree.labels.reading import LabelKind
from labeltree.model_file.document import (
    EXAMPLE_VERSION,
    FORMAT,
    Fields,
    StoredFile,
    StoredText,
    decision_fields,
    file_from_json,
    file_to_json,
    optional_file,
    range_from_json,
    report_from_json,
)


@dataclass(frozen=True)
class ExampleDocument:
    """The contents of ``model.json``; docs/model-format.md says what the fields mean."""

    library_version: str
    estimator: str
    parameters: Mapping[str, Any]
    n_features: int
    dense_features: tuple[int, int]
    n_labels: int
    n_samples_fit: int
    label_kind: LabelKind
    labels: str
    training_report: list[dict[str, int]]
    tree_file: StoredFile
    label_file: StoredFile
    feature_name_file: StoredFile | None
    decision: Mapping[str, Any] | None = None
    decision_file: StoredFile | None = None
    text: StoredText | None = None

    @property
    def format_version(self) -> int:
        """The version of the format."""
        return EXAMPLE_VERSION

    @property
    def files(self) -> list[StoredFile]:
        """All tensor files."""
        text_file = None if self.text is None else self.text.file
        optional = [self.feature_name_file, self.decision_file, text_file]
        return [self.tree_file, self.label_file, *(file for file in optional if file is not None)]

    def to_json(self) -> str:
        return json.dumps(
            {
                "format": FORMAT,
                "format_version": self.format_version,
                "library_version": self.library_version,
                "estimator": self.estimator,
                "parameters": dict(self.parameters),
                "n_features": self.n_features,
                "dense_features": list(self.dense_features),
                "n_labels": self.n_labels,
                "n_samples_fit": self.n_samples_fit,
                "label_kind": self.label_kind,
                "labels": self.labels,
                "training_report": self.training_report,
                **({"decision": dict(self.decision)} if self.decision is not None else {}),
                **({"text": self.text.to_json()} if self.text is not None else {}),
                "files": {
                    "example_trees": file_to_json(self.tree_file),
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
    def from_fields(cls, fields: Fields, version: int) -> ExampleDocument:
        """Take the fields of ``model.json``; raises `ValueError` unless every one is there and can be true."""
        files = Fields(fields.take("files", dict), "files")
        document = cls(
            library_version=fields.take("library_version", str),
            estimator=fields.take("estimator", str),
            parameters=fields.take("parameters", dict),
            n_features=fields.take("n_features", int),
            dense_features=range_from_json(fields.take("dense_features", list)),
            n_labels=fields.take("n_labels", int),
            n_samples_fit=fields.take("n_samples_fit", int),
            label_kind=fields.choose("label_kind", get_args(LabelKind)),
            labels=fields.take("labels", str),
            training_report=[report_from_json(report) for report in fields.take("training_report", list)],
            tree_file=file_from_json(files.take("example_trees", object), "example-trees"),
            label_file=file_from_json(files.take("labels", object), "labels"),
            feature_name_file=optional_file(files.take("feature_names", object), "feature-names"),
            text=StoredText.from_json(fields.take("text", object)) if "text" in fields.values else None,
            **decision_fields(fields, files, version),
        )
        fields.finish()
        files.finish()
        for name in ("n_features", "n_labels"):
            if not 1 <= getattr(document, name) < 2**31 - 1:
                raise ValueError(f"{name} must be from 1 to {2**31 - 2}, got {getattr(document, name)}")
        begin, end = document.dense_features
        if not 0 <= begin <= end <= document.n_features:
            raise ValueError(f"dense_features must be a range within the features, got {begin} to {end}")
        if document.n_samples_fit < 0:
            raise ValueError(f"n_samples_fit must not be negative, got {document.n_samples_fit}")
        return document
