"""Data sets with development rows: what defaults are chosen on, so that test rows stay unseen."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from benchmarks import data
from benchmarks.data_sets import catalogues, debian, git_history, pypi, wordnet
from benchmarks.data_sets.features import DEV_EVERY, Example, split, write_parts
from labeltree.data import read_xmlc, write_xmlc

#: The sets that are made of texts, by name. Their sources are downloaded, or lie in LABELTREE_DATA.
SETS: dict[str, Callable[[], dict[str, list[Example]]]] = {
    "eurlex57k": lambda: catalogues.eurlex57k(data.sources() / "eurlex57k"),
    "tate": lambda: catalogues.tate(data.sources() / "tate"),
    "debian-depends": lambda: split(debian.dependencies()),
    "debian-tags": lambda: split(debian.tags()),
    "wordnet-words": lambda: split(wordnet.words()),
    "wordnet-hypernyms": lambda: split(wordnet.hypernyms()),
}


@dataclass(frozen=True)
class Parts:
    """The files of a set; no row of `dev` or `test` is in `train`."""

    name: str
    train: Path
    dev: Path
    test: Path

    @classmethod
    def of(cls, folder: Path) -> Parts:
        return cls(folder.name, *(folder / f"{part}.txt" for part in ("train", "dev", "test")))

    @property
    def are_there(self) -> bool:
        return self.train.exists() and self.dev.exists() and self.test.exists()


def prepare_parts(name: str) -> Parts:
    """The files of a set, made on first use.

    `name` is a folder with train.txt, dev.txt and test.txt, a name in `SETS`, or a name that `benchmarks.data.prepare`
    knows; of the latter every tenth training row is a development row. ``NAME=PATH`` makes a set of this name from a
    git repository (commit messages and the files that they change) or from a file that `benchmarks.data_sets.pypi` has
    downloaded.
    """
    if (given := Parts.of(Path(name))).are_there:
        return given
    name, _, source = name.partition("=")
    parts = Parts.of(data.CACHE / "development" / name)
    if not parts.are_there:
        print(f"making {name}", file=sys.stderr, flush=True)
        if source:
            write_parts(parts.train.parent, split(_examples(Path(source))))
        elif name in SETS:
            write_parts(parts.train.parent, SETS[name]())
        else:
            _hold_out(parts, *data.prepare(name))
    return parts


def keep_rows(parts: Parts, n_rows: int) -> Parts:
    """The set with `n_rows` of its training rows, drawn at random, and with their labels only."""
    X, y = read_xmlc(parts.train)
    if n_rows >= X.shape[0]:
        return parts
    kept = Parts.of(data.CACHE / "development" / f"{parts.name}-{n_rows}-rows")
    if not kept.are_there:
        drawn = np.sort(np.random.default_rng(0).permutation(X.shape[0])[:n_rows])
        others = {part: _read(getattr(parts, part), X, y) for part in ("test", "dev")}
        _write(kept, {**others, "train": (X[drawn], y[drawn])})
    return kept


def _examples(source: Path) -> Any:
    return git_history.changed_files(source) if source.is_dir() else pypi.read_packages(source)


def _hold_out(parts: Parts, train: Path, test: Path) -> None:
    X, y = read_xmlc(train)
    is_dev = np.arange(X.shape[0]) % DEV_EVERY == 0
    _write(
        parts,
        {"test": _read(test, X, y), "dev": (X[is_dev], y[is_dev]), "train": (X[~is_dev], y[~is_dev])},
    )


def _read(path: Path, X: csr_matrix, y: csr_matrix) -> tuple[csr_matrix, csr_matrix]:
    """The rows of a file, with the columns of the training rows."""
    return read_xmlc(path, n_features=X.shape[1], n_labels=y.shape[1])


def _write(parts: Parts, rows: dict[str, tuple[csr_matrix, csr_matrix]]) -> None:
    """Write the labels of training rows and the rows that have one; train.txt comes last."""
    seen = np.unique(rows["train"][1].indices)
    parts.train.parent.mkdir(parents=True, exist_ok=True)
    for part, (X, y) in rows.items():
        y = y[:, seen]
        used = (np.diff(X.indptr) > 0) & (np.diff(y.indptr) > 0)
        write_xmlc(getattr(parts, part), X[used], y[used])
