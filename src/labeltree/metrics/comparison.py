"""`compare`: two models on the same rows, with confidence intervals for the differences of their metrics."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree import sparse as sp
from labeltree.metrics.judgement import judge
from labeltree.metrics.label_sets import LabelSets
from labeltree.metrics.outcomes import count_outcomes, read_decided
from labeltree.metrics.propensity import InversePropensity
from labeltree.metrics.ranking import Ratio, check_cut_offs, ranking_ratios
from labeltree.metrics.reading import Labels
from labeltree.validation import check_count

FloatArray = NDArray[np.float64]

#: With fewer rows, no difference is called significant: their intervals are too narrow.
FEWEST_ROWS = 30
#: Maximum number of weights, or of values of labels, that are in memory at once.
BLOCK = 1 << 22


@dataclass(frozen=True)
class Difference:
    """A metric of two models on the same rows.

    Attributes
    ----------
    a, b : float
        The metric of each model.
    low, high : float
        The confidence interval of ``b - a``.
    is_significant : bool
        Whether 0 is outside of the interval, and there are at least 30 rows.
    """

    a: float
    b: float
    low: float
    high: float
    is_significant: bool

    @property
    def difference(self) -> float:
        """``b - a``: positive if the second model is better."""
        return self.b - self.a


@dataclass(frozen=True)
class Comparison:
    """Two models on the same rows, as `compare` returns it.

    Attributes
    ----------
    metrics : mapping from str to Difference
        By name: ``"P@1"``, ``"nDCG@5"``, ``"micro F1"`` and others.
    row_differences : array of shape (n_rows,)
        nDCG at the largest k for each row, of the second model minus the first: the rows where they differ most have
        the largest absolute values.
    level : float
        The confidence level.
    n_resamples : int
        The number of resamples of the bootstrap.
    """

    metrics: Mapping[str, Difference]
    row_differences: FloatArray
    level: float
    n_resamples: int

    @property
    def n_rows(self) -> int:
        return len(self.row_differences)

    def __str__(self) -> str:
        lines = [f"{'%':<10}{'A':>8}{'B':>8}{'B - A':>9}   {100 * self.level:g} % interval"]
        for name, found in self.metrics.items():
            numbers = f"{100 * found.a:8.2f}{100 * found.b:8.2f}{100 * found.difference:+9.2f}"
            interval = f"{100 * found.low:+.2f} to {100 * found.high:+.2f}"
            lines.append(f"{name:<10}{numbers}   {interval}{' *' if found.is_significant else ''}")
        return "\n".join([*lines, "* significant: 0 is outside of the interval"])


def compare(
    y_true: Labels,
    top_a: Labels,
    top_b: Labels,
    *,
    decided_a: Labels | None = None,
    decided_b: Labels | None = None,
    ks: Sequence[int] = (1, 3, 5),
    inverse_propensity: InversePropensity | None = None,
    level: float = 0.95,
    n_resamples: int = 2000,
    random_state: int = 0,
) -> Comparison:
    """Compare two models on the same rows, with paired confidence intervals for the differences.

    The intervals come from a bootstrap over rows: rows are drawn with replacement, both models are measured on the same
    drawn rows, and the interval holds the middle part of the differences. Rows are the only source of chance: the
    intervals say what other rows of the same kind would give, not what training again would give. Each interval is for
    one metric alone: of 20 metrics, one is outside of its 95 % interval by chance.

    Parameters
    ----------
    y_true : sparse matrix, 2-d array or list of lists
        True labels, as for `precision_at_k`.
    top_a, top_b : integer array, sparse matrix or list of lists
        The labels of each model in rank order, as for `precision_at_k`. The models need not know the same labels if
        labels are lists.
    decided_a, decided_b : optional
        The labels that each model predicts, as for `f_beta`. With them, micro F1 and macro F1 are compared. Macro F1 is
        the mean over the labels that are true or predicted in some row, also if `y_true` is a matrix.
    ks : sequence of int, default (1, 3, 5)
        The cut-offs of the rankings.
    inverse_propensity : array, mapping or None
        As for `psprecision_at_k`, the same for both models. Without it, PSP and PSnDCG are left out.
    level : float, default 0.95
        The confidence level of the intervals.
    n_resamples : int, default 2000
        The number of resamples.
    random_state : int, default 0
        The seed of the resamples: the same seed gives the same intervals.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from labeltree.metrics import compare
    >>> y_true = [["cat"], ["dog"], ["emu"], ["cat", "dog"]] * 10
    >>> a = [["cat"], ["cat"], ["dog"], ["cat"]] * 10
    >>> b = [["cat"], ["dog"], ["dog"], ["dog"]] * 10
    >>> found = compare(y_true, a, b, ks=(1,)).metrics["P@1"]
    >>> found.a, found.b, found.is_significant
    (0.5, 0.75, True)
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, such as 0.95, got {level}")
    check_count("n_resamples", n_resamples)
    if (decided_a is None) != (decided_b is None):
        raise ValueError("decided_a and decided_b are given both or neither: F1 of one alone is not compared")
    check_cut_offs(ks)
    first = _Rows.of(y_true, top_a, decided_a, ks, inverse_propensity)
    second = _Rows.of(y_true, top_b, decided_b, ks, inverse_propensity)
    values_a, values_b = first.values(), second.values()
    drawn = np.concatenate(
        [
            second.resampled(weights) - first.resampled(weights)
            for weights in _resamples(first, second, n_resamples, random_state)
        ]
    )
    tail = _tail(first.n_rows, level)
    low, high = np.quantile(drawn, [tail, 1 - tail], axis=0)
    metrics = {
        name: Difference(
            float(values_a[i]),
            float(values_b[i]),
            float(low[i]),
            float(high[i]),
            bool(first.n_rows >= FEWEST_ROWS and (low[i] > 0 or high[i] < 0)),
        )
        for i, name in enumerate(first.names)
    }
    ndcg = f"nDCG@{max(ks)}"
    by_row = second.ratios[ndcg].numerator - first.ratios[ndcg].numerator
    return Comparison(metrics, by_row, level, n_resamples)


@dataclass(frozen=True)
class _Rows:
    """The share of every row in the metrics of one model.

    `both` and `sizes` have a row per label: where it is true and predicted, and how often it is one of them.
    """

    ratios: dict[str, Ratio]
    both: sp.csr_array | None = None
    sizes: sp.csr_array | None = None

    @classmethod
    def of(
        cls,
        y_true: Labels,
        top: Labels,
        decided: Labels | None,
        ks: Sequence[int],
        weights: InversePropensity | None,
    ) -> _Rows:
        ratios = ranking_ratios(judge(y_true, top, max(ks)), ks, weights)
        if decided is None:
            return cls(ratios)
        truth, predicted = read_decided(y_true, decided)
        outcomes = count_outcomes(truth, predicted, per="row")
        twice = np.asarray(2 * outcomes.both, dtype=np.float64)
        ratios["micro F1"] = Ratio(twice, twice + outcomes.only_true + outcomes.only_pred)
        is_both = truth.contains(predicted.rows, predicted.labels)
        both = _by_label(predicted, is_both)
        sizes = _by_label(truth) + _by_label(predicted)
        occurs = np.flatnonzero(np.diff(sizes.indptr))
        return cls(ratios, both[occurs], sizes[occurs])

    @property
    def names(self) -> list[str]:
        return [*self.ratios, *(["macro F1"] if self.both is not None else [])]

    @property
    def n_rows(self) -> int:
        return len(next(iter(self.ratios.values())).numerator)

    @property
    def n_values(self) -> int:
        """The number of values for each resample while the metrics are computed."""
        return max(self.n_rows, 0 if self.sizes is None else self.sizes.shape[0])

    def values(self) -> FloatArray:
        """Return the metrics of the rows as they are."""
        values: FloatArray = self.resampled(np.ones((1, self.n_rows)))[0]
        return values

    def resampled(self, weights: FloatArray) -> FloatArray:
        """Return the metrics of resamples; `weights` says how often each row is in each: (n_resamples, n_rows)."""
        upper = weights @ np.column_stack([ratio.numerator for ratio in self.ratios.values()])
        lower = weights @ np.column_stack([ratio.denominator for ratio in self.ratios.values()])
        values = np.divide(upper, lower, out=np.zeros(upper.shape), where=lower > 0)
        if self.both is None or self.sizes is None:
            return values
        both, sizes = self.both @ weights.T, self.sizes @ weights.T
        f1 = np.divide(2 * both, sizes, out=np.zeros(both.shape), where=sizes > 0)
        n_labels = np.count_nonzero(sizes, axis=0)
        return np.column_stack([values, f1.sum(axis=0) / np.maximum(n_labels, 1)])


def _by_label(sets: LabelSets, chosen: Any = slice(None)) -> sp.csr_array:
    rows, labels = sets.rows[chosen], sets.labels[chosen]
    return sp.csr_array((np.ones(len(rows)), (labels, rows)), shape=(sets.n_labels, sets.n_rows))


def _resamples(first: _Rows, second: _Rows, n_resamples: int, seed: int) -> Iterator[FloatArray]:
    """Yield how often each row is drawn, for blocks of resamples."""
    random, n_rows = np.random.default_rng(seed), first.n_rows
    block = max(1, BLOCK // max(first.n_values, second.n_values))
    for start in range(0, n_resamples, block):
        weights = np.empty((min(block, n_resamples - start), n_rows))
        for one in weights:
            one[:] = np.bincount(random.integers(n_rows, size=n_rows), minlength=n_rows)
        yield weights


def _tail(n_rows: int, level: float) -> float:
    """Return the share of resamples below the interval.

    A resample of n rows varies less than n new rows do, by n - 1 to n, and the spread is an estimate: the shares are
    made smaller so that the interval is as wide as that of Student's t (Hesterberg's expanded percentile interval).
    """
    from scipy.special import ndtr, stdtrit

    half = (1 - level) / 2
    if n_rows == 1:
        return half
    return float(ndtr(math.sqrt(n_rows / (n_rows - 1)) * stdtrit(n_rows - 1, half)))
