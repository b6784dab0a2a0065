"""Unpacks the archive of a data set into train.txt and test.txt."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labeltree.errors import DownloadError

from .archive import open_archive
from .catalogue import Halves, RepositorySet, SplitRows

TRAIN, TEST = "train.txt", "test.txt"


def unpack(path: Path, data_set: RepositorySet, folder: Path) -> None:
    """Extract ``train.txt`` and ``test.txt`` from an archive into a folder.

    Raises
    ------
    DownloadError
        If the file is not an archive, is damaged or malicious, or holds another data set.
    """
    with open_archive(path) as archive:
        layout = next((files for files in data_set.layouts if set(files) <= set(archive.names)), None)
        if layout is None:
            expected = " or ".join(" and ".join(files) for files in data_set.layouts)
            found = ", ".join(archive.names[:10]) or "nothing"
            raise DownloadError(f"expected {expected} in the archive, got {found}")
        if isinstance(layout, Halves):
            archive.extract(layout.train, folder / TRAIN)
            archive.extract(layout.test, folder / TEST)
        else:
            for name in layout:
                archive.extract(name, folder / name)
            _split(folder, layout)
    _check_header(folder / TRAIN, data_set, data_set.n_train)
    _check_header(folder / TEST, data_set, data_set.n_test)


def _split(folder: Path, layout: SplitRows) -> None:
    """Write the rows of the first split: the first column of each file of row numbers, which count from 1."""
    content = (folder / layout.rows).read_bytes()
    header, *rows = content.replace(b"\r\n", b"\n").removesuffix(b"\n").split(b"\n")
    sizes = header.split()[1:]
    for numbers_file, name in ((layout.train_numbers, TRAIN), (layout.test_numbers, TEST)):
        numbers = _first_column(folder / numbers_file)
        if not len(numbers) or numbers.min() < 1 or numbers.max() > len(rows):
            raise DownloadError(f"the archive is damaged: expected row numbers from 1 to {len(rows):,}")
        with open(folder / name, "wb") as file:
            file.write(b" ".join([b"%d" % len(numbers), *sizes]) + b"\n")
            file.writelines(rows[number - 1] + b"\n" for number in numbers)


def _first_column(path: Path) -> NDArray[np.int64]:
    try:
        lines = path.read_text(encoding="ascii").splitlines()
        return np.array([int(line.split(maxsplit=1)[0]) for line in lines if line.strip()], dtype=np.int64)
    except (ValueError, OverflowError) as error:
        raise DownloadError(f"the archive is damaged: expected row numbers, but: {error}") from None


def _check_header(path: Path, data_set: RepositorySet, n_rows: int) -> None:
    """Check that the file belongs to the data set: addresses have been mixed up before."""
    with open(path, "rb") as file:
        header = file.readline(100)
    expected = f"{n_rows} {data_set.n_features} {data_set.n_labels}"
    if header.split() != expected.encode().split():
        raise DownloadError(
            f"the archive has another data set: expected {path.name} to begin with '{expected}' "
            f"(rows, features and labels of {data_set.title}), got {header[:60].rstrip()!r}"
        )
