"""Stores that are damaged, half there, from the future, or made by an enemy: clear errors, no crash."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.stores import change_document, write_store

from labeltree import LabelTreeClassifier
from labeltree.data import DataFormatError, Store, StoreWriter


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_store(tmp_path / "rows").path


def document(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((path / "store.json").read_text())
    return found


def patched(path: Path, name: str, at: int, value: Any) -> None:
    """Change one item of an array, and its checksum with it."""
    import hashlib

    dtype = {"indptr": "<i8", "indices": "<i4", "values": "<f4"}[name.split(".")[1]]
    file = path / f"{name}.bin"
    items = np.frombuffer(file.read_bytes(), dtype).copy()
    items[at] = value
    file.write_bytes(items.tobytes())
    arrays = document(path)["arrays"]
    arrays[name]["sha256"] = hashlib.sha256(items.tobytes()).hexdigest()
    change_document(path, arrays=arrays)


def test_what_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(DataFormatError, match="there is no such directory"):
        Store(tmp_path / "none")
    (tmp_path / "file").write_text("")
    with pytest.raises(DataFormatError, match="this is a file, and a store is a directory"):
        Store(tmp_path / "file")
    with pytest.raises(DataFormatError, match=r"it is not a store\. Make one with 'labeltree data import'"):
        Store(tmp_path)


@pytest.mark.parametrize("name", ["features.indptr", "features.values", "labels.indices"])
def test_missing_and_truncated_arrays(path: Path, name: str) -> None:
    file = path / f"{name}.bin"
    content = file.read_bytes()
    for wrong in (content[:-1], content[:-4], content + b"\0", b""):
        file.write_bytes(wrong)
        with pytest.raises(
            DataFormatError, match=rf"{name}.bin: expected {len(content):,} bytes, got {len(wrong):,}: copy"
        ):
            Store(path)
    file.unlink()
    with pytest.raises(
        DataFormatError, match=rf"{name}.bin is missing: copy it again, or import the data again"
    ):
        Store(path)


def test_a_flipped_bit_is_found_by_verifying(path: Path) -> None:
    for file in sorted(path.glob("*.bin")):
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 1
        file.write_bytes(content)
        try:
            store = Store(path)
        except DataFormatError:
            pass  # found at once
        else:
            with pytest.raises(DataFormatError, match=f"{file.name} is damaged, its checksum is wrong"):
                store.verify()
        content[len(content) // 2] ^= 1
        file.write_bytes(content)
    Store(path).verify()


@pytest.mark.parametrize(
    ("name", "at", "value", "message"),
    [
        ("features.indptr", 0, 1, "must begin with 0"),
        ("features.indptr", -1, 2**40, "and end with"),
        ("features.indptr", 3, -5, "indptr is not ascending"),
        ("features.indptr", 3, 2**40, "indptr is not ascending"),
        ("features.indptr", 3, 2**32, "indptr is not ascending"),
        ("features.indices", 2, -1, "is outside 0..19"),
        ("features.indices", 2, 2**31 - 1, "is outside 0..19"),
        ("features.indices", 0, 19, "must ascend"),
        ("features.values", 2, np.nan, "NaN, inf or too large"),
        ("labels.indptr", 3, -1, "its numbers must ascend"),
        ("labels.indptr", 3, 2**60, "its numbers must ascend"),
        ("labels.indices", 4, -7, "expected numbers from 0 to 8, got -7"),
        ("labels.indices", 4, 2**31 - 1, "expected numbers from 0 to 8"),
    ],
)
def test_wrong_numbers_with_right_checksums(path: Path, name: str, at: int, value: Any, message: str) -> None:
    patched(path, name, at, value)
    with pytest.raises(DataFormatError, match=message):
        Store(path).verify()
    with pytest.raises(DataFormatError, match=message):
        LabelTreeClassifier().fit(Store(path))
    with pytest.raises(DataFormatError, match=message):
        _ = Store(path).X, Store(path).y


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"format": "zip"}, "expected the format 'labeltree store', got 'zip'"),
        (
            {"format_version": 2},
            "format version 2, but this labeltree reads versions up to 1: install a newer",
        ),
        ({"rows": 61}, "features.indptr must have 62 items, to fit the rows, got 61"),
        ({"rows": -1}, "rows must not be negative"),
        ({"rows": "60"}, "'rows' must be of type int"),
        ({"rows": True}, "'rows' must be of type int"),
        ({"features": 2**31}, "features must be from 0 to"),
        ({"labels": -1}, "labels must not be negative"),
        ({"label_kind": "lists"}, "arrays has no 'labels"),
        ({"label_kind": "dense"}, "must be one of csr, lists"),
        ({"text": []}, "must be a JSON object or null"),
        ({"text": {}}, "expected the arrays"),
        ({"text": {"analyzer": "os.system"}}, "analyzer"),
        ({"sources": [{"path": "a"}]}, "has no 'format'"),
        ({"sources": {}}, "must be of type list"),
        ({"arrays": {}}, "arrays has no"),
        ({"more": 1}, "unknown field 'more'"),
        ({"job": 7}, "'job' must be of type str"),
    ],
)
def test_hostile_documents(path: Path, fields: dict[str, Any], message: str) -> None:
    change_document(path, **fields)
    with pytest.raises(DataFormatError, match=message):
        Store(path).verify()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"items": 2**62}, "must have|items must be from"),
        ({"items": -1}, "items must not be negative"),
        ({"type": "float64"}, "must be one of int32"),
        ({"type": "O"}, "must be one of int32"),
        ({"sha256": "../../etc/passwd"}, "expected a SHA-256 in 64 hexadecimal digits"),
        ({"file": "/etc/passwd"}, "unknown field 'file'"),
    ],
)
def test_hostile_arrays(path: Path, change: dict[str, Any], message: str) -> None:
    arrays = document(path)["arrays"]
    arrays["features.indices"] |= change
    change_document(path, arrays=arrays)
    with pytest.raises(DataFormatError, match=message):
        Store(path)


@pytest.mark.parametrize("name", ["../escaped", "features.indices.bin", "/etc/passwd", "text.idf"])
def test_arrays_that_do_not_belong_to_a_store(path: Path, name: str) -> None:
    arrays = document(path)["arrays"]
    arrays[name] = {**arrays["features.indices"], "type": "float64" if name == "text.idf" else "int32"}
    change_document(path, arrays=arrays)
    with pytest.raises(DataFormatError, match=r"unknown name|does not belong there"):
        Store(path)


@pytest.mark.parametrize(
    "text", [b"", b"{", b"[]", b'{"format": 1, "format": 2}', b"\xff", b"[" * 10_000, b'{"rows": 1e999}']
)
def test_documents_that_are_no_documents(path: Path, text: bytes) -> None:
    (path / "store.json").write_bytes(text)
    with pytest.raises(DataFormatError):
        Store(path)


def test_links_do_not_lead_out_of_the_directory(path: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.bin"
    os.replace(path / "features.values.bin", outside)
    (path / "features.values.bin").symlink_to(outside)
    with pytest.raises(
        DataFormatError, match=r"features\.values\.bin: this is a link to a file outside of the directory"
    ):
        Store(path)
    os.replace(outside, path / "features.values.bin")
    Store(path).verify()
    os.replace(path / "store.json", tmp_path / "other.json")
    (path / "store.json").symlink_to(tmp_path / "other.json")
    with pytest.raises(DataFormatError, match="outside of the directory"):
        Store(path)


def test_a_link_to_the_whole_store_is_fine(path: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(path)
    Store(tmp_path / "link").verify()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipes_are_not_waited_for(path: Path) -> None:
    (path / "labels.indices.bin").unlink()
    os.mkfifo(path / "labels.indices.bin")
    with pytest.raises(DataFormatError, match="not a regular file"):
        Store(path)


def test_a_writer_does_not_follow_links(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "features.values.bin").symlink_to(victim)
    with StoreWriter(tmp_path / "s") as writer:
        writer.append([[1]], [[1]])
    assert victim.read_text() == "precious"
    Store(tmp_path / "s").verify()


def test_damaged_names_of_labels(tmp_path: Path) -> None:
    with StoreWriter(tmp_path / "s", labels=["cat", "dog"]) as writer:
        writer.append([[1]], [["cat"]])
    begin = tmp_path / "s" / "labels.names_begin.bin"
    begin.write_bytes(np.array([0, 2**40, 6], dtype="<i8").tobytes())
    with pytest.raises(DataFormatError, match=r"labels.names_begin must ascend from 0"):
        _ = Store(tmp_path / "s").classes
    begin.write_bytes(np.array([0, 3, 6], dtype="<i8").tobytes())
    (tmp_path / "s" / "labels.names.bin").write_bytes(b"ca\xffdog")
    with pytest.raises(DataFormatError, match="UTF-8"):
        _ = Store(tmp_path / "s").classes
