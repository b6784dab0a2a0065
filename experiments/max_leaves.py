"""How many labels a node may have as its children. Table of section 7.1.4 (logistic) and appendix (squared hinge)."""

from __future__ import annotations

import sys

from experiments.runner.claims import Claim
from experiments.runner.command_line import main
from experiments.runner.table import Table, per_loss

TABLE = Table(
    name="max_leaves",
    title="Labels below the last inner nodes",
    paper="precision grows slightly when trees are shallower (400 rather than 25), training and "
    "prediction take longer, model sizes change little.",
    here="the same: 400 gains 0.7 to 1.4 points of P@1 on 25 on bibtex and delicious, and 1.1 on eurlex57k, of "
    "single runs with the logistic loss. On the small sets training takes no longer, prediction is faster, "
    "not slower, by a quarter to a half, and models are smaller by a tenth to a quarter.",
    rows=per_loss(
        {f"max_leaves {leaves}": {"max_leaves": leaves} for leaves in (25, 100, 400)},
    ),
    large={
        "extreme-131k": [
            f"{loss}, max_leaves {leaves}"
            for loss in ("logistic", "squared hinge")
            for leaves in (25, 100, 400)
        ],
        "extreme-670k": [f"squared hinge, max_leaves {leaves}" for leaves in (25, 100, 400)],
    },
    claims=[
        Claim(f"400 is more precise than 25, {loss}", f"{loss}, max_leaves 400", f"{loss}, max_leaves 25")
        for loss in ("logistic", "squared hinge")
    ],
)


if __name__ == "__main__":
    sys.exit(main([TABLE.name, *sys.argv[1:]]))
