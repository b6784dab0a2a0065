"""Thresholds on probabilities that maximise a metric.

`fixed_threshold` computes thresholds from the metric alone. `exact_threshold` finds the best thresholds on validation
data, `ofo_threshold` tunes them by online F-measure optimisation. All work on sparse scores and the true labels, never
on all pairs of rows and labels. `decide_for` of a classifier does all of this in one call.
"""

from labeltree.decisions.exact_search import exact_threshold
from labeltree.decisions.fixed import fixed_threshold
from labeltree.decisions.online_f_measure import OFO, ofo_threshold

__all__ = ["OFO", "exact_threshold", "fixed_threshold", "ofo_threshold"]
