"""read_texts: the same examples from every format, written by other programs."""

from __future__ import annotations

import csv
import gzip
import io
import json
import lzma
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather, ipc, parquet

from labeltree.data import DataFormatError, Texts, read_stream, read_texts, word_counts

FRAME = pd.DataFrame(
    {
        "nr": ["a", "b", "c", "d"],
        "title": ['A "fishing" boat, old', "Größe\tund\nZeilen", "", "x" * 200_000],
        "abstract": ["sea", None, "alone", "text; with ; signs"],
        "subjects": [["sea", "boat"], ["größe, klein"], [], ["x"]],
    }
)
EXPECTED = Texts(
    ['A "fishing" boat, old\nsea', "Größe\tund\nZeilen", "alone", "x" * 200_000 + "\ntext; with ; signs"],
    FRAME["subjects"].tolist(),
    FRAME["nr"].tolist(),
)
JOINED = FRAME.assign(subjects=FRAME["subjects"].map(" ; ".join))
CHOSEN: dict[str, Any] = {"text": ["title", "abstract"], "labels": "subjects", "separator": ";", "id": "nr"}


def table() -> pa.Table:
    return pa.Table.from_pandas(FRAME, preserve_index=False)


def write_arrow_stream(path: Path) -> None:
    with ipc.new_stream(path, table().schema) as writer:
        writer.write_table(table(), max_chunksize=3)


WRITERS: dict[str, Callable[[Path], Any]] = {
    "a.csv": lambda path: JOINED.to_csv(path, index=False),
    "quoted.csv": lambda path: JOINED.to_csv(path, index=False, quoting=csv.QUOTE_ALL),
    "windows.csv": lambda path: JOINED.to_csv(path, index=False, encoding="utf-8-sig"),
    "a.tsv": lambda path: JOINED.to_csv(path, index=False, sep="\t"),
    "a.jsonl": lambda path: FRAME.to_json(path, orient="records", lines=True),
    "strings.ndjson": lambda path: JOINED.to_json(path, orient="records", lines=True, force_ascii=False),
    "a.parquet": lambda path: FRAME.to_parquet(path),
    "groups.parquet": lambda path: parquet.write_table(table(), path, row_group_size=2),
    "a.feather": lambda path: feather.write_feather(table(), path, chunksize=2),
    "a.arrow": write_arrow_stream,
    "a.arrows": write_arrow_stream,
    "polars.parquet": lambda path: pl.from_pandas(FRAME).write_parquet(path),
    "polars.csv": lambda path: pl.from_pandas(JOINED).write_csv(path),
}


@pytest.mark.parametrize("name", WRITERS)
class TestEveryFormat:
    def test_by_name(self, name: str, tmp_path: Path) -> None:
        WRITERS[name](tmp_path / name)
        assert read_texts(tmp_path / name, **CHOSEN) == EXPECTED
        assert read_texts(tmp_path / name, **CHOSEN | {"id": None, "labels": None}) == Texts(
            EXPECTED.texts, [[]] * 4
        )

    def test_by_the_first_line(self, name: str, tmp_path: Path) -> None:
        WRITERS[name](tmp_path / name)
        path = (tmp_path / name).rename(tmp_path / "data")
        if name.startswith("a.arrow"):  # a stream of Arrow has no signature
            assert read_texts(path, **CHOSEN, format="arrow") == EXPECTED
            return
        assert read_texts(path, **CHOSEN) == EXPECTED
        assert read_texts(io.BytesIO(path.read_bytes()), **CHOSEN) == EXPECTED
        with path.open("rb") as file:
            assert read_texts(file, **CHOSEN) == EXPECTED

    def test_compressed(self, name: str, tmp_path: Path) -> None:
        WRITERS[name](tmp_path / name)
        content = (tmp_path / name).read_bytes()
        for suffix, compress in (
            (".gz", gzip.compress),
            (".xz", lzma.compress),
            (".zst", zstandard.compress),
        ):
            path = tmp_path / f"{name}{suffix}"
            path.write_bytes(compress(content))
            assert read_texts(path, **CHOSEN) == EXPECTED

    def test_standard_input(self, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        WRITERS[name](tmp_path / name)
        format: Any = "arrow" if name.startswith("a.arrow") else "auto"
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO((tmp_path / name).read_bytes())))
        assert read_texts("-", **CHOSEN, format=format) == EXPECTED

    def test_streams_have_the_words(self, name: str, tmp_path: Path) -> None:
        WRITERS[name](tmp_path / name)
        chosen = {key: CHOSEN[key] for key in ("text", "labels", "separator")}
        batches = list(read_stream(tmp_path / name, batch_size=3, **chosen))
        assert [len(y) for _, y in batches] in ([3, 1], [2, 2])
        assert [row for X, _ in batches for row in X] == [word_counts(text) for text in EXPECTED.texts]
        assert [labels for _, y in batches for labels in y] == EXPECTED.labels

    def test_a_column_that_is_not_there(self, name: str, tmp_path: Path) -> None:
        WRITERS[name](tmp_path / name)
        for column, option in (("labels", "labels"), ("id", "id"), ("text", "text")):
            with pytest.raises(
                DataFormatError, match=r"'heading', got the (columns|keys) 'nr', 'title'"
            ) as error:
                read_texts(tmp_path / name, **CHOSEN | {column: "heading"})
            assert "json" in name or f"--{option}" in error.value.reason


class Dataset:
    """What is used of a `datasets.Dataset`."""

    column_names: ClassVar = list(FRAME)

    def __getitem__(self, name: str) -> Any:
        return iter(table()[name].to_pylist())


@pytest.mark.parametrize(
    "frame",
    [
        FRAME,
        JOINED.astype({"title": "string", "nr": "category"}),
        FRAME.assign(subjects=FRAME["subjects"].map(np.array)),
        FRAME.set_index(pd.Index([3, 1, 4, 1])),
        pl.from_pandas(FRAME),
        pl.from_pandas(JOINED),
        table(),
        table().to_batches()[0],
        Dataset(),
    ],
)
def test_frames(frame: Any) -> None:
    assert read_texts(frame, **CHOSEN) == EXPECTED


def test_datasets() -> None:
    datasets = pytest.importorskip("datasets")
    assert read_texts(datasets.Dataset.from_pandas(FRAME), **CHOSEN) == EXPECTED
    both = datasets.DatasetDict({"train": datasets.Dataset.from_pandas(FRAME)})
    with pytest.raises(ValueError, match="one split of a DatasetDict, got all: choose one of 'train'"):
        read_texts(both)


def test_missing_values_of_frames() -> None:
    frame = pd.DataFrame({"text": ["a", None, np.nan, pd.NA], "labels": [["x"], None, np.nan, pd.NA]})
    assert read_texts(frame) == Texts(["a", "", "", ""], [["x"], [], [], []])
    assert read_texts(frame.iloc[:0]) == Texts([], [])


def test_integer_labels() -> None:
    expected = Texts(["a", "b"], [[3], [5]])
    assert read_texts(pd.DataFrame({"text": ["a", "b"], "labels": [3, 5]})) == expected
    assert read_texts(pl.DataFrame({"text": ["a", "b"], "labels": [[3], [5]]})) == expected
    lines = b'{"text": "a", "labels": 3}\n{"text": "b", "labels": [5]}\n'
    assert read_texts(io.BytesIO(lines)) == expected


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (
            FRAME,
            r"DataFrame: expected a column 'text', got the columns 'nr', 'title', .*; choose the column of the text "
            r"with --text \(text= in Python\)",
        ),
        (
            pd.DataFrame({"text": ["a", 3], "labels": [[], []]}),
            "DataFrame: row 1: expected a string as 'text'",
        ),
        (
            pd.DataFrame({"text": ["a"], "labels": [1.5]}),
            "row 0: expected a list of strings as 'labels', got a n",
        ),
        (pd.DataFrame({"text": ["a"], "labels": [[None]]}), "as 'labels', got a list with null"),
    ],
)
def test_wrong_frames(frame: Any, message: str) -> None:
    with pytest.raises(DataFormatError, match=message):
        read_texts(frame)


texts = st.text(st.characters(exclude_categories=["Cs"]))
names = texts.map(lambda text: text.replace(";", ",").strip()).filter(bool)


@given(
    st.lists(st.tuples(texts, st.lists(names))),
    st.sampled_from([",", "\t"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_tables_are_read_as_they_are_written(
    rows: list[tuple[str, list[str]]], delimiter: str, quoting: Any, end: str, by_letter: bool
) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, quoting=quoting, lineterminator=end)
    writer.writerow(["text", "labels", "more"])
    writer.writerows([text, " ; ".join(labels), 3] for text, labels in rows)
    content = text.getvalue().encode()
    format: Any = {",": "csv", "\t": "tsv"}[delimiter]
    file: Any = InPieces(content) if by_letter else io.BytesIO(content)
    found = read_texts(file, separator=";", format=format)
    assert found == Texts([text for text, _ in rows], [labels for _, labels in rows])


class InPieces(io.BytesIO):
    """A file that gives a few bytes for each read, as a pipe may."""

    def read1(self, size: int | None = -1, /) -> bytes:
        return self.read(3)


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_other_delimiters_than_commas(delimiter: str) -> None:
    content = 'text;labels\n"a; b";sea\nc, d;boat\n'.replace(";", delimiter).encode()
    expected = Texts([f"a{delimiter} b", "c, d"], [["sea"], ["boat"]])
    assert read_texts(io.BytesIO(content), format="csv") == expected


def test_a_string_is_one_label_without_a_separator() -> None:
    content = b"text,labels\na, sea; old \nb,\n"
    assert read_texts(io.BytesIO(content)).labels == [["sea; old"], []]
    assert read_texts(io.BytesIO(content), separator=";").labels == [["sea", "old"], []]


GOOD = b"\n\nfine,sea\n"


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (b"one\n", "expected 2 fields, as the header has, got 1"),
        (b"one,two,three\n", "expected 2 fields, as the header has, got 3"),
        (
            b'"one" two,three\n',
            "expected fields as in CSV, quoted if they have quotes, but: ',' expected after",
        ),
        (b"na\xefve,sea\n", "expected UTF-8 text, got the byte 0xef as byte 3 of the line"),
    ],
)
def test_wrong_lines_of_tables(bad: bytes, message: str) -> None:
    content = b'text,labels\n"two\nlines",sea\n' + bad + GOOD + bad + GOOD
    with pytest.raises(DataFormatError, match=message) as raised:
        read_texts(io.BytesIO(content))
    assert raised.value.line == 4
    stream = read_stream(io.BytesIO(content), skip_bad_lines=True)
    assert [labels for _, y in stream for labels in y] == [["sea"]] * 3
    assert (stream.n_bad_lines, stream.n_lines) == (2, 11)


def test_a_quote_that_is_not_closed() -> None:
    content = b'text,labels\na,b\n"open,sea\nfine,sea\n'
    with pytest.raises(
        DataFormatError, match=r"<stream>:3: expected a closing quote .*, got none in 2 lines"
    ):
        read_texts(io.BytesIO(content))


def test_a_table_from_a_pipe_is_given_as_it_comes() -> None:
    reading, writing = os.pipe()
    with open(reading, "rb") as file, open(writing, "wb", buffering=0) as pipe:
        stream = read_stream(file)
        pipe.write(b"text,labels\nboat,sea\n")
        assert next(stream).y == [["sea"]]
        pipe.write(b'"long\n')
        timer = threading.Timer(0.2, lambda: pipe.write(b'text",hill\n'))
        timer.start()
        assert tuple(next(stream)) == ([{"long": 1.0, "text": 1.0}], [["hill"]])
        timer.join()


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (
            b"Dear all,\nhow are you",
            r"<stream>:1: the first line is 'Dear all,', but expected JSON lines .*--text",
        ),
        (b"\n \x00\xff\xfe", r"<stream>:2: the first line is '\\x00\\ufffd\\ufffd', but expected JSON"),
        (b'[{"text": "a"}]', r"JSON array with: jq -c '\.\[\]' FILE"),
        (b"x" * 1000, f"line is '{'x' * 60}…', but"),
        (b"nr,heading\n", "choose the column of the text with --text; now it is 'text'"),
    ],
)
def test_files_that_are_not_understood(head: bytes, message: str) -> None:
    with pytest.raises(DataFormatError, match=message) as raised:
        read_texts(io.BytesIO(head))
    for format in ("CSV and TSV", "Parquet", "Arrow", "fastText", "extreme classification", "libsvm"):
        assert format in raised.value.reason


@pytest.mark.parametrize(
    ("compress", "suffix", "program"),
    [(gzip.compress, ".gz", "gzip"), (lzma.compress, ".xz", "xz"), (zstandard.compress, ".zst", "zstd")],
)
def test_compressed_data_without_such_a_name(
    compress: Callable[[bytes], bytes], suffix: str, program: str
) -> None:
    message = f"<stream>:1: the data are compressed, .* ending in {suffix} .* with {program} -dc"
    with pytest.raises(DataFormatError, match=message):
        read_texts(io.BytesIO(compress(b'{"text": "a"}')))


def test_numbers_are_not_texts() -> None:
    with pytest.raises(DataFormatError, match="expected texts, got rows of numbers"):
        read_texts(io.BytesIO(b"0,1 2:1\n"))
    with pytest.raises(DataFormatError, match="fasttext files have no columns"):
        read_texts(io.BytesIO(b"__label__a b\n"), id="nr")


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_damaged_and_missing_parquet(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    WRITERS[name](tmp_path / name)
    content = (tmp_path / name).read_bytes()
    for damaged in (b"", content[: len(content) // 2]):
        (tmp_path / name).write_bytes(damaged)
        with pytest.raises(DataFormatError, match=f"{name}: expected a valid {name[2:]} file, but"):
            read_texts(tmp_path / name, **CHOSEN)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"need the pyarrow package: pip install 'labeltree\[parquet\]'"):
        read_texts(tmp_path / name)


def test_wrong_rows_of_parquet(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pd.DataFrame({"text": ["a", "b", "c"], "labels": [["x"], ["y"], [None]]}).to_parquet(path)
    with pytest.raises(DataFormatError, match=r"a\.parquet: row 2: expected a list of strings as 'labels'"):
        read_texts(path)
    stream = read_stream(path, skip_bad_lines=True)
    assert [y for _, y in stream] == [[["x"], ["y"]]]
    assert stream.n_bad_lines == 1


def test_raw_texts_of_the_repository() -> None:
    records = [
        {"uid": "A", "title": "A boat", "content": "at sea", "target_ind": [3, 5], "target_rel": [1.0, 1.0]},
        {"uid": "B", "title": "A hill", "content": "", "target_ind": [], "target_rel": []},
    ]
    lines = "".join(json.dumps(record) + "\n" for record in records).encode()
    assert read_texts(io.BytesIO(lines)) == Texts(["A boat\nat sea", "A hill"], [[3, 5], []])
    assert read_texts(io.BytesIO(lines), text="title", id="uid") == Texts(
        ["A boat", "A hill"], [[3, 5], []], ["A", "B"]
    )
    short = b'{"uid": "A", "title": "A boat", "target_ind": [3], "target_rel": [1.0]}\n'
    assert read_texts(io.BytesIO(short)) == Texts(["A boat"], [[3]])


def test_tables_of_raw_texts_of_the_repository() -> None:
    frame = pd.DataFrame({"uid": ["A"], "title": ["A boat"], "target_ind": [[3]]})
    assert read_texts(frame) == Texts(["A boat"], [[3]])  # short texts have no content
    with pytest.raises(
        DataFormatError, match="expected a column 'title', got the columns 'uid', 'target_ind'"
    ):
        read_texts(frame[["uid", "target_ind"]])
    with pytest.raises(DataFormatError, match="expected a column 'abstract'"):
        read_texts(frame, text=["title", "abstract"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"text": []}, "expected the names of one or more columns of text"),
        ({"text": ""}, "expected the names of one or more columns of text"),
        ({"separator": ""}, "expected a separator of at least one character"),
        ({"format": "xls"}, "expected format to be one of auto, jsonl"),
    ],
)
def test_wrong_arguments(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_texts(io.BytesIO(b""), **options)


class TestDamage:
    def test_a_column_that_is_there_twice(self, tmp_path: Path) -> None:
        table = pa.table([["a", "b"], ["x", "y"], [["l"], ["m"]]], names=["text", "text", "labels"])
        (tmp_path / "twice.csv").write_text("text,labels,text\na,l,x\n")
        parquet.write_table(table, tmp_path / "twice.parquet")
        with ipc.new_file(tmp_path / "twice.arrow", table.schema) as writer:
            writer.write_table(table)
        for name in ("twice.csv", "twice.parquet", "twice.arrow"):
            with pytest.raises(DataFormatError, match="expected one column 'text', got several of that name"):
                read_texts(tmp_path / name)
        assert read_texts(pa.table({"text": ["a"], "x": ["b"]}), labels=None).texts == ["a"]
        with pytest.raises(DataFormatError, match="got several of that name"):
            read_texts(pd.DataFrame([["a", "b"]], columns=["text", "text"]), labels=None)

    @pytest.mark.parametrize("open_writer", [ipc.new_file, ipc.new_stream])
    def test_wrong_offsets_of_arrow_are_not_followed(
        self, open_writer: Callable[..., Any], tmp_path: Path
    ) -> None:
        table = pa.table({"text": ["boat", "owl"], "labels": [["a"], ["b"]]})
        with open_writer(tmp_path / "texts.arrow", table.schema) as writer:
            writer.write_table(table)
        content = (tmp_path / "texts.arrow").read_bytes()
        offsets = np.array([0, 4, 7], dtype=np.int32)
        assert content.count(offsets.tobytes()) == 1
        offsets[1:] = [1 << 29, 1 << 30]
        damaged = content.replace(np.array([0, 4, 7], dtype=np.int32).tobytes(), offsets.tobytes())
        (tmp_path / "texts.arrow").write_bytes(damaged)
        with pytest.raises(DataFormatError, match="expected a valid arrow file"):
            read_texts(tmp_path / "texts.arrow")

    def test_a_field_of_several_lines_that_is_not_utf_8(self) -> None:
        content = b'text,labels\nboat,sea\n"one\ntw\xe4o\nthree,forest\nfour",city\nowl,forest\n'
        with pytest.raises(DataFormatError, match="<stream>:4: expected UTF-8 text, got the byte 0xe4"):
            read_texts(io.BytesIO(content), format="csv")
        stream = read_stream(io.BytesIO(content), "csv", skip_bad_lines=True)
        rows = [row for X, y in stream for row in zip(X, y, strict=True)]
        # The lines of the wrong field are not read as rows of their own.
        assert rows == [({"boat": 1.0}, ["sea"]), ({"owl": 1.0}, ["forest"])]
        assert stream.n_bad_lines == 1

    @pytest.mark.parametrize("source", [{"text": ["a"]}, ["a"], None, 5])
    def test_sources_that_are_neither_files_nor_frames(self, source: Any) -> None:
        with pytest.raises(TypeError, match=r"expected the name of a file, .* got an? "):
            read_texts(source)

    def test_blank_lines_before_a_header_with_semicolons(self) -> None:
        read = read_texts(io.BytesIO(b"\r\n\ntext;labels\na;b\n"), format="csv")
        assert read == Texts(["a"], [["b"]])


class TestTablesOfTheRepository:
    def test_titles_alone(self) -> None:
        assert read_texts(io.BytesIO(b"title,target_ind\na,1\n"), format="csv") == Texts(["a"], [["1"]])

    @pytest.mark.parametrize("text", ["other", ["title", "other"]])
    def test_a_chosen_column_must_be_there(self, text: Any) -> None:
        with pytest.raises(DataFormatError, match="expected a column 'other'"):
            read_texts(io.BytesIO(b"title,content,target_ind\na,b,1\n"), format="csv", text=text)
