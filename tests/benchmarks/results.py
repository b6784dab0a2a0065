"""Runs as the benchmarks would have made them."""

from benchmarks.runner import Run
from benchmarks.summary import COSTS, QUALITIES, Row, summarise


def complete(system, n_trees, factor, version="1.0"):
    costs = {name: factor * (i + 1) for i, name in enumerate(COSTS)}
    return Run(system, n_trees, 600.0, version, costs | dict.fromkeys(QUALITIES, 0.9 - factor / 100))


def sample_rows() -> list[Row]:
    """Ours twice, a peer with several trees, one that was stopped and two that failed."""
    runs = [complete("labeltree", 1, 1.0), complete("labeltree", 3, 2.0)]
    runs += [complete("omikuji", n_trees, factor) for factor in (3.0, 4.0, 6.0) for n_trees in (1, 3)]
    runs.append(Run("sklearn", 1, 600.0, "1.9", {"load_s": 0.1}, stopped="train"))
    runs.append(Run("pecos", 1, 600.0, "1.2", {}, failure="train: exit code -11\nSegmentation fault"))
    trained = {"train_s": 9.0, "total_s": 9.5, "memory_mb": 100.0}
    runs.append(Run("vowpalwabbit", 1, 600.0, "9.11", trained, stopped="predict"))
    return summarise(runs)
