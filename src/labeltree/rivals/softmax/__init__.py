"""Hierarchical softmax: a softmax at every node of a label tree."""

from .classifier import HierarchicalSoftmaxClassifier

__all__ = ["HierarchicalSoftmaxClassifier"]
