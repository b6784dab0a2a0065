"""Every rival beside a twin that does the same in the slowest and most obvious way, on bibtex.

python -m experiments.twins                      # some minutes; writes experiments/results/twins.md
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

import labeltree
from experiments.runner.check import write_page
from experiments.runner.document import line_of
from experiments.runner.features import Problem, read_problem
from experiments.runner.tables import RESULTS
from labeltree.metrics import precision_at_k

_ABOUT = """\
P@1 of our models and of their twins in `tests/reference`, which know no blocks, no lanes and no threads: scikit-learn
solves one label, or one node, after the other. *Difference:* ours less the twin's, in points. *One seed:* the twins
draw other random numbers than we do, and stop by other criteria."""

#: Written after the run.
_HERE = """\
**Found:** all six are within 0.61 points of their twins, most within 0.35. Softmax is the farthest; with the twin's
tolerance, `tol=1e-3`, it has 59.63."""

Scores = NDArray[np.float64]


@dataclass(frozen=True)
class Pair:
    """A class of ours with its parameters, and what its twin scores the labels of the test rows with."""

    system: str
    parameters: Mapping[str, Any]
    twin: Callable[[Problem, Any], Scores]


def _twin(name: str) -> Any:
    """The module of a twin; tests are no package of ours, so that types of theirs are not asked for."""
    return import_module(f"tests.reference.{name}")


def dense_with_bias(problem: Problem) -> tuple[Scores, Scores]:
    """Training rows and test rows."""
    train, test = (
        np.hstack([normalize(part).toarray(), np.ones((part.shape[0], 1))])
        for part in (problem.X_train, problem.X_test)
    )
    return train, test


def softmax(problem: Problem, model: Any) -> Scores:
    """On the tree of our model."""
    twin = _twin("softmax").HierarchicalSoftmax(model.tree_, model.C, tol=1e-3)
    twin.fit(normalize(problem.X_train), problem.y_train)
    scores: Scores = twin.predict_proba(normalize(problem.X_test))
    return scores


def one_vs_rest(problem: Problem, model: Any) -> Scores:
    twin = _twin("one_vs_rest")
    weights = twin.label_weights(
        normalize(problem.X_train), problem.y_train, C=model.C, tol=model.tol, prune=model.prune
    )
    scores: Scores = twin.scores(weights, normalize(problem.X_test))
    return scores


def sparse_hinge(problem: Problem, model: Any) -> Scores:
    X, X_test = dense_with_bias(problem)
    weights = _twin("sparse_hinge").label_weights(
        X, problem.y_train.toarray() > 0, model.C, model.l1, searches=15
    )
    scores: Scores = X_test @ weights.T
    return scores


def max_margin(problem: Problem, model: Any) -> Scores:
    X, X_test = dense_with_bias(problem)
    has_label = problem.y_train.toarray() > 0
    weights = _twin("max_margin").fully_corrective(
        X, has_label, np.full(len(X), model.C), model.l1, passes=model.max_iter
    )
    scores: Scores = X_test @ weights.T
    return scores


def fastxml(problem: Problem, model: Any) -> Scores:
    twin = _twin("fastxml").FastXML(model.n_trees).fit(problem.X_train, problem.y_train)
    scores: Scores = twin.scores(problem.X_test)
    return scores


def pfastrexml(problem: Problem, model: Any) -> Scores:
    twin = _twin("fastxml").PfastreXML(model.n_trees, model.gamma, model.alpha)
    scores: Scores = twin.fit(problem.X_train, problem.y_train).scores(problem.X_test)
    return scores


PAIRS: Mapping[str, Pair] = {
    "hierarchical softmax": Pair(
        "HierarchicalSoftmaxClassifier", {"arity": 2, "max_leaves": 10, "frequent_share": 0.0}, softmax
    ),
    "DiSMEC": Pair("OneVsRestClassifier", {}, one_vs_rest),
    "PPDSparse": Pair("OneVsRestClassifier", {"solver": "sparse", "max_iter": 30}, sparse_hinge),
    "PD-Sparse": Pair("OneVsRestClassifier", {"solver": "max_margin", "max_iter": 30}, max_margin),
    "FastXML": Pair("FastXMLClassifier", {}, fastxml),
    "PfastreXML": Pair("PfastreXMLClassifier", {}, pfastrexml),
}


def compare(pair: Pair, problem: Problem) -> list[str]:
    """P@1 of ours and of the twin, the difference, and the seconds that each took."""
    model = getattr(labeltree, pair.system)(**pair.parameters, n_jobs=-1, random_state=0, verbose=-1)
    started = time.perf_counter()
    labels = model.fit(problem.X_train, problem.y_train).predict_topk(problem.X_test, 1).labels
    middle = time.perf_counter()
    scores = pair.twin(problem, model)
    ended = time.perf_counter()
    best = np.nan_to_num(scores, nan=-np.inf).argmax(axis=1)[
        :, None
    ]  # of a label never seen there is no score
    ours, twins = (100 * precision_at_k(problem.y_test, found, k=1) for found in (labels, best))
    return [
        f"{ours:.2f}",
        f"{twins:.2f}",
        f"{ours - twins:+.2f}",
        f"{middle - started:.1f}",
        f"{ended - middle:.0f}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.twins", description=__doc__)
    parser.add_argument("--data", default="bibtex", help="a small set: the twins hold dense matrices")
    parser.add_argument(
        "--train-rows", type=int, metavar="N", help="train on the first N rows, to try things"
    )
    parser.add_argument("--output", type=Path, default=RESULTS / "twins.md")
    options = parser.parse_args()
    started = time.perf_counter()
    problem = read_problem(options.data, options.train_rows, "words", threads=2)
    lines = [f"# Twins on {options.data}", "", _ABOUT, "", *([_HERE, ""] if _HERE else [])]
    columns = ["", "P@1", "P@1 of the twin", "difference", "s", "s of the twin"]
    lines += [line_of(columns), line_of(["---"] * len(columns))]
    for name, pair in PAIRS.items():
        lines.append(line_of([name, *compare(pair, problem)]))
        print(lines[-1], flush=True)
    seconds = time.perf_counter() - started
    write_page("twins", options.output, lines, seeds="seed 0", seconds=seconds)


if __name__ == "__main__":
    main()
