"""Dense features: products beside NumPy's, training beside sparse ones and scikit-learn, quality on real embeddings.

python benchmarks/embeddings.py     # once; its docstring says with which Python
python -m benchmarks.dense          # the tables in docs/performance.md
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from benchmarks.data import CACHE, prepare
from labeltree import LabelTreeClassifier
from labeltree.data import read_xmlc
from labeltree.metrics import evaluate
from labeltree.model_file import read_info

K = 5
#: Rows that NumPy multiplies at a time: all at once would take gigabytes.
CHUNK = 256


@dataclass(frozen=True)
class Problem:
    """Words, embeddings and labels of the Tate set."""

    words: sp.csr_matrix
    embedding: NDArray[np.float32]
    y: sp.csr_matrix
    words_test: sp.csr_matrix
    embedding_test: NDArray[np.float32]
    y_test: sp.csr_matrix


def read_problem() -> Problem:
    """The Tate set with the embeddings that `benchmarks.embeddings` has made."""
    train, test = prepare("tate")
    words, y = read_xmlc(train)
    words_test, y_test = read_xmlc(test, n_features=words.shape[1], n_labels=y.shape[1])
    try:
        vectors = [np.load(CACHE / "tate-embeddings" / f"{split}.npy") for split in ("train", "test")]
    except FileNotFoundError as missing:
        raise SystemExit(f"{missing.filename} is missing: benchmarks/embeddings.py makes it") from None
    return Problem(words, vectors[0], y, words_test, vectors[1], y_test)


def seconds(work: Callable[[], object], repeat: int = 3) -> float:
    """The least time of the processor that the work took: the machine may be busy with other things."""
    times = []
    for _ in range(repeat):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times)


def show_prediction(problem: Problem) -> None:
    """The k best labels of all test rows: ours against NumPy's product with all weights."""
    print("| asked | nodes per row | µs/row | G multiply-adds/s | × NumPy |")
    print("| --- | --- | --- | --- | --- |")
    X = problem.embedding_test
    n_rows, n_dense = X.shape
    # How well it learned does not matter here.
    few = slice(20_000)
    flat = LabelTreeClassifier(tree="flat", max_iter=1).fit(problem.embedding[few], problem.y[few])
    tree = LabelTreeClassifier(random_state=0).fit(problem.embedding, problem.y)
    W = np.random.default_rng(0).standard_normal((flat.tree_.n_nodes, n_dense), dtype=np.float32)

    def multiply(choose: bool) -> None:
        for begin in range(0, n_rows, CHUNK):
            scores = X[begin : begin + CHUNK] @ W.T
            if choose:
                np.argpartition(-scores, K, axis=1)[:, :K].sort(axis=1)

    floor = seconds(lambda: multiply(choose=True))
    rows = {
        "NumPy, products alone": (len(W), seconds(lambda: multiply(choose=False))),
        "NumPy, products and argpartition": (len(W), floor),
    }
    for name, model in {"labeltree, flat": flat, "labeltree, tree": tree}.items():
        _, _, evaluations = model.predict_topk(X, K, return_evaluations=True)
        rows[name] = (evaluations.mean(), seconds(lambda model=model: model.predict_topk(X, K)))  # type: ignore[misc]
    for name, (n_nodes, took) in rows.items():
        speed = n_rows * n_nodes * n_dense / took / 1e9
        print(f"| {name} | {n_nodes:,.0f} | {1e6 * took / n_rows:.1f} | {speed:.1f} | {floor / took:.1f} |")


def show_training(problem: Problem, n_labels: int, n_rows: int) -> None:
    """The most frequent labels, flat, as dense features, as the same numbers among sparse ones, by LIBLINEAR."""
    frequent = np.argsort(-np.asarray(problem.y.sum(axis=0)).ravel(), kind="stable")[:n_labels]
    X, y = problem.embedding[:n_rows], sp.csr_matrix(problem.y[:n_rows, frequent])
    parameters: dict[str, Any] = {"tree": "flat", "prune": 0.0, "tol": 0.1, "max_iter": 20, "random_state": 0}
    ours = LabelTreeClassifier(**parameters)
    # Between two empty columns nobody looks for dense features.
    hidden = sp.csr_matrix(np.pad(X, ((0, 0), (1, 1))))
    peer = OneVsRestClassifier(LinearSVC(tol=0.1, max_iter=1000, random_state=0))
    took = {
        "labeltree, dense": seconds(lambda: ours.fit(X, y)),
        "labeltree, the same numbers as sparse ones": seconds(lambda: ours.fit(hidden, y)),
        "scikit-learn, OneVsRest(LinearSVC)": seconds(lambda: peer.fit(X, y), repeat=1),
    }
    print(f"| {n_labels} labels, {n_rows:,} rows | training s | × dense |")
    print("| --- | --- | --- |")
    for name, time_taken in took.items():
        print(f"| {name} | {time_taken:.2f} | {time_taken / took['labeltree, dense']:.1f} |")


def show_quality(problem: Problem, variants: list[dict[str, Any]]) -> None:
    """Words, embeddings and both."""
    print("| features | parameters | P@1 | P@3 | P@5 | training s | model MB | µs/row |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    forms = {
        "words": (problem.words, problem.words_test),
        "embeddings": (problem.embedding, problem.embedding_test),
        "both": ((problem.words, problem.embedding), (problem.words_test, problem.embedding_test)),
    }
    for name, (X, X_test) in forms.items():
        for parameters in variants:
            model = LabelTreeClassifier(random_state=0, **parameters)
            took = seconds(lambda model=model, X=X: model.fit(X, problem.y), repeat=1)  # type: ignore[misc]
            found = evaluate(problem.y_test, model.predict_topk(X_test, K).labels)
            asked = seconds(lambda model=model, X=X_test: model.predict_topk(X, K))  # type: ignore[misc]
            with tempfile.TemporaryDirectory() as folder:
                model.save(f"{folder}/model")
                size = read_info(f"{folder}/model").n_bytes / 1e6
            precision = " | ".join(f"{100 * found[f'P@{k}']:.2f}" for k in (1, 3, 5))
            changed = ", ".join(f"{key}={value}" for key, value in parameters.items()) or "default"
            per_row = 1e6 * asked / problem.y_test.shape[0]
            print(f"| {name} | {changed} | {precision} | {took:.1f} | {size:.1f} | {per_row:.0f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--C", type=float, nargs="*", default=[], help="also measure the quality with these")
    options = parser.parse_args()
    problem = read_problem()
    show_quality(problem, [{}, *({"C": C} for C in options.C)])
    print()
    show_prediction(problem)
    print()
    show_training(problem, n_labels=32, n_rows=10_000)


if __name__ == "__main__":
    main()
