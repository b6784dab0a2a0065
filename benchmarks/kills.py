"""Trainings whose workers and program are killed again and again: is the model the same as without kills?

python -m benchmarks.kills --labels 100000 --engines pool ray --workers 2 --kills 20

Each training runs in a fresh process, on a synthetic store that is made on first use, with a checkpoint. SIGKILL hits a
random worker, and every fifth time the program, which is started again and resumes. The moments are random, with a
seed, and are spread over the time of a training without an engine, which runs first. A training that loses work takes
longer than that: the program is killed only after it has finished a part. The model is compared with the one that the
first training saves, file by file.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.data import CACHE
from benchmarks.distributed import command_of, is_worker, measured
from benchmarks.memory import synthetic_store
from benchmarks.process_memory import process_tree

COLUMNS = (
    *("engine", "workers", "killed workers", "killed programs", "finished parts at each start", "parts"),
    *("seconds", "× without kills", "same bytes"),
)
#: The time between two kills, at least and at most, as a share of its mean.
BETWEEN_KILLS = (0.5, 1.5)
#: The program is killed instead of a worker every fifth time.
PROGRAM_EVERY = 5


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    store = synthetic_store(options.labels, options.rows)
    job = {"store": str(store), "workers": 1, "settings": options.settings, "finer": options.finer}
    here = measured({**job, "engine": "here"})
    rows: list[dict[str, Any]] = []
    print("| " + " | ".join(COLUMNS) + " |\n|" + " --- |" * len(COLUMNS), flush=True)
    for engine in options.engines:
        started = {**job, "engine": engine, "workers": options.workers}
        mean = options.seconds_between or here["seconds"] / options.kills
        found = killed_again_and_again(started, options.kills, mean, random.Random(options.seed))
        rows.append({**started, **found})
        print(table_row(rows[-1], here), flush=True)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps([here, *rows], indent=1))
    return 0 if all(row["model"] == here["model"] for row in rows) else 1


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--labels", type=int, default=100_000)
    parser.add_argument("--rows", type=int, help="training rows; by default in the usual proportion")
    parser.add_argument("--engines", nargs="+", choices=("pool", "ray"), default=["pool", "ray"])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kills", type=int, default=20, help="kills of each training")
    parser.add_argument(
        "--seconds-between",
        type=float,
        help="mean time between two kills; by default the time of a training without an engine, divided by --kills",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the moments and the victims")
    parser.add_argument(
        "--settings", type=json.loads, default={}, help="parameters of the classifier, as JSON"
    )
    parser.add_argument(
        "--finer",
        type=float,
        default=20.0,
        help="make tasks this many times smaller, so that few labels have as many tasks as many labels have",
    )
    parser.add_argument("--json", type=Path, default=CACHE / "kills.json")
    return parser.parse_args(arguments)


def table_row(found: dict[str, Any], here: dict[str, Any]) -> str:
    cells = (
        found["engine"],
        str(found["workers"]),
        str(found["killed_workers"]),
        str(found["killed_programs"]),
        ", ".join(map(str, found["found_parts"])),
        str(found["n_parts"]),
        f"{found['seconds']:.1f}",
        f"{found['seconds'] / here['seconds']:.2f}",
        "yes" if found["model"] == here["model"] else "NO",
    )
    return "| " + " | ".join(cells) + " |"


def killed_again_and_again(
    job: dict[str, Any], n_kills: int, mean_seconds: float, rng: random.Random
) -> dict[str, Any]:
    """Train with a checkpoint while processes are killed; a program that was killed is started again.

    The time counts all programs, with their starts.
    """
    n_killed = {"worker": 0, "program": 0}
    found_parts: list[int] = []
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        # A task may lose its worker every time.
        job = {**job, "checkpoint": str(Path(folder) / "run"), "max_retries": n_kills}
        while True:
            found_parts.append(_n_parts(folder))
            output = Path(folder) / "output"
            with _started(command_of(job), output) as process:
                while not _has_ended(process, rng.uniform(*BETWEEN_KILLS) * mean_seconds):
                    n_done = sum(n_killed.values())
                    is_program = n_done % PROGRAM_EVERY == PROGRAM_EVERY - 1
                    if n_done == n_kills or (is_program and _n_parts(folder) == found_parts[-1]):
                        continue  # a program has to finish something before it is killed
                    victim = process.pid if is_program else _worker(process.pid, rng)
                    if victim is not None:
                        os.kill(victim, signal.SIGKILL)
                        n_killed["program" if is_program else "worker"] += 1
            if process.returncode == 0:
                figures: dict[str, Any] = json.loads(output.read_text().splitlines()[-1])
                return {
                    **figures,
                    "seconds": time.perf_counter() - started,
                    "killed_workers": n_killed["worker"],
                    "killed_programs": n_killed["program"],
                    "found_parts": found_parts,
                    "n_parts": _n_parts(folder),
                }
            if process.returncode != -signal.SIGKILL:
                raise SystemExit(f"the training failed with exit code {process.returncode}")


def _n_parts(folder: str) -> int:
    """Return the number of finished parts in checkpoints below a folder."""
    return len(list(Path(folder).rglob("chunk-*.safetensors")))


def _has_ended(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Wait for the end of a process, and return whether it came."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    return process.returncode is not None


def _worker(program: int, rng: random.Random) -> int | None:
    """Return one of the workers of a program, if there are any."""
    workers = [process for process in process_tree(program)[1:] if is_worker(process)]
    return rng.choice(workers) if workers else None


@contextlib.contextmanager
def _started(command: Sequence[str], output: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process that prints to a file, and end it with all of its group."""
    with (
        output.open("wb") as file,
        subprocess.Popen(command, stdout=file, start_new_session=True) as process,
    ):
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
