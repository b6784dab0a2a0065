"""The arity of k-means trees. Table of section 7.1.4 (logistic) and appendix (squared hinge)."""

from __future__ import annotations

import sys

from experiments.runner.command_line import main
from experiments.runner.table import Table, per_loss

TABLE = Table(
    name="tree_arity",
    title="Arity of the tree",
    paper="precision grows slightly with the arity; training takes longer, up to several times with "
    "arity 64; prediction and model size change little.",
    here="wider is slightly more precise on eurlex57k and makes no difference on tate, where 16 and 64 "
    "build the same tree; but it is faster to train, not slower, since siblings are learned together, "
    "and faster to ask.",
    rows=per_loss({f"arity {arity}": {"tree": "exact_kmeans", "arity": arity} for arity in (2, 16, 64)}),
    notes=["Nodes have exactly this many clusters (`tree='exact_kmeans'`), as in the paper."],
)


if __name__ == "__main__":
    sys.exit(main([TABLE.name, *sys.argv[1:]]))
