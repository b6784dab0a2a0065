"""The choice of the weights of a mix by validation rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree import sparse as sp
from labeltree.decisions.decision import Tuning, decide, read_truth
from labeltree.decisions.validation_pairs import ValidationPairs
from labeltree.labels.weights import ranking_weight
from labeltree.metrics.cut_off import CutOffMetric
from labeltree.metrics.names import Metric, get_metric
from labeltree.mixing.mixed_forest import MixedFeatures, MixedForest
from labeltree.model.candidates import as_top, pooled, ranked, weighted_mean
from labeltree.model.forest import Search
from labeltree.model.model import Model
from labeltree.validation import check_same_rows

#: Every member proposes this many labels for each row.
PROPOSED = 100

#: Shares that are tried for a member, against the others as they are.
SHARES = np.linspace(0, 1, 21)

#: Members are weighed in turns, at most this often.
ROUNDS = 4


@dataclass(frozen=True)
class _Candidates:
    """Labels that some member proposes for each row, and the probabilities of all members."""

    model: Model
    pairs: NDArray[np.int64]
    parts: list[NDArray[np.float32]]
    n_rows: int
    truth: Any
    n_unknown: int
    search: Search


def best_weights(model: Model, metric: str | Metric, X: Any, y: Any, search: Search) -> list[float]:
    """Return the weights, their mean being 1, with the largest value of a metric on validation rows."""
    chosen = get_metric(metric)
    candidates = _candidates(model, X, y, search)
    value = (
        _cut_off_value(chosen, candidates)
        if isinstance(chosen, CutOffMetric)
        else _tuned_value(chosen, candidates)
    )
    n = len(candidates.parts)
    best = [1.0] * n
    reached = value(best)
    for _ in range(ROUNDS):
        before = reached
        for member in range(n):
            start = best
            for share in SHARES.tolist():
                tried = _with_share(start, member, share)
                # More than a rounding error: of weights that are equally good, the first are kept, which are all 1.
                if tried is not None and (found := value(tried)) > reached + 1e-9:
                    best, reached = tried, found
        if reached <= before:
            break
    return best


def _with_share(weights: list[float], member: int, share: float) -> list[float] | None:
    """The weights with this share for a member, their mean being 1; None if nothing is left for the others."""
    n, rest = len(weights), sum(weights) - weights[member]
    if rest == 0:
        return None
    return [n * share if i == member else n * (1 - share) * weight / rest for i, weight in enumerate(weights)]


def _candidates(model: Model, X: Any, y: Any, search: Search) -> _Candidates:
    mixed, features = model.forest, model.read(X)
    assert isinstance(mixed, MixedForest)
    assert isinstance(features, MixedFeatures)
    truth, n_unknown = read_truth(y, model.label_index)
    check_same_rows(features.n_rows, truth.n_rows)
    n_labels = len(model.label_index)
    rows, labels = [], []
    wanted = search.replace(k=min(PROPOSED, n_labels))
    for member, part in zip(mixed.members, features.parts, strict=True):
        found, _ = member.model.forest.top_k(part, member.asked(wanted))
        row, column = np.nonzero(found >= 0)
        rows.append(row)
        labels.append(member.to_mix(found[row, column]))
    pairs = pooled(rows, labels, n_labels)
    row, label = np.divmod(pairs, n_labels)
    parts = [
        member.model.forest.pairs(part, row, member.position[label], member.asked(search))
        for member, part in zip(mixed.members, features.parts, strict=True)
    ]
    return _Candidates(model, pairs, parts, features.n_rows, truth, n_unknown, search)


def _cut_off_value(metric: CutOffMetric, candidates: _Candidates) -> Callable[[list[float]], float]:
    """The metric of the k best labels of each row."""
    model, truth = candidates.model, candidates.truth
    n_labels = len(model.label_index)
    weight = None
    if metric.is_weighted:
        weight = ranking_weight("propensity", model, None)
        metric = replace(metric, inverse_propensity=weight)
    is_true = sp.csr_matrix(
        (np.ones(len(truth.labels)), (truth.rows, truth.labels)), shape=(candidates.n_rows, n_labels)
    )
    search = candidates.search.replace(k=min(int(metric.k), n_labels), label_weight=weight)

    def value(weights: list[float]) -> float:
        mean = weighted_mean(candidates.parts, weights)
        answer = ranked(candidates.n_rows, n_labels, candidates.pairs, mean, search)
        return metric(is_true, as_top(answer, search.k)[0])

    return value


def _tuned_value(metric: Any, candidates: _Candidates) -> Callable[[list[float]], float]:
    """The metric with the thresholds that are best for it."""
    model, n_labels = candidates.model, len(candidates.model.label_index)

    def value(weights: list[float]) -> float:
        mean = weighted_mean(candidates.parts, weights)
        search = candidates.search.replace(k=n_labels)
        indptr, labels, values = ranked(candidates.n_rows, n_labels, candidates.pairs, mean, search)
        scores = sp.csr_matrix((values, labels, indptr), shape=(candidates.n_rows, n_labels))
        pairs = ValidationPairs.of(scores, candidates.truth, candidates.n_unknown)
        decision = decide(metric, Tuning("exact"), model.label_counts, model.n_samples_fit, lambda: pairs)
        assert decision.value is not None
        return decision.value

    return value
