"""`Progress`: how far an unfinished store is, in ``unfinished.json``."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from labeltree.data.atomic_file import open_atomic
from labeltree.model_file.directory import open_inside
from labeltree.model_file.fields import LARGEST_COUNT, Fields
from labeltree.model_file.strict_json import parse_json

from .array_names import ARRAY_TYPES, PROGRESS_NAME
from .document import MAX_DOCUMENT_BYTES, check_format, optional_object

_FORMAT, _VERSION = "labeltree unfinished store", 1


@dataclass(frozen=True)
class Progress:
    """What is safe on disk.

    Attributes
    ----------
    job : mapping
        Everything that the content of the store follows from. A writer resumes only its own job.
    n_features, n_labels : int
        The numbers of columns that the rows so far need.
    text : mapping, optional
        The parameters of the vectorizer.
    items : dict of str to int
        The number of safe items of each array.
    note : mapping
        Where the writer of the rows was: a JSON object of its own.
    """

    job: Mapping[str, Any]
    n_features: int = 0
    n_labels: int = 0
    text: Mapping[str, Any] | None = None
    items: Mapping[str, int] = field(default_factory=dict)
    note: Mapping[str, Any] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        return max(self.items.get("features.indptr", 0) - 1, 0)

    def write(self, directory: Path) -> None:
        """Write the file atomically."""
        document = {"format": _FORMAT, "format_version": _VERSION, **asdict(self)}
        with open_atomic(directory / PROGRESS_NAME) as file:
            file.write(json.dumps(document, indent=1).encode() + b"\n")

    @classmethod
    def read(cls, directory: Path) -> Progress:
        """Read the file; raise `ValueError` if it is not valid, `FileNotFoundError` if it is not there."""
        with open_inside(directory, PROGRESS_NAME) as file:
            fields = Fields(parse_json(file.read(MAX_DOCUMENT_BYTES)), PROGRESS_NAME)
        check_format(fields, _FORMAT, _VERSION)
        sizes = Fields(fields.take("items", dict), f"{PROGRESS_NAME}, items")
        progress = cls(
            job=fields.take("job", dict),
            n_features=fields.count("n_features", most=LARGEST_COUNT),
            n_labels=fields.count("n_labels", most=LARGEST_COUNT),
            text=optional_object(fields, "text"),
            items={name: sizes.count(name, most=2**50) for name in ARRAY_TYPES if name in sizes},
            note=fields.take("note", dict),
        )
        sizes.finish()
        fields.finish()
        return progress


def job_hash(job: Mapping[str, Any]) -> str:
    """Return the hash of a job. A job that was read from a file has the same one."""
    return hashlib.sha256(json.dumps(job, sort_keys=True).encode()).hexdigest()
