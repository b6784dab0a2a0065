"""The exchange with other learners: targets for the nodes of a tree, and search over their scores."""

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
