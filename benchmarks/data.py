"""The files the systems are measured on."""

from __future__ import annotations

import lzma
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

CACHE = Path(__file__).parent.parent / "build" / "benchmarks"

#: Labels and, if they are not in the usual proportion, training rows: extreme-670k, extreme-10k-50k.
_SYNTHETIC = re.compile(r"extreme-(\d+[km]?)(?:-(\d+[km]?))?")
_UNITS = {"k": 1_000, "m": 1_000_000}

#: In a data set that has no split, every `TEST_EVERY`-th row is a test row.
TEST_EVERY = 5


def prepare(name: str) -> tuple[Path, Path]:
    """Paths of train.txt and test.txt of a data set, made on first use.

    `name` is a folder that has them, a set in the folder that LABELTREE_DATA names, of texts or as an XMLC file
    ``NAME/NAME.txt.xz`` of which every fifth row is tested on, a synthetic set such as
    ``extreme-670k`` with 670,000 labels, or ``extreme-10k-50k`` with 10,000 labels and 50,000 training rows, a
    set of the Extreme Classification Repository such as ``eurlex-4k``, which is fetched, or a set that
    `benchmarks/development.py` makes of public texts, such as ``debian-depends``, without its development rows.
    """
    folder = Path(name)
    if not (folder / "train.txt").exists():
        folder = CACHE / name
        if not (folder / "train.txt").exists():
            synthetic = _SYNTHETIC.fullmatch(name)
            rows = sources() / name / f"{name}.txt.xz"
            if synthetic:
                make_whole(folder, lambda new: write_synthetic(new, *synthetic.groups()))
            elif rows.exists():
                make_whole(folder, lambda new: write_from_rows(new, rows))
            elif files := fetch_from_repository(name) or make_from_public_texts(name):
                return files
            else:
                make_whole(folder, lambda new: write_from_texts(new, name))
    return folder / "train.txt", folder / "test.txt"


def make_whole(folder: Path, write: Callable[[Path], None]) -> None:
    """Write a folder under another name first: it is there with all its files, or not at all."""
    print(f"making {folder.name}", file=sys.stderr, flush=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as beside:
        new = Path(beside) / folder.name
        write(new)
        try:
            new.rename(folder)
        except OSError:
            if not (folder / "train.txt").exists():  # another process was not faster
                raise


def synthetic_name(n_labels: int, n_rows: int | None = None) -> str:
    """What `prepare` calls the synthetic set of these sizes."""
    return "-".join(["extreme", *(_text(number) for number in (n_labels, n_rows) if number is not None)])


def write_synthetic(folder: Path, n_labels: str, n_rows: str | None) -> None:
    """Make a synthetic set."""
    from labeltree.datasets import write_extreme

    rows = None if n_rows is None else _number(n_rows)
    write_extreme(folder, _number(n_labels), rows, random_state=0)


def fetch_from_repository(name: str) -> tuple[Path, Path] | None:
    """The files of a set of the repository, fetched on first use; None if it has no such set."""
    from labeltree import datasets

    return datasets.fetch(name, verify=False) if name in datasets.names() else None


def make_from_public_texts(name: str) -> tuple[Path, Path] | None:
    """The files of a set that `development.py` downloads; None if it has no such set."""
    from benchmarks.development import SETS, prepare_parts

    if name not in SETS or (sources() / name).exists():
        return None
    parts = prepare_parts(name)
    return parts.train, parts.test


def write_from_texts(folder: Path, name: str) -> None:
    """Make a set of the texts in the folder that LABELTREE_DATA names."""
    source = sources()
    if not (source / "make_xmlc.py").exists():
        raise SystemExit(
            f"no data: neither {name}/train.txt nor {source}/make_xmlc.py is there; set LABELTREE_DATA"
        )
    subprocess.run([sys.executable, source / "make_xmlc.py", name, folder], check=True)


def write_from_rows(folder: Path, path: Path) -> None:
    """Split an XMLC file into training and test rows."""
    with lzma.open(path, "rt", encoding="ascii") as lines:
        _, columns = next(lines).split(maxsplit=1)
        rows = lines.readlines()
    test = rows[::TEST_EVERY]
    del rows[::TEST_EVERY]
    folder.mkdir()
    for name, part in (("test", test), ("train", rows)):
        (folder / f"{name}.txt").write_text(f"{len(part)} {columns}" + "".join(part), encoding="ascii")


def sources() -> Path:
    """The folder that LABELTREE_DATA names."""
    return Path(os.environ.get("LABELTREE_DATA", "../shared/data")).resolve()


def _number(text: str) -> int:
    """The number that 1000, 670k or 3m stands for."""
    return int(text.rstrip("km")) * _UNITS.get(text[-1], 1)


def _text(number: int) -> str:
    """The shortest form that `_number` reads."""
    for unit, size in sorted(_UNITS.items(), key=lambda item: -item[1]):
        if number % size == 0:
            return f"{number // size}{unit}"
    return str(number)
