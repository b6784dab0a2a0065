"""FastXML and PfastreXML, on bibtex beside their twins of NumPy and LIBLINEAR. The table in docs/fastxml.md.

python -m benchmarks.fastxml bibtex eurlex57k
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from tests.reference import fastxml as twin

from benchmarks.data import prepare
from labeltree import FastXMLClassifier, PfastreXMLClassifier
from labeltree.data import read_xmlc
from labeltree.metrics import evaluate, inverse_propensity


def best_labels(model: Any, X: Any) -> Any:
    """The five best labels of every row."""
    if hasattr(model, "predict_topk"):
        return model.predict_topk(X, 5).labels
    return np.argsort(-model.scores(X), axis=1, kind="stable")[:, :5]


def measure(model: Any, X: Any, y: Any, X_test: Any, y_test: Any) -> list[str]:
    started = time.process_time()
    model.fit(X, y)
    grown = time.process_time()
    labels = best_labels(model, X_test)
    asked = time.process_time()
    found = evaluate(y_test, labels, inverse_propensity=inverse_propensity(y))
    figures = [f"{100 * found[m]:.2f}" for m in ("P@1", "P@3", "P@5", "PSP@1", "PSP@5")]
    figures += [f"{grown - started:.0f}", f"{1000 * (asked - grown) / X_test.shape[0]:.1f}"]
    trees = getattr(model, "example_trees_", None)
    return [*figures, "" if trees is None else f"{trees.nbytes / 1e6:.1f}"]


def main(names: list[str]) -> None:
    print("| data | model | P@1 | P@3 | P@5 | PSP@1 | PSP@5 | training, CPU s | per row, ms | size, MB |")
    print("| --- " * 2 + "| ---: " * 8 + "|")
    for name in names or ["bibtex", "eurlex57k"]:
        train, test = prepare(name)
        X, y = read_xmlc(train)
        X_test, y_test = read_xmlc(test, n_features=X.shape[1], n_labels=y.shape[1])
        models: dict[str, Any] = {
            "FastXML": FastXMLClassifier(random_state=0, n_jobs=-1),
            "PfastreXML": PfastreXMLClassifier(random_state=0, n_jobs=-1),
        }
        if name == "bibtex":
            models |= {"FastXML, twin": twin.FastXML(), "PfastreXML, twin": twin.PfastreXML()}
        for title, model in models.items():
            figures = measure(model, X, y, X_test, y_test)
            print(f"| {name} | {title} | {' | '.join(figures)} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
