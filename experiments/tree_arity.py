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
    here="these figures are of an older run, in which arity was an upper bound: 16 and 64 were 7 and 42 children on "
    "eurlex57k, and 13 on tate for both, so that they say nothing of exact arities. There, wider was 0.2 points of P@1 "
    "better on eurlex57k, with no clear difference on tate with the logistic loss, and faster to train, not slower, "
    "since siblings are learned together.",
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
