"""The trees of networks: flat for few labels, else shallow and wide."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.labels.reading import LabelRows
from labeltree.model.feature_reader import FeatureReader
from labeltree.model.texts import Text
from labeltree.text.vectorizer import TextVectorizer
from labeltree.training.examples import Examples
from labeltree.training.run import Run
from labeltree.trees import LabelTree
from labeltree.trees.recipe import TreeRecipe

#: Up to this many labels, "auto" is a flat tree: all of them are scored for every text.
FLAT_LABELS = 20_000
#: A level of clusters that would be wider than this becomes two levels.
WIDEST_LEVEL = 1 << 14


def grow_tree(
    recipe: TreeRecipe,
    texts: list[Text],
    labels: LabelRows,
    sample_weight: NDArray[np.float32] | None,
    seed: int,
    run: Run,
) -> LabelTree:
    """Return the tree of a recipe; its word "auto" stands for a flat tree, or a wide one if there are many labels.

    A wide tree has clusters of at most `recipe.max_leaves` labels, made by balanced 2-means as in AttentionXML. They
    are the children of the root, or of clusters of clusters if there are very many.
    """
    layers = 1
    if isinstance(recipe.tree, str) and recipe.tree == "auto":
        recipe, layers = _auto(recipe, labels.n_labels)
    recipe.check(labels.n_labels)
    X: Any = np.zeros((labels.n_rows, 1), dtype=np.float32)  # for a tree that does not look at texts
    if recipe.clusters:
        X = TextVectorizer(n_jobs=run.n_threads).fit_transform(texts)
    _, features = FeatureReader.learn("tree", X, True)
    return recipe.grow(Examples(features, labels, sample_weight), seed, run).collapse(layers)


def _auto(recipe: TreeRecipe, n_labels: int) -> tuple[TreeRecipe, int]:
    """Return the recipe that "auto" stands for, and how many layers of its tree are merged into one."""
    if n_labels <= max(FLAT_LABELS, recipe.max_leaves):
        return replace(recipe, tree="flat"), 1
    n_splits = math.ceil(math.log2(n_labels / recipe.max_leaves))
    # With this size all clusters come after the same number of splits.
    largest = math.ceil(n_labels / 2**n_splits)
    n_levels = math.ceil(n_splits / math.log2(WIDEST_LEVEL))
    return replace(recipe, tree="kmeans", arity=2, max_leaves=largest), math.ceil(n_splits / n_levels)
