"""Hierarchical softmax: one label of each example, down a tree."""

from .classifier import HierarchicalSoftmaxClassifier

__all__ = ["HierarchicalSoftmaxClassifier"]
