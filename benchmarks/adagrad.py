"""AdaGrad's rate, schedule and start for batch training, on development rows. A table in docs/node-learners.md.

python -m benchmarks.adagrad                     # under two minutes of processor time
python -m benchmarks.adagrad --sets tate --rows 2000 --seeds 1
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from benchmarks.development import keep_rows, prepare_parts
from labeltree import LabelTreeClassifier
from labeltree.data import read_xmlc
from labeltree.metrics import evaluate
from labeltree.training.losses import LOSSES

SETS = ("bibtex", "delicious", "eurlex57k", "tate", "extreme-5k-20k")

#: By loss and start of the sum: rates that fall to 0, and constant ones. From a smaller start the first steps are
#: longer, so that the best rates are smaller.
RATES: dict[str, dict[float, tuple[tuple[float, ...], tuple[float, ...]]]] = {
    "squared_hinge": {
        1.0: ((0.2, 0.3, 0.4, 0.6), (0.2, 0.4)),
        0.1: ((0.1, 0.2, 0.4), (0.1,)),
        0.01: ((0.05, 0.15), (0.05,)),
    },
    "logistic": {
        1.0: ((1.5, 3.0, 4.5, 6.0), (1.5, 3.0)),
        0.1: ((0.75, 1.5, 3.0), (0.75, 1.5)),
        0.01: ((0.5, 1.0), (0.5,)),
    },
}


@dataclass(frozen=True)
class Step:
    """How AdaGrad goes."""

    loss: str
    start: float
    rate: float
    schedule: str

    @property
    def parameters(self) -> dict[str, Any]:
        return {
            "loss": self.loss,
            "solver": "adagrad",
            "initial_accumulator": self.start,
            "learning_rate": self.rate,
            "rate_schedule": self.schedule,
        }

    @property
    def is_default(self) -> bool:
        loss = LOSSES[self.loss]
        usual = loss.initial_accumulator, loss.learning_rate["adagrad"], "linear"
        return (self.start, self.rate, self.schedule) == usual


STEPS = [
    Step(loss, start, rate, schedule)
    for loss, starts in RATES.items()
    for start, by_schedule in starts.items()
    for schedule, rates in zip(("linear", "constant"), by_schedule, strict=True)
    for rate in rates
]


def measure(name: str, n_rows: int, seeds: int) -> dict[Step, float]:
    """The mean of P@1, P@3 and P@5 in per cent on the development rows of a set, by step; all on one default tree."""
    parts = keep_rows(prepare_parts(name), n_rows)
    X, y = read_xmlc(parts.train)
    X_dev, y_dev = read_xmlc(parts.dev, n_features=X.shape[1], n_labels=y.shape[1])
    tree = LabelTreeClassifier(random_state=0).build_tree(X, y)
    found = {}
    for step in STEPS:
        models = (
            LabelTreeClassifier(tree=tree, random_state=seed, **step.parameters).fit(X, y)
            for seed in range(seeds)
        )
        figures = [evaluate(y_dev, model.predict_topk(X_dev, 5).labels) for model in models]
        found[step] = 100 * mean(mean(f[m] for m in ("P@1", "P@3", "P@5")) for f in figures)
    return found


def table(figures: dict[str, dict[Step, float]]) -> Iterator[str]:
    """The lines of a table of Markdown: precision of the defaults, and of others their difference from these."""
    yield f"| loss | start | rate | schedule | {' | '.join(figures)} | mean |"
    yield "| --- " * (len(figures) + 5) + "|"
    for step in sorted(STEPS, key=lambda step: (step.loss, not step.is_default)):
        usual = next(other for other in STEPS if other.loss == step.loss and other.is_default)
        values = [of_set[step] - (0 if step.is_default else of_set[usual]) for of_set in figures.values()]
        form = "{:.2f}" if step.is_default else "{:+.2f}"
        cells = " | ".join(form.format(value) for value in [*values, mean(values)])
        yield f"| {step.loss} | {step.start:g} | {step.rate:g} | {step.schedule} | {cells} |"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.adagrad", description=__doc__)
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--rows", type=int, default=5_000, help="training rows of each set; 5,000 by default")
    parser.add_argument("--seeds", type=int, default=2, help="orders of the rows; 2 by default")
    options = parser.parse_args(arguments)
    print(*table({name: measure(name, options.rows, options.seeds) for name in options.sets}), sep="\n")


if __name__ == "__main__":
    main()
