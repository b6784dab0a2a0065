"""Warnings about classifiers that have lost their weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from labeltree.model.block_weights import BlockWeights
from labeltree.training.linear_nodes import pruning_warnings


def weight_warnings(
    prune: float, l1: float, nodes: Sequence[BlockWeights], reports: Sequence[Mapping[str, int]]
) -> list[str]:
    """Return warnings if pruning or the L1 penalty left nearly no weight."""
    found = pruning_warnings(prune, nodes, reports)
    (weights,), (report,) = nodes, reports
    if l1 > 0 and report["n_row_visits"] > 0 and weights.n_weights + report["n_pruned"] == 0:
        found.append(f"l1={l1:g} left no weight at all: use a smaller l1, or a larger C")
    return found
