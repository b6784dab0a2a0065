"""One, three and five trees. The figure of section 7.1.5."""

from __future__ import annotations

import sys

from experiments.runner.command_line import main
from experiments.runner.table import Row, Table, per_loss

TABLE = Table(
    name="ensembles",
    title="Ensembles",
    paper="three trees are better than one by much more than five are than three; costs grow linearly; "
    "with the squared hinge ensembles gain slightly more.",
    here="the same: three trees gain 0.3 to 0.6 points, five hardly more than three, and the squared hinge "
    "gains more. Missing estimates as 0 cost little precision and save little time. A Huffman and a "
    "complete tree beside k-means help on tate and not on eurlex57k.",
    rows=[
        *per_loss(
            {"1 tree": {}, "3 trees": {"n_trees": 3}, "5 trees": {"n_trees": 5}},
            seeds={"3 trees": 1, "5 trees": 1},
        ),
        Row("3 trees, missing as 0, logistic", {"n_trees": 3, "missing_estimates": "zero"}, seeds=1),
        Row(
            "k-means, Huffman, complete, logistic",
            {"n_trees": 3, "tree": ["kmeans", "huffman", "complete"]},
            seeds=1,
        ),
    ],
    notes=[
        "Ensembles average over seeds themselves, so they are run once.",
        "A label that a tree has not among its best gets the probability along its path, or, missing as 0, nothing.",
    ],
)


if __name__ == "__main__":
    sys.exit(main([TABLE.name, *sys.argv[1:]]))
