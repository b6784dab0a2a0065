"""The section of label names: a readable name for each label that has one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from labeltree.model_file.directory import blaming
from labeltree.model_file.document import Draft, Stored, TensorPart
from labeltree.model_file.fields import StoredFile
from labeltree.model_file.label_tensors import decode_texts, encode_texts

#: Names of labels came with this version of the format.
VERSION = 8


def write(draft: Draft, names: Mapping[Any, str] | None, labels: list[Any]) -> None:
    """Add the names of labels, if there are any. A label without a name has an empty text."""
    if names is not None:
        texts = [names.get(label, "") for label in labels]
        draft.files["label_names"] = TensorPart("label-names", encode_texts(texts))
        draft.add(VERSION)


@dataclass(frozen=True)
class StoredLabelNames:
    """The names as ``model.json`` has them, if it has any."""

    stored: Stored
    file: StoredFile | None

    def read(self, labels: list[Any]) -> dict[Any, str] | None:
        """Return the names; raises `ValueError` unless there is a text for each label, and at least one name."""
        if self.file is None:
            return None
        tensors = self.stored.tensors(self.file)
        with blaming(self.file.name):
            texts = decode_texts(tensors, len(labels)).tolist()
            names = {label: text for label, text in zip(labels, texts, strict=True) if text}
            if not names:
                raise ValueError("no label has a name")
        return names


def take(stored: Stored) -> StoredLabelNames:
    """Take the entry of the names."""
    if "label_names" not in stored.files:
        return StoredLabelNames(stored, None)
    stored.needs(VERSION)
    return StoredLabelNames(stored, stored.files.file("label_names", "label-names"))
