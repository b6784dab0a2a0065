"""The files and the data that pages take for granted, small and made up: what a reader of the page would have."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from tests.documents import documents
from tests.labelled_texts import labelled_texts

import labeltree.datasets
import labeltree.tuning
from labeltree import LabelTreeClassifier
from labeltree.data import write_xmlc

Names = dict[str, Any]
SKOS = "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"


def write_lines(name: str, lines: list[str]) -> None:
    Path(name).write_text("\n".join([*lines, ""]), encoding="utf-8")


def write_vectors(name: str) -> None:
    """Vectors of a few words, in the text format of GloVe."""
    words = sorted({word for text in labelled_texts(50)[0] for word in text.lower().strip(".").split()})
    write_lines(name, [f"{word} {len(word)} {i % 3} {i % 7} 1" for i, word in enumerate(words)])


def trees(names: Names, monkeypatch: pytest.MonkeyPatch) -> Names:
    write_lines("topics.csv", ["id,parent,name", "1,,animals", "2,1,cat", "3,1,dog"])
    broader = "<http://x/2> a skos:Concept ; skos:broader <http://x/1> .\n"
    Path("thesaurus.ttl").write_text(f"{SKOS}<http://x/1> a skos:Concept .\n{broader}", encoding="utf-8")
    pytest.importorskip("rdflib")
    pytest.importorskip("matplotlib")
    return names


def text_features(names: Names, monkeypatch: pytest.MonkeyPatch) -> Names:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("snowballstemmer")
    pytest.importorskip("stop_words")
    write_vectors("glove.6B.300d.txt")
    texts, labels = labelled_texts(200, seed=1)
    tags = [["boat" if label == "sea" else label for label in row] for row in labels]
    frame = pandas.DataFrame(
        {"title": texts, "abstract": texts, "subjects": ["; ".join(labels) for labels in tags]}
    )
    valid = {"texts_valid": texts[150:], "tags_valid": tags[150:]}
    return {**names, "texts": texts, "tags": tags, **valid, "new_texts": texts[:3], "frame": frame}


def stores(names: Names, monkeypatch: pytest.MonkeyPatch) -> Names:
    def batch(n_rows: int) -> tuple[sp.csr_matrix, sp.csr_matrix]:
        return sp.csr_matrix(([1.0], ([0], [5])), (n_rows, 1_000_000)), sp.csr_matrix((n_rows, 500_000))

    return {**names, "batches": [batch(1000), batch(1000)]}


def label_names(names: Names, monkeypatch: pytest.MonkeyPatch) -> Names:
    pytest.importorskip("rdflib")
    concepts = [
        f'<http://x/{label}> a skos:Concept ; skos:prefLabel "name {label}"@en .' for label in range(40)
    ]
    write_lines("eurovoc.ttl", [SKOS, *concepts])
    return names


def online_learning(names: Names, monkeypatch: pytest.MonkeyPatch) -> Names:
    X, y = names["X_train"], names["y_train"]
    earlier = {"X_earlier": X[:400], "y_earlier": y[:400]}
    later = [(X[begin : begin + 100], y[begin : begin + 100]) for begin in range(400, 700, 100)]
    some = {
        f"tree_{seed}": LabelTreeClassifier(random_state=seed, tree="random").build_tree(X, y)
        for seed in (1, 2, 3)
    }
    return {**names, **earlier, **some, "batches": later}


@dataclass
class SmallCatalogue:
    """Stands for the bundled catalogue, with fewer words and subjects."""

    def to_matrices(self) -> tuple[Any, ...]:
        X, y = documents(10_300, n_words=100, n_labels=30)
        return X[:10_000], y[:10_000], X[10_000:], y[10_000:], [], []


def mixing(names: Names, monkeypatch: pytest.MonkeyPatch) -> Names:
    monkeypatch.setattr(labeltree.datasets, "load_tate", SmallCatalogue)
    return names


def data_formats(names: Names, monkeypatch: pytest.MonkeyPatch) -> Names:
    """Files of all formats; the synthetic set of the page is written with a thousandth of its labels."""
    write_lines("records.csv", ["nr,title,abstract,subjects", "7,A boat,Boats at sea,sea; boat"])
    write = labeltree.datasets.write_extreme
    monkeypatch.setattr(
        labeltree.datasets,
        "write_extreme",
        lambda folder, n_labels, **options: write(folder, n_labels // 1000, **options),
    )
    Path("train.txt.gz").write_bytes(gzip.compress(Path("train.txt").read_bytes()))
    row = json.dumps({"text": "A fishing boat", "labels": ["boat"]})
    Path("examples.jsonl.gz").write_bytes(gzip.compress(f"{row}\n".encode() * 3))
    return names


def word_vectors(names: Names, monkeypatch: pytest.MonkeyPatch) -> Names:
    write_vectors("wiki.en.vec")
    write_xmlc("rows.txt", names["X_train"], names["y_train"])
    return names


def dense_features(names: Names, monkeypatch: pytest.MonkeyPatch) -> Names:
    random = np.random.default_rng(0)
    parts = {"tfidf": names["X"], "tfidf_test": names["X_test"]}
    parts |= {
        name.replace("tfidf", "embeddings"): random.normal(size=(part.shape[0], 8))
        for name, part in parts.items()
    }
    return {**names, **parts}


def tuning(names: Names, monkeypatch: pytest.MonkeyPatch) -> Names:
    """The search has a hundredth of the page's time."""
    search = labeltree.tuning.tune
    monkeypatch.setattr(
        labeltree.tuning,
        "tune",
        lambda *data, budget, **options: search(*data, budget=budget / 100, **options),
    )
    return names


#: Pages that need more than the usual names.
PREPARED: dict[str, Callable[[Names, pytest.MonkeyPatch], Names]] = {
    "docs/trees.md": trees,
    "docs/text-features.md": text_features,
    "docs/stores.md": stores,
    "docs/label-names.md": label_names,
    "docs/online-learning.md": online_learning,
    "docs/mixing.md": mixing,
    "docs/data-formats.md": data_formats,
    "docs/word-vectors.md": word_vectors,
    "docs/dense-features.md": dense_features,
    "docs/tuning.md": tuning,
}
