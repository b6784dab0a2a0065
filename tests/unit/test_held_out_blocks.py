"""Groups of siblings that are trained on a part of the rows and score the others, beside whole models of that part."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from tests.documents import documents

from labeltree import LabelTree, _native
from labeltree.labels.reading import LabelRows
from labeltree.model.block_weights import BlockWeights
from labeltree.training.examples import Examples

pytestmark = pytest.mark.native

N_LABELS = 60
#: Blocks of 2 to 25 nodes, on three levels.
TREE = LabelTree.from_nested([*range(20), [*range(20, 45)], [[45, 46], [47, 48, 49]], [*range(50, 60)]])
X, Y = documents(500, 300, N_LABELS, unlabelled=0.1)
DENSE = (Y @ np.random.default_rng(0).standard_normal((N_LABELS, 21))).astype(np.float32)
#: Every seventh row is held out, every eleventh ignored.
HELD_OUT = np.zeros(500, dtype=np.uint8)
HELD_OUT[::11] = 2
HELD_OUT[3::7] = 1

SOLVERS: dict[str, dict[str, Any]] = {
    "squared_hinge": {},
    "logistic": {"loss": _native.Loss.logistic},
    "squared": {"loss": _native.Loss.squared},
    "no bias": {"bias": 0.0},
    "all weights": {"prune": 0.0},
    "l1": {"penalty": _native.Penalty.l1},
    "adagrad": {"solver": _native.Solver.adagrad},
    "fobos": {"solver": _native.Solver.fobos, "regularization": 1e-4, "learning_rate": 0.05},
    "sparse": {"solver": _native.Solver.sparse, "l1": 0.01, "tol": 0.05, "max_iter": 50},
}


def examples_of(
    X: Any = X, y: Any = Y, *, n_labels: int = N_LABELS, dense: Any = None, **weights: Any
) -> Examples:
    if dense is None:
        features = _native.FeatureMatrix.csr(
            X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data, X.shape[1], True
        )
    else:
        features = _native.FeatureMatrix.pair(
            X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data, X.shape[1], dense, True
        )
    indices = y.indices.astype(np.int32)
    labels = LabelRows(y.indptr.astype(np.int64), indices, np.arange(n_labels), "csr")
    return Examples(features, labels, **weights)


def all_groups(tree: LabelTree, examples: Examples) -> tuple[Any, list[np.ndarray]]:
    found = _native.block_groups(tree.native, examples.native, 1)
    return found["block"], [np.arange(*ends) for ends in zip(found["begin"], found["end"], strict=True)]


def held_out_blocks(
    tree: LabelTree,
    examples: Examples,
    C: Any,
    *,
    held_out: Any = HELD_OUT,
    groups: Any = None,
    most_rows: int = 1_000_000,
    negative_share: float = 1.0,
    progress: _native.Progress | None = None,
    assignment: Any = None,
    **options: Any,
) -> dict[str, np.ndarray]:
    """`groups` has the blocks, and the columns of each; by default all columns to learn, as training groups them.

    `C` has the values of every group, or a row of values for each group.
    """
    block, columns = all_groups(tree, examples) if groups is None else groups
    return _native.held_out_blocks(
        tree.native,
        examples.native,
        _native.SolverOptions(**options),
        held_out,
        np.asarray(block, dtype=np.int32),
        np.cumsum([0, *map(len, columns)], dtype=np.int64),
        np.concatenate([np.empty(0), *columns]).astype(np.int32),
        np.ascontiguousarray(np.broadcast_to(np.float32(C), (len(block), np.shape(C)[-1]))),
        most_rows,
        negative_share,
        progress or _native.Progress(),
        assignment,
    )


def without_labels(examples: Examples, rows: np.ndarray) -> Examples:
    """The same examples; these rows have no labels, so that no node but the root learns from them."""
    labels = examples.labels
    row = np.repeat(np.arange(labels.n_rows), np.diff(labels.indptr))
    left = ~np.isin(row, rows)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row[left], minlength=labels.n_rows))])
    kept = replace(labels, indptr=indptr.astype(np.int64), indices=labels.indices[left])
    return replace(examples, labels=kept)


def model_pairs(
    tree: LabelTree, trained_on: Examples, examples: Examples, rows: np.ndarray, **options: Any
) -> dict[tuple[int, int], tuple[float, int]]:
    """Score and truth of the pairs of rows and nodes, by a model of all nodes."""
    arrays = _native.train_blocks(
        tree.native, trained_on.native, _native.SolverOptions(**options), _native.Progress()
    )
    arrays.pop("report")
    weights = BlockWeights.from_training(tree, arrays, examples.features.dense_features)
    store = weights.store(examples.features.n_features, "sigmoid", fused=False)
    pairs = {}
    for row in rows:
        one = examples.take(np.array([row]))
        found = store.held_out_nodes(one.native, False, 1.0, 0, 1)
        for node, score, positive in zip(found["node"], found["score"], found["positive"], strict=True):
            pairs[int(row), int(node)] = float(score), int(positive)
    return pairs


def assert_same_pairs(
    found: dict[str, np.ndarray],
    expected: dict[tuple[int, int], tuple[float, int]],
    **close: Any,
) -> None:
    keys = list(zip(found["row"].tolist(), found["node"].tolist(), strict=True))
    assert len(set(keys)) == len(keys)
    assert set(keys) == expected.keys()
    score, positive = (np.array(values) for values in zip(*(expected[key] for key in keys), strict=True))
    np.testing.assert_array_equal(found["positive"], positive)
    np.testing.assert_allclose(found["score"][:, 0], score, **{"rtol": 1e-4, "atol": 1e-5, **close})


@pytest.mark.parametrize("weights", ["none", "samples", "labels"])
@pytest.mark.parametrize("features", ["sparse", "dense"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_pairs_are_those_of_a_model_of_the_other_rows(solver: str, features: str, weights: str) -> None:
    rng = np.random.default_rng(1)
    given: dict[str, Any] = {"dense": DENSE if features == "dense" else None}
    if weights != "none":
        given["sample_weight"] = rng.exponential(size=500).astype(np.float32)
    if weights == "labels":
        given["label_weight"] = (10 ** rng.uniform(-1, 1, N_LABELS)).astype(np.float32)
    examples = examples_of(**given)
    rest = without_labels(examples, np.flatnonzero(HELD_OUT))
    # As many groups, so that their seeds are the same.
    numbers = [_native.block_groups(TREE.native, e.native, 1) for e in (examples, rest)]
    assert [g["block"].tolist() for g in numbers] == [list(range(TREE.n_blocks + 1))] * 2

    options: dict[str, Any] = {"seed": 3, **SOLVERS[solver]}
    learnable = learnable_nodes(examples)
    for C in (0.3, 2.0):
        found = held_out_blocks(TREE, examples, [C], **options)
        # The root also learns from rows without labels: see the next test.
        found = {name: array[found["node"] > 0] for name, array in found.items() if name != "group_begin"}
        expected = model_pairs(TREE, rest, examples, np.flatnonzero(HELD_OUT == 1), C=C, **options)
        expected = {key: pair for key, pair in expected.items() if key[1] in learnable - {0}}
        assert_same_pairs(found, expected)


def learnable_nodes(examples: Examples) -> set[int]:
    """Nodes with rows of both classes."""
    begin, _ = _native.assign_to_nodes(TREE.native, examples.labels.indptr, examples.labels.indices, 1)
    n_rows = np.diff(begin)
    of_parent = [examples.labels.n_rows, *n_rows[TREE.parent[1:]]]
    return {v for v in range(TREE.n_nodes) if 0 < n_rows[v] < of_parent[v]}


def test_the_root_and_columns_that_only_held_out_rows_tell_apart() -> None:
    """Labels without a row to train on get the score of a node that is never positive, as in a model."""
    y = Y.tolil()
    rare = [1, 25, 55]
    y[:, rare] = 0
    y[[3, 10, 17], rare] = 1  # held-out rows
    examples = examples_of(y=y.tocsr())
    found = held_out_blocks(TREE, examples, [1.0])
    expected = model_pairs(
        TREE, examples.take(np.flatnonzero(HELD_OUT == 0)), examples, np.flatnonzero(HELD_OUT == 1)
    )
    learnable = learnable_nodes(examples)
    expected = {key: pair for key, pair in expected.items() if key[1] in learnable}
    leaf = {int(TREE.label[v]): v for v in range(TREE.n_nodes)}
    for row, label in zip([3, 10, 17], rare, strict=True):
        assert expected[row, leaf[label]] == (-1000.0, 1)
    assert any(node == 0 for _, node in expected)
    assert_same_pairs(found, expected)


def test_columns_outside_groups_have_nothing_to_tell() -> None:
    """A model of the other rows is certain of them, and right."""
    y = Y.tolil()
    y[:, [2, 30]] = 0
    examples = examples_of(y=y.tocsr())
    found = held_out_blocks(TREE, examples, [1.0])
    expected = model_pairs(
        TREE, examples.take(np.flatnonzero(HELD_OUT == 0)), examples, np.flatnonzero(HELD_OUT == 1)
    )
    nodes = set(found["node"].tolist())
    left = {pair for (_, node), pair in expected.items() if node not in nodes}
    assert left == {(-1000.0, 0)}


def test_wide_blocks_and_groups_of_any_columns() -> None:
    """A column's solution does not depend on the columns beside it, up to the tolerance."""
    X, y = documents(400, 200, 100, seed=4)
    tree, examples = LabelTree.flat(100), examples_of(X, y, n_labels=100)
    precise: dict[str, Any] = {"tol": 1e-4, "max_iter": 5000, "prune": 0.0}
    held_out = (np.arange(400) % 6 == 0).astype(np.uint8)
    groups = _native.block_groups(tree.native, examples.native, 1)
    n = int(groups["end"][-1])
    assert groups["begin"].tolist() == [0, 32, 64, 96][: len(groups["begin"])]
    found = held_out_blocks(tree, examples, [1.0], held_out=held_out, **precise)
    expected = model_pairs(
        tree, examples.take(np.flatnonzero(held_out == 0)), examples, np.flatnonzero(held_out), **precise
    )
    nodes = set(found["node"].tolist())
    assert len(nodes) == n
    expected = {key: pair for key, pair in expected.items() if key[1] in nodes}
    assert_same_pairs(found, expected, rtol=0, atol=2e-3)

    columns = [[40], [*range(7, 39)], [n - 1], [0, 3, 50, n - 2]]
    some = held_out_blocks(tree, examples, [1.0], held_out=held_out, groups=([1] * 4, columns), **precise)
    assert np.diff(some["group_begin"]).tolist() == [held_out.sum() * len(of_group) for of_group in columns]
    nodes = set(some["node"].tolist())
    assert_same_pairs(
        some, {key: pair for key, pair in expected.items() if key[1] in nodes}, rtol=0, atol=2e-3
    )


def test_pairs_tell_their_columns() -> None:
    examples = examples_of()
    whole = held_out_blocks(TREE, examples, [1.0])
    columns = [[3, 7, 19], [1]]
    found = held_out_blocks(TREE, examples, [1.0], groups=([2, 1], columns))
    for g, (block, places) in enumerate(zip([2, 1], columns, strict=True)):
        of_block = slice(*whole["group_begin"][block : block + 2])
        node_of = dict(zip(whole["column"][of_block], whole["node"][of_block], strict=True))
        part = slice(*found["group_begin"][g : g + 2])
        assert set(found["column"][part].tolist()) == set(range(len(places)))
        assert [node_of[places[c]] for c in found["column"][part]] == found["node"][part].tolist()


def test_pairs_are_ordered_by_group_and_row() -> None:
    examples = examples_of()
    blocks = [5, 2, 1]
    found = held_out_blocks(TREE, examples, [1.0], groups=(blocks, [range(n) for n in (2, 25, 20)]))
    for g in range(3):
        part = slice(found["group_begin"][g], found["group_begin"][g + 1])
        row = found["row"][part]
        assert len(row) > 0
        assert (np.diff(row) >= 0).all()
    assert found["group_begin"][-1] == len(found["node"]) == len(found["score"])
    # A group is the same whichever others are asked for.
    alone = held_out_blocks(TREE, examples, [1.0], groups=([2], [range(25)]))
    part = slice(found["group_begin"][1], found["group_begin"][2])
    for name, array in alone.items():
        if name != "group_begin":
            np.testing.assert_array_equal(array, found[name][part])


@pytest.mark.parametrize("dense", [None, DENSE], ids=["sparse", "dense"])
def test_threads_change_nothing(dense: Any) -> None:
    examples = examples_of(dense=dense)
    one, four = (held_out_blocks(TREE, examples, [0.5, 1.0, 2.0], n_threads=n) for n in (1, 4))
    assert one["score"].shape == (len(one["node"]), 3)
    for name, array in one.items():
        np.testing.assert_array_equal(array, four[name])


def test_each_c_gives_what_it_gives_alone() -> None:
    """Up to the tolerance: all that fit into the lanes of a solver are solved together."""
    examples = examples_of()
    precise: dict[str, Any] = {"tol": 1e-4, "max_iter": 5000, "prune": 0.0}
    values = [0.1, 1.0, 10.0]
    together = held_out_blocks(TREE, examples, values, **precise)
    for column, C in enumerate(values):
        alone = held_out_blocks(TREE, examples, [C], **precise)
        np.testing.assert_allclose(alone["score"][:, 0], together["score"][:, column], rtol=0, atol=2e-3)
    assert np.abs(np.diff(together["score"], axis=1)).max() > 0.1


def test_every_group_has_its_own_c() -> None:
    examples = examples_of()
    blocks, columns = [2, 1, 5], [range(25), range(20), range(2)]
    own = [[0.1, 1.0], [0.5, 3.0], [2.0, 0.2]]
    together = held_out_blocks(TREE, examples, own, groups=(blocks, columns))
    for g, (block, of_group, C) in enumerate(zip(blocks, columns, own, strict=True)):
        alone = held_out_blocks(TREE, examples, C, groups=([block], [of_group]))
        part = slice(*together["group_begin"][g : g + 2])
        np.testing.assert_array_equal(together["score"][part], alone["score"])


#: Of 500 rows; the first two of ten labels have 300 each.
LARGE = LabelTree.flat(10)


def large_examples() -> Examples:
    random = np.random.default_rng(5)
    y = np.zeros((500, 10), dtype=np.int8)
    y[:300, 0] = y[200:, 1] = 1
    y[np.arange(20), random.integers(2, 10, 20)] = 1
    return examples_of(y=csr_matrix(y), n_labels=10)


def test_a_large_block_learns_from_a_share_of_its_rows() -> None:
    examples = large_examples()
    groups = ([1], [[0, 1]])
    whole = held_out_blocks(LARGE, examples, [1.0], groups=groups)
    for most_rows in (500, 10_000):
        same = held_out_blocks(LARGE, examples, [1.0], groups=groups, most_rows=most_rows)
        np.testing.assert_array_equal(same["score"], whole["score"])
    part = held_out_blocks(LARGE, examples, [1.0], groups=groups, most_rows=100)
    for name in ("row", "node", "positive"):  # all held-out rows are scored
        np.testing.assert_array_equal(part[name], whole[name])
    assert np.abs(part["score"] - whole["score"]).max() > 0.05
    # As if the others were ignored: here a fifth of the rows, drawn by numbers of their own.
    again = held_out_blocks(LARGE, examples, [1.0], groups=groups, most_rows=100, n_threads=3)
    np.testing.assert_array_equal(again["score"], part["score"])


def test_columns_of_few_rows_keep_about_thirty() -> None:
    examples = large_examples()
    rare = ([1], [[0, 1, 2]])
    whole = held_out_blocks(LARGE, examples, [1.0], groups=rare)
    part = held_out_blocks(LARGE, examples, [1.0], groups=rare, most_rows=50)
    np.testing.assert_array_equal(part["score"], whole["score"])
    # A tenth of the rows would leave 30 of 300 positive ones, fewer are not drawn.
    tenth, fewer = (
        held_out_blocks(LARGE, examples, [1.0], groups=([1], [[0, 1]]), most_rows=n) for n in (50, 5)
    )
    np.testing.assert_array_equal(tenth["score"], fewer["score"])


def test_a_share_of_the_negative_pairs() -> None:
    examples = examples_of()
    everything = held_out_blocks(TREE, examples, [1.0])
    share = held_out_blocks(TREE, examples, [1.0], negative_share=0.3)
    none = held_out_blocks(TREE, examples, [1.0], negative_share=0.0)
    assert none["positive"].all()
    assert none["positive"].sum() == share["positive"].sum() == everything["positive"].sum()
    n_negative = (everything["positive"] == 0).sum()
    drawn = (share["positive"] == 0).sum() / n_negative
    assert abs(drawn - 0.3) < 4 * np.sqrt(0.3 * 0.7 / n_negative)
    keys = zip(everything["row"].tolist(), everything["node"].tolist(), strict=True)
    score = dict(zip(keys, everything["score"][:, 0].tolist(), strict=True))
    keys = zip(share["row"].tolist(), share["node"].tolist(), strict=True)
    assert [score[key] for key in keys] == share["score"][:, 0].tolist()


@pytest.mark.parametrize("weights", [{}, {"label_weight": np.linspace(0.5, 2, N_LABELS, dtype=np.float32)}])
def test_rows_of_nodes_may_be_given(weights: dict[str, Any]) -> None:
    examples = examples_of(**weights)
    assignment = _native.assign_rows(TREE.native, examples.native, 2, _native.Progress())
    expected = held_out_blocks(TREE, examples, [0.5, 2.0])
    found = held_out_blocks(TREE, examples, [0.5, 2.0], assignment=assignment)
    groups = _native.block_groups(TREE.native, examples.native, 1)
    given = _native.block_groups(TREE.native, examples.native, 1, assignment)
    for ours, theirs in ((found, expected), (given, groups)):
        assert ours.keys() == theirs.keys()
        for name, array in theirs.items():
            np.testing.assert_array_equal(ours[name], array)
    assignment["rows"][0] = -1
    with pytest.raises(ValueError, match="assignment: expected ascending rows"):
        held_out_blocks(TREE, examples, [1.0], assignment=assignment)
    with pytest.raises(ValueError, match="assignment: expected ascending rows"):
        _native.block_groups(TREE.native, examples.native, 1, assignment)


def test_groups_of_a_tree() -> None:
    examples = examples_of()
    groups = _native.block_groups(TREE.native, examples.native, 2)
    begin, rows = _native.assign_to_nodes(TREE.native, examples.labels.indptr, examples.labels.indices, 1)
    entries = np.diff(X.indptr) + 1
    assert groups["block"].tolist() == list(range(TREE.n_blocks + 1))
    assert groups["level"].tolist() == [0, *(TREE.depth_of_node[TREE.inner_nodes] + 1)]
    for b, v in enumerate(TREE.inner_nodes, start=1):
        of_node = rows[begin[v] : begin[v + 1]]
        assert groups["n_rows"][b] == len(of_node)
        assert groups["n_entries"][b] == entries[of_node].sum()
    assert groups["n_rows"][0] == 500
    assert groups["n_entries"][0] == entries.sum()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"groups": ([7], [[0]])}, "group 0: expected one of the 7 blocks of the tree, got number 7"),
        ({"groups": ([-1], [[0]])}, "group 0: expected one of the 7 blocks of the tree, got number -1"),
        (
            {"groups": ([1, 2], [[0], [20, 25]])},
            "group 1: expected ascending numbers of the 25 columns to learn of block 2, got 25",
        ),
        ({"groups": ([2], [[-1, 0]])}, "of the 25 columns to learn of block 2, got -1"),
        ({"groups": ([2], [[3, 3]])}, "expected ascending numbers of the 25 columns .*, got 3"),
        ({"groups": ([2], [[4, 3]])}, "expected ascending numbers of the 25 columns .*, got 3"),
        ({"groups": ([2], [[]])}, "group 0: expected 1 to 32 columns, got 0"),
        ({"groups": ([2], [[0] * 33])}, "group 0: expected 1 to 32 columns, got 33"),
        ({"groups": ([1, 2], [[0]])}, "column_begin must have .*: expected 3, got 2"),
        ({"held_out": HELD_OUT[1:]}, "held_out must have one entry per row of X: expected 500, got 499"),
        ({"held_out": HELD_OUT + 1}, r"held_out must be 0 \(to train on\), .*, got 3 for row 0"),
        ({"C": []}, "C_values must have at least one value"),
        ({"C": [1.0, 0.0]}, "C_values must be positive numbers, got 0"),
        ({"C": [np.nan]}, "C_values must be positive numbers, got nan"),
        ({"most_rows": 0}, "most_rows must be at least 1, got 0"),
        ({"negative_share": 1.5}, "negative_share must be from 0 to 1, got 1.5"),
        ({"negative_share": np.nan}, "negative_share must be from 0 to 1, got nan"),
        (
            {"joint_siblings": True, "loss": _native.Loss.logistic},
            "siblings that are learned independently, not jointly",
        ),
        ({"solver": _native.Solver.adagrad, "loss": _native.Loss.squared}, "adagrad"),
    ],
)
def test_bad_arguments_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        held_out_blocks(TREE, examples_of(), **{"C": [1.0], **change})


def test_a_tree_of_other_labels_is_refused() -> None:
    for call in (
        lambda: held_out_blocks(LabelTree.flat(5), examples_of(), [1.0], groups=([0], [[0]])),
        lambda: _native.block_groups(LabelTree.flat(5).native, examples_of().native, 1),
    ):
        with pytest.raises(ValueError, match="expected examples with 5 labels, got 60"):
            call()


def test_no_groups_and_no_held_out_rows_give_no_pairs() -> None:
    nothing = held_out_blocks(TREE, examples_of(), [1.0, 2.0], groups=([], []))
    assert nothing["score"].shape == (0, 2)
    assert nothing["group_begin"].tolist() == [0]
    kept = held_out_blocks(TREE, examples_of(), [1.0], held_out=np.zeros(500, dtype=np.uint8))
    assert kept["group_begin"].tolist() == [0] * (TREE.n_blocks + 2)


def test_nothing_to_train_on_makes_every_node_negative() -> None:
    found = held_out_blocks(TREE, examples_of(), [1.0], held_out=np.ones(500, dtype=np.uint8))
    assert set(found["score"].ravel().tolist()) == {-1000.0}
    assert found["positive"].any()


def test_it_can_be_cancelled() -> None:
    progress = _native.Progress()
    failure: list[Exception] = []

    def work() -> None:
        try:
            held_out_blocks(
                TREE, examples_of(), [1.0] * 10_000, progress=progress, tol=1e-9, max_iter=100_000
            )
        except Exception as error:
            failure.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    while progress.total == 0 and thread.is_alive():
        thread.join(0.01)
    progress.cancel()
    thread.join(60)
    assert not thread.is_alive()
    assert [str(error) for error in failure] == ["cancelled"]
    assert progress.done < progress.total


# Scores held-out rows with and without dense features; saves all arrays.
SCORER = """
import sys
import numpy as np
from tests.unit.test_held_out_blocks import DENSE, SOLVERS, TREE, examples_of, held_out_blocks
from labeltree import _native
found = {"code": _native.vector_code()}
for dense in (None, DENSE):
    for solver, options in SOLVERS.items():
        pairs = held_out_blocks(TREE, examples_of(dense=dense), [0.3, 2.0], **options)
        found |= {f"{solver} {dense is None} {name}": array for name, array in pairs.items()}
np.savez(sys.argv[1], **found)
"""


def test_every_instruction_set_gives_the_same_bits(tmp_path: Path) -> None:
    codes = _native.available_vector_code()
    answers = [tmp_path / f"{code}.npz" for code in codes]
    started = [
        subprocess.Popen(
            [sys.executable, "-c", SCORER, str(answer)],
            env={**os.environ, "LABELTREE_ISA": code},
            cwd=Path(__file__).parents[2],
            stderr=subprocess.PIPE,
        )
        for code, answer in zip(codes, answers, strict=True)
    ]
    for process in started:
        _, error = process.communicate(timeout=300)
        assert process.returncode == 0, error.decode()
    found = [dict(np.load(answer)) for answer in answers]
    assert [str(answer.pop("code")) for answer in found] == codes
    for answer in found[1:]:
        assert answer.keys() == found[0].keys()
        for name, array in answer.items():
            np.testing.assert_array_equal(array, found[0][name], err_msg=name)
