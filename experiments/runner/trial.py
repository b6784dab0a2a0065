"""The process of one run: train, save, open, predict, and report the figures as JSON on standard output.

python -m experiments.runner.trial RUN MODEL
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.systems.batches import time_batches

import labeltree
from experiments.runner.features import Problem, read_problem, take_rows
from experiments.runner.judgement import judge_decision, judge_ranking
from experiments.runner.run import Run
from experiments.runner.sample_weights import SAMPLE_WEIGHTS
from experiments.runner.stopwatch import Stopwatch
from experiments.runner.stream import progress, tree_of_stream
from experiments.runner.table import ONLINE
from labeltree import OnlineLabelTreeClassifier

#: Of any class of ours.
_Model: TypeAlias = Any

K = 5
#: Number of times that all test rows are predicted. The fastest counts: other work on the machine disturbs it least.
REPEATS = 3


def train_and_measure(run: Run, problem: Problem, path: Path) -> dict[str, Any]:
    """The figures of a run of batch training; the model is left at `path`."""
    parameters = dict(run.parameters)
    if parameters.get("tree") == "taxonomy":
        from experiments.runner.hierarchies import hierarchy_of

        parameters["tree"] = hierarchy_of(run.data)
    elif parameters.get("tree") == "stream":
        parameters["tree"] = tree_of_stream(problem.y_train, parameters["arity"], run.seed)
    kind: _Model = getattr(labeltree, run.system)
    model = kind(**parameters, n_jobs=run.threads, random_state=run.seed, verbose=-1)
    weight = SAMPLE_WEIGHTS[run.sample_weight](problem.y_train) if run.sample_weight else None
    watch = Stopwatch()
    if run.decide is None:
        model.fit(problem.X_train, problem.y_train, weight)
    else:
        model.fit_for(X=problem.X_train, y=problem.y_train, sample_weight=weight, **run.decide)
    figures = watch.figures("train_s", "train_cpu_s")
    model.save(path)
    figures["model_mb"] = megabytes(path)
    return {**figures, **ask(kind.load(path).set_params(n_jobs=run.threads), run, problem)}


def megabytes(path: Path) -> float:
    """The size of a saved model."""
    return sum(file.stat().st_size for file in path.rglob("*")) / 1e6


def learn_and_measure(run: Run, problem: Problem) -> dict[str, Any]:
    """The figures of a run of an online model, with its precision along the stream."""
    options = {**run.parameters, "n_jobs": run.threads, "random_state": run.seed, "verbose": -1}
    model = OnlineLabelTreeClassifier(**options)
    watch = Stopwatch()
    model.fit(problem.X_train, problem.y_train)
    figures = watch.figures("train_s", "train_cpu_s") | {"model_mb": model.memory_["total"] / 1e6}
    figures |= ask(model, run, problem)
    stream = OnlineLabelTreeClassifier(**options)
    return {**figures, **progress(stream, problem.X_train, problem.y_train, run.seed)}


def ask(model: _Model, run: Run, problem: Problem) -> dict[str, float]:
    """How good the answers for the test rows are, and how quick."""
    answer = rank if run.decide is None else decide
    n_rows = problem.y_test.shape[0]
    times = []
    for _ in range(REPEATS):
        watch = Stopwatch()
        found = answer(model, problem.X_test)
        times.append(watch.figures("batch_ms", "batch_cpu_ms"))
    figures = {name: min(seconds[name] for seconds in times) / n_rows * 1e3 for name in times[0]}
    if run.decide is None:
        figures |= judge_ranking(problem.y_train, problem.y_test, found)
    else:
        figures |= judge_decision(problem.y_test, found, model.decision_.bounds()[0])
    for size in run.batch_sizes:
        figures[f"batch_{size}_ms"] = time_batches(
            lambda batch: rank(model, batch),
            lambda rows: take_rows(problem.X_test, rows),
            n_rows,
            size,
            run.seed,
        )
    return figures


def rank(model: _Model, X: Any) -> Any:
    return model.predict_topk(X, K).labels


def decide(model: _Model, X: Any) -> Any:
    return model.predict(X)


def main() -> None:
    run = Run.from_json(json.loads(sys.argv[1]))
    problem = read_problem(run.data, run.n_rows, run.features, run.threads, run.part)
    if run.system == ONLINE:
        figures = learn_and_measure(run, problem)
    else:
        figures = train_and_measure(run, problem, Path(sys.argv[2]))
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
