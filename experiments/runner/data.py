"""The files of the data sets, whole or their first rows."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

from benchmarks.data import prepare

FOLDER = Path(__file__).parent.parent.parent / "build" / "experiments"


def files_of(data: str, n_rows: int | None = None) -> tuple[Path, Path]:
    """The training and the test file of a set, with the first `n_rows` training rows only if that is given."""
    train, test = prepare(data)
    return (train if n_rows is None else _beginning(train, n_rows)), test


def _beginning(train: Path, n_rows: int) -> Path:
    path = FOLDER / "inputs" / f"{train.resolve().parent.name}-{n_rows}" / "train.txt"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(f".unfinished-{os.getpid()}")
        with open(train, "rb") as source, open(unfinished, "wb") as target:
            n_all, n_features, n_labels = map(int, next(source).split())
            target.write(f"{min(n_rows, n_all)} {n_features} {n_labels}\n".encode())
            target.writelines(islice(source, n_rows))
        unfinished.rename(path)
    return path
