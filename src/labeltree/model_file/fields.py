"""The fields of ``model.json``, taken one by one and checked; and the tensor files that it lists."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, TypeVar

from labeltree.wording import shortened

#: Names of tensor files: what is inside, and the first half of the hash of its content.
TENSOR_FILE_NAME = re.compile(
    r"([a-z]{1,30}(?:-[a-z]{1,30}){0,3}(?:-[0-9]{1,6})?)-([0-9a-f]{32})\.safetensors", re.ASCII
)

#: Counts of features and labels have 32 bits.
LARGEST_COUNT = 2**31 - 2

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

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "bytes": self.n_bytes, "sha256": self.sha256}


class Fields:
    """The fields of a JSON object. Every method raises `ValueError` if the field is missing or wrong."""

    def __init__(self, value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise ValueError(f"{where} must be a JSON object, got {short(value)}")
        self.values = value
        self.where = where
        self._taken: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def take(self, name: str, kind: type[_Value]) -> _Value:
        if name not in self.values:
            raise ValueError(f"{self.where} has no {name!r}")
        self._taken.add(name)
        value = self.values[name]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
            raise ValueError(f"{self.where}: {name!r} must be of type {kind.__name__}, got {short(value)}")
        return value

    def choose(self, name: str, choices: tuple[Any, ...]) -> Any:
        value = self.take(name, str)
        if value not in choices:
            raise ValueError(
                f"{self.where}: {name!r} must be one of {', '.join(choices)}, got {short(value)}"
            )
        return value

    def count(self, name: str, least: int = 0, most: int = 2**63 - 1) -> int:
        value = self.take(name, int)
        if value < 0 and least == 0:
            raise ValueError(f"{name} must not be negative, got {value}")
        if not least <= value <= most:
            raise ValueError(f"{name} must be from {least} to {most}, got {value}")
        return value

    def feature_range(self, name: str, n_features: int, least: int = 0) -> tuple[int, int]:
        """A range within the features, of at least `least` of them."""
        value = self.take(name, list)
        if len(value) != 2 or not all(type(item) is int for item in value):
            raise ValueError(f"{name} must be two integers, got {short(value)}")
        begin, end = value
        if not (begin >= 0 and begin + least <= end <= n_features):
            raise ValueError(f"{name} must be a range within the features, got {begin} to {end}")
        return begin, end

    def reports(self) -> list[dict[str, int]]:
        """What training counted, for each tree."""
        taken = []
        for entry in self.take("training_report", list):
            report = Fields(entry, "training_report")
            taken.append({name: report.take(name, int) for name in report.values})
        return taken

    def file(self, name: str, stem: str) -> StoredFile:
        return stored_file(self.take(name, object), stem)

    def optional_file(self, name: str, stem: str) -> StoredFile | None:
        value: Any = self.take(name, object)
        return None if value is None else stored_file(value, stem)

    def finish(self) -> None:
        """Raise `ValueError` for a field that nobody took."""
        unknown = self.values.keys() - self._taken
        if unknown:
            raise ValueError(f"{self.where} has the unknown field {short(min(unknown))}")


def stored_file(value: Any, stem: str) -> StoredFile:
    """Return the tensor file that a JSON object names, with content of this kind."""
    fields = Fields(value, f"files, {stem}")
    name, n_bytes, sha256 = fields.take("name", str), fields.take("bytes", int), fields.take("sha256", str)
    fields.finish()
    # The pattern has no room for a separator: a name cannot lead out of the directory.
    match = TENSOR_FILE_NAME.fullmatch(name)
    if match is None or match[1] != stem:
        raise ValueError(f"files: expected a name like {stem}-….safetensors, got {short(name)}")
    if re.fullmatch("[0-9a-f]{64}", sha256) is None:
        raise ValueError(f"files, {stem}: expected a SHA-256 in 64 hexadecimal digits, got {short(sha256)}")
    return StoredFile(name, n_bytes, sha256)


def short(value: Any) -> str:
    """Return a value for a message."""
    return shortened(repr(value), 100)
