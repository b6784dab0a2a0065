"""How training would scale from 1 to 1,000 cores: a simulation from measured tasks.

python -m benchmarks.distributed --labels 100000 --engines pool --workers 1 --finer 20 --json measured.json
python -m benchmarks.cluster_simulation measured.json

The measured run has one worker, so that the CPU time between two results is that of a task. `--finer` makes tasks as
small as they are, relative to the whole, in a large training: then the largest task of the blocks is the first level of
the tree, which cannot be divided. Costs are scaled to other numbers of labels with the same number of rows per label;
what works on every level of the tree also grows with the logarithm of the number of labels. Tasks go to the core that
is free first, the most expensive ones first, and stages wait for each other, as in a real training. A task that is
alone in its stage uses all cores of its machine, as does the program while it chooses C and calibrates. Then the
program writes the model.
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labeltree.training.division import LABELS_OF_SUBTREES
from labeltree.training.ranges import MOST_TASKS

CORES = (1, 16, 64, 256, 1000)
LABELS = (1e6, 1e7, 1e8)

#: Stages by the first words of their tasks' names.
STAGES = {
    "vectors": "label vectors",
    "top": "top of the tree",
    "subtrees": "subtrees",
    "rows": "rows of nodes",
    "blocks": "blocks",
}
#: Stages whose work also grows with the number of levels.
BY_LEVEL = ("subtrees", "rows of nodes", "blocks")
#: Stages of one task.
SINGLE = ("top of the tree", "rows of nodes")


@dataclass(frozen=True)
class Costs:
    """Costs of one training.

    Attributes
    ----------
    n_labels : float
    work : dict
        CPU seconds of each stage.
    task : dict
        CPU seconds of an ordinary task of each stage.
    root : float
        CPU seconds of the largest task of the blocks: the first level of the tree, which cannot be divided.
    trial : float
        CPU seconds of the choice of C and the calibration, in the program.
    driver : float
        CPU seconds of the program for everything else, such as writing the model.
    result_mb : float
        Megabytes of all results.
    """

    n_labels: float
    work: dict[str, float]
    task: dict[str, float]
    root: float
    trial: float
    driver: float
    result_mb: float


@dataclass(frozen=True)
class Cluster:
    """A cluster.

    Attributes
    ----------
    cores, machine_cores : int
        Cores for tasks, and those of one machine, which a task that is alone in its stage uses.
    task_seconds, dispatch_seconds : float
        What a task costs its worker and the program.
    network : float
        Megabytes per second into the program.
    """

    cores: int
    machine_cores: int
    task_seconds: float
    dispatch_seconds: float
    network: float


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("measured", type=Path, help="the JSON file of benchmarks.distributed")
    parser.add_argument("--labels", nargs="+", type=float, default=LABELS)
    parser.add_argument("--cores", nargs="+", type=int, default=CORES)
    parser.add_argument("--machine-cores", type=int, default=16, help="cores of each machine, at most")
    parser.add_argument("--task-overhead", type=float, default=0.01, help="seconds of a worker per task")
    parser.add_argument("--dispatch", type=float, default=0.004, help="seconds of the program per task")
    parser.add_argument("--network", type=float, default=1000, help="megabytes per second into the program")
    options = parser.parse_args(arguments)
    measured = read_costs(json.loads(options.measured.read_text()))
    print("| labels | cores | hours | speed-up | longest stages |\n|" + " --- |" * 5)
    for n_labels in options.labels:
        costs, alone = scaled(measured, n_labels), None
        for cores in options.cores:
            cluster = Cluster(
                cores,
                min(cores, options.machine_cores),
                options.task_overhead,
                options.dispatch,
                options.network,
            )
            stages = simulate(costs, cluster)
            total = sum(stages.values())
            alone = alone or total
            cells = (
                f"{n_labels:,.0f}",
                f"{cores:,}",
                f"{total / 3600:.2f}",
                f"{alone / total:.1f}",
                longest(stages),
            )
            print("| " + " | ".join(cells) + " |")
    return 0


def longest(stages: dict[str, float], n: int = 3) -> str:
    """Return the longest stages with their shares of the time.

    Examples
    --------
    >>> longest({"blocks": 3.0, "trial": 6.0, "subtrees": 1.0}, 2)
    'trial 60%, blocks 30%'
    """
    order = sorted(stages, key=lambda stage: -stages[stage])[:n]
    return ", ".join(f"{stage} {stages[stage] / sum(stages.values()):.0%}" for stage in order)


def read_costs(rows: list[dict[str, Any]]) -> Costs:
    """Take the costs from a run of a pool with one worker."""
    runs = [row for row in rows if row["engine"] == "pool" and row["workers"] == 1]
    if not runs:
        raise SystemExit("expected a run of a pool with one worker: --engines pool --workers 1")
    run = runs[0]
    tasks: dict[str, list[float]] = {stage: [] for stage in STAGES.values()}
    for task in run["tasks"]:
        tasks[STAGES[task["name"].split()[0]]].append(task["cpu"])
    if len(tasks["blocks"]) < 2:
        raise SystemExit("expected several tasks of blocks: measure with --finer 20, or with more labels")
    root = max(tasks["blocks"])
    ordinary = {**tasks, "blocks": sorted(tasks["blocks"])[:-1]}
    # The program computes while the trial lasts, and so hardly does anything else.
    phases = run["phases"]
    share = phases["trial"] / (run["seconds"] - sum(task["seconds"] for task in run["tasks"]))
    trial = run["driver_cpu"] * min(share, 1.0)
    return Costs(
        run["n_labels"],
        {stage: sum(seconds) for stage, seconds in tasks.items()},
        {stage: run["finer"] * sum(seconds) / len(seconds) for stage, seconds in ordinary.items()},
        root,
        trial,
        run["driver_cpu"] - trial,
        run["moved_mb"],
    )


def scaled(costs: Costs, n_labels: float) -> Costs:
    """Return the costs for another number of labels, with the same number of rows per label.

    The trial takes a share of the work of every level. The root has all rows.
    """
    times = n_labels / costs.n_labels
    by_level = times * math.log(n_labels) / math.log(costs.n_labels)
    work = {
        stage: seconds * (by_level if stage in BY_LEVEL else times) for stage, seconds in costs.work.items()
    }
    return Costs(
        n_labels,
        work,
        costs.task,
        costs.root * times,
        costs.trial * by_level,
        costs.driver * times,
        costs.result_mb * times,
    )


def simulate(costs: Costs, cluster: Cluster) -> dict[str, float]:
    """Return the duration of each stage, in seconds."""
    found = {
        "trial": costs.trial / cluster.machine_cores,
        "program": costs.driver + costs.result_mb / cluster.network,
    }
    for stage, tasks in divided(costs).items():
        threads = cluster.machine_cores if stage in SINGLE else 1
        busy = makespan([seconds / threads + cluster.task_seconds for seconds in tasks], cluster.cores)
        found[stage] = max(busy, cluster.dispatch_seconds * len(tasks))
    return found


def divided(costs: Costs) -> dict[str, list[float]]:
    """Return the tasks of each stage, as a training divides it."""
    found = {}
    for stage, work in costs.work.items():
        rest = max(work - costs.root, 0.0) if stage == "blocks" else work
        n_tasks = min(max(round(rest / costs.task[stage]), 1), MOST_TASKS)
        if stage == "subtrees":
            n_tasks = max(round(costs.n_labels / max(costs.n_labels / 64, LABELS_OF_SUBTREES)), 1)
        if stage in SINGLE:
            n_tasks = 1
        found[stage] = [rest / n_tasks] * n_tasks
    found["blocks"].append(costs.root)
    return found


def makespan(tasks: Sequence[float], cores: int) -> float:
    """Return when the last task ends, if the most expensive start first on the core that is free first.

    Examples
    --------
    >>> makespan([4, 3, 3, 2], 2)
    6.0
    """
    free = [0.0] * cores
    for seconds in sorted(tasks, reverse=True):
        heapq.heappush(free, heapq.heappop(free) + seconds)
    return float(max(free))


if __name__ == "__main__":
    sys.exit(main())
