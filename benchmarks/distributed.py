"""Training on one machine, on a local pool and on Ray, with the same cores: time, memory, bytes moved, equal models.

python -m benchmarks.distributed --labels 670000 --workers 1 2 4
python -m benchmarks.distributed --labels 100000 --engines ray --workers 2 --kills 20

Each training runs in a fresh process, on a synthetic store that is made on first use. The time of Ray does not count
the start of the cluster. `--kills` kills random workers, and the driver now and then, while the training runs: it
resumes from a checkpoint, and must end with the same model.
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
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.data import CACHE
from benchmarks.memory import model_hash, synthetic_store
from benchmarks.process_memory import PeakMemory, process_tree

COLUMNS = (
    "engine",
    "workers",
    "seconds",
    "× here",
    "driver MB",
    "all MB",
    "moved MB per worker",
    "tasks",
    "model",
)
#: Seconds between two kills, at least and at most.
BETWEEN_KILLS = (1.0, 4.0)
#: Every so many kills, the driver is killed instead of a worker.
DRIVER_EVERY = 5


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    if options.one:
        print(json.dumps(train(json.loads(options.one))))
        return 0
    store = synthetic_store(options.labels, options.rows)
    rows = []
    print("| " + " | ".join(COLUMNS) + " |\n|" + " --- |" * len(COLUMNS), flush=True)
    for repetition in range(options.repeat):
        here = None
        for engine in options.engines:
            for workers in options.workers if engine != "here" else [options.threads]:
                job = {
                    "store": str(store),
                    "engine": engine,
                    "workers": workers,
                    "settings": options.settings,
                }
                found = killed_again_and_again(job, options.kills) if options.kills else measured(job)
                here = found["seconds"] if engine == "here" else here
                rows.append({**job, "repetition": repetition, **found})
                print(table_row(rows[-1], here), flush=True)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(rows, indent=1))
    return 0 if len({row["model"] for row in rows}) == 1 else 1


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--labels", type=int, default=670_000)
    parser.add_argument("--rows", type=int, help="training rows; by default in the usual proportion")
    parser.add_argument(
        "--engines", nargs="+", choices=("here", "pool", "ray"), default=["here", "pool", "ray"]
    )
    parser.add_argument("--workers", nargs="+", type=int, default=[1, 2, 4])
    parser.add_argument("--threads", type=int, default=2, help="of the training without an engine")
    parser.add_argument(
        "--settings", type=json.loads, default={}, help="parameters of the classifier, as JSON"
    )
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument(
        "--kills", type=int, default=0, help="kill workers and drivers this often in a training"
    )
    parser.add_argument("--json", type=Path, default=CACHE / "distributed.json")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def table_row(found: dict[str, Any], here: float | None) -> str:
    """Return a line of the table."""
    cells = (
        found["engine"],
        str(found["workers"]),
        f"{found['seconds']:.1f}",
        "" if here is None else f"{found['seconds'] / here:.2f}",
        f"{found['driver_mb']:,.0f}",
        f"{found['all_mb']:,.0f}",
        f"{found['moved_mb'] / found['workers']:,.0f}",
        str(found["n_tasks"]),
        found["model"][:12],
    )
    return "| " + " | ".join(cells) + " |"


def command_of(job: dict[str, Any]) -> list[str]:
    return [sys.executable, "-m", "benchmarks.distributed", "--one", json.dumps(job)]


def measured(job: dict[str, Any]) -> dict[str, Any]:
    """Train in a fresh process."""
    done = subprocess.run(command_of(job), stdout=subprocess.PIPE, text=True, check=True)
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def killed_again_and_again(job: dict[str, Any], n_kills: int) -> dict[str, Any]:
    """Train with a checkpoint while processes are killed; a killed driver is started again."""
    rng, done = random.Random(0), {"driver": 0, "worker": 0}
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        job = {**job, "checkpoint": str(Path(folder) / "run")}
        while True:
            process = subprocess.Popen(
                command_of(job), stdout=subprocess.PIPE, text=True, start_new_session=True
            )
            try:
                while process.poll() is None:
                    time.sleep(rng.uniform(*BETWEEN_KILLS))
                    if sum(done.values()) < n_kills and (
                        victim := _victim(process.pid, rng, sum(done.values()))
                    ):
                        done["driver" if victim == process.pid else "worker"] += 1
                        os.kill(victim, signal.SIGKILL)
            finally:
                _end_group(process)
            if process.returncode == 0:
                assert process.stdout is not None
                figures: dict[str, Any] = json.loads(process.stdout.read().splitlines()[-1])
                print(f"killed: {done}", file=sys.stderr)
                return {**figures, "kills": done}
            if process.returncode != -signal.SIGKILL:
                raise SystemExit(f"the training failed with exit code {process.returncode}")


def _victim(driver: int, rng: random.Random, number: int) -> int | None:
    """Return the process to kill: the driver now and then, else one of the workers that run tasks."""
    if number % DRIVER_EVERY == DRIVER_EVERY - 1:
        return driver
    workers = [process for process in process_tree(driver)[1:] if _is_worker(process)]
    return rng.choice(workers) if workers else None


def _is_worker(process: int) -> bool:
    try:
        command = Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ")
    except OSError:
        return False
    return b"labeltree.engines" in command or b"ray::" in command or b"multiprocessing.spawn" in command


def _end_group(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def train(job: dict[str, Any]) -> dict[str, Any]:
    """Train a model on a store with an engine, and measure it."""
    from contextlib import nullcontext

    import labeltree
    from labeltree import LabelTreeClassifier
    from labeltree.data import Store
    from labeltree.engines import current_engine

    engine, workers = job["engine"], job["workers"]
    context: Any = nullcontext()
    if engine == "pool":
        context = labeltree.engine("pool", n_workers=workers)
    elif engine == "ray":
        context = labeltree.engine("ray", address="local", n_workers=workers)
    model = LabelTreeClassifier(
        n_jobs=workers if engine == "here" else 1,
        random_state=0,
        checkpoint=job.get("checkpoint"),
        **job["settings"],
    )
    done: list[dict[str, Any]] = []
    with context, PeakMemory() as peak:
        if engine != "here":
            _record_tasks(current_engine(), done)
        started = time.perf_counter()
        model.fit(Store(job["store"]))
        seconds = time.perf_counter() - started
    return {
        "n_labels": len(model.classes_),
        "seconds": seconds,
        "phases": model.fit_seconds_,
        "driver_mb": peak.main_mb,
        "all_mb": peak.own_mb,
        "moved_mb": sum(task["mb"] for task in done),
        "n_tasks": len(done),
        "tasks": done,
        "model": model_hash(model),
    }


def _record_tasks(engine: Any, done: list[dict[str, Any]]) -> None:
    """Record the tasks of an engine: names, megabytes of results, and the time since the task before.

    With one worker that time is the duration of the task. What tasks read, they map.
    """
    run = engine.run

    def recorded(tasks: Any) -> Any:
        before = time.perf_counter()
        for number, result in run(tasks):
            now = time.perf_counter()
            size = sum(array.nbytes for array in result.values()) / 1e6
            done.append({"name": tasks[number].name, "seconds": now - before, "mb": size})
            before = now
            yield number, result

    object.__setattr__(engine, "run", recorded)


if __name__ == "__main__":
    sys.exit(main())
