"""`Cascade`: the way of a batch down the tree, tier by tier, in training and in search."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.nn import functional

from labeltree.deep.levels import PositiveNodes, TreeLevels

#: Added to the score of a positive node, so that it is among the best.
_SURELY = 1e4


class Scorer(Protocol):
    """Scores the nodes of a tier for texts that are encoded already."""

    def scores(self, encoded: Any, tier: int, nodes: Tensor | None = None) -> Tensor: ...


@dataclass(frozen=True)
class Targets:
    """What the texts of a batch are to learn, as tensors.

    Attributes
    ----------
    keys : tensor of int64
        The positive nodes of all texts, as ``row * n_nodes + node``, ascending.
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
    """The candidates of a tier: their nodes, the log-probabilities of their paths, and whether there is a node."""

    nodes: Tensor
    path: Tensor
    is_node: Tensor


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
        self.child_begin = torch.from_numpy(levels.tree.child_begin.astype("int64")).to(device)
        self.most_children = [levels.most_children(tier) for tier in range(levels.n_tiers)]
        self.device = device

    def targets(self, positives: PositiveNodes, weight: Tensor | None = None) -> Targets:
        """Return what texts with these positive nodes are to learn; no device is needed for that."""
        row, nodes, size = positives.row, positives.nodes, self.begin[1]
        inside = nodes < size
        most = [positives.most_in(self.levels, tier) for tier in range(self.levels.n_tiers - 1)]
        return Targets(
            torch.from_numpy(row * self.levels.tree.n_nodes + nodes),
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
        keys = targets.keys
        scores = network.scores(encoded, 0).float()
        target = torch.zeros_like(scores)
        target.view(-1).index_fill_(0, targets.first, 1.0)
        losses = functional.binary_cross_entropy_with_logits(scores, target, reduction="none")
        # Where the root is negative, only the root learns.
        below = losses[:, 1:].sum(dim=1) * target[:, 0]
        total = below + losses[:, 0] if self.trains_root else below
        front = self._first_front(scores.detach())
        for tier in range(1, n_tiers):
            is_positive = _are_in(keys, self._keys(front.nodes))
            at, front = self._next_front(front, tier, targets.n_parents[tier - 1], is_positive)
            scores = network.scores(encoded, tier, at).float()
            wanted = _are_in(keys, self._keys(front.nodes)).float()
            losses = functional.binary_cross_entropy_with_logits(scores, wanted, reduction="none")
            total = total + (losses * front.is_node).sum(dim=1) * target[:, 0]
            front = _extended(front, scores.detach())
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
                at, front = self._next_front(front, tier, self.beam)
                front = _extended(front, network.scores(encoded, tier, at).float())
            is_leaf = self.child_begin[front.nodes] == self.child_begin[front.nodes + 1]
            path = front.path.masked_fill(~(is_leaf & front.is_node), float("-inf"))
            path, place = path.topk(min(k, path.shape[1]), dim=1)
            found_path.append(path)
            found_label.append(label[front.nodes.gather(1, place)].masked_fill(path.isneginf(), -1))
        paths, labels = torch.cat(found_path, dim=1), torch.cat(found_label, dim=1)
        return labels.gather(1, paths.topk(min(k, paths.shape[1]), dim=1).indices)

    def _first_front(self, scores: Tensor) -> _Front:
        """The children of the root; the root itself, if it is a leaf, stands for the only label."""
        first = 1 if self.begin[1] > 1 else 0
        nodes = torch.arange(first, self.begin[1], device=self.device).expand(len(scores), -1)
        path = functional.logsigmoid(scores[:, first:])
        return _Front(nodes, path, torch.ones_like(path, dtype=torch.bool))

    def _next_front(
        self, front: _Front, tier: int, n_parents: int, is_positive: Tensor | None = None
    ) -> tuple[Tensor, _Front]:
        """Return the candidates of a tier: their places in it, and the front with the paths of their parents."""
        is_inner = self.child_begin[front.nodes] < self.child_begin[front.nodes + 1]
        worth = front.path.masked_fill(~(is_inner & front.is_node), float("-inf"))
        if is_positive is not None:
            worth = worth + _SURELY * is_positive
        worth, place = worth.topk(min(n_parents, worth.shape[1]), dim=1)
        parents, path = front.nodes.gather(1, place), front.path.gather(1, place)
        offsets = torch.arange(self.most_children[tier - 1], device=self.device)
        nodes = self.child_begin[parents].unsqueeze(2) + offsets
        # A text follows as many nodes as the beam is wide, and more only if they are positive.
        in_beam = torch.arange(worth.shape[1], device=self.device) < self.beam
        followed = (in_beam & ~worth.isneginf()) | (worth > _SURELY / 2)
        is_node = (nodes < self.child_begin[parents + 1].unsqueeze(2)) & followed.unsqueeze(2)
        nodes = nodes.masked_fill(~is_node, self.begin[tier])
        path = path.unsqueeze(2).expand(nodes.shape).masked_fill(~is_node, float("-inf"))
        found = _Front(nodes.flatten(1), path.flatten(1), is_node.flatten(1))
        return found.nodes - self.begin[tier], found

    def _keys(self, nodes: Tensor) -> Tensor:
        rows = torch.arange(len(nodes), device=self.device).unsqueeze(1)
        return rows * self.levels.tree.n_nodes + nodes


def _extended(front: _Front, scores: Tensor) -> _Front:
    return _Front(front.nodes, front.path + functional.logsigmoid(scores), front.is_node)


def _are_in(keys: Tensor, wanted: Tensor) -> Tensor:
    """Return whether each of the wanted is among the keys, which ascend."""
    at = torch.searchsorted(keys, wanted).clamp(max=max(len(keys) - 1, 0))
    return keys[at] == wanted if len(keys) else torch.zeros_like(wanted, dtype=torch.bool)
