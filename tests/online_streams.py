"""Streams, policies and learners that the tests of online trees run with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from sklearn.utils import check_random_state
from tests.reference import online_policies as twins
from tests.reference.online_classifier import Learner
from tests.reference.online_tree import Observation, Policy

BIAS = "bias"

#: Penalties are strong enough to show in every weight.
LEARNERS = [
    Learner(solver, loss, learning_rate=0.5, regularization=0.0 if solver == "adagrad" else 0.03)
    for solver in ("adagrad", "sgd", "fobos")
    for loss in ("logistic", "squared_hinge")
] + [Learner("adagrad", loss, 0.5, initial_accumulator=0.003) for loss in ("logistic", "squared_hinge")]


def streams(
    max_rows: int = 20, max_labels: int = 12, n_features: int = 8
) -> st.SearchStrategy[list[Observation]]:
    """Observations with no, old and several new labels, and with new features at any time.

    Features are numbers in increasing order, with the bias after them; labels are letters in their order.
    """
    # Numbers that make equal scores likely, and others, but not so small that their products are subnormal: the
    # kernel takes such products for 0.
    value = st.sampled_from([1.0, -1.0, 0.5]) | st.floats(-2, 2, width=32).filter(lambda v: abs(v) > 1e-6)
    features = st.dictionaries(st.integers(0, n_features - 1), value, max_size=5)
    row = features.map(lambda x: [*sorted(x.items()), (BIAS, 1.0)])
    labels = st.sets(st.sampled_from("abcdefghijklmnopqrstuvwxyz"[:max_labels]), max_size=4).map(sorted)
    return st.lists(st.tuples(row, labels), min_size=1, max_size=max_rows)


@dataclass(frozen=True)
class PolicyCase:
    """A policy as parameters of the classifier, and its twin; both may have a state, so each use makes new ones."""

    name: str
    parameters: Callable[[], dict[str, Any]]
    twin: Callable[[], Policy]
    #: How many children make a node one that the policy never chooses again.
    arity: int | None

    def __repr__(self) -> str:
        return self.name


def complete(arity: int) -> PolicyCase:
    return PolicyCase(
        f"complete({arity})",
        lambda: {"policy": "complete", "arity": arity},
        lambda: twins.complete(arity),
        arity,
    )


def random_descent(arity: int, seed: int) -> PolicyCase:
    kernel_seed = int(check_random_state(seed).randint(2**31 - 1))
    return PolicyCase(
        f"random_descent({arity}, {seed})",
        lambda: {"policy": "random", "arity": arity, "random_state": seed},
        lambda: twins.random_descent(arity, kernel_seed),
        arity,
    )


def best_fit(arity: int, alpha: float) -> PolicyCase:
    return PolicyCase(
        f"best_fit({arity}, {alpha})",
        lambda: {"policy": "best_fit", "arity": arity, "alpha": alpha},
        lambda: twins.best_fit(arity, alpha),
        arity,
    )


def anywhere(seed: int) -> PolicyCase:
    return PolicyCase(
        f"anywhere({seed})", lambda: {"policy": twins.anywhere(seed)}, lambda: twins.anywhere(seed), None
    )


def policies() -> st.SearchStrategy[PolicyCase]:
    arity, seed = st.integers(2, 4), st.integers(0, 2**32 - 1)
    return st.one_of(
        st.builds(complete, arity),
        st.builds(random_descent, arity, seed),
        st.builds(best_fit, arity, st.sampled_from([0.0, 0.3, 1.0])),
        st.builds(anywhere, seed),
    )
