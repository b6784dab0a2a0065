"""`tune`: trials one after another, until the time is up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from inspect import signature
from numbers import Integral
from time import monotonic
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from labeltree.classifier import LabelTreeClassifier
from labeltree.training.solvers import default_c, is_set
from labeltree.tuning.halving import Job, Rung, SuccessiveHalving, ladder
from labeltree.tuning.problem import Problem
from labeltree.tuning.ranking_metric import RankingMetric
from labeltree.tuning.result import Tuning
from labeltree.tuning.space import SEARCHED, SearchSpace
from labeltree.tuning.trial import Trial
from labeltree.validation import Number

#: Trees whose shape `arity` and `max_leaves` decide.
_TREES = ("kmeans", "unbalanced_kmeans", "random")

#: Parameters of a run, which say nothing about the model.
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

    The seed (the `random_state` of `estimator`) decides which trials are made, in which order, and what scores and
    sizes they find. Time decides how many, which of them are passed over because they would not be done, and the times
    that are measured; these decide nothing but who is on the front.

    Parameters
    ----------
    X, y
        Examples, in any form that `fit` takes.
    X_valid, y_valid : optional
        Examples to measure with, in the same form; by default a fifth of the rows is held out, but no more than 10,000.
    budget : float
        Seconds. A trial is begun if it should be done by then, going by those before; the first in any case.
    estimator : LabelTreeClassifier, optional
        Its parameters hold where they are not searched, and the search starts from those that are.
    space : SearchSpace, optional
        What is tried.
    metric : str
        One of P, nDCG, recall, coverage, PSP and PSnDCG, with one or more cut-offs, over which it is averaged.
    on_trial : callable, optional
        Called with every `Trial` when it is done.

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
    # All trials have the same seed: what differs are the parameters.
    if not isinstance(base.random_state, Integral):
        base.random_state = int(random.randint(np.iinfo(np.int32).max))
    base.verbose = -1
    candidates = space.candidates(_start(base, space), base.solver, base.penalty, random)
    problem = Problem.read(X, y, X_valid, y_valid, metric, random)
    rungs = ladder(problem.n_rows, space.n_trees)
    trials = []
    found = search(
        SuccessiveHalving(len(rungs), len(candidates)),
        rungs,
        lambda job: problem.trials(base, candidates[job.candidate], rungs[job.rung]),
        budget - (monotonic() - begin),
        monotonic,
    )
    for trial in found:
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
    """Run one job after another, as long as there is one that will be done in time."""
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
    """What a job will take: by the same candidate on fewer rows, or all others on the lowest rung."""
    if job.rung == 0:
        return float(np.mean([seconds for other, seconds in taken.items() if other.rung == 0]))
    below = Job(job.candidate, job.rung - 1)
    return taken[below] * rungs[job.rung].cost / rungs[below.rung].cost


def check_search(estimator: LabelTreeClassifier, space: SearchSpace, metric: str) -> None:
    """Raise `ValueError` for a parameter, or a value to be tried, that `tune` cannot take."""
    RankingMetric.parse(metric)
    _check_estimator(estimator)
    tried = copy(estimator)
    # The loss first: whether other parameters are right depends on it.
    for name in SEARCHED:
        for value in reversed(getattr(space, name) or ()):
            tried.set_params(**{name: value}).check_parameters()


def _check_estimator(estimator: LabelTreeClassifier) -> None:
    """Refuse what says of all labels what a sample of them cannot heed, and what has no use for the parameters."""
    if estimator.solver != "descent" or estimator.node_estimator is not None:
        raise ValueError(
            "tune searches C and loss, so that solver must be 'descent' and node_estimator None, got "
            f"{estimator.solver!r} and {estimator.node_estimator!r}"
        )
    if not isinstance(estimator.tree, str) or estimator.tree not in _TREES:
        raise ValueError(
            f"tune searches the shape of trees, so that tree must be one of {_TREES}, got {estimator.tree!r}"
        )
    if not isinstance(estimator.label_vectors, str) or estimator.label_weight not in (None, "propensity"):
        raise ValueError(
            "tune trains on samples that lack some labels: label_vectors must be a word and label_weight None or "
            f"'propensity', got {estimator.label_vectors!r} and {estimator.label_weight!r}"
        )
    if estimator.tree_weight is not None:
        raise ValueError("tune searches n_trees: leave tree_weight at None")


def _start(estimator: LabelTreeClassifier, space: SearchSpace) -> dict[str, Any]:
    """The estimator's own parameters; where the space does not have them, its first values."""
    start: dict[str, Any] = {}
    for name in ("loss", "C", "arity", "max_leaves", "prune"):
        value, values = getattr(estimator, name), getattr(space, name)
        if name == "C" and value is None:
            value = default_c(estimator.solver, start["loss"], estimator.penalty)
        start[name] = value if values is None or value in values else values[0]
    return start


def _given(estimator: LabelTreeClassifier) -> dict[str, Any]:
    """Parameters that are not searched and were set to something else than the default."""
    defaults = {
        name: parameter.default for name, parameter in signature(LabelTreeClassifier).parameters.items()
    }
    given = {
        name: value
        for name, value in estimator.get_params(deep=False).items()
        if name not in (*SEARCHED, *_OF_THE_RUN) and is_set(value, defaults[name])
    }
    if not isinstance(estimator.random_state, Integral):
        given.pop("random_state", None)  # a generator has moved on
    return given
