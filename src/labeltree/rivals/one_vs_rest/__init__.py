"""One classifier per label against all rows, as DiSMEC, PPDSparse or PD-Sparse: a flat tree."""

from labeltree.rivals.one_vs_rest.classifier import OneVsRestClassifier

__all__ = ["OneVsRestClassifier"]
