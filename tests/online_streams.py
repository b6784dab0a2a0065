"""Streams for the tests of online trees: Hypothesis strategies, and learners that every test runs with."""

from __future__ import annotations

from hypothesis import strategies as st
from tests.reference.online_classifier import Learner
from tests.reference.online_tree import Observation

BIAS = "bias"

#: Penalties are strong enough to show in every weight.
LEARNERS = [
    Learner(solver, loss, learning_rate=0.5, regularization=0.0 if solver == "adagrad" else 0.03)
    for solver in ("adagrad", "sgd", "fobos")
    for loss in ("logistic", "squared_hinge")
]


def streams(
    max_rows: int = 20, max_labels: int = 12, n_features: int = 8
) -> st.SearchStrategy[list[Observation]]:
    """Observations with no, old and several new labels, and with new features at any time.

    Features are numbers in increasing order, with the bias after them; labels are numbers in any order.
    """
    # Numbers that make equal scores likely, and others.
    value = st.sampled_from([1.0, -1.0, 0.5]) | st.floats(-2, 2, width=32, allow_subnormal=False)
    features = st.dictionaries(st.integers(0, n_features - 1), value, max_size=5)
    row = features.map(lambda x: [*sorted(x.items()), (BIAS, 1.0)])
    labels = st.lists(st.integers(0, max_labels - 1), max_size=4, unique=True)
    return st.lists(st.tuples(row, labels), max_size=max_rows)
