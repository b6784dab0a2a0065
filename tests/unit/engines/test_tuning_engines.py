"""A search for parameters by the workers of an engine tries the same candidates, with the same scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.documents import documents
from tests.engine_elsewhere import Elsewhere

import labeltree
from labeltree import LabelTreeClassifier
from labeltree.data import Store, StoreWriter
from labeltree.engines import InProcess
from labeltree.text import Tagger
from labeltree.tuning import SearchSpace, Tuning, tune
from labeltree.tuning.halving import Job, Rung, SuccessiveHalving
from labeltree.tuning.problem import Problem
from labeltree.tuning.trial_runners import EngineTrials

X, Y = documents(6_500, 60, 30, seed=3)
SPACE = SearchSpace(
    arity=(2, 8), max_leaves=(4, 20), prune=(0.1, 0.3), n_trees=(1, 2), loss=("squared_hinge",), C=(1.0,)
)


class Eager(InProcess):
    """Runs tasks in this process, as many workers would."""

    n_workers = 3


def facts(found: Tuning) -> list[Any]:
    return [(trial.parameters, trial.n_rows, trial.score, trial.model_bytes) for trial in found.trials]


def search() -> Tuning:
    return tune(X, Y, budget=600, space=SPACE, estimator=LabelTreeClassifier(random_state=0))


def test_the_trials_are_the_same() -> None:
    expected = search()
    with labeltree.engine(Eager()):
        assert facts(search()) == facts(expected)
    with labeltree.engine("pool", n_workers=2):
        assert facts(search()) == facts(expected)
    assert len(expected.trials) > 8


@pytest.mark.parametrize("has_valid_rows", [True, False])
def test_workers_read_the_copy_of_a_store(has_valid_rows: bool, tmp_path: Path) -> None:
    with StoreWriter(tmp_path / "store") as writer:
        writer.append(X[:600], Y[:600])
    store = Store(tmp_path / "store")
    rows: tuple[Any, ...] = (store, None)
    if has_valid_rows:
        rows = store.take(slice(0, 500)), None, store.take(slice(500, 600)), None
    space = SearchSpace(
        arity=(2, 8), max_leaves=(4,), prune=(0.1,), n_trees=(1,), loss=("squared_hinge",), C=(1.0,)
    )

    def searched() -> Tuning:
        return tune(*rows, budget=600, space=space, estimator=LabelTreeClassifier(random_state=0))

    expected = searched()
    with labeltree.engine(Elsewhere(tmp_path, store.path)):
        assert facts(searched()) == facts(expected)


def test_candidates_that_fail_on_small_samples_and_ones_that_are_left_out() -> None:
    words = ["cat", "dog", "sea", "boat"]
    texts = [f"{words[i % 4]} {words[i % 3]} number{i}" for i in range(400)]
    labels = [[words[i % 4]] for i in range(400)]
    space = SearchSpace(
        arity=(2,),
        max_leaves=(2,),
        prune=(0.1,),
        n_trees=(1,),
        loss=("squared_hinge",),
        C=(1.0,),
        min_df=(1, 10_000),
    )

    def searched() -> Tuning:
        return tune(
            texts,
            labels,
            budget=600,
            space=space,
            metric="P@1",
            estimator=Tagger(LabelTreeClassifier(random_state=0)),
        )

    expected = searched()
    with labeltree.engine(Eager()):
        assert facts(searched()) == facts(expected)
    assert len(expected.trials) > 2


def test_only_jobs_that_are_not_longer_run_ahead() -> None:
    class Recorder(Eager):
        def run(self, tasks: Any) -> Any:
            self.names = [task.name for task in tasks]
            return iter([])

    engine, halving = Recorder(), SuccessiveHalving(2, 9)
    candidates: list[dict[str, Any]] = [{"arity": arity} for arity in range(9)]
    problem = Problem.read(X[:20], Y[:20], None, None, "P@1", np.random.RandomState(0))
    rungs = [Rung(100, (1,)), Rung(300, (1,))]
    with EngineTrials(engine, problem, LabelTreeClassifier(), candidates, rungs, halving) as trials:
        for candidate in range(3):
            halving.record(Job(candidate, 0), 0.5 + candidate, 1.0)
        halving.record(Job(3, 0), 0.0, 9.0)
        with pytest.raises(KeyError):
            list(trials.trials(Job(3, 0)))
    assert engine.names == [f"trial of candidate {candidate} on 100 rows" for candidate in (3, 4, 5)]
