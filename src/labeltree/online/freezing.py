"""From an online tree to a model that only answers, and from a trained model to one that learns on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree import _native
from labeltree.classifier import LabelTreeClassifier
from labeltree.model.block_weights import TreeWeights
from labeltree.online.feature_space import FeatureSpace
from labeltree.online.growing_model import GrowingModel, OnlineSettings
from labeltree.online.label_table import LabelTable
from labeltree.trees import LabelTree


def shape_of(model: GrowingModel) -> LabelTree:
    """The tree, breadth first, labels being positions in `classes_`."""
    classes = model.labels.classes
    return frozen_tree(model.tree, model.labels.position, len(classes), np.inf)[0]


def frozen_tree(
    tree: _native.OnlineTree, position: NDArray[np.int32], n_classes: int, prune: float
) -> tuple[LabelTree, dict[str, Any]]:
    """The tree, breadth first, labels being positions in `classes_`, and the arrays of its blocks."""
    if tree.n_labels == 0:
        raise ValueError("no example so far had a label: there is no tree yet")
    arrays: dict[str, Any] = tree.freeze(prune, position.tolist(), n_classes)
    shape = LabelTree(arrays.pop("child_begin"), arrays.pop("label"))
    return shape, arrays


def freeze(model: GrowingModel, prune: float, **parameters: Any) -> LabelTreeClassifier:
    """A classifier with the weights of the model, those below `prune` left out."""
    with model.lock.reading():
        settings, classes = model.settings, model.labels.classes
        shape, arrays = frozen_tree(model.tree, model.labels.position, len(classes), prune)
        counts = np.zeros(len(classes), dtype=np.int64)
        counts[model.labels.position] = model.tree.label_counts
        n_examples = int(model.tree.n_examples)
        n_features, names = model.features.n_features, model.features.names
        column_names = model.features.column_names
        kind = model.labels.kind
    frozen = LabelTreeClassifier(
        tree=shape,
        loss=settings.loss,
        link=settings.link,
        solver=settings.solver,
        learning_rate=settings.learning_rate,
        regularization=settings.regularization if settings.solver != "adagrad" else None,
        prune=prune,
        normalize=settings.normalize,
        bias=settings.bias,
        **parameters,
    )
    frozen._check_parameters()
    assert kind is not None
    frozen.classes_ = classes
    frozen.label_kind_ = kind
    frozen.label_counts_ = counts
    frozen.n_samples_fit_ = n_examples
    frozen.n_features_in_ = max(n_features, 1)
    if names:
        column_names = np.array(names, dtype=object)
    if column_names is not None:
        frozen.feature_names_in_ = column_names
    frozen.weights_ = [TreeWeights.from_training(shape, arrays)]
    frozen._keep_report([{}])
    frozen._renew_caches()
    return frozen


def thaw(trained: LabelTreeClassifier, settings: OnlineSettings) -> GrowingModel:
    """A model that goes on from trained weights."""
    if settings.hashes_names:
        raise ValueError(
            f"a trained model has a weight for every feature, which weights={settings.weights!r} cannot keep apart: "
            "use weights='map' or weights='dense'"
        )
    if len(trained.weights_) != 1:
        raise ValueError(
            f"an online tree is one tree, but the model has {len(trained.weights_)}: train it with n_trees=1"
        )
    if trained._has_node_estimators or trained.weights_[0].is_joint:
        raise ValueError("only linear classifiers, one for each node, can learn on")
    store = trained._forest_and_stores()[1][0]
    tree = _native.OnlineTree.from_store(settings.options(), settings.tree_policy(), store)
    classes = trained.classes_.tolist()
    is_matrix = trained.label_kind_ in ("csr", "dense")
    columns: Any = range(0)
    if is_matrix:
        columns = range(len(classes)) if trained.classes_.dtype.kind == "i" else classes
    labels = LabelTable(trained.label_kind_, classes, columns)
    features = FeatureSpace(
        False, trained.n_features_in_, column_names=getattr(trained, "feature_names_in_", None)
    )
    return GrowingModel(settings, tree, labels, features)
