"""read_stream: the same examples as the other readers give, however the bytes arrive."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import vstack
from tests.command_line import make_rows, write_rows

from labeltree.data import (
    DataFormatError,
    read_libsvm,
    read_stream,
    read_texts,
    read_xmlc,
    word_counts,
)


class InPieces(io.RawIOBase):
    """A file that returns one piece for each read, as a pipe does."""

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = list(pieces)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        piece = self._pieces.pop(0) if self._pieces else b""
        buffer[: len(piece)] = piece
        return len(piece)


def in_pieces(text: bytes, size: int) -> BinaryIO:
    return cast(BinaryIO, InPieces([text[i : i + size] for i in range(0, len(text), size)]))


def collect(source: Any, **options: Any) -> tuple[list[Any], list[list[Any]]]:
    """All examples of a stream: rows as dictionaries, and labels."""
    rows: list[Any] = []
    labels: list[list[Any]] = []
    for X, y in read_stream(source, **options):
        rows += X if isinstance(X, list) else rows_of(X)
        labels += y
        assert 1 <= len(y) <= options.get("batch_size", 1000)
    assert len(rows) == len(labels)
    return rows, labels


def rows_of(X: Any) -> list[dict[int, float]]:
    return [dict(zip(row.indices.tolist(), row.data.tolist(), strict=True)) for row in X]


@pytest.fixture
def xmlc_text(tmp_path: Path) -> bytes:
    return write_rows(tmp_path / "rows.txt", make_rows(50, seed=3)).read_bytes()


@pytest.mark.parametrize("size", [1, 7, 100, 100_000])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("header", [True, False])
def test_xmlc_in_pieces_of_any_size(xmlc_text: bytes, size: int, end: bytes, header: bool) -> None:
    text = xmlc_text if header else xmlc_text.partition(b"\n")[2]
    X, y = read_xmlc(io.BytesIO(text))
    text = b"\xef\xbb\xbf" + text.replace(b"\n", end)
    for batch_size in (1, 3, 1000):
        for whole in (text, text.removesuffix(end)):
            rows, labels = collect(in_pieces(whole, size), batch_size=batch_size)
            assert rows == rows_of(X)
            assert labels == [row.indices.tolist() for row in y]


def test_numbered_rows_are_csr_matrices_of_float32() -> None:
    (batch,) = read_stream(io.BytesIO(b"0,2 5:0.1 1:2\n\n 3:1\n"))
    assert batch.X.dtype == np.float32
    assert batch.X.shape == (3, 6)
    assert batch.X.has_sorted_indices
    assert batch.y == [[0, 2], [], []]


def test_rows_without_features_have_a_column_nevertheless() -> None:
    (batch,) = read_stream(io.BytesIO(b"0,2\n\n"))
    assert (batch.X.shape, batch.X.nnz, batch.y) == ((2, 1), 0, [[0, 2], []])


@pytest.mark.parametrize("one_based", [None, True, False])
def test_libsvm(one_based: bool | None) -> None:
    text = b"# by hand\n0,2 1:0.5 3:1.5 # a comment\n\n# only\n1 2:2\n# end\n"
    X, y = read_libsvm(io.BytesIO(text), one_based=one_based is not False)
    for size in (1, 9, 1000):
        rows, labels = collect(in_pieces(text, size), format="libsvm", one_based=one_based)
        assert rows == rows_of(X)
        assert labels == [row.indices.tolist() for row in y]


def test_ids_from_one() -> None:
    assert collect(io.BytesIO(b"1,3 1:1\n"), one_based=True) == ([{0: 1.0}], [[0, 2]])
    with pytest.raises(DataFormatError, match="<stream>:1: "):
        collect(io.BytesIO(b"0 1:1\n"), one_based=True)


names = st.text(st.characters(exclude_categories=["Cs"]))
numbers = (
    st.floats(width=32, allow_nan=False, allow_infinity=False)
    | st.integers(-(2**60), 2**60)
    | names
    | st.booleans()
)


@given(
    st.lists(st.tuples(st.dictionaries(names, numbers) | names, st.lists(names))),
    st.integers(1, 200),
    st.booleans(),
)
def test_json_lines(examples: list[tuple[Any, list[str]]], size: int, ensure_ascii: bool) -> None:
    key = {str: "text", dict: "features"}
    records = [{"id": 3, key[type(x)]: x, "labels": labels} for x, labels in examples]
    lines = "".join(json.dumps(record, ensure_ascii=ensure_ascii) + "\n \t\n" for record in records)
    found = collect(in_pieces(lines.encode(), size), format="jsonl")
    expected = [word_counts(x) if isinstance(x, str) else x for x, _ in examples]
    assert found == (expected, [labels for _, labels in examples])


def test_json_lines_are_those_of_read_texts() -> None:
    text = b'{"text": "A boat, a Boat!", "labels": ["sea", "boat"]}\r\n\n{"labels": [], "text": ""}'
    read = read_texts(io.BytesIO(text))
    assert collect(in_pieces(text, 5)) == ([word_counts(text) for text in read.texts], read.labels)


def test_labels_that_are_not_wanted_need_not_be_there() -> None:
    text = b'{"text": "boats"}\n{"features": {"a": 1}, "labels": 3}\n'
    assert collect(io.BytesIO(text), labels=None) == ([{"boats": 1.0}, {"a": 1}], [[], []])


def test_fasttext_lines_are_those_of_read_texts() -> None:
    text = "__label__sea __label__größe A  boat a\tboat\n\nno label\n__label__x\r\n".encode()
    read = read_texts(io.BytesIO(text))
    rows, found = collect(in_pieces(text, 3), format="fasttext")
    assert rows == [{word: text.split().count(word) for word in text.split()} for text in read.texts]
    assert found == read.labels
    assert collect(io.BytesIO(b"#a b\n"), format="fasttext", label_prefix="#") == ([{"b": 1.0}], [["a"]])


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("", {}),
        ("a b c", {}),
        ("Être-là, ÊTRE x_1 42", {"être": 2, "là": 1, "x_1": 1, "42": 1}),
        ("don't", {"don": 1}),
    ],
)
def test_words(text: str, counts: dict[str, int]) -> None:
    assert word_counts(text) == counts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b'\n {"features": {"a": 1}, "labels": []}\n', [{"a": 1}]),
        (b"__label__x a\n", [{"a": 1.0}]),
        (b"boat __label__x\n", [{"boat": 1.0}]),
        (b"1 1:1\n", [{1: 1.0}]),
        (b"1 4 3\n 1:1\n", [{1: 1.0}]),
        (b"", []),
    ],
)
def test_format_by_the_first_line(text: bytes, expected: list[Any]) -> None:
    assert collect(io.BytesIO(text))[0] == expected


@pytest.mark.parametrize("compress", [bytes, gzip.compress, lzma.compress, zstandard.compress])
@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.svm", b"0 1:1\n", {0: 1.0}),
        ("a.LIBSVM", b"0 1:1\n", {0: 1.0}),
        ("a.jsonl", b'\n{"text": "boat", "labels": []}', {"boat": 1.0}),
        ("a.txt", b"0 1:1\n", {1: 1.0}),
    ],
)
def test_format_by_the_name(
    tmp_path: Path, compress: Callable[[bytes], bytes], name: str, text: bytes, expected: Any
) -> None:
    ending = {bytes: "", gzip.compress: ".gz", lzma.compress: ".xz", zstandard.compress: ".zst"}[compress]
    path = tmp_path / (name + ending)
    path.write_bytes(compress(text * 2 if name != "a.jsonl" else text + text))
    assert collect(path)[0] == [expected] * 2


def test_a_file_need_not_fit_in_memory(tmp_path: Path) -> None:
    """Batches are small however long the file; a compressed one is unpacked as it is read."""
    path = tmp_path / "long.txt.gz"
    path.write_bytes(gzip.compress(b"1 2:1 3:1 4:1\n" * 200_000))
    stream = read_stream(path, batch_size=10**9)
    sizes = [len(y) for _, y in stream]
    assert sum(sizes) == stream.n_examples == stream.n_lines == 200_000
    assert max(sizes) * len(b"1 2:1 3:1 4:1\n") <= 1 << 19


class TestPipe:
    def test_what_has_come_is_given_at_once(self) -> None:
        reading, writing = os.pipe()
        with open(reading, "rb") as file, open(writing, "wb", buffering=0) as pipe:
            stream = read_stream(file)
            for number in range(3):
                pipe.write(b"%d 2:1\n7 1:1\n8 1" % number)  # the third line is not yet complete
                first = next(stream)
                assert first.y[-2:] == [[number], [7]]
                pipe.write(b":1\n")
                assert next(stream).y == [[8]]
            timer = threading.Timer(0.2, pipe.close)
            timer.start()
            assert list(stream) == []
            timer.join()

    def test_text_files_are_refused(self) -> None:
        with pytest.raises(TypeError, match="opened in binary mode, got one that reads str"):
            next(read_stream(cast(Any, io.StringIO("1 2:1\n"))))


GOOD = b'{"features": {"a": 1}, "labels": ["x"]}'


@pytest.mark.parametrize(
    ("format", "good", "bad", "message"),
    [
        ("xmlc", b"1 2:1", b"1 4:abc", "expected 'feature:value' with a number, got '4:abc'"),
        ("xmlc", b"1 2:1", b"3 4", "expected 'feature:value'"),
        ("libsvm", b"1 2:1", b"1 0:1", "expected"),
        ("fasttext", b"__label__a b", b"a __label__ b", "expected the name of a label after '__label__'"),
        ("fasttext", b"__label__a b", b"na\xefve", "expected UTF-8 text, got the byte 0xef as byte 3"),
        ("jsonl", GOOD, b"boat", "expected a JSON object, but: Expecting value at column 1"),
        ("jsonl", GOOD, b"[1]", "expected a JSON object, got a list"),
        ("jsonl", GOOD, b"\xff", "expected UTF-8 text, got the byte 0xff as byte 1 of the line"),
        ("jsonl", GOOD, b'{"labels": []}', "the key 'features' or 'text', got the keys 'labels'"),
        ("jsonl", GOOD, b'{"text": "a", "features": {}, "labels": []}', "got both"),
        ("jsonl", GOOD, b'{"text": "a"}', "expected an object with the key 'labels', got the keys 'text'"),
        ("jsonl", GOOD, b'{"text": 1, "labels": []}', "expected a string as 'text', got a number"),
        ("jsonl", GOOD, b'{"text": "", "labels": [1.5]}', "as 'labels', got a list with a number"),
        ("jsonl", GOOD, b'{"features": [1], "labels": []}', "names and values as 'features', got a list"),
        ("jsonl", GOOD, b'{"features": {"a": [1]}, "labels": []}', "the feature 'a', got a list"),
        (
            "jsonl",
            GOOD,
            b'{"features": {"a": null}, "labels": []}',
            "a number or a text as the feature 'a', got null",
        ),
        (
            "jsonl",
            GOOD,
            b'{"features": {"a": NaN}, "labels": []}',
            "finite float32 as the feature 'a', got nan",
        ),
        ("jsonl", GOOD, b'{"features": {"a": 1e39}, "labels": []}', "as the feature 'a', got 1e+39"),
        ("jsonl", GOOD, b'{"features": {"a": 1' + b"0" * 400 + b'}, "labels": []}', "got 1000000000"),
    ],
)
class TestBadLines:
    @pytest.mark.parametrize("size", [10, 10_000])
    @pytest.mark.parametrize("before", [0, 1, 40])
    def test_all_before_is_given_then_the_line_is_named(
        self, format: Any, good: bytes, bad: bytes, message: str, before: int, size: int
    ) -> None:
        text = b"\n".join([good] * before + [bad] + [good] * 5)
        stream = read_stream(in_pieces(text, size), format)
        given: list[list[Any]] = []
        with pytest.raises(DataFormatError) as raised:
            given.extend(label for _, y in stream for label in y)
        assert len(given) == stream.n_examples == before
        assert str(raised.value).startswith(f"<stream>:{before + 1}: ")
        assert message in raised.value.reason

    def test_they_are_counted_if_asked(self, format: Any, good: bytes, bad: bytes, message: str) -> None:
        text = b"\n".join([bad, good, good, bad, bad, good, bad]) + b"\n"
        for size in (10, 10_000):
            stream = read_stream(in_pieces(text, size), format, skip_bad_lines=True)
            assert sum(len(y) for _, y in stream) == 3
            assert (stream.n_bad_lines, stream.n_lines, stream.n_examples) == (4, 7, 3)


def test_lines_are_counted_behind_a_header() -> None:
    with pytest.raises(DataFormatError, match="<stream>:4: expected 'feature:value'"):
        collect(io.BytesIO(b"9 9 9\n1 1:1\n1 1:1\n1 1\n"))


def test_header_that_lies() -> None:
    with pytest.raises(DataFormatError, match="<stream>:1: expected 2 rows, as the header says, got 1"):
        collect(io.BytesIO(b"2 4 3\n 1:1\n"))
    stream = read_stream(io.BytesIO(b"2 4 3\n 1:1\n1:\n"), skip_bad_lines=True)
    assert [y for _, y in stream] == [[[]]]


def test_the_header_is_no_limit() -> None:
    assert collect(io.BytesIO(b"1 4 3\n99 77:1\n")) == ([{77: 1.0}], [[99]])


def test_batches_together_are_the_matrix(xmlc_text: bytes) -> None:
    X, _ = read_xmlc(io.BytesIO(xmlc_text))
    batches = [batch.X for batch in read_stream(in_pieces(xmlc_text, 64), batch_size=2)]
    for part in batches:
        part.resize(part.shape[0], X.shape[1])
    assert abs(vstack(batches) - X).max() == 0


def test_closing_closes_the_file(tmp_path: Path, xmlc_text: bytes) -> None:
    stream = read_stream(tmp_path / "rows.txt", batch_size=1)
    next(stream)
    stream.close()
    assert list(stream) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "xls"}, "expected format to be one of auto, jsonl, csv, .*, got 'xls'"),
        ({"batch_size": 0}, "expected a batch_size of at least 1, got 0"),
        ({"label_prefix": ""}, "expected a label_prefix of at least one character"),
        ({"label_prefix": "\ud800"}, "expected a label_prefix of valid Unicode"),
    ],
)
def test_wrong_arguments(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_stream(io.BytesIO(b""), **options)
