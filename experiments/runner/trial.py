"""The process of one run: train, save, open, predict, and report the figures as JSON on standard output.

python -m experiments.runner.trial RUN MODEL
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from experiments.runner.features import Problem, read_problem, take_rows
from experiments.runner.figures import DECISION_QUALITIES, QUALITIES
from experiments.runner.run import Run
from experiments.runner.stream import progress, tree_of_stream
from experiments.runner.table import ONLINE
from labeltree import LabelTreeClassifier, OnlineLabelTreeClassifier
from labeltree.metrics import evaluate, f_beta, hamming_loss

_Model: TypeAlias = LabelTreeClassifier | OnlineLabelTreeClassifier

K = 5
#: All test rows are predicted so many times; the quickest counts, which other work on the machine disturbs least.
REPEATS = 3
#: Of small batches so many are predicted, or as many as have `MOST_SAMPLED_ROWS` rows together, but `FEWEST`.
MOST_SAMPLES, MOST_SAMPLED_ROWS, FEWEST_SAMPLES = 50, 5_000, 5


def train_and_measure(run: Run, problem: Problem, path: Path) -> dict[str, Any]:
    """The figures of a run of batch training; the model is left at `path`."""
    parameters = dict(run.parameters)
    if parameters["tree"] == "taxonomy":
        from experiments.runner.hierarchies import hierarchy_of

        parameters["tree"] = hierarchy_of(run.data)
    elif parameters["tree"] == "stream":
        parameters["tree"] = tree_of_stream(problem.y_train, parameters["arity"], run.seed)
    model = LabelTreeClassifier(**parameters, n_jobs=run.threads, random_state=run.seed, verbose=-1)
    started = time.perf_counter()
    if run.decide is None:
        model.fit(problem.X_train, problem.y_train)
    else:
        model.fit_for(X=problem.X_train, y=problem.y_train, **run.decide)
    figures: dict[str, Any] = {"train_s": time.perf_counter() - started}
    model.save(path)
    figures["model_mb"] = sum(file.stat().st_size for file in path.rglob("*")) / 1e6

    return {**figures, **ask(LabelTreeClassifier.load(path).set_params(n_jobs=run.threads), run, problem)}


def learn_and_measure(run: Run, problem: Problem) -> dict[str, Any]:
    """The figures of a run of an online model, with its precision along the stream."""
    options = {**run.parameters, "n_jobs": run.threads, "random_state": run.seed, "verbose": -1}
    model = OnlineLabelTreeClassifier(**options)
    started = time.perf_counter()
    model.fit(problem.X_train, problem.y_train)
    figures = {"train_s": time.perf_counter() - started, "model_mb": model.memory_["total"] / 1e6}
    figures |= ask(model, run, problem)
    stream = OnlineLabelTreeClassifier(**options)
    return {**figures, **progress(stream, problem.X_train, problem.y_train, run.seed)}


def ask(model: _Model, run: Run, problem: Problem) -> dict[str, float]:
    """How good the answers for the test rows are, and how quick."""
    answer, judge = (rank, judge_ranking) if run.decide is None else (decide, judge_decision)
    seconds = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        found = answer(model, problem.X_test)
        seconds.append(time.perf_counter() - started)
    n_rows = problem.y_test.shape[0]
    figures = {"batch_ms": min(seconds) / n_rows * 1e3, **judge(model, problem.y_test, found)}
    for size in run.batch_sizes:
        figures[f"batch_{size}_ms"] = time_batches(model, problem.X_test, n_rows, size or n_rows, run.seed)
    return figures


def rank(model: _Model, X: Any) -> Any:
    return model.predict_topk(X, K).labels


def decide(model: _Model, X: Any) -> Any:
    return model.predict(X)


def judge_ranking(model: _Model, y: Any, labels: Any) -> dict[str, float]:
    """The `QUALITIES` of ranked labels."""
    quality = evaluate(y, labels)
    return {name: quality[name] for name in QUALITIES}


def judge_decision(model: _Model, y: Any, predicted: Any) -> dict[str, float]:
    """The `DECISION_QUALITIES` of label sets."""
    wrong, f1 = hamming_loss(y, predicted) * y.shape[1], f_beta(y, predicted, average="micro")
    threshold, _ = model.decision_.bounds()
    return dict(zip(DECISION_QUALITIES, (f1, wrong, threshold), strict=True))


def time_batches(model: _Model, X: Any, n_rows: int, size: int, seed: int) -> float:
    """Milliseconds per row in batches of `size` rows, drawn at random as in the paper."""
    rng = np.random.default_rng(seed)
    size = min(size, n_rows)
    n_samples = max(FEWEST_SAMPLES, min(MOST_SAMPLES, MOST_SAMPLED_ROWS // size))
    batches = [take_rows(X, rng.choice(n_rows, size, replace=False)) for _ in range(n_samples)]
    started = time.perf_counter()
    for batch in batches:
        model.predict_topk(batch, K)
    return (time.perf_counter() - started) / (n_samples * size) * 1e3


def main() -> None:
    facts = json.loads(sys.argv[1])
    run = Run(**{**facts, "batch_sizes": tuple(facts["batch_sizes"])})
    problem = read_problem(run.data, run.n_rows, run.features, run.threads)
    if run.system == ONLINE:
        figures = learn_and_measure(run, problem)
    else:
        figures = train_and_measure(run, problem, Path(sys.argv[2]))
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
