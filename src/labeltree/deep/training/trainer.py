"""`Trainer`: the loop over batches, with warm-up, averaged weights, early stop and checkpoints."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from labeltree.deep.batches import batches_by_length, random_batches
from labeltree.deep.levels import PositiveNodes, TreeLevels
from labeltree.deep.tokens import TokenRows
from labeltree.deep.torch_context import autocast, seeded
from labeltree.deep.training.averaged_weights import PER_EPOCH, AveragedWeights
from labeltree.deep.training.cascade import Cascade, Targets
from labeltree.deep.training.processes import Processes
from labeltree.deep.training.row_adam import RowAdam
from labeltree.deep.training.saved_state import from_arrays, to_arrays
from labeltree.labels.reading import LabelRows
from labeltree.metrics import ndcg_at_k
from labeltree.training.checkpoint import Checkpoint

logger = logging.getLogger(__name__)

#: The share of the steps after which all tiers are trained.
ALL_TIERS = 0.25
#: A checkpoint is written after each epoch, and after this many seconds.
CHECKPOINT_SECONDS = 600.0
#: Dense gradients are together scaled down to this length.
LONGEST_GRADIENT = 10.0
#: Called with the number of batches done and of all.
Report = Callable[[int, int | None], None]


@dataclass(frozen=True)
class TrainingSettings:
    """How a network is trained.

    Attributes
    ----------
    epochs, batch_size : int
    rate, node_rate : float
        The largest learning rates of the network, and of the vectors of nodes.
    decay : float
        Weight decay of the matrices of the network.
    warm_up : float
        The share of the steps in which learning rates rise; then they fall to 0.
    average : float
        How much of the moving average of weights stays; 0 for no average.
    patience : int
        Stop after as many epochs without a better nDCG@5 on held-out texts.
    beam : int
        How many nodes of a tier have candidates below them.
    seed : int
    """

    epochs: int
    batch_size: int
    rate: float
    node_rate: float
    decay: float = 0.0
    warm_up: float = 0.1
    average: float = 0.0
    patience: int = 3
    beam: int = 10
    seed: int = 0

    def rate_at(self, step: int, n_steps: int) -> float:
        """Return the share of the largest learning rate: it rises linearly, and falls along a cosine."""
        n_rising = max(round(self.warm_up * n_steps), 1)
        if step < n_rising:
            return (step + 1) / n_rising
        return 0.5 + 0.5 * math.cos(math.pi * (step - n_rising) / max(n_steps - n_rising, 1))


@dataclass(frozen=True)
class DeepExamples:
    """Texts with their labels.

    Attributes
    ----------
    tokens : TokenRows
    labels : LabelRows
    sample_weight : array of shape (n_rows,), optional
    """

    tokens: TokenRows
    labels: LabelRows
    sample_weight: NDArray[np.float32] | None = None


@dataclass(frozen=True)
class _Batch:
    tokens: Tensor
    sizes: Tensor
    targets: Targets


@dataclass
class _Done:
    """How far a training is."""

    step: int = 0
    n_passes: int = 0
    reached: float = -1.0
    best_epoch: int = 0
    stopped: bool = False


class Trainer:
    """Trains a network on texts.

    Parameters
    ----------
    network : module
        With `encode`, `scores`, `groups` and `output.tiers`, on its device.
    levels : TreeLevels
    settings : TrainingSettings
    padding : int
        The token that fills up texts.
    device : torch.device
    """

    def __init__(
        self, network: Any, levels: TreeLevels, settings: TrainingSettings, padding: int, device: Any
    ) -> None:
        self.network = network
        self.levels = levels
        self.settings = settings
        self.padding = padding
        self.device = device
        self.processes = Processes(device)
        self._weights = list(network.parameters())
        self._best: dict[str, Tensor] = {}
        self.averaged = AveragedWeights(network, settings.average)
        groups = network.groups(settings.rate, settings.node_rate, settings.decay)
        self.optimizers: list[torch.optim.Optimizer] = [
            torch.optim.AdamW(groups, fused=device.type in ("cuda", "cpu"))
        ]
        if levels.n_tiers > 1:
            self.optimizers.append(RowAdam(list(network.output.tiers)[1:], settings.node_rate))
        self._rates = [[group["lr"] for group in optimizer.param_groups] for optimizer in self.optimizers]

    def train(
        self,
        examples: DeepExamples,
        held_out: DeepExamples | None,
        report: Report,
        checkpoint: Checkpoint | None = None,
    ) -> dict[str, int]:
        """Train the network; return what was counted. It ends with its averaged or its best weights."""
        has_empty = bool((np.diff(examples.labels.indptr) == 0).any())
        cascade = Cascade(self.levels, self.settings.beam, has_empty, self.device)
        positives = PositiveNodes.of(self.levels.tree, examples.labels)
        done = _Done()
        with seeded(self.settings.seed, self.device):
            self.processes.start(self.network)
            arrays = self.processes.from_first(None if checkpoint is None else checkpoint.read(0))
            if arrays is not None:
                state = (self.network, self.optimizers, self.averaged, self.device)
                self._best, counts = from_arrays(arrays, *state)
                done = _Done(**counts)
            while done.n_passes < self.settings.epochs and not done.stopped:
                self._epoch(cascade, examples, positives, done, report, checkpoint)
                if held_out is not None:
                    self._judge(cascade, held_out, done)
                if checkpoint is not None:
                    self._write(checkpoint, done)
        self.network.load_state_dict(self._best or self._final_weights())
        self.network.eval()
        self._check_finite()
        return {"n_passes": done.n_passes, **({"best_epoch": done.best_epoch} if self._best else {})}

    def _epoch(
        self,
        cascade: Cascade,
        examples: DeepExamples,
        positives: PositiveNodes,
        done: _Done,
        report: Report,
        checkpoint: Checkpoint | None,
    ) -> None:
        """Train on all texts once, or on the rest of them if a checkpoint was written in between."""
        settings, written = self.settings, time.monotonic()
        rng = np.random.default_rng((settings.seed, done.n_passes))
        order = random_batches(examples.tokens.sizes, settings.batch_size, rng)
        n_batches, n_steps = len(order), len(order) * settings.epochs
        self.network.train()
        for rows in order[done.step - done.n_passes * n_batches :]:
            own, part = self.processes.share(rows)
            batch = self._batch(cascade, examples, positives, own)
            self.processes.seed(settings.seed, done.step)
            self._step(cascade, batch, part, done.step, n_steps, n_batches)
            done.step += 1
            report(done.step, n_steps)
            if checkpoint is not None and time.monotonic() > written + CHECKPOINT_SECONDS:
                self._write(checkpoint, done)
                written = time.monotonic()
        done.n_passes += 1

    def _judge(self, cascade: Cascade, held_out: DeepExamples, done: _Done) -> None:
        """Keep the best weights by nDCG@5 on held-out texts; tell when to stop, once all tiers are trained."""
        if self._n_tiers((done.n_passes - 1) / self.settings.epochs) < self.levels.n_tiers:
            return
        reached = self.processes.from_first(self._ndcg(cascade, held_out))
        logger.info("epoch %d of %d: nDCG@5 %.4f", done.n_passes, self.settings.epochs, reached)
        if reached > done.reached:
            done.reached, done.best_epoch = reached, done.n_passes
            self._best = {name: value.cpu().clone() for name, value in self._final_weights().items()}
        done.stopped = done.n_passes - done.best_epoch >= self.settings.patience

    def _batch(
        self, cascade: Cascade, examples: DeepExamples, positives: PositiveNodes, rows: NDArray[np.int64]
    ) -> _Batch:
        weight = None if examples.sample_weight is None else torch.from_numpy(examples.sample_weight[rows])
        targets = cascade.targets(positives.take(rows), weight).to(self.device)
        return _Batch(*self._tokens(examples.tokens.take(rows)), targets)

    def _tokens(self, rows: TokenRows) -> tuple[Tensor, Tensor]:
        tokens, sizes = (torch.from_numpy(array) for array in rows.padded(self.padding))
        return tokens.to(self.device), sizes

    def _step(
        self, cascade: Cascade, batch: _Batch, part: float, step: int, n_steps: int, n_batches: int
    ) -> None:
        """Make a step; `part` is the share of the step's texts that this process has."""
        n_tiers = self._n_tiers(step / n_steps)
        share = self.settings.rate_at(step, n_steps)
        for optimizer, rates in zip(self.optimizers, self._rates, strict=True):
            for group, rate in zip(optimizer.param_groups, rates, strict=True):
                group["lr"] = share * rate
            optimizer.zero_grad(set_to_none=True)
        with autocast(self.device):
            encoded = self.network.encode(batch.tokens, batch.sizes)
            loss = cascade.loss(self.network, encoded, batch.targets, n_tiers)
        (part * loss).backward()
        self.processes.add_gradients(self._weights)
        dense = [w for w in self._weights if w.grad is not None and not w.grad.is_sparse]
        nn.utils.clip_grad_norm_(dense, LONGEST_GRADIENT)
        for optimizer in self.optimizers:
            optimizer.step()
        every = max(n_batches // PER_EPOCH, 1)
        if self.settings.average > 0 and n_tiers == self.levels.n_tiers and step % every == every - 1:
            self.averaged.add()

    def _n_tiers(self, share: float) -> int:
        """The number of tiers that are trained after this share of the steps: one after another, then all."""
        further = self.levels.n_tiers - 1
        return 1 + min(further, int(further * share / ALL_TIERS))

    def _final_weights(self) -> dict[str, Tensor]:
        return self.averaged.mean or self.network.state_dict()

    @torch.no_grad()
    def _ndcg(self, cascade: Cascade, held_out: DeepExamples) -> float:
        """nDCG@5 of the averaged weights on held-out texts."""
        found = np.full((held_out.tokens.n_rows, 5), -1, dtype=np.int64)
        self.network.eval()
        with self.averaged.in_network(), autocast(self.device):
            for rows in batches_by_length(held_out.tokens.sizes, self.settings.batch_size):
                tokens, sizes = self._tokens(held_out.tokens.take(rows))
                encoded = self.network.encode(tokens, sizes)
                labels = cascade.best(self.network, encoded, 5).cpu().numpy()
                found[rows, : labels.shape[1]] = labels
        has_labels = np.diff(held_out.labels.indptr) > 0
        if not has_labels.any():
            return 0.0
        return float(ndcg_at_k(held_out.labels.matrix()[has_labels], found[has_labels], k=5))

    def _write(self, checkpoint: Checkpoint, done: _Done) -> None:
        state = (self.network, self.optimizers, self.averaged, self._best, asdict(done), self.device)
        checkpoint.write(0, to_arrays(*state))

    def _check_finite(self) -> None:
        if not all(torch.isfinite(weights).all() for weights in self.network.parameters()):
            raise ValueError("training diverged: weights are no longer finite. Lower learning_rate")
