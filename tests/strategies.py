"""Hypothesis strategies that several tests share."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from tests.hand_made_models import hand_made_classifier, random_tree_weights

from labeltree import LabelTreeClassifier
from labeltree.trees import LabelTree


@st.composite
def nested_labels(draw: st.DrawFn, max_labels: int = 12, min_labels: int = 1) -> list[Any]:
    """Nested lists with the labels 0 to m - 1, each once: trees of any shape, unary nodes included."""
    n_labels = draw(st.integers(min_labels, max_labels))
    siblings: list[Any] = draw(st.permutations(range(n_labels)))
    # Runs of siblings are put under a new parent, again and again; without any, the tree is flat.
    for _ in range(draw(st.integers(0, n_labels))):
        start = draw(st.integers(0, len(siblings) - 1))
        stop = draw(st.integers(start + 1, len(siblings)))
        siblings = [*siblings[:start], siblings[start:stop], *siblings[stop:]]
    return siblings


def label_trees(max_labels: int = 12, min_labels: int = 1) -> st.SearchStrategy[LabelTree]:
    """Label trees of any shape with at most ``max_labels`` labels."""
    return nested_labels(max_labels, min_labels).map(LabelTree.from_nested)


def label_rows(n_labels: int, max_rows: int = 8) -> st.SearchStrategy[list[list[int]]]:
    """The labels of some rows: sorted, without repetition, and sometimes none."""
    row = st.sets(st.integers(0, n_labels - 1), max_size=6).map(sorted)
    return st.lists(row, max_size=max_rows)


def label_weights(n_labels: int) -> st.SearchStrategy[np.ndarray]:
    """Weights of labels: few different ones, so that many labels tie, or any."""
    one = st.sampled_from([0.0, 0.5, 1.0, 2.0]) | st.floats(0, 1e300)
    return st.lists(one, min_size=n_labels, max_size=n_labels).map(np.array)


@st.composite
def models_and_rows(
    draw: st.DrawFn, n_trees: st.SearchStrategy[int] | None = None, **parameters: Any
) -> tuple[LabelTreeClassifier, np.ndarray]:
    """A model of random trees and weights, one tree unless told otherwise, and four rows to ask it about."""
    trees = [draw(label_trees())]
    for _ in range(0 if n_trees is None else draw(n_trees) - 1):
        trees.append(draw(label_trees(trees[0].n_labels, trees[0].n_labels)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_features = draw(st.sampled_from([1, 5, 60]))
    weight_type = draw(st.sampled_from(["float32", "bfloat16", "int8"]))
    column_type = draw(st.sampled_from([np.uint8, np.uint16, np.uint32]))
    weights = [random_tree_weights(tree, n_features, rng, weight_type, 0.5, column_type) for tree in trees]
    link = draw(st.sampled_from(["sigmoid", "sigmoid2", "clip", "exp2", "exp3", "exp4", "exp5"]))
    parameters = {"normalize_siblings": draw(st.booleans()), **parameters}
    if len(trees) > 1:
        weight = st.floats(0.125, 8)
        parameters["tree_weight"] = draw(
            st.none() | st.lists(weight, min_size=len(trees), max_size=len(trees))
        )
    # Rows of no, few and all features.
    X = rng.normal(size=(4, n_features)) * (np.arange(n_features) < [[0], [1], [3], [n_features]])
    model = hand_made_classifier(weights, n_features, link, **parameters)
    return model, rng.permuted(X, axis=1).astype(np.float32)
