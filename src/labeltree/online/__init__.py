"""Label trees that learn from a stream: labels, features and examples that were never announced."""

from labeltree.online.classifier import OnlineLabelTreeClassifier
from labeltree.online.policies import PolicyView, TreePolicy

__all__ = ["OnlineLabelTreeClassifier", "PolicyView", "TreePolicy"]
