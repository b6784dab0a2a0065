"""Blocks trained in parts are those trained at once, bit for bit; and the rows of nodes may come from a file."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.documents import documents
from tests.reference.assignment import training_sets
from tests.reference.joined_blocks import joined_blocks
from tests.strategies import label_trees

from labeltree import LabelTree, _native

pytestmark = pytest.mark.native

SOLVERS: dict[str, dict[str, Any]] = {
    "squared_hinge": {},
    "logistic": {"loss": _native.Loss.logistic},
    "squared": {"loss": _native.Loss.squared},
    "exponential": {"loss": _native.Loss.exponential},
    "no bias": {"bias": 0.0},
    "l1": {"penalty": _native.Penalty.l1},
    "joint": {"loss": _native.Loss.logistic, "joint_siblings": True},
    "adagrad": {"solver": _native.Solver.adagrad},
    "sgd": {"solver": _native.Solver.sgd},
    "fobos": {"solver": _native.Solver.fobos, "regularization": 1e-4},
    "sparse": {"solver": _native.Solver.sparse, "l1": 0.01, "tol": 0.05},
}
#: 32 and more children, blocks of at most 5 nodes, a node with one child, a deep branch.
TREE = LabelTree.from_nested([*range(40), [40, 41], [[42, 43, 44], [45, 46]], [47], [48, [49, [50, 51]]]])
X, Y = documents(250, 120, 52, unlabelled=0.1)
DENSE = (Y @ np.random.default_rng(0).standard_normal((52, 21))).astype(np.float32)


def examples_of(
    X: Any = X, y: Any = Y, dense: Any = None, sample_weight: Any = None, label_weight: Any = None
) -> _native.Examples:
    arrays = X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data, X.shape[1]
    if dense is None:
        features = _native.FeatureMatrix.csr(*arrays, True)
    else:
        features = _native.FeatureMatrix.pair(*arrays, dense, True)
    return _native.Examples(
        features,
        y.indptr.astype(np.int64),
        y.indices.astype(np.int32),
        y.shape[1],
        sample_weight,
        label_weight,
    )


def assigned(tree: LabelTree, examples: _native.Examples, n_threads: int = 1) -> dict[str, Any]:
    found: dict[str, Any] = _native.assign_rows(tree.native, examples, n_threads, _native.Progress())
    return found


def trained(tree: LabelTree, examples: _native.Examples, how: dict[str, Any], *given: Any) -> dict[str, Any]:
    options = _native.SolverOptions(**{"prune": 0.05, "seed": 3, **how})
    result: dict[str, Any] = _native.train_blocks(tree.native, examples, options, _native.Progress(), *given)
    return result


def assert_same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert found.keys() == expected.keys()
    assert found["report"] == expected["report"]
    for name in expected.keys() - {"report"}:
        assert found[name].dtype == expected[name].dtype
        np.testing.assert_array_equal(found[name], expected[name], err_msg=name)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("data", ["sparse", "dense", "weights"])
def test_parts_make_the_whole(solver: str, data: str) -> None:
    rng = np.random.default_rng(1)
    if data == "weights":
        weights = {"sample_weight": rng.random(250), "label_weight": 10 ** rng.uniform(-1, 1, 52)}
        examples = examples_of(**{name: value.astype(np.float32) for name, value in weights.items()})
    else:
        examples = examples_of(dense=DENSE if data == "dense" else None)
    how = SOLVERS[solver]
    expected = trained(TREE, examples, how)
    assignment = assigned(TREE, examples)
    n_blocks = len(expected["block_begin"]) - 1
    for cuts in ([0, 1, n_blocks], [0, 0, 3, 4, n_blocks, n_blocks], range(n_blocks + 1)):
        parts = [
            trained(TREE, examples, {**how, "n_threads": 1 + first % 2}, assignment, first, last)
            for first, last in pairwise(cuts)
        ]
        assert_same(joined_blocks(parts), expected)
    assert_same(trained(TREE, examples, how, assignment), expected)
    assert_same(trained(TREE, examples, how, None, 2, 5), trained(TREE, examples, how, assignment, 2, 5))


@given(label_trees(max_labels=10), st.sampled_from(sorted(SOLVERS)), st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_parts_of_random_trees(tree: LabelTree, solver: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_rows = rng.integers(1, 30)
    X = sp.random(n_rows, 8, 0.4, "csr", np.float32, rng, data_rvs=rng.standard_normal)
    y = sp.csr_matrix(rng.random((n_rows, tree.n_labels)) < rng.uniform(0.05, 0.6))
    examples = examples_of(X, y)
    n_blocks = tree.n_blocks + 1
    how = {**SOLVERS[solver], "block_C": rng.uniform(0.1, 10, n_blocks).tolist()}
    if solver in ("adagrad", "sgd", "fobos"):
        del how["block_C"]
    cuts = [0, *sorted(rng.integers(0, n_blocks + 1, 2).tolist()), -1]
    assignment = assigned(tree, examples, 2)
    parts = [trained(tree, examples, how, assignment, a, b) for a, b in pairwise(cuts)]
    assert_same(joined_blocks(parts), trained(tree, examples, how))


@given(label_trees(), st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_rows_and_costs_of_blocks(tree: LabelTree, seed: int, n_threads: int) -> None:
    rng = np.random.default_rng(seed)
    n_rows = rng.integers(1, 12)
    X = sp.random(n_rows, 8, 0.4, "csr", np.float32, rng)
    y = sp.csr_matrix(rng.random((n_rows, tree.n_labels)) < 0.3)
    weight = rng.integers(0, 3, tree.n_labels).astype(np.float32)
    examples = examples_of(X, y, label_weight=weight)
    rows = assigned(tree, examples, n_threads)
    labels = [y[[i]].indices.tolist() for i in range(n_rows)]
    positive = [[i for i, z in sorted(node) if z] for node in training_sets(tree, labels)]
    for v in range(tree.n_nodes):
        own = slice(rows["row_begin"][v], rows["row_begin"][v + 1])
        assert rows["rows"][own].tolist() == positive[v]
        below = set(tree.labels_under(v))
        heaviest = [max(weight[j] for j in labels[i] if j in below) for i in positive[v]]
        assert rows["weight"][own].tolist() == heaviest

    options = _native.SolverOptions(n_threads=n_threads)
    costs = _native.block_costs(tree.native, examples, rows, options, _native.Progress())
    blocks = [(range(n_rows), [0]), *((positive[v], tree.children(v)) for v in tree.inner_nodes)]
    assert costs["n_rows"].tolist() == [len(own) for own, _ in blocks]
    assert costs["n_columns"].tolist() == [
        sum(0 < len(positive[v]) < len(own) for v in nodes) for own, nodes in blocks
    ]
    incremental = _native.SolverOptions(solver=_native.Solver.adagrad, n_threads=n_threads)
    all_columns = _native.block_costs(tree.native, examples, rows, incremental, _native.Progress())[
        "n_columns"
    ]
    assert all_columns.tolist() == [len(nodes) if len(own) else 0 for own, nodes in blocks]
    n_entries = np.diff(X.indptr) + 1
    assert costs["n_entries"].tolist() == [n_entries[list(own)].sum() for own, _ in blocks]


def test_rows_that_are_mapped_and_read_only(tmp_path: Path) -> None:
    examples = examples_of(label_weight=np.linspace(0.5, 2, 52, dtype=np.float32))
    mapped = {}
    for name, array in assigned(TREE, examples).items():
        array.tofile(tmp_path / name)
        mapped[name] = np.memmap(tmp_path / name, array.dtype, "r")
    assert_same(trained(TREE, examples, {}, mapped), trained(TREE, examples, {}))


@pytest.mark.parametrize(("first", "last"), [(-1, 3), (3, 2), (0, 11), (11, 11), (4, -2), (11, -1)])
def test_ranges_that_are_none(first: int, last: int) -> None:
    assert TREE.n_blocks + 1 == 10
    with pytest.raises(ValueError, match=rf"from 0 to 10, or -1 .*, got {first} and {last}"):
        trained(TREE, examples_of(), {}, None, first, last)


class Spoiled:
    """An assignment with something wrong in it."""

    def __init__(self) -> None:
        self.examples = examples_of()
        self.arrays = {name: array.copy() for name, array in assigned(TREE, self.examples).items()}
        self.row_begin, self.rows = self.arrays["row_begin"], self.arrays["rows"]

    def expect(self, message: str, *blocks: int) -> None:
        with pytest.raises(
            ValueError, match=f"assignment: expected .*{message}.*use the result of assign_rows"
        ):
            trained(TREE, self.examples, {}, self.arrays, *blocks)


@pytest.mark.parametrize(
    ("node", "value", "message"),
    [
        (0, 1, "row_begin that starts with 0, got 1"),
        (5, 0, "row_begin that does not decrease, got 0 after"),
        (5, 2**62, "row_begin that does not decrease"),
        (-1, 2**62, f"{2**62} entries of rows"),
        (3, -1, "row_begin that does not decrease, got -1"),
    ],
)
def test_row_begin_that_is_wrong(node: int, value: int, message: str) -> None:
    spoiled = Spoiled()
    spoiled.row_begin[node] = value
    spoiled.expect(message)


@pytest.mark.parametrize("value", [-1, 250, 2**31 - 1, -(2**31)])
@pytest.mark.parametrize("node", [0, 1, 41])
def test_rows_that_are_none(value: int, node: int) -> None:
    spoiled = Spoiled()
    spoiled.rows[spoiled.row_begin[node]] = value
    spoiled.expect(f"ascending rows below 250 of node {node}, got {value}")


def test_rows_in_another_order_or_twice() -> None:
    spoiled = Spoiled()
    begin = spoiled.row_begin[1]
    spoiled.rows[begin : begin + 2] = spoiled.rows[begin : begin + 2][::-1].copy()
    spoiled.expect("ascending rows below 250 of node 1")
    spoiled.rows[begin + 1] = spoiled.rows[begin]
    spoiled.expect("ascending rows below 250 of node 1")


def test_rows_that_the_parent_does_not_have() -> None:
    spoiled = Spoiled()
    child = int(TREE.children(TREE.inner_nodes[1])[0])
    own = spoiled.row_begin[child], spoiled.row_begin[child + 1]
    strange = next(row for row in range(250) if not Y[row].sum())
    spoiled.rows[own[0] : own[1]] = strange + np.arange(own[1] - own[0])
    spoiled.expect(f"rows of node {child} that its parent has too, got {strange}")


def test_only_what_a_range_reads_is_checked() -> None:
    """A task reads its own part of a mapped file."""
    spoiled = Spoiled()
    spoiled.rows[spoiled.row_begin[1]] = -1
    spoiled.expect("node 1", 1, 2)
    trained(TREE, spoiled.examples, {}, spoiled.arrays, 2, 10)


def test_lengths_and_weights_that_do_not_fit() -> None:
    spoiled = Spoiled()
    arrays = dict(spoiled.arrays)
    spoiled.arrays["row_begin"] = spoiled.row_begin[:-1].copy()
    spoiled.expect(f"{TREE.n_nodes + 1} entries of row_begin, got {TREE.n_nodes}")
    spoiled.arrays["row_begin"] = np.zeros(0, dtype=np.int64)
    spoiled.expect("entries of row_begin, got 0")
    spoiled.arrays = {**arrays, "rows": spoiled.rows[:-1].copy()}
    spoiled.expect("entries of rows")
    spoiled.arrays = {**arrays, "weight": np.ones(len(spoiled.rows), dtype=np.float32)}
    spoiled.expect("no weight, since labels have no weights, got one")
    spoiled.examples = examples_of(label_weight=np.ones(52, dtype=np.float32))
    spoiled.arrays = arrays
    spoiled.expect("weight, since labels have weights, got none")
    spoiled.arrays = {**arrays, "weight": np.ones(3, dtype=np.float32)}
    spoiled.expect("entries of weight, got 3")
    spoiled.arrays = {**arrays, "weight": np.full(len(spoiled.rows), np.nan, dtype=np.float32)}
    spoiled.expect("weights that are not below 0, got -?nan")


def test_arrays_of_another_type_or_none_at_all() -> None:
    spoiled = Spoiled()
    with pytest.raises(TypeError, match="rows must be a C-contiguous array of int32"):
        trained(TREE, spoiled.examples, {}, {**spoiled.arrays, "rows": spoiled.rows.astype(np.int64)})
    del spoiled.arrays["rows"]
    with pytest.raises(TypeError, match="assignment has no array rows"):
        trained(TREE, spoiled.examples, {}, spoiled.arrays)
    with pytest.raises(ValueError, match="expected examples with 52 labels"):
        _native.assign_rows(TREE.native, examples_of(X, Y[:, :9]), 1, _native.Progress())
