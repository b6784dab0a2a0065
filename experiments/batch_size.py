"""Time of a prediction over the size of the batch. The figure of section 7.1.2."""

from __future__ import annotations

import sys

from experiments.runner.command_line import main
from experiments.runner.table import Row, Table

_PARABEL = {"loss": "squared_hinge"}
_WIDE = {"tree": "exact_kmeans", "arity": 32}
_BEAM = {"search": "beam", "beam": 10}

TABLE = Table(
    name="batch_size",
    title="Prediction time by batch size",
    paper="the time per row of uniform-cost search does not depend on the size of the batch; beam search, which "
    "unpacks the weights of a node for a whole batch, is over 100 times slower in small batches and often needs more "
    "than 1,000 rows to catch up.",
    here="no way to search depends much on the batch. A row that comes alone takes 1.7 to 3.8 times as long as in a "
    "large batch, with binary trees: that is what a call costs, some 0.05 to 0.1 ms; beam search takes 1.5 to 3.3"
    " times as long as exact search in batches of every size. Of the other packages PECOS depends most on the "
    "batch: 3.8 and 8 times.",
    rows=[
        Row("exact", _PARABEL),
        Row("beam 10", {**_PARABEL, **_BEAM}),
        Row("exact, arity 32", {**_PARABEL, **_WIDE}),
        Row("beam 10, arity 32", {**_PARABEL, **_BEAM, **_WIDE}),
        Row("napkinXC, exact", system="napkinxc", seeds=1),
        Row("PECOS, beam 10", system="pecos", seeds=1),
        Row("omikuji, beam 10", system="omikuji", seeds=1),
    ],
    notes=[
        "Binary trees with the squared hinge, as Parabel has them; arity 32 is exactly 32 clusters at "
        "every node.",
        "Processor time of one thread.",
        "Batches are drawn at random from the test rows, as in the paper: 50 of each size, of large ones as many as "
        "have 5,000 rows together, but at least 5. Batches of 10,000 have rows twice: there are about 6,000.",
        "Our beam search asks the same blocks as exact search, row by row, and unpacks nothing: the paper compares two "
        "programs, napkinXC and Parabel. Other packages with the settings of our benchmarks; omikuji is asked row by "
        "row, which is all that it can. Making their queries is not counted.",
    ],
    batch_sizes=(1, 10, 100, 1_000, 10_000),
    picture="batches",
)


if __name__ == "__main__":
    sys.exit(main([TABLE.name, *sys.argv[1:]]))
