"""`labeltree.metrics.compare`, against a brute-force bootstrap, the normal interval and simulated rows."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from tests.reference.bootstrap import bootstrap_differences, f1

from labeltree import metrics
from labeltree.metrics import comparison

Rows = list[list[str]]


def problem(
    n_rows: int, seed: int = 0, share_a: float = 0.5, share_b: float = 0.6
) -> tuple[Rows, Rows, Rows]:
    """True labels, and those of two models that know each with a probability; ranks are in random order."""
    random = np.random.default_rng(seed)
    labels = [f"label {i}" for i in range(12)]
    frequency = 1 / np.arange(1, 13)
    truth: Rows = []
    for _ in range(n_rows):
        chosen = random.choice(
            labels, size=random.integers(0, 4), replace=False, p=frequency / frequency.sum()
        )
        truth.append(chosen.tolist())

    def answers(share: float) -> Rows:
        found = [[label for label in row if random.random() < share] for row in truth]
        noise = [random.choice(labels, size=3, replace=False).tolist() for _ in truth]
        rows = []
        for right, wrong in zip(found, noise, strict=True):
            mixed = random.permutation([*right, *wrong[: len(right) % 2 + 1]]).tolist()
            rows.append(list(dict.fromkeys(mixed)))
        return rows

    return truth, answers(share_a), answers(share_b)


def test_values_are_those_of_the_single_metrics() -> None:
    truth, a, b = problem(80)
    weights = metrics.inverse_propensity(truth)
    found = metrics.compare(truth, a, b, decided_a=a, decided_b=b, inverse_propensity=weights, n_resamples=10)
    for side, answers in (("a", a), ("b", b)):
        expected = metrics.evaluate(truth, answers, inverse_propensity=weights)
        expected = {name: value for name, value in expected.items() if not name.startswith("coverage")}
        for average in ("micro", "macro"):
            expected[f"{average} F1"] = metrics.f_beta(truth, answers, average=average)
            assert expected[f"{average} F1"] == pytest.approx(f1(average)(truth, answers))
        assert {name: getattr(one, side) for name, one in found.metrics.items()} == pytest.approx(expected)
    assert found.n_rows == 80


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("P@1", partial(metrics.precision_at_k, k=1)),
        ("nDCG@3", partial(metrics.ndcg_at_k, k=3)),
        ("F1@3", partial(metrics.f1_at_k, k=3)),
        ("micro F1", f1("micro")),
        ("macro F1", f1("macro")),
    ],
)
def test_intervals_are_those_of_the_brute_force(name: str, metric: Any, monkeypatch: Any) -> None:
    truth, a, b = problem(40)
    monkeypatch.setattr(comparison, "BLOCK", 40 * 7)  # several blocks, the last one shorter
    found = metrics.compare(
        truth, a, b, decided_a=a, decided_b=b, ks=(1, 3), n_resamples=60, random_state=5
    ).metrics[name]
    twin = bootstrap_differences(truth, a, b, metric, 60, seed=5)
    tail = comparison._tail(40, 0.95)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(twin, [tail, 1 - tail])))
    assert found.difference == pytest.approx(metric(truth, b) - metric(truth, a))


def test_weights_of_labels_are_resampled_with_their_rows() -> None:
    truth, a, b = problem(40)
    weights = metrics.inverse_propensity(truth)
    metric = partial(metrics.psprecision_at_k, k=3, inverse_propensity=weights)
    found = metrics.compare(truth, a, b, ks=(3,), inverse_propensity=weights, n_resamples=50).metrics["PSP@3"]
    twin = bootstrap_differences(truth, a, b, metric, 50, seed=0)
    tail = comparison._tail(40, 0.95)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(twin, [tail, 1 - tail])))


def test_precision_has_the_normal_interval() -> None:
    truth, a, b = problem(400)
    found = metrics.compare(truth, a, b, ks=(1,), n_resamples=4000).metrics["P@1"]
    gains = [
        float(bool(second and second[0] in true)) - float(bool(first and first[0] in true))
        for true, first, second in zip(truth, a, b, strict=True)
    ]
    half = 1.96 * np.std(gains, ddof=1) / np.sqrt(400)
    assert found.low == pytest.approx(found.difference - half, abs=0.15 * half)
    assert found.high == pytest.approx(found.difference + half, abs=0.15 * half)


@pytest.mark.parametrize("n_rows", [30, 60])
def test_intervals_hold_the_true_difference_as_often_as_they_say(n_rows: int) -> None:
    """95 % intervals of many samples of a population, whose difference is known."""
    truth, a, b = problem(3000, seed=1)
    expected = metrics.compare(truth, a, b, decided_a=a, decided_b=b, ks=(1,), n_resamples=1).metrics
    random, hits = np.random.default_rng(2), {"P@1": 0, "micro F1": 0}
    n_samples = 300
    for _ in range(n_samples):
        sample = random.integers(len(truth), size=n_rows).tolist()
        y, first, second = ([rows[i] for i in sample] for rows in (truth, a, b))
        found = metrics.compare(y, first, second, decided_a=first, decided_b=second, ks=(1,), n_resamples=200)
        for name in hits:
            one = found.metrics[name]
            hits[name] += one.low <= expected[name].difference <= one.high
    for name, n_hits in hits.items():
        assert 0.91 <= n_hits / n_samples <= 0.985, (name, n_hits)


def test_the_same_seed_gives_the_same_intervals() -> None:
    rows = problem(50)
    first = metrics.compare(*rows, n_resamples=40).metrics
    assert metrics.compare(*rows, n_resamples=40).metrics == first
    assert metrics.compare(*rows, n_resamples=40, random_state=1).metrics != first


def test_a_model_does_not_differ_from_itself() -> None:
    truth, a, _ = problem(50)
    for found in metrics.compare(truth, a, a, decided_a=a, decided_b=a, n_resamples=20).metrics.values():
        assert (found.difference, found.low, found.high, found.is_significant) == (0, 0, 0, False)


def test_a_large_difference_is_significant_but_not_in_few_rows() -> None:
    truth = [["cat"]] * 40
    a, b = [["dog"]] * 40, [["cat"]] * 39 + [["dog"]]
    assert metrics.compare(truth, a, b, ks=(1,)).metrics["P@1"].is_significant
    assert not metrics.compare(truth[:29], a[:29], b[:29], ks=(1,)).metrics["P@1"].is_significant
    alone = metrics.compare(truth[:1], a[:1], b[:1], ks=(1,)).metrics["P@1"]
    assert (alone.difference, alone.is_significant) == (1, False)


def test_matrices_and_rows_that_differ() -> None:
    y = sp.csr_array([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    a, b = np.array([[0, 1], [1, 0], [0, 1]]), np.array([[0, 1], [0, 1], [2, 1]])
    found = metrics.compare(y, a, b, ks=(1, 2), n_resamples=5)
    assert found.row_differences == pytest.approx([0, 1 / np.log2(3) - 1, 1])
    assert "P@1" in str(found)


def test_what_is_refused() -> None:
    truth, a, b = problem(5)
    with pytest.raises(ValueError, match="given both or neither"):
        metrics.compare(truth, a, b, decided_a=a)
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        metrics.compare(truth, a, b, level=95)
    with pytest.raises(ValueError, match="at least one cut-off"):
        metrics.compare(truth, a, b, ks=())
    with pytest.raises(ValueError, match="the same"):
        metrics.compare(truth, a, b[:3])
    with pytest.raises(ValueError, match="n_resamples"):
        metrics.compare(truth, a, b, n_resamples=0)
