"""The tables that there are."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from experiments.runner.table import Table

RESULTS = Path(__file__).parent.parent / "results"

#: All tables, in the order of the paper.
NAMES = (
    "optimisers",
    "node_learners",
    "search_methods",
    "batch_size",
    "representations",
    "tree_structures",
    "label_vectors",
    "tree_arity",
    "max_leaves",
    "ensembles",
    "pruning",
    "thresholds",
    "softmax",
    "recall_weights",
    "online",
    "rivals",
    "systems",
)


def load_table(name: str) -> Table:
    """The table of the script of that name."""
    table: Table = import_module(f"experiments.{name}").TABLE
    return table
