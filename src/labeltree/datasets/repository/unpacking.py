"""From an archive to train.txt and test.txt."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labeltree.errors import DownloadError

from .archive import open_archive
from .catalogue import Halves, RepositorySet

TRAIN, TEST = "train.txt", "test.txt"


def unpack(path: Path, data_set: RepositorySet, folder: Path) -> None:
    """Write ``train.txt`` and ``test.txt`` of an archive into a folder.

    Raises
    ------
    DownloadError
        When it is no archive, is damaged or hostile, or holds something else than this data set.
    """
    with open_archive(path) as archive:
        for layout in data_set.layouts:
            if archive.has(*layout.members):
                break
        else:
            wanted = " or ".join(" and ".join(layout.members) for layout in data_set.layouts)
            found = ", ".join(archive.names[:10]) or "nothing"
            raise DownloadError(f"expected {wanted} in the archive, got {found}")
        if isinstance(layout, Halves):
            archive.extract(layout.train, folder / TRAIN)
            archive.extract(layout.test, folder / TEST)
        else:
            rows, train, test = folder / "rows", folder / "train-numbers", folder / "test-numbers"
            for member, part in zip(layout.members, (rows, train, test), strict=True):
                archive.extract(member, part)
            _split(rows, train, test, folder)
    _check_header(folder / TRAIN, data_set, data_set.n_train)
    _check_header(folder / TEST, data_set, data_set.n_test)


def _split(rows_path: Path, train_path: Path, test_path: Path, folder: Path) -> None:
    """Write the rows of the first split; each column of the files of numbers, which count from 1, is one."""
    header, *rows = rows_path.read_bytes().replace(b"\r\n", b"\n").removesuffix(b"\n").split(b"\n")
    columns = header.split()[1:]
    for numbers_path, name in ((train_path, TRAIN), (test_path, TEST)):
        numbers = _first_column(numbers_path)
        if not len(numbers) or numbers.min() < 1 or numbers.max() > len(rows):
            raise DownloadError(f"the archive is damaged: the split of {len(rows):,} rows has other numbers")
        with open(folder / name, "wb") as file:
            file.write(b" ".join([b"%d" % len(numbers), *columns]) + b"\n")
            file.writelines(rows[number - 1] + b"\n" for number in numbers)


def _first_column(path: Path) -> NDArray[np.int64]:
    try:
        lines = path.read_text(encoding="ascii").splitlines()
        return np.array([int(line.split(maxsplit=1)[0]) for line in lines if line.strip()], dtype=np.int64)
    except (ValueError, OverflowError) as error:
        raise DownloadError(f"the archive is damaged: expected numbers of rows, but: {error}") from None


def _check_header(path: Path, data_set: RepositorySet, n_rows: int) -> None:
    """See that the rows are those of the set: addresses have been mixed up before."""
    with open(path, "rb") as file:
        header = file.readline(100)
    expected = [n_rows, data_set.n_features, data_set.n_labels]
    if header.split() != [b"%d" % number for number in expected]:
        raise DownloadError(
            f"the archive has another data set: expected {path.name} to begin with '{' '.join(map(str, expected))}' "
            f"(rows, features and labels of {data_set.title}), got {header[:60].rstrip()!r}"
        )
