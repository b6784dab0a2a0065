"""What a solver cannot do with a loss, the kernel refuses, whoever asks it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from labeltree import LabelTree, _native
from labeltree.training.losses import LOSSES

pytestmark = pytest.mark.native

LOSS_NAMES = list(LOSSES)
INCREMENTAL = ("adagrad", "sgd", "fobos")


def train(**options: Any) -> dict[str, Any]:
    """Train a small tree with the kernel itself."""
    X = np.eye(4, dtype=np.float32)
    examples = _native.Examples(
        _native.FeatureMatrix.dense(X, False),
        np.arange(5, dtype=np.int64),
        np.arange(4, dtype=np.int32),
        4,
    )
    tree = LabelTree.from_nested([[0, 1], [2, 3]])
    arrays: dict[str, Any] = _native.train_blocks(
        tree.native, examples, _native.SolverOptions(**options), _native.Progress()
    )
    return arrays


def online_tree(solver: str, loss: str) -> _native.OnlineTree:
    options = _native.OnlineOptions(
        loss=_native.Loss[loss],
        solver=_native.Solver[solver],
        link=_native.Link.sigmoid,
        learning_rate=1.0,
        regularization=0.0,
        initial_accumulator=1.0,
        bias=True,
        weights=_native.WeightKind.map,
        length=0,
        most_lanes=0,
        most_labels=0,
    )
    return _native.OnlineTree(options, _native.CompletePolicy(2))


def test_both_sides_know_the_same_losses() -> None:
    assert list(_native.Loss.__members__) == LOSS_NAMES


@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_dual_descent_takes_every_loss(loss: str) -> None:
    assert train(loss=_native.Loss[loss])["report"]["n_columns"] == 6


@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_the_penalty_l1_takes_losses_of_bounded_curvature(loss: str) -> None:
    options = {"loss": _native.Loss[loss], "penalty": _native.Penalty.l1}
    if LOSSES[loss].default_c_l1 is not None:
        train(**options)
        return
    with pytest.raises(ValueError, match=f"penalty l1 takes the losses .*logistic.*, got {loss}"):
        train(**options)


@pytest.mark.parametrize("loss", LOSS_NAMES)
@pytest.mark.parametrize("solver", INCREMENTAL)
def test_incremental_solvers_take_two_losses(solver: str, loss: str) -> None:
    options = {"loss": _native.Loss[loss], "solver": _native.Solver[solver]}
    if solver in LOSSES[loss].learning_rate:
        train(**options)
        online_tree(solver, loss)
        return
    message = f"the solver {solver} takes the losses squared_hinge, logistic, got {loss}"
    with pytest.raises(ValueError, match=message):
        train(**options)
    with pytest.raises(ValueError, match=message):
        online_tree(solver, loss)


@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_siblings_are_learned_jointly_by_the_logistic_loss(loss: str) -> None:
    if loss == "logistic":
        train(loss=_native.Loss.logistic, joint_siblings=True)
        return
    with pytest.raises(ValueError, match=f"siblings jointly takes the losses logistic, got {loss}"):
        train(loss=_native.Loss[loss], joint_siblings=True)


@pytest.mark.parametrize(
    "options", [{"penalty": _native.Penalty.l1}, *({"solver": _native.Solver[name]} for name in INCREMENTAL)]
)
def test_siblings_are_learned_jointly_by_descent_with_l2(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="jointly by the solver descent with the penalty l2"):
        train(loss=_native.Loss.logistic, joint_siblings=True, **options)


@pytest.mark.parametrize("solver", INCREMENTAL)
def test_incremental_solvers_have_their_own_penalty(solver: str) -> None:
    with pytest.raises(ValueError, match="incremental solvers have their own penalty"):
        train(solver=_native.Solver[solver], penalty=_native.Penalty.l1)


@pytest.mark.parametrize("solver", ["descent", "sparse"])
def test_online_trees_learn_incrementally(solver: str) -> None:
    with pytest.raises(ValueError, match="expected an incremental solver: adagrad, sgd or fobos"):
        online_tree(solver, "logistic")
