"""How training would scale from 1 to 1,000 cores: a simulation from measured tasks.

python -m benchmarks.distributed --labels 670000 --engines here pool --workers 1 --json measured.json
python -m benchmarks.cluster_simulation measured.json

The measured run has one worker, so that the time between two results is the time of a task. Costs per label are taken
from it and scaled to other numbers of labels, with the same number of rows per label. Tasks are given to the core that
is free first, the most expensive ones first, and stages wait for each other, as in a real training. What grows with the
logarithm of the number of labels (the levels of a tree) is scaled with it.
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

CORES = (1, 2, 4, 16, 64, 256, 1000)
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
BY_LEVEL = ("top of the tree", "subtrees", "rows of nodes", "blocks")
#: Stages of one task.
SINGLE = ("top of the tree", "rows of nodes")


@dataclass(frozen=True)
class Costs:
    """Measured costs of one training.

    Attributes
    ----------
    n_labels : float
    seconds : dict
        Work of each stage, in seconds of one core.
    largest : dict
        The most expensive task of each stage that cannot be divided.
    driver : float
        Seconds of the driver outside of tasks: the trial, and writing the model.
    result_mb : float
        Megabytes of all results.
    """

    n_labels: float
    seconds: dict[str, float]
    largest: dict[str, float]
    driver: float
    result_mb: float


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("measured", type=Path, help="the JSON file of benchmarks.distributed")
    parser.add_argument("--labels", nargs="+", type=float, default=LABELS)
    parser.add_argument("--cores", nargs="+", type=int, default=CORES)
    parser.add_argument("--task-overhead", type=float, default=0.01, help="seconds of a worker per task")
    parser.add_argument("--dispatch", type=float, default=0.001, help="seconds of the driver per task")
    parser.add_argument("--network", type=float, default=1000, help="megabytes per second into the driver")
    options = parser.parse_args(arguments)
    costs = read_costs(json.loads(options.measured.read_text()))
    print("| labels | cores | hours | speed-up | longest stage | its share |\n|" + " --- |" * 6)
    for n_labels in options.labels:
        alone = None
        for cores in options.cores:
            stages = simulate(
                scaled(costs, n_labels), cores, options.task_overhead, options.dispatch, options.network
            )
            total = sum(stages.values())
            alone = alone or total
            slowest = max(stages, key=lambda stage: stages[stage])
            cells = (
                f"{n_labels:,.0f}",
                f"{cores:,}",
                f"{total / 3600:.2f}",
                f"{alone / total:.1f}",
                slowest,
                f"{stages[slowest] / total:.0%}",
            )
            print("| " + " | ".join(cells) + " |")
    return 0


def read_costs(rows: list[dict[str, object]]) -> Costs:
    """Take the costs from a run with one worker."""
    runs: list[dict] = [row for row in rows if row["engine"] != "here" and row["workers"] == 1]  # type: ignore[type-arg]
    if not runs:
        raise SystemExit("expected a run of an engine with one worker: --engines pool --workers 1")
    run = runs[0]
    seconds = dict.fromkeys(STAGES.values(), 0.0)
    largest = dict.fromkeys(STAGES.values(), 0.0)
    for task in run["tasks"]:
        stage = STAGES[task["name"].split()[0]]
        seconds[stage] += task["seconds"]
        largest[stage] = max(largest[stage], task["seconds"])
    driver = run["seconds"] - sum(seconds.values())
    return Costs(run["n_labels"], seconds, largest, driver, run["moved_mb"])


def scaled(costs: Costs, n_labels: float) -> Costs:
    """Return the costs for another number of labels, with the same number of rows per label."""
    times = n_labels / costs.n_labels
    levels = math.log(n_labels) / math.log(costs.n_labels)

    def factor(stage: str) -> float:
        return times * (levels if stage in BY_LEVEL else 1)

    # The root has all rows; every other task is kept small by dividing the stage into more of them.
    largest = {
        stage: seconds * times if stage in (*SINGLE, "blocks") else seconds
        for stage, seconds in costs.largest.items()
    }
    return Costs(
        n_labels,
        {stage: seconds * factor(stage) for stage, seconds in costs.seconds.items()},
        largest,
        costs.driver * times,
        costs.result_mb * times,
    )


def simulate(
    costs: Costs, cores: int, task_overhead: float, dispatch: float, network: float
) -> dict[str, float]:
    """Return the duration of each stage on so many cores."""
    found = {"driver": costs.driver + costs.result_mb / network}
    for stage, work in costs.seconds.items():
        tasks = divided(work, costs.largest[stage], single=stage in SINGLE)
        found[stage] = makespan([seconds + task_overhead for seconds in tasks], cores) + dispatch * len(tasks)
    return found


def divided(work: float, largest: float, single: bool) -> list[float]:
    """Return the tasks of a stage: the one that cannot be divided, and equal ones of about two seconds."""
    if single:
        return [work]
    rest = max(work - largest, 0.0)
    n_tasks = min(max(round(rest / 2), 1), 4096)
    return [largest] + [rest / n_tasks] * n_tasks


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
