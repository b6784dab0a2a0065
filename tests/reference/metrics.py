"""The metrics once more, slow and obvious: sets and loops, a row at a time.

`truth` and `predicted` are one set of labels per row, `ranked` is one list of labels per row in rank order,
`weights` maps labels to inverse propensities.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import permutations
from math import log, log2
from statistics import mean

Truth = Sequence[set[int]]
Ranked = Sequence[Sequence[int]]
Weights = Mapping[int, float]


def rank(scores: Mapping[int, float]) -> list[int]:
    return sorted(scores, key=lambda label: (-scores[label], label))


def precision(truth: Truth, ranked: Ranked, k: int) -> float:
    return mean(
        sum(label in true for label in labels[:k]) / k for true, labels in zip(truth, ranked, strict=True)
    )


def recall(truth: Truth, ranked: Ranked, k: int) -> float:
    return mean(
        sum(label in true for label in labels[:k]) / len(true) if true else 0.0
        for true, labels in zip(truth, ranked, strict=True)
    )


def f1_at_k(truth: Truth, ranked: Ranked, k: int) -> float:
    def of_row(true: set[int], labels: set[int]) -> float:
        return 2 * len(true & labels) / (len(true) + len(labels)) if true or labels else 0.0

    return mean(of_row(true, set(labels[:k])) for true, labels in zip(truth, ranked, strict=True))


def dcg(true: set[int], labels: Sequence[int], k: int, weights: Weights | None = None) -> float:
    gain = 0.0
    for rank_of_label, label in enumerate(labels[:k], start=1):
        if label in true:
            gain += (weights[label] if weights else 1.0) / log2(rank_of_label + 1)
    return gain


def ndcg(truth: Truth, ranked: Ranked, k: int) -> float:
    return mean(
        dcg(true, labels, k) / dcg(true, sorted(true), k) if true else 0.0
        for true, labels in zip(truth, ranked, strict=True)
    )


def coverage(truth: Truth, ranked: Ranked, k: int) -> float:
    all_true = set().union(*truth)
    found = set().union(*(true & set(labels[:k]) for true, labels in zip(truth, ranked, strict=True)))
    return len(found) / len(all_true) if all_true else 0.0


def psprecision(truth: Truth, ranked: Ranked, k: int, weights: Weights) -> float:
    def gain(true: set[int], labels: Sequence[int]) -> float:
        return sum(weights[label] for label in labels[:k] if label in true) / k

    return _share_of_best(truth, ranked, gain)


def psndcg(truth: Truth, ranked: Ranked, k: int, weights: Weights) -> float:
    def gain(true: set[int], labels: Sequence[int]) -> float:
        return dcg(true, labels, k, weights) / dcg(true, sorted(true), k) if true else 0.0

    return _share_of_best(truth, ranked, gain)


def _share_of_best(truth: Truth, ranked: Ranked, gain: Callable[[set[int], Sequence[int]], float]) -> float:
    """Divide by what the best of all possible rankings of the true labels gains."""
    best = sum(max(gain(true, order) for order in permutations(true)) for true in truth)
    return sum(gain(true, labels) for true, labels in zip(truth, ranked, strict=True)) / best if best else 0.0


def inverse_propensity(truth: Truth, label: int, A: float, B: float) -> float:
    n_rows, n_label = len(truth), sum(label in true for true in truth)
    c = (log(n_rows) - 1) * (B + 1) ** A
    return 1 + c / (n_label + B) ** A


def f_beta(truth: Truth, predicted: Truth, n_labels: int, beta: float, average: str) -> float:
    def value(tp: int, fn: int, fp: int) -> float:
        if tp == 0:
            return 0.0
        p, r = tp / (tp + fp), tp / (tp + fn)
        return (1 + beta**2) * p * r / (beta**2 * p + r)

    return _averaged(truth, predicted, n_labels, average, value)


def jaccard(truth: Truth, predicted: Truth, n_labels: int, average: str) -> float:
    def value(tp: int, fn: int, fp: int) -> float:
        return tp / (tp + fn + fp) if tp else 0.0

    if average == "samples":
        return mean(
            value(len(true & labels), len(true - labels), len(labels - true))
            for true, labels in zip(truth, predicted, strict=True)
        )
    return _averaged(truth, predicted, n_labels, average, value)


def hamming(truth: Truth, predicted: Truth, n_labels: int) -> float:
    return mean(len(true ^ labels) / n_labels for true, labels in zip(truth, predicted, strict=True))


def _averaged(
    truth: Truth, predicted: Truth, n_labels: int, average: str, value: Callable[[int, int, int], float]
) -> float:
    pairs = list(zip(truth, predicted, strict=True))
    counts = [
        (
            sum(label in true and label in labels for true, labels in pairs),
            sum(label in true and label not in labels for true, labels in pairs),
            sum(label not in true and label in labels for true, labels in pairs),
        )
        for label in range(n_labels)
    ]
    if average == "micro":
        return value(*(sum(column) for column in zip(*counts, strict=True)))
    return mean(value(*count) for count in counts)
