"""The labels of synthetic rows: a power law over the leaves of a tree."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from scipy.special import pdtr

from labeltree.trees import LabelTree

from .hashed_draws import Bits, Floats, Integers, hashed, permutation, uniform

#: Probability that a further label of a row is drawn one level higher in the tree.
_CLIMB = 0.35
#: Candidates per label wanted: some of them are duplicates.
_CANDIDATES = 3


class LabelHierarchy:
    """Labels at the leaves of a tree of constant arity, identified by their position from left to right."""

    def __init__(
        self, n_labels: int, *, arity: int, exponent: float, labels_per_row: float, key: Bits
    ) -> None:
        self.arity = arity
        self.depth = 1
        while arity**self.depth < n_labels:
            self.depth += 1
        self.label_at = permutation(hashed(key, 0), n_labels).astype(np.int32)
        """The label at each position, shuffled so that labels do not reveal the tree."""
        self._mass = np.concatenate([[0.0], np.cumsum(self._popularity(exponent, hashed(key, 1)))])
        further = labels_per_row - 1
        self._cumulated_count = pdtr(np.arange(further + 12 * math.sqrt(further) + 30), further)

    def draw(self, keys: Bits) -> tuple[Integers, Integers]:
        """Return indptr and the positions of each row's labels; `keys` has a seed for each row.

        A row has one label drawn by popularity and a Poisson-distributed number of further labels, mostly near it.
        """
        n_labels, n_rows = len(self.label_at), len(keys)
        wanted = 1 + np.searchsorted(self._cumulated_count, uniform(hashed(keys, 0)))
        main = self._pick(uniform(hashed(keys, 1)), np.zeros(n_rows, np.int64), np.full(n_rows, n_labels))
        n_drawn = _CANDIDATES * wanted
        row = np.repeat(np.arange(n_rows, dtype=np.int64), n_drawn)
        begin = np.cumsum(n_drawn) - n_drawn
        drawn = self._neighbours(main[row], keys[row], np.arange(len(row)) - begin[row])
        drawn[begin] = main

        # Keep the first distinct labels of each row, up to the number wanted.
        _, found = np.unique(row * n_labels + drawn, return_index=True)
        found.sort()
        n_found = np.bincount(row[found], minlength=n_rows)
        rank = np.arange(len(found)) - (np.cumsum(n_found) - n_found)[row[found]]
        kept = found[rank < wanted[row[found]]]
        return np.concatenate([[0], np.cumsum(np.minimum(n_found, wanted))]), drawn[kept]

    def to_tree(self) -> LabelTree:
        """Return the tree: the children of node i of a level begin at node arity · i of the next level."""
        n_labels = len(self.label_at)
        sizes = [-(-n_labels // self.arity**height) for height in range(self.depth, -1, -1)]
        n_nodes = sum(sizes)
        begin, child_begin = 0, []
        for size, size_below in pairwise(sizes):
            begin += size
            child_begin.append(begin + np.minimum(self.arity * np.arange(size), size_below))
        child_begin.append(np.full(n_labels + 1, n_nodes))
        label = np.full(n_nodes, -1, dtype=np.int32)
        label[n_nodes - n_labels :] = self.label_at
        return LabelTree(np.concatenate(child_begin), label)

    def _popularity(self, exponent: float, key: Bits) -> Floats:
        """Return a power of the rank of each position; positions near each other have similar ranks.

        Otherwise, rows with several labels from one neighbourhood would use up its popular labels and continue with
        rare ones.
        """
        position = np.arange(len(self.label_at))
        fame = np.zeros(len(position))
        for level in range(self.depth):
            fame += uniform(hashed(hashed(key, level), position // self.arity**level))
        popularity = np.empty(len(position))
        popularity[np.argsort(-fame, kind="stable")] = (position + 1.0) ** -exponent
        return popularity

    def _neighbours(self, position: Integers, keys: Bits, number: Integers) -> Integers:
        """Draw a label below an ancestor of each position: mostly the parent, rarely a higher node."""
        climb = uniform(hashed(keys, 2 + 2 * number))
        level = np.minimum(1 + (np.log1p(-climb) / math.log(_CLIMB)).astype(np.int64), self.depth)
        width = self.arity**level
        low = position // width * width
        high = np.minimum(low + width, len(self.label_at))
        return self._pick(uniform(hashed(keys, 3 + 2 * number)), low, high)

    def _pick(self, fraction: Floats, low: Integers, high: Integers) -> Integers:
        """Draw a position from `low` up to but excluding `high`, by popularity."""
        mass = self._mass[low]
        mass = mass + fraction * (self._mass[high] - mass)
        position: Integers = np.searchsorted(self._mass, mass, side="right") - 1
        return np.clip(position, low, high - 1)
