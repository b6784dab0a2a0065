"""Training in a given memory: time and peak memory with and without a limit, as the number of labels grows.

python -m benchmarks.memory --labels 100000 300000 1000000 --memory-gb none 2
python -m benchmarks.memory --labels --picture memory.png    # of all runs so far

Each training runs in a fresh process, on a synthetic store that is made on first use. Memory is anonymous plus shared
memory; mapped file pages are told separately. Every run is written to the file of --json when it ends, in place of an
older one of the same labels, rows and limit. A run that the system stops for lack of memory counts with what it had.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.data import CACHE, synthetic_name
from benchmarks.process_memory import PeakMemory, cpu_seconds

COLUMNS = (
    *("limit GB", "labels", "rows", "seconds", "× unlimited", "CPU seconds", "× unlimited"),
    *("own MB", "mapped MB", "model MB", "model"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--labels", nargs="*", type=int, default=[100_000, 300_000, 1_000_000])
    parser.add_argument("--rows", type=int, help="training rows; by default in the usual proportion")
    parser.add_argument(
        "--memory-gb",
        nargs="+",
        type=lambda text: None if text == "none" else float(text),
        default=[None, 2.0],
        help="limits to compare; none for no limit",
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", type=Path, default=CACHE / "memory.json")
    parser.add_argument("--picture", type=Path, help="draw the runs in the file of --json")
    parser.add_argument("--one", nargs=3, metavar=("STORE", "GB", "THREADS"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        store, limit, threads = options.one
        print(json.dumps(train(Path(store), None if limit == "none" else float(limit), int(threads))))
        return 0
    print("| " + " | ".join(COLUMNS) + " |\n|" + " --- |" * len(COLUMNS), flush=True)
    for n_labels in options.labels:
        store = synthetic_store(n_labels, options.rows)
        unlimited: dict[str, Any] = {}
        for limit in options.memory_gb:
            found = {"limit": limit, **measured(store, limit, options.threads)}
            unlimited = found if limit is None else unlimited
            keep(found, options.json)
            print(table_row(found, unlimited), flush=True)
    if options.picture:
        from benchmarks.memory_picture import draw

        draw(json.loads(options.json.read_text()), options.picture)
    return 0


def keep(found: dict[str, Any], path: Path) -> None:
    """Write a run to a file, in place of an older one of the same training."""
    which = ("n_labels", "n_rows", "limit")
    rows = json.loads(path.read_text()) if path.exists() else []
    rows = [row for row in rows if any(row[name] != found[name] for name in which)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([*rows, found], indent=1))


def table_row(found: dict[str, Any], unlimited: dict[str, Any]) -> str:
    """Return a line of the table; on a busy machine, CPU time tells more than time."""
    ratios = {
        name: f"{found[name] / unlimited[name]:.2f}" if unlimited else "" for name in ("seconds", "cpu")
    }
    cells = (
        "none" if found["limit"] is None else f"{found['limit']:g}",
        f"{found['n_labels']:,}",
        f"{found['n_rows']:,}",
        f"{found['seconds']:.0f}",
        ratios["seconds"],
        f"{found['cpu']:.0f}",
        ratios["cpu"],
        f"{found['own_mb']:,.0f}",
        f"{found['mapped_mb']:,.0f}",
        f"{found['model_mb']:,.0f}",
        "no memory left" if found["stopped"] else found["model"][:12],
    )
    return "| " + " | ".join(cells) + " |"


def synthetic_store(n_labels: int, n_rows: int | None = None) -> Path:
    """Return a synthetic store of training rows, made on first use."""
    from labeltree.datasets import write_extreme

    folder = CACHE / f"{synthetic_name(n_labels, n_rows)}.stores"
    print(f"making {folder.name}, unless it is there", file=sys.stderr, flush=True)
    train, _ = write_extreme(folder, n_labels, n_rows, random_state=0, format="store", n_jobs=-1)
    return train


def measured(store: Path, limit: float | None, threads: int) -> dict[str, Any]:
    """Train in a fresh process."""
    arguments = ["--one", str(store), "none" if limit is None else str(limit), str(threads)]
    command = [sys.executable, "-m", "benchmarks.memory", *arguments]
    started = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        with PeakMemory(process.pid, every_seconds=0.25) as peak:
            cpu = 0.0
            while process.poll() is None:
                cpu = max(cpu, cpu_seconds([process.pid]))
                time.sleep(0.25)
        assert process.stdout is not None
        printed = process.stdout.read()
    if process.returncode == -signal.SIGKILL:
        return stopped(store, time.perf_counter() - started, cpu, peak)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    figures: dict[str, Any] = json.loads(printed.splitlines()[-1])
    return {**figures, "stopped": False}


def stopped(store: Path, seconds: float, cpu: float, peak: PeakMemory) -> dict[str, Any]:
    """Return the figures of a training that the system has stopped."""
    from labeltree.data import Store

    opened = Store(store)
    return {
        "n_labels": opened.n_labels,
        "n_rows": opened.n_rows,
        "seconds": seconds,
        "cpu": cpu,
        "phases": {},
        "own_mb": peak.own_mb,
        "mapped_mb": peak.mapped_mb,
        "model_mb": 0,
        "model": "",
        "stopped": True,
    }


def train(path: Path, limit: float | None, threads: int) -> dict[str, Any]:
    """Train a model on a store, and measure it."""
    from labeltree import LabelTreeClassifier
    from labeltree.data import Store

    store = Store(path)
    started, cpu = time.perf_counter(), time.process_time()
    with PeakMemory(every_seconds=0.25) as peak:
        model = LabelTreeClassifier(memory_gb=limit, n_jobs=threads, random_state=0).fit(store)
    return {
        "n_labels": len(model.classes_),
        "n_rows": model.n_samples_fit_,
        "seconds": time.perf_counter() - started,
        "cpu": time.process_time() - cpu,
        "phases": model.fit_seconds_,
        "own_mb": peak.own_mb,
        "mapped_mb": peak.mapped_mb,
        "model_mb": sum(weights.nbytes for weights in model.weights_) / 1e6,
        "model": model_hash(model),
    }


def model_hash(model: Any) -> str:
    """Return a hash of the saved files of a model, to see whether two are equal byte for byte.

    The files also have the parameters. Those that are reset here do not change what is learned.
    """
    model.set_params(n_jobs=None, memory_gb=None, checkpoint=None)
    digest = hashlib.sha256()
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        for path in sorted((Path(folder) / "model").iterdir()):
            digest.update(path.name.encode())
            with path.open("rb") as file:
                for piece in iter(lambda: file.read(1 << 20), b""):
                    digest.update(piece)
    return digest.hexdigest()


if __name__ == "__main__":
    sys.exit(main())
