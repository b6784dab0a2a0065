"""The section of trees over examples: FastXML and PfastreXML."""

from __future__ import annotations

from typing import Any

import numpy as np

from labeltree.model_file.directory import blaming
from labeltree.model_file.document import Draft, Stored, TensorPart
from labeltree.model_file.information import TreeInfo
from labeltree.model_file.sections import batch
from labeltree.model_file.tensors import Tensor
from labeltree.rivals.fastxml.example_trees import MEAN_ARRAYS, TREE_ARRAYS, ExampleTrees
from labeltree.rivals.fastxml.forest import ExampleForest
from labeltree.wording import with_article

#: The entry in "files" by which such a model is recognised.
FILES = "example_trees"
#: The version of the format of such models, whatever other sections of versions 1 to 7 they have.
VERSION = 5


def write(draft: Draft, estimator: Any) -> None:
    """Add a model; raises `ModelFileError` if it was loaded from a damaged file."""
    model = estimator.model_
    model.forest.verify()
    trees = model.forest.example_trees
    batch.write(draft, estimator, model)
    draft.add(dense_features=list(trees.dense_features))
    draft.version = _version(draft.version)
    tensors = {name: Tensor.of(values) for name, values in trees.arrays.items()}
    draft.files[FILES] = TensorPart("example-trees", tensors)


def _version(other_sections: int) -> int:
    return VERSION if other_sections <= 7 else other_sections


class _ExampleTrees:
    """The section as it is read."""

    def __init__(self, stored: Stored) -> None:
        self._stored = stored
        self.batch = batch.Batch(stored)
        self.dense_features = stored.fields.feature_range("dense_features", self.batch.n_features)
        self.file = stored.files.file(FILES, "example-trees")
        stored.needed_version = _version(stored.needed_version)
        stored.finish()

    def trees(self) -> ExampleTrees:
        """Map the trees, if they have the tensors they must have."""
        tensors = self._stored.tensors(self.file)
        expected = TREE_ARRAYS | (MEAN_ARRAYS if "mean_begin" in tensors else {})
        with blaming(self.file.name):
            if tensors.keys() != expected.keys():
                raise ValueError(f"expected the tensors {sorted(expected)}, got {sorted(tensors)}")
            for name, kind in expected.items():
                values = tensors[name].values
                if values.ndim != 1 or values.dtype != np.dtype(kind):
                    raise ValueError(
                        f"{name} must be of one dimension and of type {kind}, got {values.dtype} of shape "
                        f"{values.shape}"
                    )
        arrays = {name: tensor.values for name, tensor in tensors.items()}
        return ExampleTrees(arrays, self.batch.n_labels, self.batch.n_features, self.dense_features)


def read(cls: type[Any], stored: Stored) -> Any:
    """Return the trained estimator."""
    section = _ExampleTrees(stored)
    estimator = section.batch.estimator(cls, [])
    trees = section.trees()
    with blaming(section.file.name):
        reranking = estimator.reranking()
        expected = TREE_ARRAYS | (MEAN_ARRAYS if reranking is not None else {})
        if trees.arrays.keys() != expected.keys():
            raise ValueError(
                f"these are not the tensors of {with_article(cls.__name__)}: {sorted(trees.arrays)}"
            )
        forest = ExampleForest(trees, reranking)  # the kernel checks the shape of the trees
        if not trees.n_trees == len(section.batch.reports) == estimator.n_trees:
            raise ValueError("there are not as many trees as model.json says")
        if stored.verify:
            forest.verify()
    return estimator.adopt(section.batch.model(estimator, forest, section.dense_features))


def describe(stored: Stored) -> dict[str, Any]:
    """Return the entries of `ModelInfo` that only this section knows."""
    section = _ExampleTrees(stored)
    trees = section.trees()
    with blaming(section.file.name):
        trees.forest()  # the kernel checks the shape of the trees
        begin = trees.arrays["tree_begin"]
        n_weights = np.diff(trees.arrays["weight_begin"][begin])
        n_pairs = np.diff(trees.arrays["pair_begin"][begin])
    return {
        **section.batch.describe(),
        "dense_features": section.dense_features,
        "weights": "float32",
        "trees": [
            TreeInfo(
                n_nodes=int(nodes),
                n_inner_nodes=int(nodes - 1) // 2,
                n_weights=int(weights),
                n_bytes=int(24 * nodes + 8 * (weights + pairs)),
            )
            for nodes, weights, pairs in zip(np.diff(begin), n_weights, n_pairs, strict=True)
        ],
    }
