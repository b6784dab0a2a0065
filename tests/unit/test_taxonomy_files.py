"""Taxonomies from tables and SKOS vocabularies."""

from __future__ import annotations

import csv
import gzip
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeltree import DataFormatError
from labeltree.trees import Taxonomy

TURTLE = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix v: <http://example.org/voc/> .
v:10 a skos:Concept ; skos:prefLabel "animals"@en, "Tiere"@de ; skos:narrower v:11 .
v:11 a skos:Concept ; skos:prefLabel "Katze"@de, "cat"@en-GB ; skos:notation "C1" .
v:12 a skos:Concept ; skos:prefLabel "dog" ; skos:notation "C2" ; skos:broader v:10, v:13 .
v:13 a skos:Concept ; skos:prefLabel "Haustier"@de, "animal de compagnie"@fr .
v:14 skos:broader v:13 .
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables")


class TestTable:
    @pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.txt", "t.tsv", "t.TSV"])
    def test_columns_by_their_names(self, tmp_path: Path, name: str) -> None:
        # With a byte order mark, another order, another column, blank lines and Windows' line ends.
        rows = [
            ["Name", "id", "n", "Parent"],
            ["animals", "1", "0", ""],
            [],
            ["big cat", "2", "5", "1"],
            ["", "3", "", "1"],
        ]
        separator = "\t" if name.lower().endswith("tsv") else ","
        text = ("\ufeff" + "".join(separator.join(row) + "\r\n" for row in rows)).encode()
        (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
        taxonomy = Taxonomy.from_csv(tmp_path / name)
        assert taxonomy == Taxonomy([1, 2, 3], [None, 1, 1], ["animals", "big cat", "3"])

    def test_without_names(self, tmp_path: Path) -> None:
        (tmp_path / "t.csv").write_text("parent,id\n,a\na,b\n")
        assert Taxonomy.from_csv(tmp_path / "t.csv") == Taxonomy(["a", "b"], [None, "a"])

    def test_quotes(self, tmp_path: Path) -> None:
        (tmp_path / "t.csv").write_text('id,parent,name\n1,,"cats, and\ndogs"\n2,1,"a ""b"""\n')
        assert Taxonomy.from_csv(tmp_path / "t.csv").names == ["cats, and\ndogs", 'a "b"']
        (tmp_path / "t.tsv").write_text('id\tparent\tname\n1\t\t"Untitled\n2\t1\t15" gun\n')
        assert Taxonomy.from_csv(tmp_path / "t.tsv").names == ['"Untitled', '15" gun']

    def test_root(self, tmp_path: Path) -> None:
        (tmp_path / "t.csv").write_text("id,parent\n4,1\n5,4\n")
        assert Taxonomy.from_csv(tmp_path / "t.csv", root=1).parent.tolist() == [-1, 0]

    @given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0\r")), min_size=1, max_size=5))
    def test_any_name_survives(self, folder: Path, names: list[str]) -> None:
        path = folder / "names.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(
                [("id", "parent", "name"), *((i, "", name) for i, name in enumerate(names))]
            )
        assert Taxonomy.from_csv(path).names == [name.strip() or str(i) for i, name in enumerate(names)]

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "t.csv:1: expected a first line that names the columns, .* got an empty file"),
            ("1,,cat\n", "t.csv:1: expected a first line that names the columns, .* got '1', '', 'cat'"),
            (
                "x" * 9999,
                f"t.csv:1: expected a first line that names the columns, .* got '{'x' * 800}.{{0,199}}…$",
            ),
            ("id,parent\n", "t.csv: expected at least one concept"),
            ("id,parent\n1,\n\n2,1,cat\n", "t.csv:4: expected 2 fields, one for each column, got 3"),
            ('id,parent\n1,\n"2\n"x,1\n', "t.csv:3: this is not CSV"),
            ("id,parent\n1,\n1,\n", "t.csv:3: the id '1' occurs twice"),
            ("id,parent\n1,\n\n2,7\n", "t.csv:4: the parent '7' of '2' is not the id of a concept"),
            (
                "id,parent\n1,\n2,3\n3,2\n",
                "t.csv:3: concepts are below each other in a circle: '2' below '3'",
            ),
            ("id,parent\n1,\n,1\n", "t.csv:3: the id is empty"),
        ],
    )
    def test_mistakes_are_told_with_their_line(self, tmp_path: Path, text: str, message: str) -> None:
        (tmp_path / "t.csv").write_text(text)
        with pytest.raises(DataFormatError, match=message):
            Taxonomy.from_csv(tmp_path / "t.csv")

    def test_not_utf8(self, tmp_path: Path) -> None:
        (tmp_path / "t.csv").write_bytes(b"id,parent\n1,\n2,\xff\n")
        with pytest.raises(DataFormatError, match=r"t\.csv:3: expected UTF-8 text, got the byte 0xff"):
            Taxonomy.from_csv(tmp_path / "t.csv")


class TestSkos:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        (tmp_path / "voc.ttl").write_text(TURTLE, encoding="utf-8")
        return tmp_path / "voc.ttl"

    def test_concepts(self, path: Path) -> None:
        taxonomy = Taxonomy.from_skos(path)
        assert taxonomy.ids == [f"http://example.org/voc/{i}" for i in range(10, 15)]
        # 12 has two broader concepts: the first is kept.
        assert taxonomy.parent.tolist() == [-1, 0, 0, -1, 3]

    @pytest.mark.parametrize(
        ("language", "names"),
        [
            ("en", ["animals", "cat", "dog", "Haustier", "14"]),
            ("de", ["Tiere", "Katze", "dog", "Haustier", "14"]),
            ("FR", ["Tiere", "Katze", "dog", "animal de compagnie", "14"]),
        ],
    )
    def test_languages(self, path: Path, language: str, names: list[str]) -> None:
        assert Taxonomy.from_skos(path, language=language).names == names

    @pytest.mark.parametrize(
        ("labels", "kind"),
        [
            (["http://example.org/voc/11", "http://example.org/voc/12"], "id"),
            ([11, 12], "last part of the URI"),
            (["C1", "C2"], "notation"),
            (["cat", "dog"], "name"),
        ],
    )
    def test_what_labels_may_be(self, path: Path, labels: list[Any], kind: str) -> None:
        taxonomy = Taxonomy.from_skos(path)
        assert taxonomy.concepts_of(labels).tolist() == [1, 2]
        assert taxonomy.matched_by(labels) == kind

    @pytest.mark.parametrize(
        ("ending", "format"), [("rdf", "xml"), ("jsonld", "json-ld"), ("nt", "nt"), ("skos", "turtle")]
    )
    def test_formats(self, path: Path, ending: str, format: str) -> None:
        import rdflib

        other = path.with_suffix(f".{ending}")
        rdflib.Graph().parse(path).serialize(other, format=format, encoding="utf-8")
        assert Taxonomy.from_skos(other) == Taxonomy.from_skos(path)
        plain = other.rename(path.with_suffix(".unknown"))
        assert Taxonomy.from_skos(plain, format=format) == Taxonomy.from_skos(path)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("this is no RDF", r"voc\.ttl: rdflib cannot read this"),
            ("<a:b> <a:c> <a:d> .", r"voc\.ttl: expected resources of the type skos:Concept, got none"),
            (TURTLE + "v:13 skos:broader v:14 .", r"voc\.ttl: concepts are below each other in a circle"),
        ],
    )
    def test_mistakes(self, path: Path, text: str, message: str) -> None:
        path.write_text(text, encoding="utf-8")
        with pytest.raises(DataFormatError, match=message):
            Taxonomy.from_skos(path)

    def test_unknown_format_and_missing_file(self, path: Path) -> None:
        with pytest.raises(ValueError, match="format 'word' is not one that rdflib reads"):
            Taxonomy.from_skos(path, format="word")
        with pytest.raises(FileNotFoundError):
            Taxonomy.from_skos(path.with_suffix(".gone"))

    def test_without_rdflib(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "rdflib", None)
        with pytest.raises(ImportError, match=r"pip install 'labeltree\[skos\]'"):
            Taxonomy.from_skos(path)
