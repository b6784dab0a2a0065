"""`RowAdam`: an optimizer of vectors of which a batch touches few."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

from labeltree.deep.networks.block_products import BlockGradient
from labeltree.deep.networks.gpu_kernels import gpu_kernels


class RowAdam(torch.optim.Optimizer):
    """Adam with one step length for each row, for gradients that are sparse or a `BlockGradient`.

    The second moment is the mean over a row, and there is no first moment: a row needs one more number, where Adam
    needs two for each of its numbers. A row that a batch does not touch stays as it is.

    Parameters
    ----------
    vectors : iterable of parameters
        Matrices.
    lr : float
    beta : float
        How much of the second moment stays at a visit.
    epsilon : float
        Added to the root of the second moment.
    """

    def __init__(
        self, vectors: Iterable[Tensor], lr: float, beta: float = 0.99, epsilon: float = 1e-8
    ) -> None:
        super().__init__(vectors, {"lr": lr, "beta": beta, "epsilon": epsilon})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:
        """Move the rows that have a gradient."""
        for group in self.param_groups:
            for vectors in group["params"]:
                factors, kernels = BlockGradient.taken_from(vectors), gpu_kernels(vectors.device)
                if factors is not None and kernels is not None:
                    self._step_in_place(vectors, factors, group, kernels)
                elif factors is not None:
                    self._step(vectors, *factors.sums(vectors.dtype), group)
                elif vectors.grad is not None:
                    gradient = vectors.grad.coalesce()
                    self._step(vectors, gradient.indices()[0], gradient.values(), group)

    def _step_in_place(
        self, vectors: Tensor, factors: BlockGradient, group: dict[str, Any], kernels: Any
    ) -> None:
        """Move rows without a copy of their gradients."""
        state = self._state(vectors)
        kernels.step(
            vectors,
            state["moment"],
            state["visits"],
            factors.hidden,
            factors.amounts,
            factors.blocks,
            group["lr"],
            group["beta"],
            group["epsilon"],
        )

    def _step(self, vectors: Tensor, rows: Tensor, values: Tensor, group: dict[str, Any]) -> None:
        """Move rows by these gradients, which are overwritten."""
        state, beta = self._state(vectors), group["beta"]
        square = torch.linalg.vector_norm(values, dim=1).square_().div_(values.shape[1])
        # Candidates that only fill up a row have no gradient: that is no visit.
        seen = square > 0
        old = state["moment"][rows]
        moment = torch.where(seen, old.lerp(square, 1 - beta), old)
        visits = state["visits"][rows] + seen
        state["moment"][rows], state["visits"][rows] = moment, visits
        scale = (moment / (1 - beta ** visits.clamp(min=1))).sqrt_().add_(group["epsilon"])
        vectors.index_add_(0, rows, values.div_(scale.unsqueeze(1)), alpha=-group["lr"])

    def _state(self, vectors: Tensor) -> dict[str, Tensor]:
        state: dict[str, Tensor] = self.state[vectors]
        if not state:
            state["moment"] = vectors.new_zeros(len(vectors))
            state["visits"] = vectors.new_zeros(len(vectors))
        return state
