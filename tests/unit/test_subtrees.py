"""Trees whose subtrees are found apart: joined, they are the tree that is found at once, bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.documents import documents

from labeltree import LabelTree, _native

pytestmark = pytest.mark.native


def examples_of(X: Any, y: Any) -> _native.Examples:
    features = _native.FeatureMatrix.csr(X.indptr, X.indices, X.data, X.shape[1], True)
    return _native.Examples(features, y.indptr.astype(np.int64), y.indices.astype(np.int32), y.shape[1])


def as_features(vectors: Any) -> _native.FeatureMatrix:
    """Computed vectors as rows that are given."""
    if isinstance(vectors, _native.FeatureMatrix):
        return vectors
    return _native.FeatureMatrix.csr(*vectors.arrays(), vectors.n_features, False)


def in_parts(
    vectors: Any, examples: _native.Examples, how: dict[str, Any], most_labels: int, n_threads: int = 1
) -> tuple[Any, dict[str, Any]]:
    """The tree from its subtrees, and the top that they were found for."""
    options = _native.ClusteringOptions(**how, n_threads=n_threads)
    top = _native.cluster_top(vectors, examples, options, _native.Progress(), most_labels)
    subtrees = []
    for i in reversed(range(len(top["open_node"]))):  # in any order
        labels = top["open_label"][top["open_begin"][i] : top["open_begin"][i + 1]]
        place = top["open_n_seen"][i], top["open_depth"][i], top["open_seed"][i]
        progress = _native.Progress()
        of_node = as_features(vectors).take(labels.astype(np.int64))
        subtrees.append(_native.cluster_subtree(of_node, examples, options, labels, *place, progress))
        assert progress.done == progress.total == len(labels)
    joined = _native.join_subtrees(top["child_begin"], top["label"], top["open_node"], subtrees[::-1])
    return joined, top


def at_once(vectors: Any, examples: _native.Examples, how: dict[str, Any]) -> Any:
    return _native.cluster_labels(vectors, examples, _native.ClusteringOptions(**how), _native.Progress())


def assert_equal(found: Any, expected: Any) -> None:
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.dtype == theirs.dtype == np.int32
        np.testing.assert_array_equal(ours, theirs)


@given(
    st.integers(1, 60),
    st.fixed_dictionaries(
        {
            "arity": st.integers(2, 9),
            "max_leaves": st.integers(1, 8),
            "max_depth": st.sampled_from([0, 1, 2, 3, 5]),
            "frequent_share": st.sampled_from([0.0, 0.02, 0.2]),
            "balanced": st.booleans(),
            "even_levels": st.booleans(),
            "first_sample": st.sampled_from([1, 128]),
            "sample": st.sampled_from([1, 3, 2048]),
            "seed": st.integers(0, 2**64 - 1),
        }
    ),
    st.integers(0, 70),
    st.integers(0, 2**32 - 1),
    st.integers(1, 3),
)
@settings(max_examples=150)
def test_subtrees_make_the_tree(
    n_labels: int, how: dict[str, Any], most_labels: int, seed: int, n_threads: int
) -> None:
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(1, 80))
    X = sp.random(n_rows, 15, 0.3, "csr", np.float32, rng, data_rvs=lambda n: rng.normal(size=n) + 1)
    y = sp.csr_matrix(
        rng.random((n_rows, n_labels)) < rng.choice([0.02, 0.1])
    )  # some labels have no examples
    examples = examples_of(X, y)
    vectors = _native.label_vectors(examples, 0.0, 1, _native.Progress())
    expected = at_once(vectors, examples, how)
    found, top = in_parts(vectors, examples, how, most_labels, n_threads)
    assert_equal(found, expected)

    whole = LabelTree(*found)
    assert len(top["open_begin"]) == len(top["open_node"]) + 1
    sizes = np.diff(top["open_begin"])
    assert ((sizes > 0) & (sizes <= most_labels)).all()
    is_open = np.isin(np.arange(len(top["label"])), top["open_node"])
    np.testing.assert_array_equal(is_open, (top["label"] < 0) & (np.diff(top["child_begin"]) == 0))
    seen = np.diff(vectors.arrays()[0]) > 0
    for i, begin in enumerate(top["open_begin"][:-1]):
        labels = top["open_label"][begin : begin + sizes[i]]
        n_seen = top["open_n_seen"][i]
        assert seen[labels[:n_seen]].all()
        assert not seen[labels[n_seen:]].any()
    # What is not open is larger: no node that could be open was split.
    inner = np.flatnonzero((top["label"] < 0) & ~is_open)
    if len(inner) and most_labels:
        assert len(whole.labels_under(0)) > most_labels


def test_mapped_vectors_are_those_in_memory(tmp_path: Path) -> None:
    """They are of unit length and not scaled again: that might round them."""
    X, y = documents(250, 120, 70, seed=1)
    examples = examples_of(X, y)
    vectors = _native.label_vectors(examples, 0.05, 1, _native.Progress())
    mapped = []
    for name, array in zip(("begin", "index", "value"), vectors.arrays(), strict=True):
        array.tofile(tmp_path / name)
        mapped.append(np.memmap(tmp_path / name, array.dtype, "r"))
    given = _native.FeatureMatrix.csr(*mapped, vectors.n_features, False)
    how = {"arity": 4, "max_leaves": 3, "balanced": False, "frequent_share": 0.05}
    expected = at_once(vectors, examples, how)
    assert_equal(at_once(given, examples, how), expected)
    for most_labels in (1, 3, 10, 69, 70):
        found, top = in_parts(given, examples, how, most_labels)
        assert_equal(found, expected)
        assert len(top["open_node"]) == 1 if most_labels == 70 else len(top["open_node"]) != 1


class Problem:
    """Labels that could be clustered."""

    def __init__(self) -> None:
        X, y = documents(100, 60, 20, seed=1)
        self.examples = examples_of(X, y)
        self.vectors = _native.label_vectors(self.examples, 0.05, 1, _native.Progress())

    def below(self, labels: Any, n_seen: int, depth: int = 0, seed: int = 0, **how: Any) -> Any:
        options = _native.ClusteringOptions(arity=2, max_leaves=2, **how)
        labels = np.array(labels, dtype=np.int32)
        rows = [label if 0 <= label < 20 else 0 for label in labels.tolist()]
        return _native.cluster_subtree(
            as_features(self.vectors).take(np.array(rows, dtype=np.int64)),
            self.examples,
            options,
            labels,
            n_seen,
            depth,
            seed,
            _native.Progress(),
        )


@pytest.mark.parametrize(
    ("labels", "n_seen", "depth", "message"),
    [
        ([0, 20], 2, 0, "expected labels from 0 to 19, got 20"),
        ([-1, 3], 2, 0, "expected labels from 0 to 19, got -1"),
        ([2**31 - 1], 1, 0, "expected labels from 0 to 19, got 2147483647"),
        ([3, 4, 3], 3, 0, "expected every label once, got label 3 twice"),
        ([3, 4], 3, 0, "expected n_seen from 0 to the number of labels, 2, got 3"),
        ([3, 4], -1, 0, "expected n_seen from 0 to the number of labels, 2, got -1"),
        ([3, 4], 2, -1, "expected a depth from 0 to the number of labels, 20, got -1"),
        ([3, 4], 2, 2**31 - 1, "expected a depth from 0 to the number of labels, 20, got 2147483647"),
    ],
)
def test_open_nodes_that_are_wrong(labels: list[int], n_seen: int, depth: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Problem().below(labels, n_seen, depth)


def test_labels_that_are_seen_or_not_against_the_vectors() -> None:
    """A file may say anything: every label has a leaf all the same."""
    problem = Problem()
    for n_seen in range(21):
        child_begin, label = problem.below(range(20), n_seen)
        LabelTree(child_begin, label)
    for depth in (0, 1, 7, 20):
        LabelTree(*problem.below(range(20), 20, depth, max_depth=4))
    child_begin, label = problem.below([], 0)
    assert (child_begin.tolist(), label.tolist()) == ([1, 1], [-1])
    child_begin, label = problem.below([7], 1)
    assert (child_begin.tolist(), label.tolist()) == ([1, 2, 2], [-1, 7])


def test_refusals_of_the_top() -> None:
    problem = Problem()
    how = _native.ClusteringOptions(), _native.Progress()
    with pytest.raises(ValueError, match="most_labels must be 0 or more, got -1"):
        _native.cluster_top(problem.vectors, problem.examples, *how, -1)
    other = _native.label_vectors(problem.examples, 0.0, 1, _native.Progress(), 0, 19)
    with pytest.raises(ValueError, match="vectors must have one entry per label: expected 20, got 19"):
        _native.cluster_top(other, problem.examples, *how, 3)
    with pytest.raises(ValueError, match="vectors must have one entry per label: expected 3, got 19"):
        _native.cluster_subtree(
            as_features(other),
            problem.examples,
            how[0],
            np.arange(3, dtype=np.int32),
            3,
            0,
            0,
            _native.Progress(),
        )


def int32(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int32)


TOP = int32(1, 4, 4, 4, 4), int32(-1, 0, -1, -1)
OPEN = int32(2, 3)
FIRST, SECOND = (int32(1, 3, 3, 3), int32(-1, 2, 1)), (int32(1, 3, 4, 4, 4), int32(-1, -1, 3, 4))


def test_joined_by_hand() -> None:
    child_begin, label = _native.join_subtrees(*TOP, OPEN, [FIRST, SECOND])
    assert LabelTree(child_begin, label).to_nested() == [0, [2, 1], [[4], 3]]
    root = _native.join_subtrees(int32(1, 1), int32(-1), int32(0), [(*FIRST[:1], int32(-1, 1, 0))])
    assert LabelTree(*root).to_nested() == [1, 0]
    child_begin, label = _native.join_subtrees(int32(1, 1), int32(-1), int32(), [])
    assert (child_begin.tolist(), label.tolist()) == ([1, 1], [-1])


@pytest.mark.parametrize(
    ("top", "open_node", "subtrees", "message"),
    [
        (TOP, OPEN, [FIRST], "expected a subtree for each of the 2 open nodes, got 1"),
        (TOP, int32(3, 2), [FIRST, SECOND], "expected ascending open nodes below 4, got 2"),
        (TOP, int32(2, 2), [FIRST, SECOND], "expected ascending open nodes below 4, got 2"),
        (TOP, int32(2, 4), [FIRST, SECOND], "expected ascending open nodes below 4, got 4"),
        (TOP, int32(-1, 2), [FIRST, SECOND], "expected ascending open nodes below 4, got -1"),
        (TOP, int32(1, 2), [FIRST, SECOND], "without children and label, but node 1 has some"),
        (TOP, int32(0, 2), [FIRST, SECOND], "without children and label, but node 0 has some"),
        (TOP, int32(2), [FIRST], "node 3 must have either children or a label"),
        (TOP, OPEN, [FIRST, FIRST], "has a label that is out of range|at two leaves"),
        (TOP, OPEN, [SECOND, (*FIRST[:1], int32(-1, 3, 1))], "out of range|at two leaves"),
        (TOP, OPEN, [FIRST, (int32(1, 1), int32(-1))], "node 3 must have either children or a label"),
        (TOP, OPEN, [FIRST, (int32(1, 1), int32(3))], None),
        (TOP, OPEN, [FIRST, (int32(1, 1), int32(7))], "has a label that is out of range"),
        (TOP, OPEN, [FIRST, (int32(1, 2, 2), int32(3, 4))], "must have either children or a label"),
        (TOP, OPEN, [FIRST, (int32(1, 2), int32(-1, 3))], "subtree 1: expected child_begin with one more"),
        (TOP, OPEN, [FIRST, (int32(1), int32())], "subtree 1: expected child_begin with one more entry"),
        (TOP, OPEN, [FIRST, (int32(), int32())], "subtree 1: expected child_begin with one more entry"),
        (TOP, OPEN, [FIRST, (int32(1, 3, 3), int32(-1, 3))], "subtree 1: .*number of nodes, 2, got 1 to 3"),
        (TOP, OPEN, [FIRST, (int32(0, 2, 2), int32(-1, 3))], "subtree 1: .*, got 0 to 2"),
        (TOP, OPEN, [FIRST, (int32(1, 1, 2), int32(-1, 3))], "subtree 1: node 1 is not numbered breadth"),
        (TOP, OPEN, [FIRST, (int32(1, 9, 2), int32(-1, 3))], "subtree 1: node 1 is not numbered breadth"),
        ((int32(1, 3, 3, 3), TOP[1]), OPEN, [FIRST, SECOND], "the top: expected child_begin with one more"),
        ((int32(1, 4, 4, 9, 4), TOP[1]), OPEN, [FIRST, SECOND], "the top: node 3 is not numbered"),
    ],
)
def test_parts_that_do_not_fit(top: Any, open_node: Any, subtrees: Any, message: str | None) -> None:
    if message is None:  # a leaf in place of an open node is a tree, too
        LabelTree(*_native.join_subtrees(*top, open_node, subtrees))
        return
    with pytest.raises(ValueError, match=message):
        _native.join_subtrees(*top, open_node, subtrees)


def test_parts_that_are_no_arrays() -> None:
    for parts in ([FIRST, FIRST[0]], [FIRST, (*SECOND, 3)], [FIRST, 3]):
        with pytest.raises(TypeError, match="a subtree must be a tuple of child_begin and label"):
            _native.join_subtrees(*TOP, OPEN, parts)
    with pytest.raises(TypeError, match="label must be a C-contiguous array of int32"):
        _native.join_subtrees(*TOP, OPEN, [FIRST, (SECOND[0], SECOND[1].astype(np.int64))])
