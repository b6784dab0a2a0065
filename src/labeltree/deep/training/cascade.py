"""`Cascade`: the way of a batch down the tree, tier by tier, in training and in search."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from labeltree.deep.levels import PositiveNodes, TreeLevels
from labeltree.deep.networks.blocks import Blocks

#: Added to the score of a positive node, so that it is among the best.
_SURELY = 1e4


class Scorer(Protocol):
    """Scores the nodes of a tier for texts that are encoded already."""

    def scores(self, encoded: Any, tier: int, blocks: Blocks | None = None, /) -> Tensor: ...


@dataclass(frozen=True)
class Targets:
    """What the texts of a batch are to learn, as tensors.

    Attributes
    ----------
    keys : tensor of int64
        The positive nodes of all texts, as ``row * n_nodes + node``, ascending; then a larger number.
    first : tensor of int64
        The positive nodes of the first tier, as ``row * n_nodes_of_tier + node``.
    n_rows : int
    n_parents : list of int
        How many nodes of each tier have candidates below them: the beam, or more if a text has more positives.
    weight : tensor of shape (n_rows,), optional
        The weight of each text.
    """

    keys: Tensor
    first: Tensor
    n_rows: int
    n_parents: list[int]
    weight: Tensor | None = None

    def to(self, device: Any) -> Targets:
        """Copy the tensors to a device."""
        weight = None if self.weight is None else self.weight.to(device)
        return replace(self, keys=self.keys.to(device), first=self.first.to(device), weight=weight)


@dataclass(frozen=True)
class _Front:
    """The candidates of a tier: their nodes, and the log-probabilities of their paths, -inf where there is no node."""

    nodes: Tensor
    path: Tensor


class Cascade:
    """A tree on a device.

    Every text is scored by the whole first tier. The candidates of another tier are the children of the best nodes of
    the tier above; in training also the children of all positive nodes there.

    Parameters
    ----------
    levels : TreeLevels
    beam : int
        How many nodes of a tier are followed.
    trains_root : bool
        Whether some texts have no label, so that the root learns which.
    device : torch.device
    """

    def __init__(self, levels: TreeLevels, beam: int, trains_root: bool, device: Any) -> None:
        self.levels = levels
        self.beam = beam
        self.trains_root = trains_root
        self.begin = levels.begin.tolist()
        child_begin = levels.tree.child_begin.astype("int64")
        self.child_begin = torch.from_numpy(child_begin[:-1]).to(device)
        self.n_children = torch.from_numpy(np.diff(child_begin)).to(device)
        self.most_children = [levels.most_children(tier) for tier in range(levels.n_tiers)]
        is_leaf = levels.tree.is_leaf
        self.has_leaves = [bool(is_leaf[first:stop].any()) for first, stop in pairwise(self.begin)]
        self.device = device
        self._least: dict[int, Tensor] = {}
        self._row_keys: dict[int, Tensor] = {}

    def targets(self, positives: PositiveNodes, weight: Tensor | None = None) -> Targets:
        """Return what texts with these positive nodes are to learn; no device is needed for that."""
        row, nodes, size = positives.row, positives.nodes, self.begin[1]
        inside = nodes < size
        most = [positives.most_in(self.levels, tier) for tier in range(self.levels.n_tiers - 1)]
        keys = np.append(row * self.levels.tree.n_nodes + nodes, np.iinfo(np.int64).max)
        return Targets(
            torch.from_numpy(keys),
            torch.from_numpy(row[inside] * size + nodes[inside]),
            len(positives.indptr) - 1,
            [max(self.beam, n_positives) for n_positives in most],
            weight,
        )

    def loss(self, network: Scorer, encoded: Any, targets: Targets, n_tiers: int) -> Tensor:
        """Return the mean over texts of the summed losses of the candidates of the first tiers.

        Parameters
        ----------
        network : Scorer
        encoded
            What the network made of the texts.
        targets : Targets
            What the texts are to learn, on the device.
        n_tiers : int
            How many tiers are trained.
        """
        scores = network.scores(encoded, 0).float()
        target = torch.zeros_like(scores)
        target.view(-1).index_fill_(0, targets.first, 1.0)
        losses = functional.binary_cross_entropy_with_logits(scores, target, reduction="none")
        below = losses[:, 1:].sum(dim=1)
        if n_tiers > 1:
            front, wanted = self._first_front(scores.detach()), target[:, 1:]
        for tier in range(1, n_tiers):
            blocks, parents = self._next_blocks(front, tier, targets.n_parents[tier - 1], wanted)
            scores = network.scores(encoded, tier, self._in_tier(blocks, tier)).float()
            wanted = self._are_positive(targets.keys, blocks)
            candidate_losses = functional.binary_cross_entropy_with_logits(scores, wanted, reduction="none")
            below = below + (candidate_losses * blocks.is_node()).sum(dim=1)
            if tier + 1 < n_tiers:
                front = _extended(blocks, parents, scores.detach())
        # Where the root is negative, only the root learns.
        total = below * target[:, 0]
        if self.trains_root:
            total = total + losses[:, 0]
        if targets.weight is not None:
            total = total * targets.weight
        return total.sum() / targets.n_rows

    @torch.no_grad()
    def best(self, network: Scorer, encoded: Any, k: int) -> Tensor:
        """Return the k best labels that this beam finds for each text; -1 where it finds fewer."""
        label = torch.from_numpy(self.levels.tree.label.astype("int64")).to(self.device)
        front = self._first_front(network.scores(encoded, 0).float())
        found_path, found_label = [], []
        for tier in range(self.levels.n_tiers):
            if tier > 0:
                blocks, parents = self._next_blocks(front, tier, self.beam)
                scores = network.scores(encoded, tier, self._in_tier(blocks, tier))
                front = _extended(blocks, parents, scores.float())
            path = front.path.masked_fill(self.n_children[front.nodes] > 0, float("-inf"))
            path, place = path.topk(min(k, path.shape[1]), dim=1)
            found_path.append(path)
            found_label.append(label[front.nodes.gather(1, place)].masked_fill(path.isneginf(), -1))
        paths, labels = torch.cat(found_path, dim=1), torch.cat(found_label, dim=1)
        return labels.gather(1, paths.topk(min(k, paths.shape[1]), dim=1).indices)

    def _first_front(self, scores: Tensor) -> _Front:
        """The children of the root; the root itself, if it is a leaf, stands for the only label."""
        first = 1 if self.begin[1] > 1 else 0
        nodes = torch.arange(first, self.begin[1], device=self.device).expand(len(scores), -1)
        return _Front(nodes, functional.logsigmoid(scores[:, first:]))

    def _next_blocks(
        self, front: _Front, tier: int, n_parents: int, is_positive: Tensor | None = None
    ) -> tuple[Blocks, Tensor]:
        """Return the candidates of a tier, and the log-probabilities of the paths of their parents."""
        worth = front.path
        if self.has_leaves[tier - 1]:
            worth = worth.masked_fill(self.n_children[front.nodes] == 0, float("-inf"))
        if is_positive is not None:
            worth = worth.add(is_positive, alpha=_SURELY)
        worth, place = worth.topk(min(n_parents, worth.shape[1]), dim=1)
        parents = front.nodes.gather(1, place)
        followed = worth > self._least_worth(worth.shape[1])
        blocks = Blocks(
            self.child_begin[parents], self.n_children[parents] * followed, self.most_children[tier - 1]
        )
        return blocks, front.path.gather(1, place)

    def _least_worth(self, n_parents: int) -> Tensor:
        """What each of the best nodes must be worth more than: a beam of any nodes is followed, then positive ones."""
        if n_parents not in self._least:
            in_beam = torch.arange(n_parents, device=self.device) < self.beam
            self._least[n_parents] = torch.where(in_beam, float("-inf"), _SURELY / 2)
        return self._least[n_parents]

    def _in_tier(self, blocks: Blocks, tier: int) -> Blocks:
        """Return blocks whose nodes are counted from the begin of a tier."""
        return replace(blocks, begin=blocks.begin - self.begin[tier])

    def _are_positive(self, keys: Tensor, blocks: Blocks) -> Tensor:
        """Return 1 for the candidates that are positive, and 0 for the others; any of these where there is no node."""
        n_rows = len(blocks.begin)
        if n_rows not in self._row_keys:
            rows = torch.arange(n_rows, device=self.device).unsqueeze(1)
            self._row_keys[n_rows] = rows * self.levels.tree.n_nodes
        wanted = replace(blocks, begin=blocks.begin + self._row_keys[n_rows]).places()
        return (keys[torch.searchsorted(keys, wanted)] == wanted).float()


def _extended(blocks: Blocks, parents: Tensor, scores: Tensor) -> _Front:
    """Return the front of candidates with these scores, and these log-probabilities of their parents."""
    path = parents.repeat_interleave(blocks.width, dim=1) + functional.logsigmoid(scores)
    return _Front(blocks.nodes(), path.masked_fill(~blocks.is_node(), float("-inf")))
