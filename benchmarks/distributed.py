"""Training on one machine, on a local pool and on Ray, with the same cores: time, memory, bytes moved, equal models.

python -m benchmarks.distributed --labels 670000 --workers 1 2 4

Each training runs in a fresh process, on a synthetic store that is made on first use. The time does not count the start
of workers and of the cluster. CPU time is that of the program and the workers; that of the services of a local cluster,
which run whether there is work or not, is told separately. `benchmarks.kills` kills processes of such trainings.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.data import CACHE
from benchmarks.memory import model_hash, synthetic_store
from benchmarks.process_memory import PeakMemory, cpu_seconds, process_tree

COLUMNS = (
    "engine",
    "workers",
    "seconds",
    "× here",
    "CPU seconds",
    "× here",
    "services",
    "driver MB",
    "all MB",
    "moved MB per worker",
    "tasks",
    "model",
)
#: Attempts to start a cluster.
STARTS = 5


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    if options.one:
        print(json.dumps(train(json.loads(options.one))))
        return 0
    store = synthetic_store(options.labels, options.rows)
    rows: list[dict[str, Any]] = []
    print("| " + " | ".join(COLUMNS) + " |\n|" + " --- |" * len(COLUMNS), flush=True)
    for repetition in range(options.repeat):
        here: dict[str, Any] = {}
        for engine in options.engines:
            for workers in options.workers if engine != "here" else [options.threads]:
                job = {
                    "store": str(store),
                    "engine": engine,
                    "workers": workers,
                    "settings": options.settings,
                    "finer": options.finer,
                }
                found = measured(job)
                here = found if engine == "here" else here
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
        "--finer",
        type=float,
        default=1.0,
        help="make tasks this many times smaller, so that few labels have as many tasks as many labels have",
    )
    parser.add_argument("--json", type=Path, default=CACHE / "distributed.json")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def table_row(found: dict[str, Any], here: dict[str, Any]) -> str:
    """Return a line of the table; on a busy machine, CPU time tells more than time."""
    ratios = {name: f"{found[name] / here[name]:.2f}" if here else "" for name in ("seconds", "cpu")}
    cells = (
        found["engine"],
        str(found["workers"]),
        f"{found['seconds']:.1f}",
        ratios["seconds"],
        f"{found['cpu']:.1f}",
        ratios["cpu"],
        f"{found['services_cpu']:.1f}",
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


def train(job: dict[str, Any]) -> dict[str, Any]:
    """Train a model on a store with an engine, and measure it."""
    from labeltree import LabelTreeClassifier
    from labeltree.data import Store
    from labeltree.engines import Task, current_engine
    from labeltree.training import division

    division.ENTRIES_OF_VECTORS /= job["finer"]
    division.ENTRIES_OF_BLOCKS /= job["finer"]
    division.LABELS_OF_SUBTREES = int(division.LABELS_OF_SUBTREES / job["finer"])
    engine, workers = job["engine"], job["workers"]
    model = LabelTreeClassifier(
        n_jobs=workers if engine == "here" else 1,
        random_state=0,
        checkpoint=job.get("checkpoint"),
        **job["settings"],
    )
    done: list[dict[str, Any]] = []
    with contextlib.ExitStack() as stack:
        if engine != "here":
            options = {"n_workers": workers, "max_retries": job.get("max_retries", 2)}
            _enter_engine(stack, engine, {**options, "address": "local"} if engine == "ray" else options)
            # Workers start before the time counts.
            dict(current_engine().run([Task("start", time.sleep, (0.1,))] * workers))
            _record_tasks(current_engine(), done)
        peak = stack.enter_context(PeakMemory())
        started, driver_cpu = time.perf_counter(), time.process_time()
        cpu, services_cpu = _cpu_of_all()
        model.fit(Store(job["store"]))
        seconds, driver_cpu = time.perf_counter() - started, time.process_time() - driver_cpu
        cpu, services_cpu = (
            after - before for after, before in zip(_cpu_of_all(), (cpu, services_cpu), strict=True)
        )
    return {
        "n_labels": len(model.classes_),
        "seconds": seconds,
        "driver_cpu": driver_cpu,
        "cpu": cpu,
        "services_cpu": services_cpu,
        "phases": model.fit_seconds_,
        "driver_mb": peak.main_mb,
        "all_mb": peak.own_mb,
        "moved_mb": sum(task["mb"] for task in done),
        "n_tasks": len(done),
        "tasks": done,
        "model": model_hash(model),
    }


def _enter_engine(stack: contextlib.ExitStack, kind: str, options: dict[str, Any]) -> None:
    """Choose an engine. Ray gives up a cluster that takes 30 seconds to start, as it may on a busy machine."""
    import labeltree
    from labeltree.errors import WorkerError

    for attempt in range(STARTS):
        try:
            stack.enter_context(labeltree.engine(kind, **options))
            return
        except WorkerError:
            if attempt == STARTS - 1:
                raise


def _record_tasks(engine: Any, done: list[dict[str, Any]]) -> None:
    """Record the tasks of an engine: names, megabytes of results, time and CPU time since the task before.

    With one worker, these are the times of the task; the CPU time is known for a pool only. What tasks read, they map.
    """
    run = engine.run

    def recorded(tasks: Any) -> Any:
        before, cpu_before = time.perf_counter(), _cpu_seconds(engine)
        for number, result in run(tasks):
            now, cpu = time.perf_counter(), _cpu_seconds(engine)
            size = sum(array.nbytes for array in result.values()) / 1e6
            done.append(
                {"name": tasks[number].name, "seconds": now - before, "cpu": cpu - cpu_before, "mb": size}
            )
            before, cpu_before = now, cpu
            yield number, result

    object.__setattr__(engine, "run", recorded)


def is_worker(process: int) -> bool:
    try:
        command = Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ")
    except OSError:
        return False
    # A node of Ray does not survive its agents, and a local cluster has one node.
    return b"labeltree.engines" in command or (b"ray::" in command and b"Agent" not in command)


def _cpu_seconds(engine: Any) -> float:
    """Return the CPU time of the workers of a pool so far."""
    return cpu_seconds(engine.pids() if hasattr(engine, "pids") else ())


def _cpu_of_all() -> tuple[float, float]:
    """Return the CPU time so far of this process and its workers, and of the services of a local cluster."""
    processes = process_tree(os.getpid())
    working = [process for process in processes if process == os.getpid() or is_worker(process)]
    return cpu_seconds(working), cpu_seconds(set(processes) - set(working))


if __name__ == "__main__":
    sys.exit(main())
