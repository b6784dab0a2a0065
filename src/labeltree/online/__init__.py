"""Label trees that learn from a stream, with labels and features that are not known in advance."""

from labeltree.online.classifier import OnlineLabelTreeClassifier
from labeltree.online.policies import PolicyView, TreePolicy

__all__ = ["OnlineLabelTreeClassifier", "PolicyView", "TreePolicy"]
