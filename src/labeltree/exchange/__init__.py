"""The exchange with other learners: what the nodes of a tree should learn, and search over what they answer."""

from labeltree.exchange.blocks import NodeBlocks
from labeltree.exchange.guided_search import GuidedSearch
from labeltree.exchange.scores import pair_probabilities, search_above, search_topk
from labeltree.exchange.targets import NodeTargets, node_targets

__all__ = [
    "GuidedSearch",
    "NodeBlocks",
    "NodeTargets",
    "node_targets",
    "pair_probabilities",
    "search_above",
    "search_topk",
]
