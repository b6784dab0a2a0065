"""Metrics for multi-label prediction, on sparse input and never densified.

Rankings are judged at a cut-off `k` (`precision_at_k`, `recall_at_k`, `ndcg_at_k`, `coverage_at_k` and the
propensity-scored `psprecision_at_k` and `psndcg_at_k`; `evaluate` gives all of them at once), decided label
sets by `f_beta`, `jaccard` and `hamming_loss`.

The same as objects, the larger the better, know how to decide for them: `get_metric` gives them by name. Those of
decided label sets are ratios of linear functions of false positives and negatives (`ThresholdMetric`): `Hamming`,
`FBeta`, `Jaccard`, `AM`, and `LinearFractional` with coefficients of your own; those of rankings are `CutOffMetric`.

Every function takes `y_true` as a sparse or dense 0/1 matrix, or as a list of lists of labels.
"""

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
    ndcg_at_k,
    precision_at_k,
    psndcg_at_k,
    psprecision_at_k,
    recall_at_k,
)

__all__ = [
    "AM",
    "Coefficients",
    "CutOffMetric",
    "FBeta",
    "Hamming",
    "Jaccard",
    "LabelWeights",
    "LinearFractional",
    "Metric",
    "ThresholdMetric",
    "coverage_at_k",
    "evaluate",
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
