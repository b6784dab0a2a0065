"""Where a new label goes: policies as callables, for the twin and for `OnlineLabelTreeClassifier` alike."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Hashable
from typing import Any

from tests.reference.clustering import Random
from tests.reference.online_tree import Policy


def complete(arity: int) -> Policy:
    """Algorithm 8. Its array of nodes is the nodes in the order in which they were made."""

    def policy(tree: Any, label: Hashable) -> tuple[int, bool]:
        s = tree.n_nodes
        pa = math.ceil(s / arity) - 1
        return pa, tree.is_leaf(pa)

    return policy


def first_open(arity: int) -> Policy:
    """Algorithm 8 for any tree: the first node, in the order of their numbers, that is not full."""

    def policy(tree: Any, label: Hashable) -> tuple[int, bool]:
        v = next(v for v in range(tree.n_nodes) if len(tree.children(v)) < arity)
        return v, tree.is_leaf(v)

    return policy


def descending(arity: int, choose: Callable[[Any, int], int]) -> Policy:
    """Go to a child chosen by `choose` while all children are there, and split the leaf if there are none."""

    def policy(tree: Any, label: Hashable) -> tuple[int, bool]:
        v = tree.root
        while len(tree.children(v)) == arity:
            v = choose(tree, v)
        return v, tree.is_leaf(v)

    return policy


def best_fit(arity: int, alpha: float) -> Policy:
    """To the child that fits the example and that has few leaves, by `alpha` the latter."""

    def value(tree: Any, v: int, child: int) -> float:
        even = tree.n_leaves(v) / len(tree.children(v))
        balance = math.log(even / tree.n_leaves(child))
        return (1 - alpha) * float(tree.probability(child)) + alpha * balance

    def choose(tree: Any, v: int) -> int:
        return max(tree.children(v), key=lambda child: value(tree, v, child))  # the first of equals

    return descending(arity, choose)


def random_descent(arity: int, seed: int) -> Policy:
    """To a child at random."""
    state = seed

    def choose(tree: Any, v: int) -> int:
        nonlocal state
        state = Random(state).next()
        children: list[int] = tree.children(v)
        return children[Random(state).below(len(children))]

    return descending(arity, choose)


def anywhere(seed: int) -> Policy:
    """Any node, by any of the three variants that is possible there, whatever the numbers of the nodes are."""
    rng = random.Random(seed)

    def policy(tree: Any, label: Hashable) -> tuple[int, bool]:
        v = tree.root
        while not tree.is_leaf(v) and rng.random() < 0.6:
            v = rng.choice(tree.children(v))
        return v, tree.is_leaf(v) or rng.random() < 0.5

    return policy
