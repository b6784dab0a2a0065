"""`tune`: one trial after another, until the time is up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from numbers import Integral
from time import monotonic
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from labeltree.classifier import LabelTreeClassifier
from labeltree.training.solvers import default_c, is_set
from labeltree.trees.builders import BUILDERS
from labeltree.tuning.halving import Job, Rung, SuccessiveHalving, ladder
from labeltree.tuning.problem import Problem
from labeltree.tuning.ranking_metric import RankingMetric
from labeltree.tuning.result import Trial, Tuning
from labeltree.tuning.space import SEARCHED, SearchSpace
from labeltree.validation import Number

#: Trees whose shape depends on `arity` and `max_leaves`.
_TREES = tuple(word for word, builder in sorted(BUILDERS.items()) if builder.needs >= {"arity", "max_leaves"})

#: Parameters of a run, which do not change the model.
_OF_THE_RUN = ("n_jobs", "verbose")


def tune(
    X: Any,
    y: Any,
    X_valid: Any = None,
    y_valid: Any = None,
    *,
    budget: float,
    estimator: LabelTreeClassifier | None = None,
    space: SearchSpace | None = None,
    metric: str = "P@1,3,5",
    on_trial: Callable[[Trial], None] | None = None,
) -> Tuning:
    """Search parameters of `LabelTreeClassifier` by successive halving, within a time budget.

    The seed (the `random_state` of `estimator`) determines the trials, their order, their scores and sizes. The time
    determines the number of trials, which trials are skipped because they would take too long, and the measured times;
    these only matter for the Pareto front.

    Parameters
    ----------
    X, y
        Examples, in any form that `fit` takes.
    X_valid, y_valid : optional
        Validation examples, in the same form. By default a fifth of the rows is held out, up to 10,000 rows.
    budget : float
        The time budget in seconds. A trial starts if it should end within the budget, judging by earlier trials; the
        first one always starts.
    estimator : LabelTreeClassifier, optional
        Sets the parameters that are not searched, and where the search starts.
    space : SearchSpace, optional
        The values to try.
    metric : str
        One of P, nDCG, recall, coverage, PSP and PSnDCG, with one or more cut-offs. The mean over cut-offs counts.
    on_trial : callable, optional
        Called with every `Trial` when it ends.

    Returns
    -------
    Tuning

    Examples
    --------
    >>> from labeltree import LabelTreeClassifier
    >>> from labeltree.tuning import SearchSpace, tune
    >>> X = [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.9]] * 10
    >>> y = [["cat", "pet"], ["cat"], ["dog", "pet"], ["dog"]] * 10
    >>> space = SearchSpace(arity=(2,), max_leaves=(2,), prune=(0.1,), n_trees=(1,))
    >>> found = tune(X, y, budget=60, space=space, metric="P@1", estimator=LabelTreeClassifier(random_state=0))
    >>> found.chosen.score
    1.0
    >>> model = LabelTreeClassifier(**found.parameters).fit(X, y)
    """
    if not Number(0, open_low=True).accepts(budget):
        raise ValueError(f"budget must be a finite number of seconds above 0, got {budget!r}")
    begin = monotonic()
    base = LabelTreeClassifier() if estimator is None else copy(estimator)
    space = SearchSpace() if space is None else space
    check_search(base, space, metric)
    random = check_random_state(base.random_state)
    given = _given(base)
    # All trials have the same seed, so that only the parameters differ.
    if not isinstance(base.random_state, Integral):
        base.random_state = int(random.randint(np.iinfo(np.int32).max))
    base.verbose = -1
    candidates = space.candidates(_start(base, space), base.solver, base.penalty, random)
    problem = Problem.read(X, y, X_valid, y_valid, metric, random)
    rungs = ladder(len(problem.order), space.n_trees)
    halving = SuccessiveHalving(len(rungs), len(candidates))

    def run(job: Job) -> Iterator[Trial]:
        return problem.trials(base, candidates[job.candidate], rungs[job.rung])

    trials = []
    for trial in search(halving, rungs, run, budget - (monotonic() - begin), monotonic):
        trials.append(trial)
        if on_trial is not None:
            on_trial(trial)
    return Tuning(tuple(trials), metric, given, problem.n_valid_rows)


def search(
    halving: SuccessiveHalving,
    rungs: list[Rung],
    run: Callable[[Job], Iterator[Trial]],
    budget: float,
    clock: Callable[[], float],
) -> Iterator[Trial]:
    """Run one job after another, as long as one should end within the budget."""
    begin = started = clock()
    taken: dict[Job, float] = {}

    def fits(job: Job) -> bool:
        return not taken or started - begin + _expected_seconds(job, rungs, taken) <= budget

    while (job := halving.next_job(fits)) is not None:
        for trial in run(job):
            yield trial
            halving.record(job, trial.score, trial.model_bytes)
        now = clock()
        taken[job], started = now - started, now


def _expected_seconds(job: Job, rungs: list[Rung], taken: dict[Job, float]) -> float:
    """Estimate the time of a job from the same candidate on fewer rows, or from the others on the lowest rung."""
    if job.rung == 0:
        return float(np.mean([seconds for other, seconds in taken.items() if other.rung == 0]))
    below = Job(job.candidate, job.rung - 1)
    return taken[below] * rungs[job.rung].cost / rungs[below.rung].cost


def check_search(estimator: LabelTreeClassifier, space: SearchSpace, metric: str) -> None:
    """Raise `ValueError` for a parameter, or a value to try, that `tune` does not support."""
    RankingMetric.parse(metric)
    _check_estimator(estimator)
    tried = copy(estimator)
    # The loss comes first, because it decides which values of other parameters are valid.
    for name in SEARCHED:
        for value in reversed(getattr(space, name) or ()):
            tried.set_params(**{name: value}).check_parameters()


def _check_estimator(estimator: LabelTreeClassifier) -> None:
    """Refuse parameters that exclude the searched ones, or that need all labels, which samples do not have."""
    if estimator.solver != "descent" or estimator.node_estimator is not None:
        raise ValueError(
            "tune searches C and loss, so solver must be 'descent' and node_estimator None, got "
            f"{estimator.solver!r} and {estimator.node_estimator!r}"
        )
    if not isinstance(estimator.tree, str) or estimator.tree not in _TREES:
        raise ValueError(
            f"tune searches the shape of trees, so tree must be one of {_TREES}, got {estimator.tree!r}"
        )
    if not isinstance(estimator.label_vectors, str) or estimator.label_weight not in (None, "propensity"):
        raise ValueError(
            "tune trains on samples that lack some labels: label_vectors must be a word and label_weight None or "
            f"'propensity', got {estimator.label_vectors!r} and {estimator.label_weight!r}"
        )
    if estimator.tree_weight is not None:
        raise ValueError("tune searches n_trees: leave tree_weight at None")


def _start(estimator: LabelTreeClassifier, space: SearchSpace) -> dict[str, Any]:
    """Return the parameters of the estimator; the first value of the space replaces a value that is not in it."""
    start: dict[str, Any] = {}
    for name in ("loss", "C", "arity", "max_leaves", "prune"):
        value, values = getattr(estimator, name), getattr(space, name)
        if name == "C" and value is None:
            value = default_c(estimator.solver, start["loss"], estimator.penalty)
        start[name] = value if values is None or value in values else values[0]
    return start


def _given(estimator: LabelTreeClassifier) -> dict[str, Any]:
    """Return the parameters that are not searched and differ from their defaults."""
    defaults = LabelTreeClassifier().get_params(deep=False)
    given = {
        name: value
        for name, value in estimator.get_params(deep=False).items()
        if name not in (*SEARCHED, *_OF_THE_RUN) and is_set(value, defaults[name])
    }
    if not isinstance(estimator.random_state, Integral):
        given.pop("random_state", None)  # a generator has moved on
    return given
