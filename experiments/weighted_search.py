"""What weights of labels do to a ranking: precision against its propensity-scored, per-label and per-row kin.

python -m experiments.weighted_search            # five seeds, both sets; writes experiments/results/weighted_search.md
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from experiments.runner.check import write_page
from experiments.runner.document import line_of, per_cent
from experiments.runner.features import Problem, read_problem
from experiments.runner.figures import Mean
from experiments.runner.table import Row
from experiments.runner.tables import RESULTS
from labeltree import LabelTreeClassifier
from labeltree.metrics import evaluate, inverse_propensity

K = 5
Weights = NDArray[np.float64]

#: The paper's baseline, whose logistic loss makes for honest probabilities, and what a user gets who sets nothing.
MODELS: Mapping[str, Mapping[str, Any]] = {
    "the paper's baseline, logistic loss": Row("").all_parameters(),
    "our defaults, squared hinge": {},
}


def power_of_propensity(exponent: float) -> Callable[[Any], Weights]:
    return lambda y: inverse_propensity(y) ** exponent


def power_of_frequency(exponent: float) -> Callable[[Any], Weights]:
    """Of labels that do not occur, as if they did once."""
    return lambda y: np.maximum(np.bincount(y.indices, minlength=y.shape[1]), 1.0) ** -exponent


def share_of_row(y: Any) -> Weights:
    """What finding a label adds to the recall of a row: one over the labels of the row, on average over training."""
    n_labels = np.diff(y.indptr)
    per_entry = np.repeat(1 / np.maximum(n_labels, 1), n_labels)
    total = np.bincount(y.indices, per_entry, minlength=y.shape[1])
    count = np.bincount(y.indices, minlength=y.shape[1])
    return np.where(count > 0, total / np.maximum(count, 1), 1 / np.mean(n_labels))


WEIGHTINGS: Mapping[str, Callable[[Any], Weights] | None] = {
    "no weights": None,
    **{f"propensity⁻¹ ^ {a:g}": power_of_propensity(a) for a in (0.5, 1, 1.5, 2)},
    **{f"frequency⁻¹ ^ {a:g}": power_of_frequency(a) for a in (0.25, 0.5, 1)},
    "share of row": share_of_row,
}

QUALITIES = (
    "P@1",
    "P@5",
    "PSP@1",
    "PSP@3",
    "PSP@5",
    "recall@5",
    "macro-recall@5",
    "macro-F1@5",
    "coverage@5",
)

_ABOUT = """\
Labels are ranked by weight × probability (`predict_topk(X, 5, label_weight=…)`); all rows of a table are of the same
models. *propensity⁻¹*: the inverse propensities that PSP@k scores with, to a power. *frequency⁻¹*: one over the number
of training rows, to a power. *Share of row*: 1 / (labels of a row), averaged over the training rows of the label.
Macro-recall and macro-F1 are means over the labels that test rows have. All figures are in per cent, but *nodes*: how
many node classifiers a row asks. Means ± standard errors over seeds. In bold: the best."""

#: Written after the runs.
_HERE = """\
**Here:** inverse propensities do what they are for. With the paper's baseline PSP@1 rises from 47 to 60 on `eurlex57k`
and from 26 to 50 on `tate`, PSP@5 by 3 and by 15 points; P@1 falls by 1.6 and by 9 points, P@5 by 0.3 and by 3.5. Half
the power has two thirds of the gain in PSP@1 for less of the price: P@1 falls by 0.05 and by 3.6 points. More labels
are found: macro-F1@5 is 7 points up on `eurlex57k`, and on `tate`, where without weights few but the frequent labels
are among the best five, it is 37 instead of 4.

Probabilities decide which power is best. With the logistic loss those of rare labels are too high: labels with a single
training row are expected 232 times and found 19 times in the first 1,500 test rows of `eurlex57k`, 736 and 155 times in
those of `tate` (sums of `predict_proba`, one model). Powers of 1 to 1.5 are best for PSP; one over the frequency, which
would be best for macro-recall if probabilities were right, drowns everything else, and its root is best. With the
squared hinge the same labels are expected 0.2 and 8 times: the largest powers tried are best or nearly so, and the full
frequency does no such harm.

Recall per row hardly gains, and *share of row* loses a little. What a hit adds to that recall depends on how many
labels the row has; of that, the label says too little.

Search pays for it: at power 1 it asks 1.1 to 3.5 times as many nodes, and more beyond, because a single heavy label
keeps the bound of its subtree high. The wide trees of the defaults suffer least."""


def label_metrics(y: Any, labels: NDArray[Any]) -> dict[str, float]:
    """Recall and F1 of every label that occurs in y, averaged, where each row is given all its predicted labels."""
    predicted = sp.csr_matrix(
        (np.ones(labels.size), labels.ravel(), np.arange(len(labels) + 1) * labels.shape[1]), shape=y.shape
    )
    n_hits, n_predicted, n_true = (
        np.asarray(matrix.sum(axis=0)).ravel() for matrix in (predicted.multiply(y), predicted, y)
    )
    there = n_true > 0
    recall = n_hits[there] / n_true[there]
    f1 = 2 * n_hits[there] / (n_true + n_predicted)[there]
    return {f"macro-recall@{K}": float(recall.mean()), f"macro-F1@{K}": float(f1.mean())}


def measure(problem: Problem, parameters: Mapping[str, Any], seed: int) -> dict[str, dict[str, float]]:
    """The figures of every weighting with one model."""
    model = LabelTreeClassifier(**parameters, n_jobs=-1, random_state=seed, verbose=-1)
    model.fit(problem.X_train, problem.y_train)
    propensity = inverse_propensity(problem.y_train)
    figures = {}
    for name, weighting in WEIGHTINGS.items():
        weight = None if weighting is None else weighting(problem.y_train)
        labels, _, n_nodes = model.predict_topk(
            problem.X_test, K, label_weight=weight, return_evaluations=True
        )
        figures[name] = {
            **evaluate(problem.y_test, labels, inverse_propensity=propensity),
            **label_metrics(problem.y_test, labels),
            "nodes": float(n_nodes.mean()),
        }
    return figures


def table(runs: list[dict[str, dict[str, float]]]) -> Iterator[str]:
    """A line per weighting."""
    yield from (line_of(["", *QUALITIES, "nodes"]), line_of(["---"] * (len(QUALITIES) + 2)))
    means = {
        name: {figure: Mean.of([run[name][figure] for run in runs]) for figure in runs[0][name]}
        for name in WEIGHTINGS
    }
    best = {figure: max(of_name[figure].value for of_name in means.values()) for figure in QUALITIES}
    for name, of_name in means.items():
        cells = [
            f"**{per_cent(of_name[figure])}**"
            if of_name[figure].value == best[figure]
            else per_cent(of_name[figure])
            for figure in QUALITIES
        ]
        yield line_of([name, *cells, f"{of_name['nodes'].value:.0f}"])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.weighted_search", description=__doc__)
    parser.add_argument("--data", nargs="+", default=["eurlex57k", "tate"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument(
        "--train-rows", type=int, metavar="N", help="train on the first N rows, to try things"
    )
    parser.add_argument("--output", type=Path, default=RESULTS / "weighted_search.md")
    started = time.perf_counter()
    options = parser.parse_args()
    lines = ["# Labels ranked by weight", "", _ABOUT, "", _HERE, ""]
    for data in options.data:
        problem = read_problem(data, options.train_rows, "words", threads=2)
        for name, parameters in MODELS.items():
            runs = [measure(problem, parameters, seed) for seed in range(options.seeds)]
            lines += [f"## {data}: {name}", "", *table(runs), ""]
            print("\n".join(lines[-len(WEIGHTINGS) - 5 :]), flush=True)
    seeds = f"seeds 0 to {options.seeds - 1}"
    seconds = time.perf_counter() - started
    write_page("weighted_search", options.output, lines, seeds=seeds, seconds=seconds)


if __name__ == "__main__":
    main()
