"""One classifier per label against all rows, as DiSMEC: a flat tree."""

from labeltree.one_vs_rest.classifier import OneVsRestClassifier

__all__ = ["OneVsRestClassifier"]
