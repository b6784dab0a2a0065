"""Successive halving and the Pareto front, without any model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import takewhile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeltree.tuning import Trial, Tuning
from labeltree.tuning.halving import Job, Rung, SuccessiveHalving, ladder
from labeltree.tuning.pareto import layers, undominated
from labeltree.tuning.tuner import search

COSTS = st.integers(1, 3).flatmap(
    lambda width: st.lists(
        st.tuples(*[st.integers(0, 4)] * width).map(lambda row: [float(cost) for cost in row]),
        min_size=1,
        max_size=12,
    )
)


def beats(one: list[float], other: list[float]) -> bool:
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))


@given(costs=COSTS)
def test_what_nothing_beats(costs: list[list[float]]) -> None:
    expected = [not any(beats(other, row) for other in costs) for row in costs]
    assert undominated(costs).tolist() == expected


@given(costs=COSTS)
def test_layers_are_fronts_of_what_is_left(costs: list[list[float]]) -> None:
    numbers = layers(costs).tolist()
    for row, number in zip(costs, numbers, strict=True):
        # The longest chain of rows, each beating the next, that ends here.
        beaten_by = [n for other, n in zip(costs, numbers, strict=True) if beats(other, row)]
        assert number == max(beaten_by, default=-1) + 1


class TestLadder:
    def test_samples_are_thirds_and_trees_come_last(self) -> None:
        assert ladder(7_000, (3, 1)) == [Rung(2_333, (1,)), Rung(7_000, (1,)), Rung(7_000, (3,))]

    def test_few_rows_have_no_samples(self) -> None:
        assert ladder(500, (2,)) == [Rung(500, (2,))]

    def test_no_more_than_four_samples(self) -> None:
        assert [rung.n_rows for rung in ladder(27_000_000, (1,))] == [
            1_000_000,
            3_000_000,
            9_000_000,
            27_000_000,
        ]


def run_all(
    n_rungs: int, n_candidates: int, score: Callable[[Job], float], size: Callable[[Job], float]
) -> list[Job]:
    halving = SuccessiveHalving(n_rungs, n_candidates)
    jobs = []
    while (job := halving.next_job(lambda job: True)) is not None:
        jobs.append(job)
        halving.record(job, score(job), size(job))
    return jobs


def on_rung(jobs: list[Job], rung: int) -> list[int]:
    return [job.candidate for job in jobs if job.rung == rung]


class TestSuccessiveHalving:
    def test_the_best_third_goes_up_as_soon_as_it_is_known(self) -> None:
        scores = [1, 5, 9, 0, 2, 8, 7]
        jobs = run_all(2, 7, score=lambda job: scores[job.candidate], size=lambda job: 1)
        assert jobs[:5] == [Job(0, 0), Job(1, 0), Job(2, 0), Job(2, 1), Job(0, 1)]
        assert jobs[5:] == [Job(3, 0), Job(4, 0), Job(5, 0), Job(5, 1), Job(6, 0)]

    def test_every_candidate_is_tried_once_and_the_best_reaches_the_top(self) -> None:
        scores = np.random.default_rng(0).permutation(27)
        jobs = run_all(4, 27, score=lambda job: scores[job.candidate], size=lambda job: 1)
        assert on_rung(jobs, 0) == list(range(27))
        assert int(np.argmax(scores)) in on_rung(jobs, 3)
        assert len(set(jobs)) == len(jobs)
        for rung in range(1, 4):
            assert 0 in on_rung(jobs, rung)
            assert set(on_rung(jobs, rung)) <= set(on_rung(jobs, rung - 1))

    @pytest.mark.parametrize("n_candidates", [1, 2])
    def test_of_few_candidates_one_goes_up_nevertheless(self, n_candidates: int) -> None:
        jobs = run_all(3, n_candidates, score=lambda job: job.candidate, size=lambda job: 1)
        assert set(on_rung(jobs, 2)) == {0, n_candidates - 1}

    def test_a_small_model_goes_up_before_a_larger_one_that_is_beaten(self) -> None:
        halving = SuccessiveHalving(2, 10)
        figures = [(0.5, 9.0), (0.9, 5.0), (0.8, 6.0), (0.7, 1.0), (0.6, 7.0), (0.6, 7.5)]
        for candidate, (score, size) in enumerate(figures):
            halving.record(Job(candidate, 0), score, size)
        jobs = list(halving.jobs())
        assert [job.candidate for job in jobs if job.rung == 1] == [1, 3]

    def test_what_does_not_fit_is_passed_over(self) -> None:
        halving = SuccessiveHalving(2, 10)
        for candidate in range(3):
            halving.record(Job(candidate, 0), candidate, 1)
        assert halving.next_job(lambda job: job.rung == 0) == Job(3, 0)
        assert halving.next_job(lambda job: False) is None


class FakeRuns:
    """Jobs that take a second per thousand rows and tree, on a clock of their own."""

    def __init__(self) -> None:
        self.now = 100.0
        self.jobs: list[Job] = []
        self.rungs = ladder(18_000, (1, 2))

    def run(self, job: Job) -> Iterator[Trial]:
        self.jobs.append(job)
        rung = self.rungs[job.rung]
        self.now += rung.cost / 1000
        score = 1 - 1 / (2 + (7 * job.candidate) % 11)
        for n_trees in rung.n_trees:
            yield Trial({"C": float(job.candidate), "n_trees": n_trees}, rung.n_rows, score, 1.0, 1, 1.0)

    def search(self, budget: float) -> list[Trial]:
        halving = SuccessiveHalving(len(self.rungs), 1000)
        return list(search(halving, self.rungs, self.run, budget, lambda: self.now))


@pytest.mark.parametrize("budget", [0.1, 2.0, 7.0, 50.0, 222.0, 1000.0])
def test_the_budget_is_kept_and_used(budget: float) -> None:
    runs = FakeRuns()
    trials = runs.search(budget)
    assert len(trials) == len(runs.jobs)
    spent = runs.now - 100
    assert spent <= max(budget, 2.0)  # the first trial is made in any case
    assert spent > budget - 2.0  # another would have taken longer than what was left


def test_a_longer_search_begins_with_the_same_trials() -> None:
    short, long = FakeRuns(), FakeRuns()
    short.search(310.0)
    long.search(900.0)
    pairs = zip(short.jobs, long.jobs, strict=False)
    same = [job for job, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)]
    # Until the next would have taken longer than the shorter one had.
    spent = sum(short.rungs[job.rung].cost / 1000 for job in same)
    expected = short.rungs[long.jobs[len(same)].rung].cost / 1000
    assert spent <= 310 < spent + expected
    assert len(short.jobs) < len(long.jobs)


def trial(score: float, ms_per_row: float, model_bytes: int, n_rows: int = 10, noise: float = 0.0) -> Trial:
    parts = (score - noise, score + noise)
    return Trial({"C": score}, n_rows, score, ms_per_row, model_bytes, 1.0, parts)


class TestTuning:
    def found(self, *trials: Trial) -> Tuning:
        return Tuning(trials, "P@1", {"tol": 0.1}, 5)

    def test_front(self) -> None:
        slow, fast, small = trial(0.9, 3.0, 30), trial(0.8, 1.0, 20), trial(0.7, 2.0, 10)
        beaten, sample = trial(0.6, 2.5, 11), trial(1.0, 0.1, 1, n_rows=5)
        found = self.found(sample, beaten, small, slow, fast)
        assert found.front == [slow, fast, small]
        assert found.start is None

    def test_a_smaller_model_is_chosen_if_it_cannot_be_told_from_the_best(self) -> None:
        # The parts of the first two differ by -0.04 and 0.06: 0.01 on average, with a standard error of 0.05.
        best, same, worse = trial(0.9, 1.0, 30), trial(0.89, 1.0, 20, noise=0.05), trial(0.8, 1.0, 5)
        assert self.found(worse, best, same).chosen is same
        assert trial(0.81, 1.0, 20, noise=0.05).is_as_good_as(best)
        assert not trial(0.79, 1.0, 20, noise=0.05).is_as_good_as(best)
        assert self.found(worse, best).chosen is best
        assert self.found(best, same, worse).start is best

    def test_parameters_are_the_given_and_the_chosen(self) -> None:
        assert self.found(trial(0.5, 1.0, 1)).parameters == {"tol": 0.1, "C": 0.5}
