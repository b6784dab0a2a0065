"""``model.json``: written from a draft, opened with all its fields to be checked."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar

from labeltree.data.atomic_file import naming_full_disk
from labeltree.errors import ModelFileError
from labeltree.model_file.directory import ModelWriter, blaming, is_model, open_inside, read_document
from labeltree.model_file.fields import Fields, StoredFile
from labeltree.model_file.lock import ModelLock
from labeltree.model_file.strict_json import parse_json
from labeltree.model_file.tensors import Tensor, file_sha256, map_tensors
from labeltree.model_file.waiting import check_nothing_waits

FORMAT = "labeltree"
#: The versions that are read. A model is written in the first that can hold all of its sections.
FORMAT_VERSIONS = tuple(range(1, 14))

#: The order of the fields, whichever of them a model has; others follow.
_ORDER = (
    "library_version",
    "estimator",
    "parameters",
    "settings",
    "n_features",
    "dense_features",
    "named_features",
    "n_labels",
    "n_examples",
    "stream_start",
    "n_samples_fit",
    "label_kind",
    "labels",
    "n_columns",
    "columns",
    "weights",
    "dimension",
    "encoder",
    "network",
    "max_tokens",
    "joint_blocks",
    "packed_features",
    "training_report",
    "calibration",
    "rerank",
    "decision",
    "text",
    "members",
    "files",
)
#: An entry of a file, and the types of its fields.
_ENTRY = {"name": str, "bytes": int, "sha256": str}
_FILE_ORDER = (
    "trees",
    "example_trees",
    "embedding",
    "encoder",
    "attention",
    "tokenizer",
    "tree",
    "more_trees",
    "labels",
    "label_names",
    "columns",
    "feature_names",
    "decision",
)

_Answer = TypeVar("_Answer")


class TensorPart(NamedTuple):
    """Tensors that become a file of the model; its entry in ``model.json`` takes their place."""

    stem: str
    tensors: Mapping[str, Tensor]


@dataclass
class Draft:
    """What is to be written. Sections add fields and files, and the first version that can hold them."""

    fields: dict[str, Any] = field(default_factory=dict)
    files: dict[str, Any] = field(default_factory=dict)
    version: int = 1

    def add(self, version: int = 1, **fields: Any) -> None:
        """Add fields that came with a version of the format."""
        self.fields |= fields
        self.version = max(self.version, version)

    def ordered(self) -> dict[str, Any]:
        """Return all fields in their order."""
        fields = {**self.fields}
        if self.files:
            fields["files"] = _in_order(self.files, _FILE_ORDER)
        return _in_order(fields, _ORDER)

    def write(
        self,
        path: str | os.PathLike[str],
        lock: ModelLock | None = None,
        before_commit: Callable[[str], None] | None = None,
        check: Callable[[Stored], object] | None = None,
    ) -> None:
        """Write the model to a directory, atomically.

        Parameters
        ----------
        path : path of a directory
        lock : ModelLock, optional
            The lock of the directory, if the caller has it already.
        before_commit : callable, optional
            Called with the version of the new model just before it replaces the old one. Without it, the caller knows
            nothing of the journal: the model is refused if examples wait there.
        check : callable, optional
            Called with the new model just before. If it raises `ValueError`, the old model stays.
        """
        if self.version not in FORMAT_VERSIONS:  # a kind or a section with a version that is not in the list
            raise ValueError(
                f"format version {self.version} could be written, but not read: see FORMAT_VERSIONS"
            )
        advice = "nothing was replaced; make room, or choose a directory on another disk"
        with (
            naming_full_disk(path, f"the model: {advice}"),
            ModelWriter(Path(path), lock, before_commit) as writer,
        ):
            if before_commit is None:
                check_nothing_waits(Path(path))
            fields = _written(self.ordered(), writer)
            document = {"format": FORMAT, "format_version": self.version, **fields}
            text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
            if check is not None:
                try:
                    check(Stored.open(text.encode(), Path(path), verify=False))
                except ValueError as error:
                    raise ModelFileError(
                        f"{path}: this model could not be opened again, so nothing was written: {error}"
                    ) from error
            writer.commit(text)


def _in_order(values: Mapping[str, Any], order: tuple[str, ...]) -> dict[str, Any]:
    return {name: values[name] for name in dict.fromkeys([*order, *values]) if name in values}


def _written(value: Any, writer: ModelWriter) -> Any:
    """The value with the entries of files in place of their tensors."""
    if isinstance(value, TensorPart):
        return writer.add(value.stem, value.tensors).to_json()
    if isinstance(value, dict):
        return {name: _written(entry, writer) for name, entry in value.items()}
    if isinstance(value, list):
        return [_written(entry, writer) for entry in value]
    return value


class Stored:
    """A saved model that is being read: its fields, and its tensor files.

    Attributes
    ----------
    fields, files : Fields
        The fields of ``model.json``, and those of its entry "files".
    estimator : str
        The name of the class.
    needed_version : int
        The first version of the format that can hold the sections that were read so far.
    """

    def __init__(
        self, value: Any, version: int, directory: Path, verify: bool, where: str = "model.json"
    ) -> None:
        self.fields = Fields(value, where)
        self.files = Fields(self.fields.take("files", dict) if "files" in self.fields else {}, "files")
        self.library_version = self.fields.take("library_version", str)
        self.estimator = self.fields.take("estimator", str)
        self.version = version
        self.needed_version = 1
        self.directory = directory
        self.verify = verify

    @classmethod
    def open(cls, text: bytes, directory: Path, verify: bool) -> Stored:
        """Read ``model.json``; raises `ValueError` if it is none, or of a version that is not known."""
        value = parse_json(text)
        fields = Fields(value, "model.json")
        if not is_model(value):
            raise ValueError("this is not a model of labeltree")
        version = fields.take("format_version", int)
        if version not in FORMAT_VERSIONS:
            advice = ": upgrade labeltree to read it" if version > FORMAT_VERSIONS[-1] else ""
            raise ValueError(
                f"the model has format version {version}, but this version of labeltree knows only "
                f"{', '.join(map(str, FORMAT_VERSIONS[:-1]))} and {FORMAT_VERSIONS[-1]}{advice}"
            )
        rest = {name: entry for name, entry in value.items() if name not in ("format", "format_version")}
        return cls(rest, version, directory, verify)

    def needs(self, version: int) -> None:
        """Note that a section came with this version of the format."""
        self.needed_version = max(self.needed_version, version)

    def finish(self) -> None:
        """Raise `ValueError` for fields that nobody took, and unless the sections are those of the version."""
        self.fields.finish()
        self.files.finish()
        if self.needed_version != self.version:
            raise ValueError(
                f"model.json says format version {self.version}, but its sections are those of version "
                f"{self.needed_version}"
            )

    def tensors(self, file: StoredFile) -> dict[str, Tensor]:
        """Map a file of the model, if it is the one that ``model.json`` means."""
        with blaming(file.name), open_inside(self.directory, file.name) as opened:
            n_bytes = opened.seek(0, os.SEEK_END)
            if n_bytes != file.n_bytes:
                raise ValueError(
                    f"model.json says that this file has {file.n_bytes} bytes, but it has {n_bytes}"
                )
            mapped = map_tensors(opened)
            if mapped.content[:32] != file.content:
                raise ValueError(
                    "name and header of the file disagree about its content: it was swapped or damaged"
                )
            if self.verify:
                _check_sha256(file_sha256(opened), file.sha256)
            return mapped.tensors

    def n_bytes(self) -> int:
        """The bytes of all tensor files that ``model.json`` lists."""
        return sum({entry["name"]: entry["bytes"] for entry in _entries(self.fields.values)}.values())


def _entries(value: Any) -> Iterator[dict[str, Any]]:
    """All entries of files, wherever they are. Not recursive: the time of nested generators grows with the depth."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if value.keys() == _ENTRY.keys() and all(isinstance(value[key], _ENTRY[key]) for key in _ENTRY):
                yield value
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def verify_files(directory: Path, text: bytes, sha256_of: Callable[[BinaryIO], str] = file_sha256) -> None:
    """Compare all files of a model with the checksums in its ``model.json``.

    Parameters
    ----------
    directory : Path
    text : bytes
        The content of ``model.json``.
    sha256_of : callable
        Returns the SHA-256 of an open file.

    Raises
    ------
    ModelFileError
        If a file is missing or damaged.
    """
    with blaming(directory):
        for entry in _entries(parse_json(text)):
            with blaming(entry["name"][:100]), open_inside(directory, entry["name"]) as file:
                _check_sha256(sha256_of(file), entry["sha256"])


def _check_sha256(found: str, expected: str) -> None:
    if found != expected:
        raise ValueError("the checksum is not the one in model.json: the file is damaged")


def read_consistently(
    path: str | os.PathLike[str], verify: bool, read: Callable[[Stored], _Answer]
) -> _Answer:
    """Read ``model.json`` and the files that it names; again, if a save has replaced the model in between."""
    directory = Path(path)
    with blaming(directory):
        text = read_document(directory)
        while True:
            try:
                return read(Stored.open(text, directory, verify))
            except (ValueError, OSError):
                last, text = text, read_document(directory)
                if text == last:
                    raise
