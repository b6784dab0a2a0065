"""A label tree, shown one node at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from labeltree.cached import cached_property
from labeltree.serving.errors import Refusal
from labeltree.serving.label_search import LabelSearch
from labeltree.serving.registry import ServedModel
from labeltree.trees import LabelTree

#: Number of labels that describe the subtree of a node.
N_EXAMPLES = 5


@dataclass(frozen=True)
class TreeView:
    """One tree of a model, and its labels with their names and numbers of training examples."""

    number: int
    n_trees: int
    tree: LabelTree
    search: LabelSearch

    @property
    def labels(self) -> Sequence[Any]:
        return self.search.labels

    @property
    def counts(self) -> NDArray[np.int64]:
        return self.search.counts

    @classmethod
    def of(cls, served: ServedModel, number: int) -> TreeView:
        """Return a tree of a model. It is cached, unless the model learns."""
        if (cached := served.tree_views.get(number)) is not None:
            return cast(TreeView, cached)
        name = served.name
        if not served.has_label_trees:
            raise Refusal(409, f"the model {name} has no label trees of its own", "no_label_tree")
        while True:  # a model that learns may change between two of these lines
            search, trees = served.labels, served.model.trees_
            if not 0 <= number < len(trees):
                raise Refusal(404, f"tree: the model {name} has trees 0 to {len(trees) - 1}", "no_such_tree")
            view = cls(number, len(trees), trees[number], search)
            if not served.learns:
                served.tree_views[number] = view
                return view
            if len(view.labels) == len(served.model.classes_) == view.tree.n_labels:
                return view

    def node(self, node: int, limit: int, offset: int) -> dict[str, Any]:
        """Return the content of a `TreeAnswer`: a node and a page of its children, the most frequent first."""
        if not 0 <= node < self.tree.n_nodes:
            raise Refusal(404, f"node: nodes are numbered from 0 to {self.tree.n_nodes - 1}", "no_such_node")
        below = self.tree.children(node)
        order = np.argsort(-self._counts_of_nodes[below.start : below.stop], kind="stable")
        children = (order + below.start).tolist()
        parent = int(self.tree.parent[node])
        return {
            "tree": self.number,
            "n_trees": self.n_trees,
            "parent": None if parent < 0 else parent,
            **self._describe(node),
            "children": [self._child(child) for child in children[offset : offset + limit]],
            "total": len(children),
        }

    def path(self, label: Any) -> dict[str, Any]:
        """Return the content of a `PathAnswer`."""
        nodes = self.tree.path(self.labels.index(label)).tolist()
        return {"tree": self.number, **self.search.named(label), "nodes": nodes}

    def _describe(self, node: int) -> dict[str, Any]:
        position = int(self.tree.label[node])
        return {
            "node": node,
            "n_labels": int(self.tree.n_labels_of_node[node]),
            "count": int(self._counts_of_nodes[node]),
            **({"label": None} if position < 0 else self.search.named(self.labels[position])),
        }

    def _child(self, node: int) -> dict[str, Any]:
        if self.tree.label[node] >= 0:
            return {**self._describe(node), "examples": []}
        below = self.tree.labels_under(node)
        most_frequent = below[np.argsort(-self.counts[below], kind="stable")[:N_EXAMPLES]]
        examples = [self.labels[i] for i in most_frequent.tolist()]
        names = self.search.names
        named = {"example_names": [names.get(label, str(label)) for label in examples]} if names else {}
        return {**self._describe(node), "examples": examples, **named}

    @cached_property
    def _counts_of_nodes(self) -> NDArray[np.int64]:
        """The counts of all nodes at once, because a node may have very many children."""
        begin = self.tree.label_begin
        sums = np.concatenate([[0], self.counts[self.tree.labels_from_left].cumsum()])
        counts: NDArray[np.int64] = sums[begin + self.tree.n_labels_of_node] - sums[begin]
        return counts
