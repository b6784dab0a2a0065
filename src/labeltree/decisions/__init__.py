"""Thresholds on probabilities that make the most of a metric: known ones, and ones that are tuned on validation data.

`fixed_threshold` gives those that follow from the metric, `exact_threshold` the best on given data, `ofo_threshold`
those of online F-measure optimisation. All work on the scores that a model gives and the labels that are true, never
on all pairs of rows and labels. `decide_for` of a classifier does all of this in one call.
"""

from labeltree.decisions.exact_search import exact_threshold
from labeltree.decisions.fixed import fixed_threshold
from labeltree.decisions.online_f_measure import OFO, ofo_threshold

__all__ = ["OFO", "exact_threshold", "fixed_threshold", "ofo_threshold"]
