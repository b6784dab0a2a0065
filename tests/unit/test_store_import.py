"""`import_files`: every format becomes the store of the same rows, in blocks of any size, resumed at any place."""

from __future__ import annotations

import gzip
import json
import lzma
import os
from pathlib import Path
from typing import Any

import pytest
from tests.command_line import make_rows, write_rows, write_texts
from tests.stores import files_of

from labeltree import ExtremeTextClassifier, LabelTreeClassifier
from labeltree.data import DataFormatError, Store, import_files, read_libsvm, read_texts, read_xmlc
from labeltree.data.store import number_files, text_files
from labeltree.data.store import writer as writer_module
from labeltree.text import Tagger, TextVectorizer


@pytest.fixture(params=[1 << 24, 300, 1], ids=["one block", "blocks", "lines"])
def block_bytes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Blocks of a whole file, of some lines, and of one line."""
    monkeypatch.setattr(number_files, "BLOCK_BYTES", request.param)
    monkeypatch.setattr(text_files, "BLOCK_BYTES", request.param)
    return int(request.param)


def saved(model: Any, path: Path) -> dict[str, bytes]:
    model.save(path)
    return {file.name: file.read_bytes() for file in path.iterdir()}


def compressed(path: Path, suffix: str) -> Path:
    target = path.with_name(path.name + suffix)
    target.write_bytes({".gz": gzip.compress, ".xz": lzma.compress}[suffix](path.read_bytes()))
    return target


@pytest.mark.usefixtures("block_bytes")
@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
@pytest.mark.parametrize("header", [True, False])
def test_xmlc(tmp_path: Path, header: bool, suffix: str) -> None:
    path = write_rows(tmp_path / "rows.txt", make_rows(40, 0), header=header)
    X, y = read_xmlc(path)
    store = import_files(compressed(path, suffix) if suffix else path, tmp_path / "s")
    store.verify()
    assert store.shape == X.shape
    assert store.n_labels == y.shape[1]
    assert (store.X != X).nnz == 0
    assert (store.y != y).nnz == 0
    one, other = LabelTreeClassifier(random_state=0), LabelTreeClassifier(random_state=0)
    assert saved(one.fit(store), tmp_path / "a") == saved(other.fit(X, y), tmp_path / "b")


@pytest.mark.usefixtures("block_bytes")
def test_xmlc_in_every_spelling(tmp_path: Path) -> None:
    path = tmp_path / "rows.txt"
    path.write_bytes(b"\xef\xbb\xbf5 9 4\r\n2,1,2 3:1 0:0.5\r\n 1:2\n\n3\n1:7")
    store = import_files(path, tmp_path / "s")
    X, y = read_xmlc(path)
    assert store.shape == (5, 9)
    assert (store.X != X).nnz == 0
    assert (store.y != y).nnz == 0
    assert store.sources == [{"path": str(path), "format": "xmlc", "bytes": path.stat().st_size, "rows": 5}]


@pytest.mark.usefixtures("block_bytes")
def test_libsvm(tmp_path: Path) -> None:
    path = tmp_path / "rows.svm"
    path.write_text("# a comment\n0,2 1:0.5 3:1.5 # here too\n# another\n\n1 2:2\n# the end\n")
    store = import_files(path, tmp_path / "s")
    X, y = read_libsvm(path)
    assert (store.X != X).nnz == 0
    assert (store.y != y).nnz == 0
    one_based = import_files(path, tmp_path / "t", one_based=False, n_features=9, n_labels=7)
    assert one_based.shape == (3, 9)
    assert one_based.n_labels == 7


@pytest.mark.usefixtures("block_bytes")
@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("2 3 2\n0 1:1\n1 7:1\n", 3, r"from 0 to 2 \(the header says 3 features\), got '7'"),
        ("2 3 2\n0 1:1\n", 1, "expected 2 rows, as the header says, got 1"),
        ("0 1:1\n0 2:x\n1 1:1\n", 2, "with a number, got '2:x'"),
        ("", 1, "expected at least one row, got an empty file"),
    ],
)
def test_errors_have_lines_and_leave_no_store(tmp_path: Path, text: str, line: int, message: str) -> None:
    path = tmp_path / "rows.txt"
    path.write_text(text)
    with pytest.raises(DataFormatError, match=message) as raised:
        import_files(path, tmp_path / "s", format="xmlc")
    assert (raised.value.path, raised.value.line) == (str(path), line)
    with pytest.raises(DataFormatError):
        Store(tmp_path / "s")


def expected_tagger(path: Path, vectorizer: TextVectorizer, **columns: Any) -> Any:
    read = read_texts(path, **columns)
    labels = [tuple(row) for row in read.labels]
    return Tagger(LabelTreeClassifier(random_state=0), vectorizer).fit(read.texts, labels).classifier_


@pytest.mark.usefixtures("block_bytes")
def test_json_lines_of_texts(tmp_path: Path) -> None:
    path = write_texts(tmp_path / "texts.jsonl", 50, 0)
    store = import_files(
        compressed(path, ".gz"), tmp_path / "s", vectorizer=TextVectorizer(ngram_range=(1, 2))
    )
    store.verify()
    model = LabelTreeClassifier(random_state=0).fit(store)
    expected = expected_tagger(path, TextVectorizer(ngram_range=(1, 2)))
    assert saved(model, tmp_path / "a") == saved(expected, tmp_path / "b")
    assert Tagger.load(tmp_path / "a").tag("left0 right1") == Tagger.load(tmp_path / "b").tag("left0 right1")


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.usefixtures("block_bytes")
@pytest.mark.parametrize("format", ["csv", "tsv", "fasttext", "parquet", "arrow"])
def test_other_files_of_texts_give_the_same_rows(tmp_path: Path, format: str) -> None:
    rows = records(write_texts(tmp_path / "texts.jsonl", 50, 0))
    for row in rows:
        row["labels"] = [label.replace(" ", "_") for label in row["labels"]]
    lines = tmp_path / "plain.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    path = tmp_path / f"texts.{format}"
    settings: dict[str, Any] = {}
    if format in ("parquet", "arrow"):
        pyarrow = pytest.importorskip("pyarrow")
        from pyarrow import feather, parquet

        table = pyarrow.Table.from_pylist(rows)
        (parquet.write_table if format == "parquet" else feather.write_feather)(table, path)
    elif format == "fasttext":
        path = path.with_suffix(".txt")
        labels = [" ".join(f"__label__{label}" for label in row["labels"]) for row in rows]
        path.write_text("".join(f"{names} {row['text']}\n" for names, row in zip(labels, rows, strict=True)))
    else:
        delimiter = {"csv": ",", "tsv": "\t"}[format]
        fields = [["text", "labels"], *([row["text"], ";".join(row["labels"])] for row in rows)]
        path.write_text("".join(delimiter.join(one) + "\n" for one in fields))
        settings["separator"] = ";"
    store, expected = import_files(path, tmp_path / "s", **settings), import_files(lines, tmp_path / "t")
    assert store.classes.tolist() == expected.classes.tolist()
    for name in ("features.indices.bin", "features.values.bin", "labels.indices.bin", "text.text.bin"):
        assert (store.path / name).read_bytes() == (expected.path / name).read_bytes(), name


def test_columns_and_fields(tmp_path: Path) -> None:
    path = tmp_path / "books.csv"
    path.write_text("title,about,subjects\nSea tales,storms,sea;boat\nCats,fur and claws,cat\n")
    vectorizer = TextVectorizer(fields={"title": 2.0, "about": 1.0})
    store = import_files(path, tmp_path / "s", labels="subjects", separator=";", vectorizer=vectorizer)
    assert store.classes.tolist() == ["boat", "cat", "sea"]
    assert store.vectorizer is not None
    assert store.vectorizer.fields == {"title": 2.0, "about": 1.0}
    rows = store.vectorizer.transform([{"title": "Cats", "about": "fur and claws"}])
    assert (rows != store.X[1]).nnz == 0
    with pytest.raises(DataFormatError, match="expected a column 'summary'"):
        import_files(path, tmp_path / "t", text="summary", labels="subjects")


def test_raw_texts_of_the_repository(tmp_path: Path) -> None:
    path = tmp_path / "trn.json.gz"
    lines = [
        {
            "uid": "a",
            "title": "Sea tales",
            "content": "storms",
            "target_ind": [7, 2],
            "target_rel": [1.0, 1.0],
        },
        {"uid": "b", "title": "Cats", "content": "", "target_ind": [2], "target_rel": [1.0]},
    ]
    path.write_bytes(gzip.compress("".join(json.dumps(line) + "\n" for line in lines).encode()))
    names = tmp_path / "lbl.json.gz"
    titles = [json.dumps({"uid": str(n), "title": f"Label {n}"}) + "\n" for n in range(9)]
    names.write_bytes(gzip.compress("".join(titles).encode()))
    pairs = tmp_path / "filter_labels_train.txt"
    pairs.write_text("1 2\n0 7\n1 2\n")
    store = import_files(path, tmp_path / "s", label_names=names, filter_labels=pairs)
    store.verify()
    assert store.classes.tolist() == [2, 7]
    assert store.label_names == {2: "Label 2", 7: "Label 7"}
    assert store.filtered_pairs.tolist() == [[0, 7], [1, 2]]
    assert store.vectorizer is not None
    assert set(store.vectorizer.get_feature_names_out()) == {"sea", "tales", "storms", "cats"}
    model = LabelTreeClassifier(random_state=0).fit(store)
    assert dict(model.label_names_ or {}) == {2: "Label 2", 7: "Label 7"}
    pairs.write_text("2 7\n")
    with pytest.raises(DataFormatError, match="expected rows from 0 to 1, as the data have, got row 2"):
        import_files(path, tmp_path / "t", filter_labels=pairs)
    pairs.write_text("0 7\n")
    with pytest.raises(FileExistsError, match=r"\(different label names or filter\)"):
        import_files(path, tmp_path / "t", filter_labels=pairs)
    pairs.write_text("one 7\n")
    with pytest.raises(DataFormatError, match="filter_labels_train"):
        import_files(path, tmp_path / "u", filter_labels=pairs)
    assert not (tmp_path / "u").exists()  # found before any row was read


@pytest.mark.usefixtures("block_bytes")
def test_many_files_and_patterns(tmp_path: Path) -> None:
    rows = make_rows(30, 0)
    for name, part in (("b", rows[:10]), ("a", rows[10:15]), ("c", rows[15:])):
        write_rows(tmp_path / f"part-{name}.txt", part)
    compressed(tmp_path / "part-c.txt", ".gz")
    (tmp_path / "part-c.txt").unlink()
    whole = read_xmlc(write_rows(tmp_path / "whole.txt", rows[10:15] + rows[:10] + rows[15:]))
    store = import_files(tmp_path / "part-*", tmp_path / "s")
    assert [source["rows"] for source in store.sources] == [5, 10, 15]
    assert (whole[0] != store.X).nnz == 0
    assert (store.y != whole[1]).nnz == 0
    in_order = import_files([tmp_path / "part-b.txt", tmp_path / "part-a.txt"], tmp_path / "t")
    assert (read_xmlc(write_rows(tmp_path / "w.txt", rows[:15]))[0] != in_order.X).nnz == 0


def test_files_that_do_not_go_together(tmp_path: Path) -> None:
    numbers, texts = write_rows(tmp_path / "a.txt", make_rows(5, 0)), write_texts(tmp_path / "b.jsonl", 5, 0)
    with pytest.raises(
        DataFormatError, match=r"expected rows of numbers, as .*a.txt has, got texts \(jsonl\)"
    ):
        import_files([numbers, texts], tmp_path / "s")
    with pytest.raises(FileNotFoundError, match="no file has a name like"):
        import_files(tmp_path / "*.csv", tmp_path / "s")
    with pytest.raises(ValueError, match="expected every file once"):
        import_files([numbers, tmp_path / "." / ".." / tmp_path.name / "a.txt"], tmp_path / "s")
    with pytest.raises(ValueError, match="write standard input to a file"):
        import_files("-", tmp_path / "s")
    with pytest.raises(ValueError, match="vectorizer is an option for texts"):
        import_files(numbers, tmp_path / "s", vectorizer=TextVectorizer())
    with pytest.raises(ValueError, match="n_labels is an option for rows of numbers"):
        import_files(texts, tmp_path / "s", n_labels=3)
    assert not (tmp_path / "s").exists()


def test_test_rows_are_read_like_training_rows(tmp_path: Path) -> None:
    train, test = write_texts(tmp_path / "a.jsonl", 50, 0), write_texts(tmp_path / "b.jsonl", 9, 1)
    trained = import_files(train, tmp_path / "train")
    model = LabelTreeClassifier(random_state=0).fit(trained)
    like = import_files(test, tmp_path / "test", like=trained)
    assert like.n_features == trained.n_features
    texts = read_texts(test).texts
    assert (model.predict_topk(like).labels == model.predict_topk(texts).labels).all()
    other = import_files(test, tmp_path / "other", vectorizer=TextVectorizer(min_df=2))
    with pytest.raises(ValueError, match="import its texts again with the words of the training rows"):
        model.predict_topk(other)
    rows = import_files(write_rows(tmp_path / "r.txt", make_rows(5, 0)), tmp_path / "rows")
    with pytest.raises(ValueError, match="has rows of numbers: it has no words"):
        import_files(test, tmp_path / "x", like=rows)
    narrow = tmp_path / "narrow.txt"
    narrow.write_text("0 1:1\n")
    assert import_files(narrow, tmp_path / "y", like=rows).shape == (1, 30)


def test_the_same_command_works_once_a_file_is_mended(tmp_path: Path) -> None:
    for name, bad, good in (
        ("rows.txt", "0 0:1\n0 0:x\n", "0 0:1\n0 0:2\n"),
        (
            "texts.jsonl",
            '{"text": "some words", "labels": 1.5}\n',
            '{"text": "some words", "labels": ["a"]}\n',
        ),
    ):
        file, store = tmp_path / name, tmp_path / f"{name}.store"
        file.write_text(bad)
        with pytest.raises(DataFormatError):
            import_files(file, store)
        assert not store.exists()  # no row is safe: nothing is left to resume
        file.write_text(good)
        import_files(file, store).verify()


def test_importing_twice_opens_the_store(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "rows.txt", make_rows(10, 0))
    first = import_files(path, tmp_path / "s")
    before = os.stat(tmp_path / "s" / "features.values.bin").st_mtime_ns
    assert import_files(path, tmp_path / "s").fingerprint == first.fingerprint
    assert os.stat(tmp_path / "s" / "features.values.bin").st_mtime_ns == before
    write_rows(path, make_rows(11, 0))
    with pytest.raises(FileExistsError, match="has a store already"):
        import_files(path, tmp_path / "s")
    assert len(import_files(path, tmp_path / "s", overwrite=True)) == 11


def test_a_file_that_changes_meanwhile_is_noticed(tmp_path: Path) -> None:
    path = write_texts(tmp_path / "a.jsonl", 20, 0)

    def touch(what: str, done: int, total: int) -> None:
        os.utime(path, ns=(1, 1))

    with pytest.raises(DataFormatError, match="the file changed while it was imported"):
        import_files(path, tmp_path / "s", progress=touch)


class Killed(BaseException):
    """What ends an import at some place."""


@pytest.mark.parametrize("kind", ["xmlc", "xmlc.gz", "jsonl", "jsonl.gz"])
def test_an_import_that_is_interrupted_anywhere_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(number_files, "BLOCK_BYTES", 150)
    monkeypatch.setattr(text_files, "BLOCK_BYTES", 300)
    monkeypatch.setattr(writer_module, "CHECKPOINT_BYTES", 100)
    paths = []
    for seed in range(2):
        name = tmp_path / f"{seed}.{'txt' if kind.startswith('xmlc') else 'jsonl'}"
        path = (
            write_rows(name, make_rows(25, seed)) if kind.startswith("xmlc") else write_texts(name, 25, seed)
        )
        paths.append(compressed(path, ".gz") if kind.endswith(".gz") else path)
    calls = []
    whole = files_of(import_files(paths, tmp_path / "whole", progress=lambda *call: calls.append(call)).path)
    assert len(calls) >= 10
    for stop in range(len(calls)):
        n_left = [stop]

        def progress(what: str, done: int, total: int, n_left: list[int] = n_left) -> None:
            if n_left[0] == 0:
                raise Killed
            n_left[0] -= 1

        with pytest.raises(Killed):
            import_files(paths, tmp_path / str(stop), progress=progress)
        again: list[Any] = []
        import_files(paths, tmp_path / str(stop), progress=lambda *call, again=again: again.append(call))
        assert files_of(tmp_path / str(stop)) == whole, stop
        written = [number for number, call in enumerate(calls) if call[0] == "writing rows"]
        if stop in written[2:]:  # something was safe, and is not read again
            assert len([call for call in again if call[0] == "writing rows"]) < len(written)


def test_word_vectors_learn_from_a_store_of_texts(tmp_path: Path) -> None:
    path = write_texts(tmp_path / "a.jsonl", 50, 0)
    read = read_texts(path)
    vectorizer = TextVectorizer()
    X = vectorizer.fit_transform(read.texts)
    expected = ExtremeTextClassifier(random_state=0, dimension=4, epochs=2).fit(X, read.labels)
    expected.vectorizer_ = vectorizer
    model = ExtremeTextClassifier(random_state=0, dimension=4, epochs=2).fit(
        import_files(path, tmp_path / "s")
    )
    assert saved(model, tmp_path / "a") == saved(expected, tmp_path / "b")
