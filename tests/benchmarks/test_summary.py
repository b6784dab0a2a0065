import json

import pytest
from benchmarks.runner import Run
from benchmarks.summary import Row, Spread, summarise
from hypothesis import given
from hypothesis import strategies as st

positive = st.floats(0.01, 1e6)


def run(system, n_trees=1, **figures):
    outcome = {name: figures.pop(name) for name in ("stopped", "failure") if name in figures}
    return Run(system, n_trees, limit_s=600, version="1.0", figures=figures, **outcome)


def test_rows_have_medians_and_ranges_of_their_runs():
    rows = summarise([run("omikuji", train_s=3.0), run("labeltree", train_s=1.0), run("omikuji", train_s=9.0),
                      run("omikuji", train_s=4.0)])  # fmt: skip
    assert [(row.system, row.n_runs) for row in rows] == [("omikuji", 3), ("labeltree", 1)]
    assert rows[0].figures["train_s"] == Spread(4.0, 3.0, 9.0)


def test_ratios_are_to_ours_with_as_many_trees():
    rows = summarise(
        [
            run("labeltree", 1, train_s=2.0, model_mb=5.0),
            run("labeltree", 3, train_s=5.0, model_mb=15.0),
            run("omikuji", 3, train_s=20.0, model_mb=30.0),
            run("omikuji", 7, train_s=20.0, model_mb=30.0),
        ]
    )
    by_trees = {(row.system, row.n_trees): row for row in rows}
    assert by_trees["omikuji", 3].ratios["train_s"].median == 4.0
    assert by_trees["omikuji", 3].ratios["model_mb"].median == 2.0
    assert by_trees["omikuji", 7].ratios == {}
    assert by_trees["labeltree", 3].ratios == {}


def test_loading_is_compared_only_with_readers_of_text():
    rows = summarise([run("labeltree", load_s=1.0), run("omikuji", load_s=3.0), run("pecos", load_s=3.0)])
    assert [set(row.ratios) for row in rows] == [set(), {"load_s"}, set()]


@given(st.lists(positive, min_size=1, max_size=5), st.lists(positive, min_size=1, max_size=5))
def test_the_range_of_a_ratio_holds_the_ratio_of_any_two_runs(theirs, ours):
    ratio = Spread.of(theirs).ratio_to(Spread.of(ours))
    for a in theirs:
        for b in ours:
            assert ratio.low <= a / b <= ratio.high
    assert ratio.low <= ratio.median <= ratio.high


def test_nothing_is_a_multiple_of_nothing():
    assert Spread.of([1.0]).ratio_to(Spread.of([0.0, 1.0])) is None


def test_what_was_stopped_took_at_least_the_limit():
    ours, theirs = summarise(
        [run("labeltree", train_s=2.0, total_s=3.0), run("sklearn", load_s=1.0, stopped="train")]
    )
    assert theirs.figures["train_s"] == Spread(600, 600, 600, at_least=True)
    assert theirs.ratios["total_s"] == Spread(200, 200, 200, at_least=True)
    assert theirs.incomplete == "train"
    assert ours.incomplete == ""


def test_a_run_that_came_to_no_end_does_not_spoil_those_that_did():
    (row,) = summarise(
        [
            run("omikuji", train_s=3.0),
            run("omikuji", load_s=1.0, stopped="train"),
            run("omikuji", train_s=5.0),
        ]
    )
    assert row.figures == {"train_s": Spread(4.0, 3.0, 5.0)}
    assert (row.complete, row.n_runs) == (True, 2)


@pytest.mark.parametrize(("figures", "stage"), [({}, "train"), ({"total_s": 1.0}, "predict")])
def test_the_figures_tell_which_stage_failed(figures, stage):
    (row,) = summarise([run("vowpalwabbit", failure="it broke", **figures)])
    assert row.incomplete == stage


def test_rows_survive_json():
    rows = summarise([run("labeltree", train_s=2.0), run("sklearn", stopped="train")])
    assert [Row.from_json(json.loads(json.dumps(row.as_json()))) for row in rows] == rows
