"""What an ensemble of trees over examples can be asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from labeltree import _native
from labeltree.model.explanation import Contribution, Step
from labeltree.prediction import LabelTreePredictor
from labeltree.rivals.fastxml.example_trees import TREE_ARRAYS, ExampleTrees, TreeShape
from labeltree.trees import LabelTree
from labeltree.validation import check_features

_Predictor = TypeVar("_Predictor", bound="ExampleTreePredictor")

_NO_LABEL_TREE = (
    "the trees of this model divide examples, not labels: there is no label tree; see `example_trees_`"
)


class ExampleTreePredictor(LabelTreePredictor):
    """The questions, answered by the leaves that a row falls into."""

    # There is one way through a tree, and nothing is missing: what label trees can be told here has no use.
    search = "exact"
    missing_estimates = "zero"
    normalize_siblings = False
    tree_weight = None

    example_trees_: ExampleTrees

    @property
    def tree_(self) -> LabelTree:
        """There is none: this says so, as an `AttributeError`."""
        raise AttributeError(_NO_LABEL_TREE)

    @property
    def trees_(self) -> list[LabelTree]:
        """There are none: this says so, as an `AttributeError`."""
        raise AttributeError(_NO_LABEL_TREE)

    @property
    def dense_features_(self) -> tuple[int, int]:
        """The range of features that came as dense ones: the first of them and the one after the last."""
        return self.example_trees_.dense_features

    def calibrate(
        self: _Predictor, X: Any, y: Any, *, method: str = "isotonic", random_state: int = 0
    ) -> NoReturn:
        """Not possible: raises `ValueError`, for there are no node probabilities that could be calibrated."""
        raise ValueError(
            f"{type(self).__name__} cannot be calibrated: its trees divide examples, and there are no probabilities of "
            "nodes; decide_for finds thresholds for its scores as they are"
        )

    def _check_trained(self) -> None:
        check_is_fitted(self, "example_trees_")

    @property
    def _is_one_tree(self) -> bool:
        return True  # all are asked for all their labels: the best is the best of all

    @property
    def _has_node_estimators(self) -> bool:
        return False

    def _weights_of_trees(self) -> list[float]:
        return [1.0] * self.example_trees_.n_trees

    def _tree_arrays(self) -> Mapping[str, str]:
        """The arrays that a model of this class has, and their types."""
        return TREE_ARRAYS

    def _tree_shapes(self) -> Sequence[TreeShape]:
        return self.example_trees_.shapes()

    def _features(self, X: Any) -> _native.FeatureMatrix:
        if isinstance(X, _native.FeatureMatrix):  # whoever made it knows what this model takes
            return X
        self._check_trained()
        return check_features(
            self, X, normalize=self.normalize_, reset=False, dense_features=self.dense_features_
        )

    def _native_forest(self) -> _native.ExampleForest:
        """The kernel's view of the trees, with what else is asked beside them."""
        return self.example_trees_.forest()

    def _forest_key(self) -> tuple[float, ...]:
        """The parameters that the kernel's view depends on."""
        return ()

    def _forest(self) -> _native.Forest:
        key = self._forest_key()
        cached = self.__dict__.get("_cached_forest")
        if cached is None or cached[0] != key:
            forest = self._native_forest()
            cached = self.__dict__["_cached_forest"] = (key, forest)
        return cast("_native.Forest", cached[1])  # it answers the same calls

    def _enumeration(
        self, features: _native.FeatureMatrix, allowed: NDArray[np.uint8] | None
    ) -> Iterator[tuple[int, float]]:
        found = _native.Enumeration(self._forest(), features, 0, _native.Search(1, allowed=allowed))
        return iter(found.next, None)

    def _paths(
        self,
        features: _native.FeatureMatrix,
        index: int,
        n_features: int,
        feature_names: Sequence[str] | None,
    ) -> list[list[Step]]:
        """The way through every tree: certain at every separator, and in the end what the leaf says of the label."""
        # The kernel goes the same way first, and raises where the file of the model is damaged.
        self._forest().pairs(
            features,
            np.zeros(1, np.int64),
            np.array([index], np.int32),
            _native.Search(1),
            np.empty(1, np.float32),
        )
        values = dict(zip(*(array.tolist() for array in features.row(0)), strict=True))
        trees = self.example_trees_
        return [_path(trees, tree, values, index, n_features, feature_names) for tree in range(trees.n_trees)]


def _path(
    trees: ExampleTrees,
    tree: int,
    values: dict[int, float],
    label: int,
    n_features: int,
    feature_names: Sequence[str] | None,
) -> list[Step]:
    first = int(trees.arrays["tree_begin"][tree])
    steps = [Step(0, trees.n_labels_below(first), 0.0, 1.0, 1.0, 0.0, ())]
    for split in trees.splits(tree, values):
        known = [
            Contribution(
                feature if feature_names is None else feature_names[feature],
                values[feature],
                split.sign * weight,
            )
            for feature, weight in zip(*trees.separator(split.node), strict=True)
            if feature in values
        ]
        known.sort(key=lambda contribution: -abs(contribution.amount))
        bias = split.sign * float(trees.arrays["bias"][split.node])
        steps.append(
            Step(
                split.child - first,
                trees.n_labels_below(split.child),
                split.score,
                1.0,
                1.0,
                bias,
                tuple(known[:n_features]),
            )
        )
    leaf, last = first + steps[-1].node, steps[-1]
    labels, probabilities = trees.leaf(leaf)
    share = float(probabilities[labels == label].sum())
    steps[-1] = Step(last.node, last.n_labels, last.score, share, share, last.bias, last.contributions)
    return steps
