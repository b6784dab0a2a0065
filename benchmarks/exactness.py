"""What exact answers of several trees, and of mixed models, cost beside the answers of each part alone.

LABELTREE_DATA=../shared/data python -m benchmarks.exactness --data tate eurlex57k

Prints two tables in Markdown. Times are seconds of the processor in one thread, the medians of several turns, so that
other work on the machine counts less.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.data import prepare
from labeltree import LabelTreeClassifier, mix
from labeltree.data import read_xmlc
from labeltree.metrics import precision_at_k

KS = (1, 5, 100)
N_TREES = 3
TREES = (
    "set",
    "k",
    "nodes asked, k best of each tree",
    "exact",
    "CPU time, exact ÷ other",
    "rows that differ",
    "P@k, other and exact",
)
MIXES = ("set", "k", "CPU time, mix ÷ both models alone")


def ratio(one: Callable[[], object], other: Callable[[], object], repeat: int) -> float:
    """The CPU time of one thing relative to that of another, done in turns."""
    taken = np.empty((repeat, 2))
    for turn in taken:
        for place, ask in enumerate((one, other)):
            before = time.process_time()
            ask()
            turn[place] = time.process_time() - before
    return float(np.median(taken[:, 0] / taken[:, 1]))


def trees_row(name: str, model: Any, X: Any, y: Any, k: int, repeat: int) -> list[str]:
    """Several trees: the k best of all labels, beside the k best of each tree (missing estimates count as 0)."""

    def ask(missing: str) -> Any:
        return model.set_params(missing_estimates=missing).predict_topk(X, k, return_evaluations=True)

    (some, _, n_some), (exact, _, n_exact) = ask("zero"), ask("path")
    cost = ratio(lambda: ask("path"), lambda: ask("zero"), repeat)
    return [
        name,
        str(k),
        f"{n_some.mean():,.0f}",
        f"{n_exact.mean():,.0f}",
        f"{cost:.2f}",
        f"{100 * np.mean((some != exact).any(axis=1)):.1f} %",
        f"{100 * precision_at_k(y, some, k=k):.2f}, {100 * precision_at_k(y, exact, k=k):.2f}",
    ]


def mix_row(name: str, models: list[Any], X: Any, k: int, repeat: int) -> list[str]:
    mixed = mix(models)
    mixed.n_jobs = 1

    def alone() -> None:
        for model in models:
            model.predict_topk(X, k)

    return [name, str(k), f"{ratio(lambda: mixed.predict_topk(X, k), alone, repeat):.2f}"]


def as_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *rows))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.exactness",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", nargs="+", default=["tate"], metavar="SET", help="sets")
    parser.add_argument("--rows", type=int, default=3000, help="test rows")
    parser.add_argument("--repeat", type=int, default=5, help="turns")
    options = parser.parse_args(arguments)
    of_trees, of_mixes = [], []
    for name in options.data:
        train, test = prepare(name)
        X, y = read_xmlc(train)
        X_test, y_test = read_xmlc(test, n_features=X.shape[1], n_labels=y.shape[1])
        X_test, y_test = X_test[: options.rows], y_test[: options.rows]
        model = LabelTreeClassifier(n_trees=N_TREES, random_state=0, n_jobs=-1).fit(X, y).set_params(n_jobs=1)
        pair = [
            LabelTreeClassifier(random_state=seed, n_jobs=-1).fit(X, y).set_params(n_jobs=1)
            for seed in (0, 1)
        ]
        of_trees += [trees_row(name, model, X_test, y_test, k, options.repeat) for k in KS]
        of_mixes += [mix_row(name, pair, X_test, k, options.repeat) for k in KS]
    print(as_table(TREES, of_trees), as_table(MIXES, of_mixes), sep="\n\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
