"""The simulation of a cluster: work is neither lost nor invented, and what cannot be divided limits the speed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from benchmarks.cluster_simulation import STAGES, Cluster, read_costs, scaled, simulate

#: Seconds of the tasks of each stage.
TASKS = {
    "vectors of labels": [2.0, 2.0],
    "top of a tree": [3.0],
    "subtrees": [4.0, 4.0],
    "rows of all nodes": [1.0],
    "blocks": [10.0, 5.0, 5.0],
}
ALONE = Cluster(cores=1, machine_cores=1, task_seconds=0.0, dispatch_seconds=0.0, network=1e9)


def measured(**changed: Any) -> dict[str, Any]:
    tasks = [
        {"name": name, "cpu": seconds, "seconds": 2 * seconds, "mb": 1.0}
        for name, times in TASKS.items()
        for seconds in times
    ]
    run = {"engine": "pool", "workers": 1, "n_labels": 100_000, "finer": 20.0, "seconds": 92.0}
    return {**run, "phases": {"trial": 15.0}, "driver_cpu": 10.0, "moved_mb": 9.0, "tasks": tasks, **changed}


def test_one_core_takes_the_time_of_all_work() -> None:
    costs = read_costs([measured(engine="here"), measured()])
    assert (costs.trial, costs.driver, costs.root) == (7.5, 2.5, 10.0)  # 15 of 20 seconds outside of tasks
    found = simulate(costs, ALONE)
    assert found.keys() == {"trial", "program", *STAGES.values()}
    assert sum(found.values()) == pytest.approx(36 + 10, abs=1e-6)


def test_many_cores_are_limited_by_what_is_not_divided() -> None:
    costs = scaled(read_costs([measured()]), 1e8)
    many = simulate(costs, replace(ALONE, cores=100_000, machine_cores=10))
    assert many["blocks"] == pytest.approx(10_000)  # the first level of the tree
    assert many["top of the tree"] == pytest.approx(3_000 / 10)
    assert many["subtrees"] == pytest.approx(8_000 * (8 / 5) / 64)
    assert many["trial"] == pytest.approx(7_500 * (8 / 5) / 10)
    assert many["program"] == pytest.approx(2_500, rel=1e-3)


def test_runs_that_tell_too_little() -> None:
    with pytest.raises(SystemExit, match="a pool with one worker"):
        read_costs([measured(workers=2)])
    few = [task for task in measured()["tasks"] if task["name"] != "blocks"]
    with pytest.raises(SystemExit, match="several tasks of blocks"):
        read_costs([measured(tasks=few)])
