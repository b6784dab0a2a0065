"""Unpacks the archive of a data set into train.txt and test.txt."""

from __future__ import annotations

from pathlib import Path

from labeltree.errors import DownloadError

from .archive import extract, open_archive
from .catalogue import Halves, RepositorySet, SplitRows

TRAIN, TEST = "train.txt", "test.txt"


def unpack(path: Path, data_set: RepositorySet, folder: Path) -> None:
    """Extract ``train.txt`` and ``test.txt`` from an archive into a folder.

    Raises
    ------
    DownloadError
        If the file is not an archive, is damaged or malicious, or holds another data set.
    """
    with open_archive(path) as files:
        layout = next((names for names in data_set.layouts if set(names) <= files.keys()), None)
        if layout is None:
            expected = " or ".join(" and ".join(names) for names in data_set.layouts)
            found = ", ".join(sorted(files)[:10]) or "nothing"
            raise DownloadError(f"expected {expected} in the archive, got {found}")
        if isinstance(layout, Halves):
            extract(files[layout.train], folder / TRAIN)
            extract(files[layout.test], folder / TEST)
        else:
            for name in layout:
                extract(files[name], folder / name)
            _split(folder, layout)
    _check_header(folder / TRAIN, data_set, data_set.n_train)
    _check_header(folder / TEST, data_set, data_set.n_test)


def _split(folder: Path, layout: SplitRows) -> None:
    """Write the rows of the first split: the first column of each file of row numbers, which count from 1."""
    content = (folder / layout.rows).read_bytes()
    header, *rows = content.replace(b"\r\n", b"\n").removesuffix(b"\n").split(b"\n")
    for numbers_file, name in ((layout.train_numbers, TRAIN), (layout.test_numbers, TEST)):
        try:
            lines = (folder / numbers_file).read_text(encoding="ascii").splitlines()
            numbers = [int(line.split(maxsplit=1)[0]) for line in lines if line.strip()]
            if min(numbers) < 1:
                raise ValueError(f"got {min(numbers)}")
            selected = [rows[number - 1] for number in numbers]
        except (ValueError, IndexError) as error:
            expected = f"expected row numbers from 1 to {len(rows):,} in {numbers_file}"
            raise DownloadError(f"the archive is damaged: {expected}, but: {error}") from None
        first_line = b" ".join([b"%d" % len(selected), *header.split()[1:]])
        with open(folder / name, "wb") as file:
            file.writelines(line + b"\n" for line in (first_line, *selected))


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
