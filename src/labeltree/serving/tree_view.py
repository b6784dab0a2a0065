"""A tree of labels, a node at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from labeltree.serving.errors import Refusal
from labeltree.serving.registry import ServedModel
from labeltree.trees import LabelTree

#: So many labels tell what a node is about.
N_EXAMPLES = 5


@dataclass(frozen=True)
class TreeView:
    """One tree of a model, and how often each label was given in training."""

    number: int
    n_trees: int
    tree: LabelTree
    labels: Sequence[Any]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, served: ServedModel, number: int) -> TreeView:
        """A tree of a model, made once; of one that learns, as it is between two examples."""
        if (kept := served.tree_views.get(number)) is not None:
            return cast(TreeView, kept)
        if not served.has_label_trees:
            raise Refusal(
                409,
                f"the trees of the model {served.name} divide examples, not labels: there is no label tree",
                "no_label_tree",
            )
        while True:
            search = served.labels
            trees = served.model.trees_
            if not 0 <= number < len(trees):
                raise Refusal(
                    404,
                    f"tree: the model {served.name} has {len(trees)} of them, counted from 0",
                    "no_such_tree",
                )
            view = cls(number, len(trees), trees[number], search.labels, search.counts)
            if not served.learns:
                served.tree_views[number] = view
                return view
            if len(view.labels) == len(served.model.classes_) == view.tree.n_labels:
                return view

    def node(self, node: int, limit: int, offset: int) -> dict[str, Any]:
        """What `TreeAnswer` says: a node, and a page of its children, those with most examples first."""
        self._check_node(node)
        below = self.tree.children(node)
        order = np.argsort(-self._counts_of_nodes[below.start : below.stop], kind="stable")
        children = (order + below.start).tolist()
        parent = int(self.tree.parent[node])
        return {
            "tree": self.number,
            "n_trees": self.n_trees,
            "node": node,
            "parent": None if parent < 0 else parent,
            "n_labels": int(self.tree.n_labels_of_node[node]),
            "count": self._count(node),
            "label": self._label(node),
            "children": [self._child(child) for child in children[offset : offset + limit]],
            "total": len(children),
        }

    def path(self, label: Any) -> dict[str, Any]:
        """What `PathAnswer` says."""
        return {
            "tree": self.number,
            "label": label,
            "nodes": self.tree.path(self.labels.index(label)).tolist(),
        }

    def _child(self, node: int) -> dict[str, Any]:
        below = self.tree.labels_under(node)
        order = np.argsort(-self.counts[below], kind="stable")[:N_EXAMPLES]
        label = self._label(node)
        return {
            "node": node,
            "n_labels": len(below),
            "count": self._count(node),
            "label": label,
            "examples": [] if label is not None else [self.labels[i] for i in below[order].tolist()],
        }

    @cached_property
    def _counts_of_nodes(self) -> NDArray[np.int64]:
        """All at once: a node may have very many children."""
        begin = self.tree._label_begin
        sums = np.concatenate([[0], self.counts[self.tree._labels_from_left].cumsum()])
        counts: NDArray[np.int64] = sums[begin + self.tree.n_labels_of_node] - sums[begin]
        return counts

    def _count(self, node: int) -> int:
        return int(self._counts_of_nodes[node])

    def _label(self, node: int) -> Any:
        position = int(self.tree.label[node])
        return None if position < 0 else self.labels[position]

    def _check_node(self, node: int) -> None:
        if not 0 <= node < self.tree.n_nodes:
            raise Refusal(404, f"node: they are numbered from 0 to {self.tree.n_nodes - 1}", "no_such_node")
