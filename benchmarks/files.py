"""How fast files are read and models opened.

python -m benchmarks.files eurlex57k
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from benchmarks.data import prepare
from labeltree import LabelTreeClassifier
from labeltree.data import read_xmlc


def best_of(repeat: int, action: Callable[[], Any]) -> float:
    """The shortest time of an action, in seconds."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def reading(train: Path, folder: Path) -> None:
    plain = folder / "plain.txt"  # scikit-learn knows no header
    plain.write_bytes(train.read_bytes().split(b"\n", 1)[1])
    megabytes = plain.stat().st_size / 1e6
    theirs = best_of(1, lambda: load_svmlight_file(plain, multilabel=True, zero_based=True))
    print(f"reading {megabytes:.0f} MB: scikit-learn {megabytes / theirs:.0f} MB/s")
    for threads in (1, 2):
        ours = best_of(4, lambda threads=threads: read_xmlc(plain, n_jobs=threads))
        print(
            f"  read_xmlc, {threads} thread(s): {megabytes / ours:.0f} MB/s, {theirs / ours:.0f} times as fast"
        )


def opening(folder: Path) -> None:
    rng = np.random.default_rng(0)
    n_rows, per_row = 20_000, 3
    X = sp.random(n_rows, 5_000, 0.004, "csr", dtype=np.float32, random_state=0)
    for n_labels in (100_000, 1_000_000):
        columns = rng.integers(0, n_labels, n_rows * per_row)
        y = sp.coo_matrix(
            (np.ones(len(columns)), (np.repeat(np.arange(n_rows), per_row), columns)), (n_rows, n_labels)
        )
        model = LabelTreeClassifier(n_jobs=-1, random_state=0, max_iter=2).fit(
            X, (y.tocsr() > 0).astype(np.float32)
        )
        path = folder / str(n_labels)
        model.save(path)
        seconds = best_of(5, lambda path=path: LabelTreeClassifier.load(path))
        print(f"opening a model of {n_labels:,} labels: {seconds * 1e3:.1f} ms")


def main(names: list[str]) -> None:
    warnings.simplefilter("ignore")  # two passes over random data leave little to keep
    train, _ = prepare(names[0] if names else "eurlex57k")
    with tempfile.TemporaryDirectory() as folder:
        reading(train, Path(folder))
        opening(Path(folder))


if __name__ == "__main__":
    main(sys.argv[1:])
