"""The files of the data sets, whole or their first rows."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

from benchmarks.data import prepare

FOLDER = Path(__file__).parent.parent.parent / "build" / "experiments"


#: Every tenth training row is a development row.
DEV_EVERY = 10


def files_of(data: str, n_rows: int | None = None, part: str = "test") -> tuple[Path, Path]:
    """The training and the test file of a set, with the first `n_rows` training rows only if that is given.

    For the `part` "dev" the training file is split in two: what is left, and the development rows.
    """
    train, test = prepare(data)
    if n_rows is not None:
        train = _beginning(train, n_rows)
    return (train, test) if part == "test" else _without_dev(train)


def _without_dev(train: Path) -> tuple[Path, Path]:
    folder = FOLDER / "inputs" / f"{train.resolve().parent.name}-dev"
    files = folder / "train.txt", folder / "test.txt"
    if not files[0].exists():  # comes last
        folder.mkdir(parents=True, exist_ok=True)
        with open(train, "rb") as source:
            n_all, n_features, n_labels = map(int, next(source).split())
            n_dev = -(-n_all // DEV_EVERY)
            unfinished = [path.with_suffix(f".unfinished-{os.getpid()}") for path in files]
            with open(unfinished[0], "wb") as kept, open(unfinished[1], "wb") as dev:
                kept.write(f"{n_all - n_dev} {n_features} {n_labels}\n".encode())
                dev.write(f"{n_dev} {n_features} {n_labels}\n".encode())
                for row, line in enumerate(source):
                    (kept if row % DEV_EVERY else dev).write(line)
        for path, target in zip(reversed(unfinished), reversed(files), strict=True):
            path.rename(target)
    return files


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
