"""Metrics for multi-label prediction, on sparse input and never densified.

Metrics of rankings have a cut-off `k`: `precision_at_k`, `recall_at_k`, `f1_at_k`, `ndcg_at_k`, `coverage_at_k`
and the propensity-scored `psprecision_at_k` and `psndcg_at_k`. `evaluate` computes all of them at once, and `compare`
compares two rankings of the same rows. Metrics of decided label sets are `f_beta`, `jaccard` and `hamming_loss`.

Metric objects know the best decision for themselves, and the larger they are, the better. `get_metric` returns them by
name. The metrics of label sets are ratios of linear functions of false positives and negatives (`ThresholdMetric`):
`Hamming`, `FBeta`, `Jaccard`, `AM`, and `LinearFractional` with any coefficients. The metrics of rankings are
`CutOffMetric`.

Every function takes `y_true` as a sparse or dense 0/1 matrix, or as a list of lists of labels.
"""

from labeltree.metrics.comparison import Comparison, Difference, compare
from labeltree.metrics.cut_off import CutOffMetric
from labeltree.metrics.decision import f_beta, hamming_loss, jaccard
from labeltree.metrics.linear_fractional import (
    AM,
    Coefficients,
    FBeta,
    Hamming,
    Jaccard,
    LinearFractional,
    ThresholdMetric,
)
from labeltree.metrics.names import Metric, get_metric
from labeltree.metrics.propensity import LabelWeights, inverse_propensity, inverse_propensity_of_counts
from labeltree.metrics.ranking import (
    coverage_at_k,
    evaluate,
    f1_at_k,
    ndcg_at_k,
    precision_at_k,
    psndcg_at_k,
    psprecision_at_k,
    recall_at_k,
)

__all__ = [
    "AM",
    "Coefficients",
    "Comparison",
    "CutOffMetric",
    "Difference",
    "FBeta",
    "Hamming",
    "Jaccard",
    "LabelWeights",
    "LinearFractional",
    "Metric",
    "ThresholdMetric",
    "compare",
    "coverage_at_k",
    "evaluate",
    "f1_at_k",
    "f_beta",
    "get_metric",
    "hamming_loss",
    "inverse_propensity",
    "inverse_propensity_of_counts",
    "jaccard",
    "ndcg_at_k",
    "precision_at_k",
    "psndcg_at_k",
    "psprecision_at_k",
    "recall_at_k",
]
