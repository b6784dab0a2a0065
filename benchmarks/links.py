"""How a node's score becomes a probability: quality and search cost of every link. The table in docs/node-learners.md.

python -m benchmarks.links eurlex57k tate
"""

from __future__ import annotations

import sys
from statistics import mean

from benchmarks.data import prepare
from labeltree import LabelTreeClassifier
from labeltree.data import read_xmlc
from labeltree.metrics import evaluate
from labeltree.training.losses import LOSSES

SEEDS = (0, 1, 2)


def main(names: list[str]) -> None:
    print("| data | loss | link | P@1 | P@3 | P@5 | nodes asked per row |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in names or ["eurlex57k", "tate"]:
        train, test = prepare(name)
        X, y = read_xmlc(train)
        X_test, y_test = read_xmlc(test, n_features=X.shape[1], n_labels=y.shape[1])
        for loss in LOSSES.values():
            models = [
                LabelTreeClassifier(loss=loss.name, n_jobs=-1, random_state=seed).fit(X, y) for seed in SEEDS
            ]
            for link in loss.links:
                figures, asked = [], []
                for model in models:
                    model.set_params(link=link)
                    labels, _, evaluations = model.predict_topk(X_test, 5, return_evaluations=True)
                    figures.append(evaluate(y_test, labels))
                    asked.append(evaluations.mean())
                precision = " | ".join(
                    f"{100 * mean(f[m] for f in figures):.2f}" for m in ("P@1", "P@3", "P@5")
                )
                print(f"| {name} | {loss.name} | {link} | {precision} | {mean(asked):.0f} |")


if __name__ == "__main__":
    main(sys.argv[1:])
