"""The arity of k-means trees. Table of section 7.1.4 (logistic) and appendix (squared hinge)."""

from __future__ import annotations

import sys

from experiments.runner.claims import Claim
from experiments.runner.command_line import main
from experiments.runner.table import Table, per_loss

TABLE = Table(
    name="tree_arity",
    title="Arity of the tree",
    paper="precision grows slightly with the arity; training takes longer, up to several times with "
    "arity 64; prediction and model size change little.",
    here="with exactly 2, 16 or 64 clusters at every node wider is not better in general. With the logistic loss "
    "64 loses 1.4 points of P@1 to 2 on bibtex and 0.6 on delicious; with the squared hinge it loses 1.1 on "
    "bibtex and gains 0.4 on delicious. On eurlex57k and tate, of single runs, it is between 0.3 points "
    "worse and 0.5 better, which seeds alone can do. Wider trees take 0.6 to 1.1 times the processor time to "
    "train, not several times, since siblings are learned together. On bibtex 64 clusters have two or three "
    "of the 159 labels each, where the binary tree has two clusters of 80: there the wide tree is the deeper "
    "one. The older runs below had an upper bound of the arity, which 64 never reached.",
    rows=per_loss({f"arity {arity}": {"tree": "exact_kmeans", "arity": arity} for arity in (2, 16, 64)}),
    large={
        "extreme-131k": [
            f"{loss}, arity {arity}" for loss in ("logistic", "squared hinge") for arity in (2, 16, 64)
        ],
        "extreme-670k": [f"squared hinge, arity {arity}" for arity in (2, 16, 64)],
    },
    claims=[
        Claim(f"wider is more precise: 64 against 2, {loss}", f"{loss}, arity 64", f"{loss}, arity 2")
        for loss in ("logistic", "squared hinge")
    ],
    notes=["Nodes have exactly this many clusters (`tree='exact_kmeans'`), as in the paper."],
)


if __name__ == "__main__":
    sys.exit(main([TABLE.name, *sys.argv[1:]]))
