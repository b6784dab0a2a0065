"""The section of label trees with linear node classifiers."""

from __future__ import annotations

from typing import Any

from labeltree.model.block_weights import (
    BLOCK_ARRAYS,
    DENSE_ARRAYS,
    FEATURE_ARRAYS,
    INDEX_ARRAYS,
    JOINT_ARRAYS,
    BlockWeights,
    n_columns,
)
from labeltree.model.linear_forest import LinearForest
from labeltree.model.reranked_forest import RerankedForest
from labeltree.model_file.directory import blaming
from labeltree.model_file.document import Draft, Stored, TensorPart
from labeltree.model_file.fields import StoredFile, stored_file
from labeltree.model_file.information import TreeInfo
from labeltree.model_file.sections import batch, calibration, label_classifiers
from labeltree.model_file.tensors import WEIGHT_DTYPES, Tensor
from labeltree.trees import LabelTree
from labeltree.wording import count_text

#: The entry in "files" by which such a model is recognised.
FILES = "trees"
#: Dense features and joint blocks came with this version of the format.
_DENSE_VERSION = 2
#: Packed features came with this version.
_PACKED_VERSION = 13


def write(draft: Draft, estimator: Any, *, weights: str | None = None) -> None:
    """Add a model; raises `ValueError` or `ModelFileError` if it cannot be saved."""
    model = estimator.model_
    forest = model.forest
    if not isinstance(forest, LinearForest | RerankedForest):
        raise ValueError(
            "a model with a node_estimator cannot be saved: the format holds numbers only, no Python objects; "
            "use pickle or joblib.dump"
        )
    forest.verify()  # it may have been loaded from a damaged file
    if weights is None:
        weights = forest.weights[0].weight_type  # as of all trees
    trees = [of_tree.with_weight_type(weights) for of_tree in forest.weights]
    batch.write(draft, estimator, model)
    draft.add(weights=weights)
    first, last = trees[0].dense_features
    if last > first:
        draft.add(_DENSE_VERSION, dense_features=[first, last])
    if any(tree.is_joint for tree in trees):
        draft.add(_DENSE_VERSION, joint_blocks=True)
    if any(tree.is_packed for tree in trees):
        trees = [tree.packed() for tree in trees]
        draft.add(_PACKED_VERSION, packed_features=True)
    calibration.write(draft, forest.calibration)
    if isinstance(forest, RerankedForest):
        judges = forest.judges.with_weight_type(weights)
        label_classifiers.write(draft, judges, forest.n_proposals, forest.least)
    draft.files[FILES] = [TensorPart(f"tree-{t}", _tensors(tree)) for t, tree in enumerate(trees)]


def _tensors(weights: BlockWeights) -> dict[str, Tensor]:
    tensors = {name: Tensor.of(values) for name, values in weights.arrays.items()}
    for name in tensors.keys() & {"weight", "dense_weight"}:
        tensors[name] = Tensor(WEIGHT_DTYPES[weights.weight_type], weights.arrays[name])
    tensors["child_begin"] = Tensor.of(weights.tree.child_begin)
    tensors["label"] = Tensor.of(weights.tree.label)
    return tensors


class LinearTrees:
    """The section as it is read."""

    def __init__(self, stored: Stored) -> None:
        fields = stored.fields
        self._stored = stored
        self.batch = batch.Batch(stored)
        self.weights = fields.choose("weights", tuple(WEIGHT_DTYPES))
        self.dense_features, self.joint_blocks = (0, 0), False
        if "dense_features" in fields:
            stored.needs(_DENSE_VERSION)
            self.dense_features = fields.feature_range("dense_features", self.batch.n_features, least=1)
        if "joint_blocks" in fields:
            self.joint_blocks = fields.take("joint_blocks", bool)
            stored.needs(_DENSE_VERSION if self.joint_blocks else 1)
        self.packed_features = False
        if "packed_features" in fields:
            self.packed_features = fields.take("packed_features", bool)
            stored.needs(_PACKED_VERSION if self.packed_features else 1)
        self.calibration = calibration.take(stored)
        self.judges = label_classifiers.take(stored)
        self.files = [
            stored_file(entry, f"tree-{number}")
            for number, entry in enumerate(stored.files.take(FILES, list))
        ]
        stored.finish()
        if not self.files or len(self.batch.reports) != len(self.files):
            raise ValueError("a model must have at least one tree, and a training_report for each")

    @property
    def n_dense(self) -> int:
        return self.dense_features[1] - self.dense_features[0]

    def tensors(self, file: StoredFile) -> dict[str, Tensor]:
        """Map the file of a tree, if it has the tensors it must have."""
        tensors = self._stored.tensors(file)
        features = INDEX_ARRAYS if self.packed_features else FEATURE_ARRAYS
        expected = {"child_begin", "label", *BLOCK_ARRAYS, *features}
        if self.n_dense > 0:
            expected |= set(DENSE_ARRAYS)
        if self.joint_blocks and "code_begin" in tensors:  # not all trees need have such blocks
            expected |= set(JOINT_ARRAYS)
        if self.weights != "int8":
            expected -= {"scale", "dense_scale", "code_scale"}
        with blaming(file.name):
            if tensors.keys() != expected:
                raise ValueError(f"expected the tensors {sorted(expected)}, got {sorted(tensors)}")
            for name in expected & {"weight", "dense_weight"}:
                if tensors[name].dtype != WEIGHT_DTYPES[self.weights]:
                    raise ValueError(
                        f"model.json says {self.weights} weights, but they are {tensors[name].dtype}"
                    )
        return tensors

    def tree(self, file: StoredFile) -> BlockWeights:
        """Map one tree."""
        arrays = {name: tensor.values for name, tensor in self.tensors(file).items()}
        with blaming(file.name):
            tree = LabelTree(arrays.pop("child_begin"), arrays.pop("label"))
            if tree.n_labels != self.batch.n_labels:
                raise ValueError(
                    f"model.json says {count_text(self.batch.n_labels, 'label')}, but the tree has {tree.n_labels}"
                )
        return BlockWeights(tree, arrays, self.dense_features)


def read(cls: type[Any], stored: Stored) -> Any:
    """Return the trained estimator."""
    section = LinearTrees(stored)
    weights = [section.tree(file) for file in section.files]
    trees = [of_tree.tree for of_tree in weights]
    estimator = section.batch.estimator(cls, trees)
    estimator.weights = section.weights
    n_features, link = (
        section.batch.n_features,
        estimator.link_of(estimator.kept_parameters().get("loss", "")),
    )
    forest: Any = _forest(section, weights, n_features, link, estimator.weight_of_trees(len(weights)))
    for file, store in zip(section.files, forest.stores, strict=True):
        if stored.verify:
            with blaming(file.name):
                store.verify()
    if section.calibration is not None:
        with blaming(section.calibration.file.name):
            forest = forest.calibrated(section.calibration.read(trees))
    if section.judges is not None:
        judges = section.judges.read(section.weights, section.dense_features, section.batch.n_labels)
        with blaming(section.judges.file.name):
            forest = RerankedForest(forest, judges, section.judges.n_proposals, section.judges.least)
            if stored.verify:
                forest.columns.verify()
    estimator.adopt(section.batch.model(estimator, forest, section.dense_features))
    if "loss" in section.batch.parameters:
        _restore_link(estimator, section.batch.parameters.get("link", "auto"))
    return estimator


def _restore_link(estimator: Any, stored: str) -> None:
    """Set the parameter `link` to "auto" if it stands for the stored link: other losses have other links.

    A file has the link by name, so that the model answers the same whatever "auto" means later.
    """
    link, estimator.link = estimator.link, "auto"
    if stored not in ("auto", estimator.link_of(estimator.loss)):
        estimator.link = link


def _forest(
    section: LinearTrees, weights: list[BlockWeights], n_features: int, link: str, tree_weight: list[float]
) -> LinearForest:
    try:
        return LinearForest(weights, n_features, link, tree_weight)
    except ValueError:
        for file, of_tree in zip(section.files, weights, strict=True):
            with blaming(file.name):  # says which file is at fault
                of_tree.store(n_features, link)
        raise


def describe(stored: Stored) -> dict[str, Any]:
    """Return the entries of `ModelInfo` that only this section knows."""
    section = LinearTrees(stored)
    trees = []
    for file in section.files:
        arrays = {name: tensor.values for name, tensor in section.tensors(file).items()}
        n_dense_weights = section.n_dense * n_columns(arrays["child_begin"], arrays)
        trees.append(
            TreeInfo(
                n_nodes=arrays["label"].size,
                n_inner_nodes=arrays["block_entry_begin"].size - 2,
                n_weights=arrays["weight"].size + n_dense_weights,
                n_bytes=file.n_bytes,
            )
        )
    judges = section.judges
    if judges is not None:
        judges.tensors(section.weights, section.n_dense > 0)  # refuses tensors of another kind
    method = None if section.calibration is None else section.calibration.method
    return {
        **section.batch.describe(),
        "dense_features": section.dense_features,
        "weights": section.weights,
        "trees": trees,
        "calibration": method,
        "rerank": 0 if judges is None else judges.n_proposals,
    }
