"""What a classifier does with its tree parameters: says how trees are made, and makes one without training it."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from labeltree.labels import check_rows, read_labels
from labeltree.progress import phases
from labeltree.trees import LabelTree
from labeltree.trees.recipe import TreeRecipe
from labeltree.validation import check_features, check_sample_weight, n_threads


class TreeBuilding:
    """The part of `LabelTreeClassifier` that is about its trees, and not yet about learning."""

    n_trees: int
    normalize: bool
    n_jobs: int | None
    random_state: Any
    verbose: int

    @abstractmethod
    def _check_parameters(self) -> None: ...

    def build_tree(self, X: Any, y: Any, sample_weight: Any = None) -> LabelTree:
        """Return the first tree that `fit` would train on these examples, without training it.

        Examples
        --------
        >>> from labeltree import LabelTreeClassifier
        >>> LabelTreeClassifier(tree="huffman", arity=2).build_tree([[1], [2], [3]], [["a"], ["b"], ["a", "c"]]).depth
        2
        """
        self._check_parameters()
        features = check_features(copy(self), X, normalize=self.normalize, reset=True)
        labels = read_labels(y)
        check_rows(features.n_rows, labels)
        weight = check_sample_weight(sample_weight, labels.n_rows)
        recipe = self._tree_recipe().for_each(self.n_trees)[0]
        recipe.check(labels.n_labels)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=1)[0])
        grow = partial(recipe.grow, features, labels, weight, seed, n_threads(self.n_jobs))
        with phases(self.verbose) as shown:
            return shown.run(recipe.describe(labels.n_labels), grow)

    def _tree_recipe(self) -> TreeRecipe:
        return TreeRecipe(**{field.name: getattr(self, field.name) for field in fields(TreeRecipe)})
