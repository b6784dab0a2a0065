import math

import pytest
from experiments.runner.figures import Mean, summarise


def run(precision, seconds):
    figures = dict.fromkeys(("P@1", "P@3", "P@5"), precision)
    return {**figures, "train_s": seconds, "batch_ms": 0.5, "model_mb": 4.0}


def test_mean_and_its_standard_error():
    # The deviation of 1, 2, 6 is sqrt((4 + 1 + 9) / 2); the error of the mean that over sqrt(3).
    mean = Mean.of([1.0, 2.0, 6.0])
    assert mean.value == 3.0
    assert mean.error == pytest.approx(math.sqrt(7) / math.sqrt(3))


def test_one_run_has_no_error():
    assert Mean.of([0.25]) == Mean(0.25, None)


def test_costs_are_compared_with_the_first_row_that_ran():
    lines = summarise(
        [
            ("a", [], "no such loss"),
            ("b", [run(0.5, 2.0), run(0.6, 4.0)], ""),
            ("c", [run(0.7, 1.5)], "one failed"),
            ("d", [], ""),
        ]
    )
    assert [line.failure for line in lines] == ["no such loss", "", "", "not run"]
    assert [line.n_runs for line in lines] == [0, 2, 1, 0]
    assert lines[1].ratios == {"train_s": 1.0, "batch_ms": 1.0, "model_mb": 1.0}
    assert lines[2].ratios["train_s"] == 0.5
    assert "train_cpu_s" not in lines[2].ratios  # nobody measured it
    assert lines[1].means["P@3"].value == pytest.approx(0.55)
    assert not lines[0].ratios
