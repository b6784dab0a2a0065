"""Ways to make trees, as a book would tell them: on nested lists, and by trying everything."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Any

import numpy as np


def huffman_cost(counts: list[int], arity: int) -> int:
    """The weighted length of all paths of Huffman's tree: labels of count 0 are added until every merge is full."""
    heap = list(counts)
    while arity > 2 and len(heap) % (arity - 1) != 1:
        heap.append(0)
    heapq.heapify(heap)
    cost = 0
    while len(heap) > 1:
        merged = sum(heapq.heappop(heap) for _ in range(min(arity, len(heap))))
        cost += merged
        heapq.heappush(heap, merged)
    return cost


def cheapest_paths(counts: list[int], arity: int) -> int:
    """The smallest weighted length of paths that any tree of this arity has: all depths are tried."""
    n = len(counts)
    descending = sorted(counts, reverse=True)

    def depths(n_left: int, least: int, room: int) -> Iterator[list[int]]:
        """Depths of `n_left` leaves, ascending, `least` at first, with room for `room` nodes at that depth."""
        if n_left == 0:
            yield []
        elif room > 0 and least <= n:
            for here in range(min(n_left, room) + 1):
                for below in depths(n_left - here, least + 1, (room - here) * arity):
                    yield [least] * here + below

    return min(int(np.dot(descending, found)) for found in depths(n, 1, arity))


def collapsed(nested: Any, layers: int) -> Any:
    """Return nested lists with every `layers` levels merged into one: leaves on the way come first, level by level."""
    if not isinstance(nested, list):
        return nested
    children, level = [], [nested]
    for step in range(layers):
        level = [child for item in level for child in item]
        if step < layers - 1:
            children += [item for item in level if not isinstance(item, list)]
            level = [item for item in level if isinstance(item, list)]
    return children + [collapsed(item, layers) for item in level]
