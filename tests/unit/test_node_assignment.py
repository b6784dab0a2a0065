"""Which examples train which nodes: the kernel against algorithms 1 and 2, line by line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.documents import documents
from tests.kernel import positive_rows
from tests.reference.assignment import training_sets
from tests.strategies import label_rows, label_trees

from labeltree import LabelTree, LabelTreeClassifier

pytestmark = pytest.mark.native


@given(label_trees(), st.sampled_from([1, 2, 3, 8]), st.data())
def test_positive_and_negative_examples_of_every_node(
    tree: LabelTree, n_threads: int, data: st.DataObject
) -> None:
    rows = data.draw(label_rows(tree.n_labels))
    found = positive_rows(tree, rows, n_threads)
    for v, examples in enumerate(training_sets(tree, rows)):
        seen = range(len(rows)) if v == 0 else found[tree.parent[v]]
        positive = set(found[v])
        assert [(i, int(i in positive)) for i in seen] == sorted(examples)
        assert found[v] == sorted(positive)


def test_the_order_of_labels_does_not_matter() -> None:
    tree = LabelTree.from_nested([[0, 1], [2, 3], 4])
    assert positive_rows(tree, [[3, 0, 1], [4, 2]], 2) == positive_rows(tree, [[0, 1, 3], [2, 4]], 1)


@pytest.mark.parametrize("unlabelled", [0.0, 0.3])
def test_nodes_with_examples_of_one_kind_are_constant(unlabelled: float) -> None:
    """They need no training: P is 1 where all examples are positive, 0 where none is."""
    X, y = documents(60, 40, 30, unlabelled=unlabelled)
    model = LabelTreeClassifier(arity=2, max_leaves=3, random_state=0).fit(X, y)
    tree, weights = model.tree_, model.weights_[0]
    classes = [
        {z for _, z in examples}
        for examples in training_sets(tree, [y[[i]].indices.tolist() for i in range(60)])
    ]
    report = model.training_report_[0]
    assert report["n_columns"] == sum(len(z) == 2 for z in classes)
    assert report["n_constant"] == sum(len(z) < 2 for z in classes)
    for bias, z in zip(weights.arrays["bias"], classes, strict=True):
        if len(z) < 2:
            assert bias == (1000 if z == {1} else -1000)
    assert (classes[0] == {1}) == (unlabelled == 0)
    assert model.predict_topk(X, k=30).probabilities.max() <= 1
