"""Several online trees beside one: precision, time and memory, and what the first labels of `iter_labels` cost.

One run takes development rows from the training rows of each set: the test rows are not read. The models learn the
same stream in turns, part by part, so that a machine that is slower for a while is slower for all.

python -m benchmarks.online_ensembles --data tate eurlex57k
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from benchmarks.data import prepare
from labeltree import LabelTreeClassifier, OnlineLabelTreeClassifier
from labeltree.data import read_xmlc
from labeltree.datasets import make_extreme
from labeltree.metrics import precision_at_k

#: One of so many training rows is a development row.
HELD_OUT = 10
PARTS = 20


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.online_ensembles", description=__doc__)
    parser.add_argument(
        "--data", nargs="+", default=["tate", "eurlex57k"], help="sets, see benchmarks/data.py"
    )
    parser.add_argument(
        "--rows", type=int, default=20_000, help="rows of the stream, at most; 20,000 by default"
    )
    parser.add_argument("--n-trees", type=int, default=3, help="trees of the ensembles; 3 by default")
    parser.add_argument("--labels", type=int, default=0, metavar="N",
                        help="instead, iterate over the labels of a made stream of N labels")  # fmt: skip
    options = parser.parse_args(arguments)
    if options.labels:
        compare_iterations(options.labels, options.n_trees)
        return 0
    print("set | model | P@1 | P@3 | P@5 | CPU time of learning | of prediction | memory")
    for name in options.data:
        compare(name, options.rows, options.n_trees)
    return 0


def compare(name: str, n_rows: int, n_trees: int) -> None:
    """Print a line for each model on a set; times and memory are ratios to the first."""
    X, y = read_xmlc(prepare(name)[0])
    order = np.random.default_rng(0).permutation(X.shape[0])[: n_rows + n_rows // HELD_OUT]
    held_out, stream = order[::HELD_OUT], np.delete(order, np.s_[::HELD_OUT])
    models = contestants(X[stream[: len(stream) // PARTS]], y[stream[: len(stream) // PARTS]], n_trees)
    learning = dict.fromkeys(models, 0.0)
    for part in np.array_split(stream, PARTS):
        for title, model in models.items():
            learning[title] += cpu_seconds(partial(model.partial_fit, X[part], y[part]))
    asking, best = {}, {}
    for title, model in models.items():
        begin = time.process_time()
        best[title] = model.predict_topk(X[held_out])
        asking[title] = time.process_time() - begin
    first = next(iter(models))
    for title, model in models.items():
        precision = [f"{100 * precision_at_k(y[held_out], best[title].labels, k):.2f}" for k in (1, 3, 5)]
        ratios = [
            f"{value / of_first:.2f}"
            for value, of_first in (
                (learning[title], learning[first]),
                (asking[title], asking[first]),
                (model.memory_["total"], models[first].memory_["total"]),
            )
        ]
        print(" | ".join([name, title, *precision, *ratios]), flush=True)


def contestants(X: Any, y: Any, n_trees: int) -> dict[str, OnlineLabelTreeClassifier]:
    """Return the models, by what the table calls them; the clustered trees are built on X and y, which come first."""
    clustered = [LabelTreeClassifier(random_state=seed).build_tree(X, y) for seed in range(n_trees)]
    return {
        "one random tree": OnlineLabelTreeClassifier(policy="random", random_state=0),
        f"{n_trees} random trees": OnlineLabelTreeClassifier(
            n_trees=n_trees, policy="random", random_state=0
        ),
        "one complete tree": OnlineLabelTreeClassifier(random_state=0),
        "one best-fit tree": OnlineLabelTreeClassifier(policy="best_fit", random_state=0),
        "one clustered tree": OnlineLabelTreeClassifier(tree=clustered[0], random_state=0),
        f"{n_trees} clustered trees": OnlineLabelTreeClassifier(
            n_trees=n_trees, tree=clustered, policy="random", random_state=0
        ),
    }


def compare_iterations(n_labels: int, n_trees: int) -> None:
    """Print what the first 5 labels of a row cost, beside all its labels, sorted."""
    data = make_extreme(n_labels, 2 * n_labels, random_state=0)
    variants: tuple[dict[str, Any], ...] = ({}, {"n_trees": n_trees, "policy": "random"})
    for parameters in variants:
        model = OnlineLabelTreeClassifier(random_state=0, **parameters).partial_fit(
            data.X_train, data.y_train
        )
        of_all = of_first = 0.0
        for i in range(30):
            of_all += cpu_seconds(partial(all_labels, model, data.X_test[i]))
            of_first += cpu_seconds(partial(first_labels, model, data.X_test[i]))
        print(
            f"{model.n_trees} tree(s), {model.n_labels_:,} labels: the first 5 of iter_labels cost 1/"
            f"{of_all / of_first:.0f} of all labels",
            flush=True,
        )


def all_labels(model: OnlineLabelTreeClassifier, row: Any) -> None:
    trained = model.growing_model()
    trained.forest.above(trained.read(row), model.make_search(model.n_labels_))


def first_labels(model: OnlineLabelTreeClassifier, row: Any) -> None:
    list(islice(model.iter_labels(row), 5))


def cpu_seconds(call: Callable[[], object]) -> float:
    begin = time.process_time()
    call()
    return time.process_time() - begin


if __name__ == "__main__":
    sys.exit(main())
