"""How fast files are read, beside the readers of others, and how fast models are opened.

python -m benchmarks.files eurlex57k
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from rich.console import Console
from rich.table import Table

from benchmarks.data import prepare
from benchmarks.peers import OURS, PEERS, InstallationError, python_of
from benchmarks.process import run_process
from benchmarks.summary import Spread
from benchmarks.table import number, ratio
from labeltree import LabelTreeClassifier

_SCRIPT = Path(__file__).parent / "systems" / "text_reader.py"

#: Whether a reader makes use of several threads.
READERS = {OURS: True, "omikuji": True, "napkinxc": False, "sklearn": False}


@dataclass(frozen=True)
class Reading:
    """How long a reader took for a file; no time if it failed or was stopped."""

    reader: str
    threads: int
    seconds: Spread | None
    outcome: str = ""


def read_all(
    train: Path, folder: Path, readers: Sequence[str], threads: int, repeat: int, limit_s: float
) -> list[Reading]:
    """Every reader in a fresh process, those that can with one thread and with all."""
    plain = folder / "plain.txt"  # scikit-learn knows no header
    with open(train, "rb") as source, open(plain, "wb") as target:
        source.readline()
        shutil.copyfileobj(source, target)
    found = []
    for reader in readers:
        for used in sorted({1, threads}) if READERS[reader] else [1]:
            path = plain if reader == "sklearn" else train.resolve()
            found.append(_read(reader, path, folder, used, repeat, limit_s))
    return found


def _read(reader: str, path: Path, folder: Path, threads: int, repeat: int, limit_s: float) -> Reading:
    try:
        python = python_of(PEERS[reader])
    except InstallationError as error:
        return Reading(reader, threads, None, f"it cannot be installed: {error}")
    ended = run_process(
        [python, str(_SCRIPT), reader, str(path), str(threads), str(repeat)],
        folder,
        limit_s=limit_s,
        threads=threads,
    )
    seconds = Spread.of(ended.report["seconds"]) if "seconds" in ended.report else None
    if seconds is None and ended.timed_out:
        return Reading(reader, threads, None, f"stopped after {number(limit_s)} s")
    return Reading(reader, threads, seconds, "" if seconds else ended.last_messages)


def show_readings(readings: Sequence[Reading], megabytes: float, console: Console) -> None:
    """A table of all readers, compared with ours as it is fastest."""
    table = Table(title=f"reading {megabytes:,.0f} MB of text")
    for heading in ("reader", "threads", "s", "range", "MB/s", "× ours"):
        table.add_column(heading, justify="left" if heading == "reader" else "right")
    ours = [r.seconds for r in readings if r.reader == OURS and r.seconds]
    base = min(ours, key=lambda seconds: seconds.median, default=None)
    for reading in readings:
        seconds = reading.seconds
        if seconds is None:
            table.add_row(reading.reader, str(reading.threads), reading.outcome)
            continue
        compared = seconds.ratio_to(base) if base and reading.reader != OURS else None
        table.add_row(
            reading.reader,
            str(reading.threads),
            number(seconds.median),
            f"{number(seconds.low)}–{number(seconds.high)}",
            f"{megabytes / seconds.median:,.0f}",
            ratio(compared) if compared else "",
        )
    console.print(table)


def show_opening(folder: Path, console: Console) -> None:
    """How long it takes to open models of very many labels."""
    rng = np.random.default_rng(0)
    n_rows, per_row = 20_000, 3
    X = sp.random(n_rows, 5_000, 0.004, "csr", dtype=np.float32, random_state=0)
    for n_labels in (100_000, 1_000_000):
        columns = rng.integers(0, n_labels, n_rows * per_row)
        y = sp.coo_matrix(
            (np.ones(len(columns)), (np.repeat(np.arange(n_rows), per_row), columns)), (n_rows, n_labels)
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # two passes over random data leave little to keep
            model = LabelTreeClassifier(n_jobs=-1, random_state=0, max_iter=2).fit(
                X, (y.tocsr() > 0).astype(np.float32)
            )
        path = folder / str(n_labels)
        model.save(path)
        times = []
        for _ in range(5):
            start = time.perf_counter()
            LabelTreeClassifier.load(path)
            times.append(time.perf_counter() - start)
        console.print(f"opening a model of {n_labels:,} labels: {min(times) * 1e3:.1f} ms")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.files", description=__doc__)
    parser.add_argument("data", nargs="?", default="eurlex57k", help="a set in LABELTREE_DATA, or a folder")
    parser.add_argument("--readers", nargs="+", default=list(READERS), choices=list(READERS))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=5, help="how often each file is read; 5 by default")
    parser.add_argument(
        "--limit", type=float, default=300, metavar="SECONDS", help="per reader; 300 by default"
    )
    parser.add_argument("--no-opening", action="store_true", help="leave out the models that are opened")
    options = parser.parse_args(arguments)
    if OURS not in options.readers:
        parser.error(f"--readers must include {OURS}, which the others are compared with")
    console = Console()
    train, _ = prepare(options.data)
    with tempfile.TemporaryDirectory() as folder:
        readings = read_all(
            train, Path(folder), options.readers, options.threads, options.repeat, options.limit
        )
        show_readings(readings, train.stat().st_size / 1e6, console)
        if not options.no_opening:
            show_opening(Path(folder), console)
    return 0


if __name__ == "__main__":
    sys.exit(main())
