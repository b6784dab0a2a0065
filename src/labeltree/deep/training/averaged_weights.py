"""`AveragedWeights`: the moving average of the weights of a network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn

#: The average is taken this often in each epoch.
PER_EPOCH = 10


class AveragedWeights:
    """An exponential moving average of the weights, which predicts better than the weights of any one step.

    Parameters
    ----------
    network : module
    decay : float
        How much of the average stays when weights are added.
    """

    def __init__(self, network: nn.Module, decay: float) -> None:
        self._network = network
        self.decay = decay
        self.mean: dict[str, Tensor] = {}
        self.n_added = 0

    @torch.no_grad()
    def add(self) -> None:
        """Add the weights that the network has now."""
        self.n_added += 1
        # At first the mean of all that were added.
        share = max(1 - self.decay, 1 / self.n_added)
        for name, weights in self._network.state_dict().items():
            if name not in self.mean:
                self.mean[name] = weights.clone()
            elif weights.is_floating_point():
                self.mean[name].lerp_(weights, share)
            else:
                self.mean[name].copy_(weights)

    def set(self, mean: Mapping[str, Tensor], n_added: int) -> None:
        """Take over the average of an earlier run."""
        self.mean = dict(mean)
        self.n_added = n_added

    @contextmanager
    def in_network(self) -> Iterator[None]:
        """Put the average into the network for a while, if there is one."""
        if not self.mean:
            yield
            return
        own = {name: weights.clone() for name, weights in self._network.state_dict().items()}
        self._network.load_state_dict(self.mean)
        try:
            yield
        finally:
            self._network.load_state_dict(own)
