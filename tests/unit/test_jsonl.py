"""read_texts of JSON lines."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from labeltree.data import DataFormatError, Texts, read_texts

GOOD = b'{"text": "a boat", "labels": ["sea"]}\n'

texts = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.lists(st.tuples(texts, st.lists(texts))), st.booleans(), st.sampled_from(["\n", "\r\n"]))
def test_round_trip(rows: list[tuple[str, list[str]]], ensure_ascii: bool, end: str) -> None:
    records = [{"labels": labels, "id": 3, "text": text} for text, labels in rows]
    lines = "".join(json.dumps(record, ensure_ascii=ensure_ascii) + end for record in records)
    found = read_texts(io.BytesIO(lines.encode()), format="jsonl")
    assert (found.texts, found.labels) == ([text for text, _ in rows], [labels for _, labels in rows])


def test_other_keys() -> None:
    line = b'{"title": "a boat", "tags": ["sea"]}'
    assert read_texts(io.BytesIO(line), text="title", labels="tags") == Texts(["a boat"], [["sea"]])
    assert read_texts(io.BytesIO(line), text="title", labels=None) == Texts(["a boat"], [[]])


def test_blank_lines_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl.zst"
    path.write_bytes(zstandard.compress(b"\n" + GOOD + b" \t\r\n" + GOOD + b"\n\n"))
    assert read_texts(path) == Texts(["a boat"] * 2, [["sea"]] * 2)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"text": "a"', "expected a JSON object, but: Expecting ',' delimiter at column 13"),
        (b"boat", "expected a JSON object, but: Expecting value at column 1"),
        (b'{"text": "a", "labels": []} {}', "expected a JSON object, but: Extra data at column 29"),
        (b'["a", []]', "expected a JSON object, got a list"),
        (b"null", "expected a JSON object, got null"),
        (
            b'{"labels": []}',
            "expected an object with the key 'text', got the keys 'labels'; choose the key of the text with --text.*",
        ),
        (
            b'{"text": "a"}',
            "expected an object with the key 'labels', got the keys 'text'; choose the key of the labels .*",
        ),
        (b"{}", "expected an object with the key 'text', got the keys none"),
        (b'{"text": 3, "labels": []}', "expected a string as 'text', got a number"),
        (b'{"text": true, "labels": []}', "expected a string as 'text', got a truth value"),
        (b'{"text": "a", "labels": true}', "expected a list of strings as 'labels', got a truth value"),
        (b'{"text": "a", "labels": {"b": 1}}', "expected a list of strings as 'labels', got an object"),
        (
            b'{"text": "a", "labels": ["b", 1.5]}',
            "expected a list of strings as 'labels', got a list with a number",
        ),
        (
            b'{"text": "a", "labels": [true]}',
            "expected a list of strings as 'labels', got a list with a truth value",
        ),
        (
            b'{"text": "a\xff", "labels": []}',
            "expected UTF-8 text, got the byte 0xff as byte 12 of the line; convert the file, with "
            "'iconv -f LATIN1 -t UTF-8' for instance",
        ),
        (b"[" * 100_000, "expected a JSON object, but: maximum recursion depth exceeded.*"),
        (
            b'{"text": "\\ud83d\\ude00", "labels": ["a", "\\uD800b"]}',
            r"expected valid Unicode, got \\ud800, which is half of a surrogate pair",
        ),
        (b'{"text": "\\udc00", "labels": []}', r"expected valid Unicode, got \\udc00, .*"),
        (b'{"text": ' + b"1" * 5000 + b"}", "expected a JSON object, but: Exceeds the limit.*"),
    ],
)
def test_errors(line: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    path.write_bytes(GOOD + b"\n" + line + b"\n")
    with pytest.raises(DataFormatError, match=f"train.jsonl:3: {message}$") as raised:
        read_texts(path)
    assert raised.value.line == 3


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | texts, lambda x: st.lists(x) | st.dictionaries(texts, x)
    )
)
def test_any_json_is_read_or_refused(value: Any) -> None:
    for record in (value, {"text": value, "labels": []}, {"text": "", "labels": value}):
        is_object = isinstance(record, dict) and {"text", "labels"} <= record.keys()
        text, labels = (record["text"], record["labels"]) if is_object else (0, 0)
        good = is_object and isinstance(text, str | type(None))
        if isinstance(labels, str | type(None)):
            labels = [labels.strip()] if labels and labels.strip() else []
        good = good and isinstance(labels, list) and all(isinstance(label, str) for label in labels)
        line = io.BytesIO(json.dumps(record).encode())
        if good:
            assert read_texts(line, format="jsonl") == Texts([text or ""], [labels])
        else:
            with pytest.raises(DataFormatError, match="<stream>:1: "):
                read_texts(line, format="jsonl")
