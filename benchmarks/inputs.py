"""The data in the forms that systems without a reader of the text format need, made once and kept."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from benchmarks.data import CACHE
from labeltree.data import read_xmlc


class Inputs:
    """The files made of one training and one test file."""

    def __init__(self, train: Path, test: Path) -> None:
        self.train = train.resolve()
        self.test = test.resolve()
        with open(self.train, "rb") as lines:
            self.n_rows, self.n_features, self.n_labels = map(int, next(lines).split())

    def path(self, form: str) -> Path:
        """The training file in a form of `FORMS`."""
        name, write = FORMS[form]
        return _kept(self.train, name, lambda path: write(self, path))

    def test_features(self) -> Path:
        """The rows of the test file, for all systems; reading them is not measured."""
        return _kept(self.test, "test_features.npz", lambda path: _save(path, self.read_test()[0]))

    def read_test(self) -> tuple[Any, Any]:
        return read_xmlc(self.test, n_features=self.n_features, n_labels=self.n_labels)


def _kept(source: Path, name: str, write: Callable[[Path], None]) -> Path:
    """Return the path of a file made from `source`, and write the file again if `source` has changed."""
    facts = source.stat()
    folder = CACHE / "inputs" / f"{source.parent.name}-{source.stem}-{facts.st_size}-{facts.st_mtime_ns}"
    path = folder / name
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = folder / f"unfinished-{os.getpid()}-{name}"
        write(unfinished)
        unfinished.rename(path)
    return path


def _save(path: Path, matrix: Any) -> None:
    sp.save_npz(path, matrix, compressed=False)


def _save_features(inputs: Inputs, path: Path) -> None:
    # Those who take matrices take them as they are; the others scale rows to unit length by themselves.
    _save(path, normalize(read_xmlc(inputs.train)[0], copy=False))


def _save_labels(inputs: Inputs, path: Path) -> None:
    _save(path, read_xmlc(inputs.train)[1])


def _save_vowpalwabbit(inputs: Inputs, path: Path) -> None:
    with open(path, "wb") as out:
        for labels, features in rows(inputs.train):
            out.write(labels + b" | " + features + b"\n")


def _save_fasttext(inputs: Inputs, path: Path) -> None:
    values = re.compile(rb":\S+")
    with open(path, "wb") as out:
        for labels, features in rows(inputs.train):
            out.write(_named(labels) + b" " + values.sub(b"", features) + b"\n")


def _save_extremetext(inputs: Inputs, path: Path) -> None:
    # As fastText, but words may have weights.
    with open(path, "wb") as out:
        for labels, features in rows(inputs.train):
            if labels:  # it cannot learn from a row without any
                out.write(_named(labels) + b" " + features + b"\n")


def _save_stream(inputs: Inputs, path: Path) -> None:
    with open(inputs.train, "rb") as lines:
        header, *shuffled = (line.rstrip(b"\n") + b"\n" for line in lines)
    with open(path, "wb") as out:
        out.write(header)
        out.writelines(shuffled[i] for i in np.random.default_rng(0).permutation(len(shuffled)))


def _named(labels: bytes) -> bytes:
    return b" ".join(b"__label__" + label for label in labels.split(b",") if label)


def rows(path: Path) -> Iterator[tuple[bytes, bytes]]:
    """The labels and the features of every row, as the file has them."""
    with open(path, "rb") as lines:
        next(lines)
        for line in lines:
            labels, _, features = line.rstrip().partition(b" ")
            if b":" in labels:  # a row without labels may begin with its first feature
                labels, features = b"", line.rstrip()
            yield labels, features


#: The forms: a file name and what writes it.
FORMS: dict[str, tuple[str, Callable[[Inputs, Path], None]]] = {
    "features": ("features.npz", _save_features),
    "labels": ("labels.npz", _save_labels),
    "vowpalwabbit": ("train.vw", _save_vowpalwabbit),
    "fasttext": ("train.fasttext", _save_fasttext),
    "extremetext": ("train.extremetext", _save_extremetext),
    "stream": ("stream.txt", _save_stream),
}
