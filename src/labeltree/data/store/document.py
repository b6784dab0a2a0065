"""`StoreDocument`: what ``store.json`` says about a store."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from labeltree.model_file.fields import LARGEST_COUNT, Fields, short
from labeltree.model_file.strict_json import parse_json

from .array_names import (
    ARRAY_TYPES,
    FILTER_ARRAYS,
    LABEL_ARRAYS,
    ROW_ARRAYS,
    TEXT_ARRAYS,
    TITLE_ARRAYS,
    stored_type,
)

FORMAT = "labeltree store"
FORMAT_VERSION = 1
#: A larger document means that the file is something else.
MAX_DOCUMENT_BYTES = 1 << 24

_SHA256 = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True)
class StoredArray:
    """The size and the checksum of an array."""

    n_items: int
    sha256: str


@dataclass(frozen=True)
class StoreDocument:
    """The sizes of a store, its arrays, and where it came from.

    Attributes
    ----------
    n_rows, n_features, n_labels : int
    label_kind : {"csr", "lists"}
        Whether labels are the numbers of columns, or have a table of integers and names, as those of texts have.
    text : mapping, optional
        The parameters of the vectorizer, if rows were texts.
    sources : list of dict
        The files that were imported, in their order: path, format, bytes and rows of each.
    job : str
        The hash of everything that the content follows from: the same import has the same.
    arrays : dict of str to StoredArray
    """

    n_rows: int
    n_features: int
    n_labels: int
    label_kind: str
    text: Mapping[str, Any] | None
    sources: list[dict[str, Any]]
    job: str
    arrays: dict[str, StoredArray]

    def to_json(self) -> bytes:
        """Return the bytes of ``store.json``."""
        arrays = {
            name: {"type": ARRAY_TYPES[name], "items": array.n_items, "sha256": array.sha256}
            for name, array in self.arrays.items()
        }
        document = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "rows": self.n_rows,
            "features": self.n_features,
            "labels": self.n_labels,
            "label_kind": self.label_kind,
            "text": self.text,
            "sources": self.sources,
            "job": self.job,
            "arrays": arrays,
        }
        return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False).encode() + b"\n"

    @classmethod
    def parse(cls, text: bytes) -> StoreDocument:
        """Parse and check ``store.json``; raise `ValueError` if anything is wrong."""
        fields = Fields(parse_json(text), "store.json")
        check_format(fields, FORMAT, FORMAT_VERSION)
        document = cls(
            n_rows=fields.count("rows", most=2**40),
            n_features=fields.count("features", most=LARGEST_COUNT),
            n_labels=fields.count("labels", most=LARGEST_COUNT),
            label_kind=fields.choose("label_kind", ("csr", "lists")),
            text=optional_object(fields, "text"),
            sources=_sources(fields.take("sources", list)),
            job=fields.take("job", str),
            arrays=_arrays(fields.take("arrays", dict)),
        )
        fields.finish()
        document._check_arrays()
        return document

    def _check_arrays(self) -> None:
        """Raise `ValueError` unless there are all arrays, of sizes that fit together."""
        expected = set(ROW_ARRAYS)
        if self.label_kind == "lists":
            expected |= set(LABEL_ARRAYS)
        optional = {*TITLE_ARRAYS, *FILTER_ARRAYS, *(TEXT_ARRAYS if self.text is not None else ())}
        if missing := expected - set(self.arrays):
            raise ValueError(f"store.json: arrays has no {min(missing)!r}")
        if unknown := set(self.arrays) - expected - optional:
            raise ValueError(f"store.json: arrays has {min(unknown)!r}, which does not belong there")
        sizes = {name: array.n_items for name, array in self.arrays.items()}
        for name in ("features.indptr", "labels.indptr"):
            _check_size(name, sizes[name], self.n_rows + 1, "rows")
        _check_size("features.values", sizes["features.values"], sizes["features.indices"], "indices")
        if self.label_kind == "lists":
            n_names = sizes["labels.names_begin"] - 1
            _check_size("labels.numbers", sizes["labels.numbers"], self.n_labels - n_names, "labels")
        for group, name, expected_items in (
            (TITLE_ARRAYS, "labels.titles_begin", self.n_labels + 1),
            (FILTER_ARRAYS, "filtered.labels", sizes.get("filtered.rows", 0)),
        ):
            present = [one for one in group if one in sizes]
            if present and len(present) < len(group):
                raise ValueError(f"store.json: expected the arrays {' and '.join(group)}, got one of them")
            if present:
                _check_size(name, sizes[name], expected_items, "others")


def check_format(fields: Fields, format: str, version: int) -> None:
    """Raise `ValueError` unless a document has this format, in a version that can be read."""
    found = fields.take("format", str)
    if found != format:
        raise ValueError(f"{fields.where}: expected the format {format!r}, got {short(found)}")
    number = fields.count("format_version", least=1)
    if number > version:
        raise ValueError(
            f"{fields.where} has the format version {number}, but this labeltree reads versions up to {version}: "
            "install a newer labeltree, or import the data again"
        )


def _check_size(name: str, n_items: int, expected: int, noun: str) -> None:
    if n_items != expected:
        raise ValueError(f"store.json: {name} must have {expected} items, to fit the {noun}, got {n_items}")


def optional_object(fields: Fields, name: str) -> dict[str, Any] | None:
    """Return a field that is a JSON object or null."""
    value: Any = fields.take(name, object)
    if value is not None and not isinstance(value, dict):
        raise ValueError(f"{fields.where}: {name!r} must be a JSON object or null, got {short(value)}")
    return value


def _sources(values: list[Any]) -> list[dict[str, Any]]:
    for value in values:
        fields = Fields(value, "store.json, sources")
        for name in ("path", "format"):
            fields.take(name, str)
        for name in ("bytes", "rows"):
            fields.count(name)
        fields.finish()
    return values


def _arrays(values: dict[str, Any]) -> dict[str, StoredArray]:
    arrays = {}
    for name, value in values.items():
        if name not in ARRAY_TYPES:
            raise ValueError(f"store.json: arrays has the unknown name {short(name)}")
        fields = Fields(value, f"store.json, {name}")
        fields.choose("type", (ARRAY_TYPES[name],))
        array = StoredArray(
            fields.count("items", most=2**62 // stored_type(name).itemsize), fields.take("sha256", str)
        )
        fields.finish()
        if _SHA256.fullmatch(array.sha256) is None:
            raise ValueError(
                f"store.json, {name}: expected a SHA-256 in 64 hexadecimal digits, got {short(array.sha256)}"
            )
        arrays[name] = array
    return arrays
