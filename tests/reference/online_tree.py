"""Section 5 of the paper, line by line: algorithm 5, and 6 to 11, which grow the tree while they learn."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.reference.online_classifier import Classifier, Learner, Row

#: What a stream consists of: an example and its labels, new ones in the order in which they are to be added.
Observation = tuple[Row, Sequence[Hashable]]
#: For a new label: the node to extend the tree at, and whether to insert a node there.
Policy = Callable[[Any, Hashable], tuple[int, bool]]


@dataclass
class Tree:
    """Nodes are numbered in the order in which they were made; the root is 0 and there from the start."""

    parent_of: list[int] = field(default_factory=lambda: [-1])
    children_of: list[list[int]] = field(default_factory=lambda: [[]])
    label_of: list[Hashable | None] = field(default_factory=lambda: [None])

    root = 0

    @property
    def n_nodes(self) -> int:
        return len(self.parent_of)

    @property
    def n_labels(self) -> int:
        return sum(label is not None for label in self.label_of)

    def new_node(self) -> int:
        self.parent_of.append(-1)
        self.children_of.append([])
        self.label_of.append(None)
        return self.n_nodes - 1

    def parent(self, v: int) -> int:
        return self.parent_of[v]

    def children(self, v: int) -> list[int]:
        return self.children_of[v]

    def label(self, v: int) -> Hashable | None:
        return self.label_of[v]

    def is_leaf(self, v: int) -> bool:
        return not self.children_of[v]

    def n_leaves(self, v: int) -> int:
        return 1 if self.is_leaf(v) else sum(map(self.n_leaves, self.children_of[v]))

    def nested(self, v: int = 0) -> Any:
        """The subtree of v: a list is a node, anything else a label."""
        return self.label_of[v] if self.is_leaf(v) else [self.nested(child) for child in self.children_of[v]]


def assign_to_nodes(T: Tree, labels: Iterable[Hashable]) -> tuple[set[int], set[int]]:
    """Algorithm 2: return the positive and the negative nodes of an example with these labels."""
    P: set[int] = set()
    N = {T.root}
    for j in labels:
        v = T.label_of.index(j)
        while v != -1 and v not in P:
            P = P | {v}
            N = N - {v}
            for child in T.children(v):
                if child not in P:
                    N = N | {child}
            v = T.parent(v)
    return P, N


@dataclass
class Counts:
    """Calls of A_online.Update."""

    regular: int = 0
    auxiliary: int = 0


def iplt_train(T: Tree, A_online: Learner, D: Iterable[Observation]) -> tuple[list[Classifier], Counts]:
    """Algorithm 5, with its `return` after the loop: the paper prints it inside. Also counts updates."""
    H = [A_online.new_classifier() for _ in range(T.n_nodes)]
    counts = Counts()
    for x, labels in D:
        P, N = assign_to_nodes(T, labels)
        for v in P:
            A_online.update(H[v], x, 1)
        for v in N:
            A_online.update(H[v], x, 0)
        counts.regular += len(P) + len(N)
    return H, counts


class OnlineTree(Tree):
    """Algorithms 6, 7 and 9 to 11. It is also what a policy sees, `probability` included.

    With `arity`, auxiliary classifiers are removed from nodes with that many children: for policies that never
    extend the tree there again.
    """

    def __init__(self, A_online: Learner, A_policy: Policy, arity: int | None = None) -> None:
        super().__init__()
        self.A_online, self.A_policy, self.arity = A_online, A_policy, arity
        self.H = [A_online.new_classifier()]
        self.Theta: list[Classifier | None] = [A_online.new_classifier()]
        self.counts = Counts()
        self.x: Row = ()  # of the example at hand

    def probability(self, v: int) -> Any:
        return self.A_online.probability(self.H[v], self.x)

    def train(self, S: Iterable[Observation]) -> OnlineTree:
        """Algorithm 6, OPLT.Train."""
        for x, labels in S:
            self.x = x
            if set(labels) - set(self.label_of):
                self.update_tree(labels)
            self.update_classifiers(x, labels)
        return self

    def update_tree(self, labels: Sequence[Hashable]) -> None:
        """Algorithm 7; 8 is one of the policies."""
        for j in dict.fromkeys(labels):
            if j in self.label_of:
                continue
            if self.n_labels == 0:
                self.label_of[self.root] = j
            else:
                v, insert = self.A_policy(self, j)
                if insert:
                    self.insert_node(v)
                self.add_leaf(j, v)
                if len(self.children_of[v]) == self.arity:
                    self.Theta[v] = None

    def insert_node(self, v: int) -> None:
        """Algorithm 9: a new node between v and what is below it, or below the leaf v."""
        new = self.new_node()
        if self.is_leaf(v):
            self.label_of[new], self.label_of[v] = self.label_of[v], None
        else:
            self.children_of[new] = self.children_of[v]
            for child in self.children_of[new]:
                self.parent_of[child] = new
        self.children_of[v] = [new]
        self.parent_of[new] = v
        self.H.append(self.theta(v).copy())
        self.Theta.append(self.theta(v).copy())

    def add_leaf(self, j: Hashable, v: int) -> None:
        """Algorithm 10: a new child of v for label j."""
        new = self.new_node()
        self.children_of[v].append(new)
        self.parent_of[new] = v
        self.label_of[new] = j
        self.H.append(self.theta(v).inverse())
        self.Theta.append(self.A_online.new_classifier())

    def theta(self, v: int) -> Classifier:
        theta = self.Theta[v]
        assert theta is not None, "the policy extends the tree at a node that it was said never to use again"
        return theta

    def forget(self, labels: Iterable[Hashable]) -> None:
        """Not in the paper: remove labels, and with them nodes that have no label, or one child, left.

        The remaining nodes get new numbers, breadth first.
        """
        forgotten = set(labels)

        def is_needed(v: int) -> bool:
            label = self.label_of[v]
            return (label is not None and label not in forgotten) or any(map(is_needed, self.children_of[v]))

        def prune(v: int) -> None:
            children = [child for child in self.children_of[v] if is_needed(child)]
            if self.Theta[v] is None and len(children) < len(self.children_of[v]):
                # The policy may extend a node that is no longer full: it needs an auxiliary classifier again.
                sibling = self.H[children[0]]
                self.Theta[v] = Classifier(penalty=sibling.penalty, n_seen=sibling.n_seen)
            self.children_of[v] = children
            if len(children) == 1:  # v takes the place of its only child
                (only,) = children
                for part in (self.children_of, self.label_of, self.Theta):
                    part[v] = part[only]  # type: ignore[index]
                prune(v)
            else:
                for child in children:
                    prune(child)

        if is_needed(self.root):
            prune(self.root)
        else:
            self.children_of[self.root], self.label_of[self.root] = [], None
            self.Theta[self.root] = self.A_online.new_classifier()
        order = [self.root]
        for v in order:  # which gets longer meanwhile
            order += self.children_of[v]
        number = {v: i for i, v in enumerate(order)}
        children_of = [[number[child] for child in self.children_of[v]] for v in order]
        self.label_of, self.H, self.Theta = (
            [part[v] for v in order] for part in (self.label_of, self.H, self.Theta)
        )
        self.children_of, self.parent_of = children_of, [-1] * len(order)
        for v, children in enumerate(children_of):
            for child in children:
                self.parent_of[child] = v

    def update_classifiers(self, x: Row, labels: Sequence[Hashable]) -> None:
        """Algorithm 11."""
        P, N = assign_to_nodes(self, labels)
        for v in P:
            self.A_online.update(self.H[v], x, 1)
            theta = self.Theta[v]
            if theta is not None:
                self.A_online.update(theta, x, 1)
                self.counts.auxiliary += 1
        for v in N:
            self.A_online.update(self.H[v], x, 0)
        self.counts.regular += len(P) + len(N)
