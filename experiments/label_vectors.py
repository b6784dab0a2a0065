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
    here="features are the best to cluster by on bibtex and delicious, by 0.6 points of P@1 to co-occurrence on "
    "delicious and by less than the errors else; costs are equal. In older runs (below) co-occurrence alone "
    "was a little worse on eurlex57k and a little better at 1 on tate, and costlier to train and ask on "
    "both.",
    rows=[
        Row("features"),
        Row("co-occurrence", {"label_vectors": "cooccurrence"}),
        Row("both", {"label_vectors": "both"}),
    ],
)


if __name__ == "__main__":
    sys.exit(main([TABLE.name, *sys.argv[1:]]))
