"""Data files of every format: wrong ones are refused by line, right ones are read, and written and read again alike."""

from __future__ import annotations

import gzip
import json
import lzma
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from tests.fuzz.mutation import NUMBERS, mutate_bytes, random_text
from tests.fuzz.target import Case, Target, is_refusal, pattern

from labeltree import LabelTree
from labeltree.data import (
    read_libsvm,
    read_stream,
    read_texts,
    read_word_vectors,
    read_xmlc,
    write_libsvm,
    write_word_vectors,
    write_xmlc,
)
from labeltree.data.formats import FORMATS
from labeltree.labels.name_file import NameFile
from labeltree.trees import Taxonomy
from labeltree.tuning import read_parameters

OPTIONS = "options.json"
#: No user reads more characters of an error.
LONGEST_MESSAGE = 5000
XMLC = b"3 6 4\n0,2 1:0.5 3:1.5\n 0:2\n1,3 5:-1e-3 4:.25\n"
LIBSVM = b"# rows\n0,2 1:0.5 3:1.5\n1 2:2 # end\n3,1 6:1e5\n"
JSONL = (
    b'{"text": "A boat at sea", "labels": ["sea", "boat"]}\n'
    b'{"text": "\\u00e9t\\u00e9 \\ud83d\\ude00", "labels": []}\n'
)
FEATURES = b'{"features": {"height": 2.5, "kind": "cat"}, "labels": ["a"]}\n{"features": {}, "labels": []}\n'
FASTTEXT = "__label__sea __label__boat A fishing boat\nA blank page\n__label__été déjà vu\n".encode()
TEXTS_TABLE = b'nr,text,labels\n1,"A ""boat"", old",sea; boat\n2,"two\nlines",\n'
TABLE = b'id,parent,name\n1,,all\n2,1,"sea, old"\n3,1,boat\n4,2,wave\n'
TTL = b"""@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
<http://x/a> a skos:Concept ; skos:prefLabel "A"@en ; skos:notation "1" .
<http://x/b> a skos:Concept ; skos:broader <http://x/a> ; skos:prefLabel "B"@en, "b"@de .
"""
RDF = b"""<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
xmlns:skos="http://www.w3.org/2004/02/skos/core#"><skos:Concept rdf:about="http://x/a"/>
<skos:Concept rdf:about="http://x/b"><skos:broader rdf:resource="http://x/a"/></skos:Concept></rdf:RDF>
"""
VECTORS = b"3 2\nsea 0.5 1\nboat 0 -1.5\nold man 1e-3 2\n"
BINARY_VECTORS = b"2 2\nsea " + np.float32([0.5, 1]).tobytes() + b"\nboat " + np.float32([0, -1.5]).tobytes()
TREE = b'{"parent": [-1, 0, 0, 1, 1], "label": [-1, -1, 2, 0, 1]}'
PARAMETERS = b'{"loss": "logistic", "C": 4.0, "n_trees": 2, "tree": "kmeans", "arity": 3}'

#: Names of files, by whose endings readers know formats, and what they have.
SEEDS = {
    "rows.txt": XMLC,
    "rows.svm": LIBSVM,
    "texts.jsonl": JSONL,
    "features.jsonl": FEATURES,
    "texts.ft": FASTTEXT,
    "texts.csv": TEXTS_TABLE,
    "texts.tsv": TEXTS_TABLE.replace(b",", b"\t"),
    "concepts.csv": TABLE,
    "concepts.tsv": TABLE.replace(b",", b"\t"),
    "concepts.ttl": TTL,
    "concepts.rdf": RDF,
    "vectors.txt": VECTORS,
    "vectors.bin": BINARY_VECTORS,
    "tree.json": TREE,
    "nested.json": b"[[0, 1], [2, [3, 4]], 5]",
    "parameters.json": PARAMETERS,
    "names.txt": "sea\nboat\n\nété\n".encode(),
    "names.csv": b'label,name\n0,sea\n1,"boat, big"\n',
    "names.tsv": "<0>\tété\tA.1\n1\tboat\n".encode(),
}
#: Parts of lines that readers must tell from each other.
FRAGMENTS = [
    *(b"0", b"1", b"007", b"2147483646", b"2147483647", b"2147483648", b"9" * 20, b"1" * 5000),
    *(
        b":",
        b",",
        b" ",
        b"\t",
        b"\n",
        b"\r\n",
        b"\r",
        b"#",
        b"-",
        b"+",
        b".",
        b"e",
        b"\0",
        b"\xc3",
        b"\xef\xbb\xbf",
    ),
    *(b"0.5", b"1e-3", b"1e39", b"1e-60", b"nan", b"inf", b"0x10", b"1e", b"1:0.5 ", b"2 9 9\n", b"3 0 0\n"),
    *(
        b'{"text": ',
        b'"labels": []}',
        b"[" * 2000,
        b'{"a":' * 2000,
        b'"\\ud800"',
        b"\\u0000",
        b"1" * 5000,
        b"__label__",
    ),
    *(b'"', b'""', b"id,parent\n", b"1,1,x\n", b"@en", b"<http://x/a>", b"skos:broader", b"<!ENTITY x 'y'>"),
]
COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda content: gzip.compress(content, mtime=0),
    ".xz": lzma.compress,
    ".zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}


class DataFiles(Target):
    """Reads mutated files with every reader, and compares what was read with what is read after writing it."""

    def seeds(self) -> list[Case]:
        return [{name: content, OPTIONS: b"{}"} for name, content in SEEDS.items()]

    def make(self, rng: random.Random, corpus: list[Case]) -> Case:
        name, content = _file_of(rng.choice(corpus))
        for suffix in COMPRESSIONS:
            name = name.removesuffix(suffix)
        for _ in range(rng.choice([0, 1, 1, 3])):
            at = rng.randrange(len(content) + 1)
            content = content[:at] + rng.choice(FRAGMENTS) + content[at + rng.choice([0, 0, 1, 8]) :]
        if rng.random() < 0.6:
            content = mutate_bytes(rng, content, [_file_of(rng.choice(corpus))[1]])
        if rng.random() < 0.05:
            name = rng.choice(list(SEEDS))
        content = content[:20_000]
        if rng.random() < 0.2:
            suffix, compress = rng.choice(list(COMPRESSIONS.items()))
            name, content = name + suffix, compress(content)
            if rng.random() < 0.7:
                content = mutate_bytes(rng, content)
        options = {
            "one_based": rng.random() < 0.3,
            "header": rng.choice(["auto", True, False]),
            "n_features": rng.choice([None, None, None, 0, 3, 2**31 - 1, 2**31, rng.choice(NUMBERS[:20])]),
            "n_labels": rng.choice([None, None, None, 0, 2, 2**31 - 1]),
            "n_jobs": rng.choice([1, 3]),
            "batch_size": rng.choice([1, 2, 1000]),
            "label_prefix": rng.choice(["__label__", "__label__", "#", random_text(rng, 3) or "x"]),
            "skip_bad_lines": rng.random() < 0.5,
            "max_words": rng.choice([None, 1, 2]),
        }
        return {name: content, OPTIONS: json.dumps(options).encode()}

    def run(self, case: Case) -> str:
        name, content = _file_of(case)
        options: dict[str, Any] = {**DEFAULTS, **json.loads(case[OPTIONS])}
        path = self.folder / name
        path.write_bytes(content)
        outcomes = []
        try:
            for reader in readers_for(name):
                try:
                    outcomes.append(f"{reader.__name__} {reader(path, options)}")
                except ValueError as error:
                    if not is_refusal(error):
                        raise
                    if len(str(error)) > LONGEST_MESSAGE:
                        raise AssertionError(f"a message of {len(str(error))} characters") from error
                    outcomes.append(f"{reader.__name__} {pattern(str(error).removeprefix(str(path)))}")
        finally:
            path.unlink()
        return "read: " + "; ".join(outcomes)


DEFAULTS = {
    "one_based": False,
    "header": "auto",
    "n_features": None,
    "n_labels": None,
    "n_jobs": 1,
    "batch_size": 2,
    "label_prefix": "__label__",
    "skip_bad_lines": False,
    "max_words": None,
}


def _file_of(case: Case) -> tuple[str, bytes]:
    return next((name, content) for name, content in case.items() if name != OPTIONS)


def readers_for(name: str) -> list[Callable[[Path, dict[str, Any]], str]]:
    """Return the readers that a file with this name may be given to."""
    stem = name.partition(".")[0]
    if stem in ("rows", "texts", "features"):
        return [rows, libsvm_rows, texts, fasttext, stream, names]
    if stem == "concepts":
        return [taxonomy, names]
    if stem == "vectors":
        return [word_vectors]
    return {"tree": [tree], "nested": [tree], "parameters": [parameters]}.get(stem, [names])


def rows(path: Path, options: dict[str, Any]) -> str:
    chosen = {key: options[key] for key in ("one_based", "header", "n_features", "n_labels", "n_jobs")}
    X, y = read_xmlc(path, **chosen)
    check_rows(X, y)
    again = path.with_name("again.xmlc")
    write_xmlc(again, X, y)
    X_again, y_again = read_xmlc(again)
    assert _is_same(X, X_again), "written and read again, X differs"
    assert _is_same(y, y_again), "written and read again, y differs"
    return "well"


def libsvm_rows(path: Path, options: dict[str, Any]) -> str:
    chosen = {key: options[key] for key in ("one_based", "n_features", "n_labels", "n_jobs")}
    X, y = read_libsvm(path, **chosen)
    check_rows(X, y)
    again = path.with_name("again.svm")
    write_libsvm(again, X, y)
    X_again, y_again = read_libsvm(again, n_features=X.shape[1], n_labels=y.shape[1])
    assert _is_same(X, X_again), "written and read again, X differs"
    assert _is_same(y, y_again), "written and read again, y differs"
    return "well"


def check_rows(X: Any, y: Any) -> None:
    X.check_format()
    y.check_format()
    assert np.isfinite(X.data).all()
    assert (y.data == 1).all()
    assert X.shape[0] == y.shape[0]
    assert X.has_sorted_indices
    assert y.has_sorted_indices


def texts(path: Path, options: dict[str, Any]) -> str:
    read_texts(path, labels=None if options["one_based"] else "labels", separator=";", id=None)
    return "well"


def fasttext(path: Path, options: dict[str, Any]) -> str:
    read_texts(path, format="fasttext", label_prefix=options["label_prefix"])
    return "well"


def stream(path: Path, options: dict[str, Any]) -> str:
    chosen = {key: options[key] for key in ("batch_size", "label_prefix", "skip_bad_lines")}
    if options["skip_bad_lines"]:
        chosen["format"] = random.Random(str(options)).choice(["auto", *FORMATS])
    examples = read_stream(path, **chosen)
    n = 0
    for X, y in examples:
        assert (len(X) if isinstance(X, list) else X.shape[0]) == len(y)
        n += len(y)
    assert n == examples.n_examples
    return f"{examples.format} {examples.n_bad_lines > 0}"


def names(path: Path, options: dict[str, Any]) -> str:
    NameFile.read(path).names_of(range(2))
    return "well"


def taxonomy(path: Path, options: dict[str, Any]) -> str:
    found = Taxonomy.from_skos(path) if path.suffix in (".ttl", ".rdf") else Taxonomy.from_csv(path)
    concepts = list(found.ids)[:50]
    found.label_tree(concepts).to_nested()
    found.names_of(concepts)
    return f"{min(len(found), 9)}"


def word_vectors(path: Path, options: dict[str, Any]) -> str:
    found = read_word_vectors(path, max_words=options["max_words"])
    assert np.isfinite(found.values).all()
    assert len(found.words) == len(found.values)
    again = path.with_name("again.txt")
    try:
        write_word_vectors(again, found.words, found.values)
    except ValueError as error:
        if not is_refusal(error):  # a word with a line break, from a binary file
            raise
        return "not written"
    if not all(_is_plain(word) for word in found.words):
        return "well"
    read_again = read_word_vectors(again)
    assert read_again.words == found.words
    np.testing.assert_array_equal(read_again.values, found.values)
    return "well"


def _is_plain(word: str) -> bool:
    return word.isascii() and word.isalnum()


def tree(path: Path, options: dict[str, Any]) -> str:
    found = LabelTree.from_json(path.read_bytes())
    again = LabelTree.from_json(found.to_json())
    assert again.to_json() == found.to_json()
    return f"{min(found.n_labels, 9)}"


def parameters(path: Path, options: dict[str, Any]) -> str:
    return str(sorted(read_parameters(path)))


def _is_same(one: Any, other: Any) -> bool:
    if one.shape != other.shape or one.nnz != other.nnz:
        return False
    return bool(
        (one.indptr == other.indptr).all()
        and (one.indices == other.indices).all()
        and one.data.tobytes() == other.data.tobytes()
    )
