"""One measurement of the scaling study, in a process of its own: trains and asks labeltree, prints figures as JSON.

python benchmarks/scaling_run.py TRAIN TEST THREADS N_TREES
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

from labeltree import LabelTreeClassifier
from labeltree.data import read_xmlc
from labeltree.metrics import evaluate

K = 5
N_SINGLE_ROWS = 500


def main(train: str, test: str, threads: int, n_trees: int) -> None:
    start = time.perf_counter()
    X, y = read_xmlc(train, n_jobs=threads)
    loaded = time.perf_counter()
    model = LabelTreeClassifier(n_trees, n_jobs=threads, random_state=0).fit(X, y)
    figures: dict[str, float] = {
        "n_labels": y.shape[1],
        "n_rows": X.shape[0],
        "n_features": X.shape[1],
        "load_s": loaded - start,
        "tree_s": model.fit_seconds_["clustering"],
        "nodes_s": model.fit_seconds_["training"],
        "memory_mb": peak_memory_mb(),
    }
    X_test, y_test = read_xmlc(test, n_features=X.shape[1], n_labels=y.shape[1], n_jobs=threads)
    with tempfile.TemporaryDirectory() as folder:
        model.save(folder)
        figures["model_mb"] = sum(path.stat().st_size for path in Path(folder).iterdir()) / 1e6
        start = time.perf_counter()
        model = LabelTreeClassifier.load(folder).set_params(n_jobs=threads)
        figures["open_ms"] = (time.perf_counter() - start) * 1e3
        figures |= ask(model, X_test, y_test)
    print(json.dumps(figures))


def ask(model: LabelTreeClassifier, X: csr_matrix, y: csr_matrix) -> dict[str, float]:
    """How fast and how well the model answers."""
    model.predict_topk(X[:1], K)  # what is made once, at the first question
    start = time.perf_counter()
    labels, _ = model.predict_topk(X, K)
    batch = time.perf_counter() - start
    seconds = []
    for row in [X[i] for i in range(min(N_SINGLE_ROWS, X.shape[0]))]:
        start = time.perf_counter()
        model.predict_topk(row, K)
        seconds.append(time.perf_counter() - start)
    _, _, evaluations = model.predict_topk(X, K, return_evaluations=True)
    precision = evaluate(y, labels)
    return {
        "batch_ms": batch / X.shape[0] * 1e3,
        "single_p50_ms": float(np.median(seconds)) * 1e3,
        "evaluations": float(evaluations.mean()),
        "P@1": precision["P@1"],
        "P@5": precision["P@5"],
    }


def peak_memory_mb() -> float:
    """The most memory this process has had; getrusage would tell of the one that started it as well."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["VmHWM"].removesuffix("kB")) / 1024


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
