"""`tune`: one trial after another, until the time is up."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from copy import copy
from numbers import Integral
from time import monotonic
from types import MappingProxyType
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from labeltree.classifier import LabelTreeClassifier
from labeltree.engines.context import current_engine
from labeltree.engines.in_process import InProcess
from labeltree.mapped_rows import labels_given
from labeltree.model.texts import are_texts, as_texts
from labeltree.text.settings import WORD_ANALYZERS
from labeltree.text.tagger import Tagger
from labeltree.text.vectorizer import TextVectorizer
from labeltree.training.solvers import default_c, is_set
from labeltree.tuning.checks import check_search
from labeltree.tuning.halving import Job, Rung, SuccessiveHalving, ladder
from labeltree.tuning.problem import Problem
from labeltree.tuning.result import Trial, Tuning
from labeltree.tuning.screening import Screening
from labeltree.tuning.space import SEARCHED, TEXT_SEARCHED, SearchSpace
from labeltree.tuning.trial_runners import EngineTrials, OwnTrials, TrialRunner
from labeltree.validation import Number

#: Parameters of a run, which do not change the model.
_OF_THE_RUN = ("n_jobs", "verbose")


def tune(
    X: Any,
    y: Any = None,
    X_valid: Any = None,
    y_valid: Any = None,
    *,
    budget: float,
    estimator: LabelTreeClassifier | Tagger | None = None,
    space: SearchSpace | None = None,
    metric: str = "P@1,3,5",
    on_trial: Callable[[Trial], None] | None = None,
) -> Tuning:
    """Search parameters of `LabelTreeClassifier`, for texts also of `TextVectorizer`, within a time budget.

    The search is successive halving: many candidates on few rows, the best of them on more. Ctrl-C
    (`KeyboardInterrupt`) ends it early: if a trial has ended, the result so far is returned, with `is_interrupted`.

    The seed (the `random_state` of `estimator`) determines the trials, their order, their scores and sizes. The time
    determines the number of trials, which trials are skipped because they would take too long, and the measured times;
    these only matter for the Pareto front. With an engine (`labeltree.engine`), its workers run several trials at once,
    so that more trials fit into the budget.

    Parameters
    ----------
    X, y
        Examples, in any form that `fit` takes, a store included. X may also be texts, as for `Tagger.fit`.
    X_valid, y_valid : optional
        Validation examples, in the same form. By default a fifth of the rows is held out, up to 10,000 rows.
    budget : float
        The time budget in seconds. A trial starts if it should end within the budget, judging by earlier trials; the
        first one always starts.
    estimator : LabelTreeClassifier or Tagger, optional
        Sets the parameters that are not searched, and where the search starts. A `Tagger` also sets those of the
        vectorizer of texts.
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
    >>> model = found.estimator().fit(X, y)
    """
    if not Number(0, open_low=True).accepts(budget):
        raise ValueError(f"budget must be a finite number of seconds above 0, got {budget!r}")
    begin, engine = monotonic(), current_engine()
    is_alone = engine.n_workers == 1 and isinstance(engine, InProcess)
    y, y_valid = labels_given(X, y), labels_given(X_valid, y_valid)
    space = SearchSpace() if space is None else space
    base, vectorizer, space = _split(X, estimator, space)
    check_search(base, space, metric, vectorizer)
    random = check_random_state(base.random_state)
    given = _given(base, SEARCHED)
    text_given = None if vectorizer is None else _given(vectorizer, TEXT_SEARCHED)
    # All trials have the same seed, so that only the parameters differ.
    if not isinstance(base.random_state, Integral):
        base.random_state = int(random.randint(np.iinfo(np.int32).max))
    base.verbose = -1
    start = _start(base, vectorizer, space)
    candidates = space.candidates(start, base.solver, base.penalty, random)
    if vectorizer is not None:
        X, X_valid = list(as_texts(X)), None if X_valid is None else list(as_texts(X_valid))
        if not is_alone:
            vectorizer.n_jobs = engine.n_threads
    problem = Problem.read(X, y, X_valid, y_valid, metric, random, vectorizer)
    rungs = ladder(len(problem.order), space.n_trees)
    halving = SuccessiveHalving(len(rungs), len(candidates))
    screening = Screening(start)

    def run(job: Job) -> Iterator[Trial]:
        candidate = candidates[job.candidate]
        try:
            for trial in runner.trials(job):
                yield trial
                if job.rung == 0 and screening.record(candidate, trial):
                    halving.record(job, -math.inf, math.inf)  # it is not promoted
                    later = filter(screening.is_worth_a_trial, candidates[job.candidate + 1 :])
                    candidates[job.candidate + 1 :] = list(later)
                    halving.n_candidates = len(candidates)
        except ValueError:
            # A large `min_df` may leave no terms of a small sample.
            if job.candidate == 0 or candidate.get("min_df", 1) == start.get("min_df", 1):
                raise

    trials: list[Trial] = []
    is_interrupted = False
    with ExitStack() as stack:
        runner: TrialRunner = OwnTrials(problem, base, candidates, rungs)
        if not is_alone:
            of_engine = EngineTrials(engine, problem, base, candidates, rungs, halving)
            runner = stack.enter_context(of_engine)
        left = budget - (monotonic() - begin)
        try:
            for trial in search(halving, rungs, run, left, monotonic, runner.seconds):
                trials.append(trial)
                if on_trial is not None:
                    on_trial(trial)
        except KeyboardInterrupt:
            if not trials:
                raise
            is_interrupted = True
    return Tuning(tuple(trials), metric, given, problem.n_valid_rows, text_given, is_interrupted)


def search(
    halving: SuccessiveHalving,
    rungs: list[Rung],
    run: Callable[[Job], Iterator[Trial]],
    budget: float,
    clock: Callable[[], float],
    seconds: Mapping[Job, float] = MappingProxyType({}),
) -> Iterator[Trial]:
    """Run one job after another, as long as one should end within the budget.

    `seconds` has the times of jobs that were run ahead; others take the time until the next one.
    """
    begin = started = clock()
    taken: dict[Job, float] = {}

    def fits(job: Job) -> bool:
        return not taken or started - begin + _expected_seconds(job, rungs, taken) <= budget

    while (job := halving.next_job(fits)) is not None:
        halving.record(job, -math.inf, math.inf)  # stays if the job has no trial
        for trial in run(job):
            yield trial
            halving.record(job, trial.score, trial.model_bytes)
        now = clock()
        taken[job], started = seconds.get(job, now - started), now


def _expected_seconds(job: Job, rungs: list[Rung], taken: dict[Job, float]) -> float:
    """Estimate the time of a job from the same candidate on fewer rows, or from the others on the lowest rung."""
    if job.rung == 0:
        return float(np.mean([seconds for other, seconds in taken.items() if other.rung == 0]))
    below = Job(job.candidate, job.rung - 1)
    return taken[below] * rungs[job.rung].cost / rungs[below.rung].cost


def _split(X: Any, estimator: Any, space: SearchSpace) -> tuple[Any, Any, SearchSpace]:
    """Return copies of the classifier and of the vectorizer (None for rows of numbers), and the space for them."""
    if isinstance(estimator, Tagger):
        if estimator.mix is not None:
            raise ValueError("tune searches parameters of one model, got a Tagger with mix: leave out mix")
        classifier, vectorizer = copy(estimator.classifier), copy(estimator.vectorizer)
    else:
        classifier = LabelTreeClassifier() if estimator is None else copy(estimator)
        if hasattr(X, "columns") or not are_texts(X):  # a frame has features in its columns
            return classifier, None, space
        vectorizer = TextVectorizer(n_jobs=getattr(classifier, "n_jobs", None))
    return classifier, vectorizer, _for_vectorizer(space, vectorizer)


def _for_vectorizer(space: SearchSpace, vectorizer: Any) -> SearchSpace:
    """Fix the parameters that do not go with others of the vectorizer."""
    fixed: tuple[str, ...] = ()
    of_characters = getattr(vectorizer, "analyzer", "word") not in WORD_ANALYZERS
    if of_characters or getattr(vectorizer, "buckets", None) is not None:  # buckets need n-grams
        fixed += ("ngram_range", "char_ngram_range")
    if getattr(vectorizer, "n_features", None) is not None:  # there is no vocabulary to choose terms of
        fixed += ("min_df", "max_features")
    return space.fixed(**{name: getattr(vectorizer, name) for name in fixed})


def _start(
    estimator: LabelTreeClassifier, vectorizer: TextVectorizer | None, space: SearchSpace
) -> dict[str, Any]:
    """Return the parameters to start from; the first value of the space replaces a value that is not in it."""
    start: dict[str, Any] = {}
    for name in (*SEARCHED, *(() if vectorizer is None else TEXT_SEARCHED)):
        if name == "n_trees":
            continue
        owner: Any = estimator if name in SEARCHED else vectorizer
        value, values = getattr(owner, name), getattr(space, name)
        if name == "C" and (value is None or (value == "auto" and values is not None)):
            value = default_c(estimator.solver, start["loss"], estimator.penalty)
        if isinstance(value, list):  # a range of n-grams from a JSON file
            value = tuple(value)
        start[name] = value if values is None or value in values else values[0]
    return start


def _given(estimator: Any, searched: tuple[str, ...]) -> dict[str, Any]:
    """Return the parameters that are not searched and differ from their defaults."""
    defaults = type(estimator)().get_params(deep=False)
    given = {
        name: value
        for name, value in estimator.get_params(deep=False).items()
        if name not in (*searched, *_OF_THE_RUN) and is_set(value, defaults[name])
    }
    if not isinstance(getattr(estimator, "random_state", 0), Integral):
        given.pop("random_state", None)  # a generator has moved on
    return given
