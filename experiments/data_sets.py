"""The sizes of the data sets. The first table of section 7, of the sets that are here.

python -m experiments.data_sets                  # writes experiments/results/data_sets.md
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from experiments.runner.check import write_page
from experiments.runner.document import line_of
from experiments.runner.features import Problem, read_problem
from experiments.runner.tables import RESULTS

SETS = ("eurlex57k", "tate", "bibtex", "delicious", "extreme-131k", "extreme-670k", "extreme-3m")

_ABOUT = """\
The paper's table of its data sets, of those that these experiments are run on. Its own are found in
[the documentation](../../docs/datasets.md); they can be fetched by name. Labels and features are those of the training
rows; *labels per row* is the mean over training rows, *rows per label* over the labels."""


def sizes(problem: Problem) -> list[str]:
    """Features, labels, training and test rows, labels per row and rows per label."""
    n_rows, n_labels = problem.y_train.shape
    counts = (problem.X_train.shape[1], n_labels, n_rows, problem.y_test.shape[0])
    means = (problem.y_train.nnz / n_rows, problem.y_train.nnz / n_labels)
    return [*(f"{count:,}" for count in counts), *(f"{mean:.2f}" for mean in means)]


def page(sets: Sequence[str]) -> Iterator[str]:
    """The lines of the page."""
    yield from ("# Data sets", "", _ABOUT, "")
    columns = ["", "features", "labels", "training rows", "test rows", "labels per row", "rows per label"]
    yield from (line_of(columns), line_of(["---", *["---:"] * (len(columns) - 1)]))
    for name in sets:
        yield line_of([f"`{name}`", *sizes(read_problem(name, None, "words", threads=2))])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.data_sets", description=__doc__)
    parser.add_argument("--data", nargs="+", default=SETS)
    parser.add_argument("--output", type=Path, default=RESULTS / "data_sets.md")
    options = parser.parse_args(arguments)
    started = time.perf_counter()
    lines = list(page(options.data))
    write_page("data_sets", options.output, lines, seeds="no seed", seconds=time.perf_counter() - started)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
