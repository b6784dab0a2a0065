"""`RowAdam`: an optimizer of vectors of which a batch touches few."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor


class RowAdam(torch.optim.Optimizer):
    """Adam with one step length for each row, for sparse gradients.

    The second moment is the mean over a row, and there is no first moment: a row needs one more number, where Adam
    needs two for each of its numbers. A row that a batch does not touch stays as it is.

    Parameters
    ----------
    vectors : iterable of parameters
        Matrices, whose gradients are sparse.
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
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override] # no loss
        """Move the rows that have a gradient."""
        for group in self.param_groups:
            for vectors in group["params"]:
                if vectors.grad is not None:
                    self._step(vectors, group)

    def _step(self, vectors: Tensor, group: dict[str, Any]) -> None:
        state = self.state[vectors]
        if not state:
            state["moment"] = vectors.new_zeros(len(vectors))
            state["visits"] = vectors.new_zeros(len(vectors))
        assert vectors.grad is not None
        gradient = vectors.grad.coalesce()
        rows, values = gradient.indices()[0], gradient.values()
        beta = group["beta"]
        square = torch.linalg.vector_norm(values, dim=1).square_().div_(values.shape[1])
        # Candidates that only fill up a row have no gradient: that is no visit.
        seen = square > 0
        rows, values, square = rows[seen], values[seen], square[seen]
        moment = state["moment"][rows].lerp_(square, 1 - beta)
        visits = state["visits"][rows] + 1
        state["moment"][rows], state["visits"][rows] = moment, visits
        scale = (moment / (1 - beta**visits)).sqrt_().add_(group["epsilon"])
        vectors.index_add_(0, rows, values.div_(scale.unsqueeze(1)), alpha=-group["lr"])
