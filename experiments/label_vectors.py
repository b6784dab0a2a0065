"""What labels are clustered by. Not in the paper, which follows from section 6.5."""

from __future__ import annotations

import sys

from experiments.runner.command_line import main
from experiments.runner.table import Row, Table

TABLE = Table(
    name="label_vectors",
    title="Label vectors",
    paper="not compared; Parabel and napkinXC cluster labels by the features of their examples, Bonsai "
    "also by co-occurrence.",
    here="no clear winner: by co-occurrence alone trees are a little worse on eurlex57k and a little "
    "better at 1 on tate, and costlier to train and ask on both.",
    rows=[
        Row("features"),
        Row("co-occurrence", {"label_vectors": "cooccurrence"}),
        Row("both", {"label_vectors": "both"}),
    ],
)


if __name__ == "__main__":
    sys.exit(main([TABLE.name, *sys.argv[1:]]))
