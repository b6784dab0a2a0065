"""Conversions between online models and batch models."""

from __future__ import annotations

from typing import Any

import numpy as np

from labeltree import _native
from labeltree.classifier import LabelTreeClassifier
from labeltree.labels.label_index import LabelIndex
from labeltree.model.block_weights import BlockWeights
from labeltree.model.feature_reader import FeatureReader
from labeltree.model.linear_forest import LinearForest
from labeltree.model.model import Model, TrainingRecord
from labeltree.online.feature_space import FeatureSpace
from labeltree.online.growing_model import GrowingModel
from labeltree.online.label_table import LabelTable
from labeltree.online.settings import OnlineSettings


def freeze(model: GrowingModel, prune: float, **parameters: Any) -> LabelTreeClassifier:
    """Return a batch classifier with the weights of an online model, except those below `prune`."""
    with model.reading():
        settings, classes, kind = model.settings, model.label_index.classes, model.label_kind
        frozen_trees = model.forest.freeze(prune)
        counts, n_examples, decision = model.label_counts, model.n_samples_fit, model.decision
        n_features, names = model.n_features, model.features.names
        column_names, label_names = model.feature_names, model.label_names
    shapes = [shape for shape, _ in frozen_trees]
    frozen = LabelTreeClassifier(
        n_trees=len(shapes),
        tree=shapes[0] if len(shapes) == 1 else shapes,
        loss=settings.loss,
        link=settings.link,
        solver=settings.solver,
        learning_rate=settings.learning_rate,
        **(
            {"rate_schedule": "constant", "initial_accumulator": settings.initial_accumulator}
            if settings.solver == "adagrad"
            else {"regularization": settings.regularization}
        ),
        prune=prune,
        normalize=settings.normalize,
        bias=settings.bias,
        **{"weights": "float32", **parameters},
    )
    frozen.check_parameters(training=False)
    if names:
        column_names = np.array(names, dtype=object)
    reader = FeatureReader("LabelTreeClassifier", settings.normalize, max(n_features, 1), column_names)
    weights = [
        BlockWeights.from_training(shape, arrays).with_weight_type(frozen.weights)
        for shape, arrays in frozen_trees
    ]
    forest = LinearForest(weights, reader.n_features, settings.link)
    record = TrainingRecord([{}] * len(shapes), frozen.kept_parameters())
    return frozen.adopt(
        Model(
            forest,
            reader,
            LabelIndex(classes),
            kind,
            counts,
            n_examples,
            record,
            decision,
            label_names=label_names,
        )
    )


def thaw(trained: Model, settings: OnlineSettings) -> GrowingModel:
    """Return an online model that starts from trained weights."""
    if settings.hashes_names:
        raise ValueError(
            f"a trained model has a weight for every feature, but weights={settings.weights!r} shares weights between "
            "features: use weights='map' or weights='dense'"
        )
    forest = trained.forest
    if not isinstance(forest, LinearForest) or any(of_tree.is_joint for of_tree in forest.weights):
        raise ValueError("only a model with one linear classifier for each node can learn more examples")
    if len(set(forest.tree_weight)) > 1:
        raise ValueError("online trees count the same in the mean: leave tree_weight of the model at None")
    trees = [
        _native.OnlineTree.from_store(settings.options(), policy, store)
        for policy, store in zip(settings.tree_policies(), forest.stores, strict=True)
    ]
    classes = trained.label_index.classes
    columns: Any = range(0)
    if trained.label_kind in ("csr", "dense"):
        columns = range(len(classes)) if classes.dtype.kind == "i" else classes.tolist()
    labels = LabelTable(trained.label_kind, classes.tolist(), columns)
    features = FeatureSpace(False, trained.n_features, column_names=trained.feature_names)
    model = GrowingModel(settings, trees, labels, features, label_names=trained.label_names)
    return model.deciding(trained.decision)
