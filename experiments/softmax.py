"""Label trees against hierarchical softmax with pick-one-label, on real data. The second table of section 7.3."""

from __future__ import annotations

import sys

from experiments.runner.command_line import main
from experiments.runner.table import SOFTMAX, TREES, Row, Table

TABLE = Table(
    name="softmax",
    title="Hierarchical softmax",
    paper="label trees are better everywhere, in P@1 by 3 to 31 points, and also in recall@k, for which picking one "
    "label is optimal in theory, by 0.5 to 8 points.",
    rows=[
        Row(f"{name}, {tree}, C = {C}", {"arity": arity, "C": float(C)}, system=system, seeds=seeds)
        for tree, arity in (("binary tree", 2), ("arity 32", 32))
        for name, system in (("label tree", TREES), ("softmax", SOFTMAX))
        for C, seeds in ((12, None), (32, 1))
    ],
    data=("eurlex57k", "tate", "bibtex", "delicious"),
    seeds={"eurlex57k": 1, "tate": 1},
    ranking=("P@1", "P@5", "recall@1", "recall@5"),
    notes=[
        "Logistic loss and the same k-means trees for both. An example with several labels is one example for each of "
        "them to softmax, weighing its share; two values of C, since it has less to learn from each.",
        "`bibtex` (159 labels) and `delicious` (983) have no split of their own: every fifth row is tested on.",
    ],
)


if __name__ == "__main__":
    sys.exit(main([TABLE.name, *sys.argv[1:]]))
