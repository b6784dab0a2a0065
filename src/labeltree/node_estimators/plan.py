"""Training of trees with scikit-learn classifiers in their nodes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labeltree import sparse as sp
from labeltree.mapped_rows import MappedRows
from labeltree.model.feature_reader import FeatureReader
from labeltree.model.forest import Forest
from labeltree.model.model import Reader
from labeltree.model.texts import Text
from labeltree.node_estimators.estimators import EstimatorFeatures, NodeEstimators, fit_node_estimators
from labeltree.node_estimators.forest import EstimatorForest
from labeltree.training.examples import Examples
from labeltree.training.run import Run
from labeltree.training.tree_plan import NodeLearner, TreePlan
from labeltree.trees import LabelTree
from labeltree.validation import is_empty, is_pair

if TYPE_CHECKING:
    from labeltree.text.features import TextFeatures


@dataclass(frozen=True, eq=False)
class EstimatorReader(FeatureReader):
    """Reads X for node estimators: a CSR matrix or an array; a pair becomes one sparse matrix."""

    def read(self, X: Any) -> Any:
        from sklearn.preprocessing import normalize
        from sklearn.utils.validation import validate_data

        if isinstance(X, EstimatorFeatures):
            return X
        if isinstance(X, MappedRows):
            X = X.matrix()
        if is_pair(X):
            X = sp.hstack([sp.csr_matrix(part) for part in X], format="csr")
        if is_empty(X):
            X = np.empty((0, self.n_features), dtype=np.float32)
        X = validate_data(
            self.checked,
            X,
            reset=False,
            accept_sparse="csr",
            dtype=[np.float32, np.float64],
            ensure_min_samples=0,
        )
        return EstimatorFeatures(normalize(X) if self.normalize and X.shape[0] > 0 else X)

    def read_texts(self, features: TextFeatures, texts: Iterable[Text], n_threads: int) -> Any:
        return self.read(features.transform(texts, n_threads))

    def read_csr(
        self, indptr: NDArray[Any], indices: NDArray[Any], values: NDArray[Any], n_features: int
    ) -> Any:
        return self.read(sp.csr_matrix((values, indices, indptr), shape=(len(indptr) - 1, n_features)))


@dataclass(frozen=True)
class EstimatorLearner(NodeLearner):
    """Trains a copy of a scikit-learn classifier in every node."""

    estimator: Any
    n_jobs: int | None

    def train(
        self, tree: LabelTree, examples: Examples, seed: int, run: Run
    ) -> tuple[NodeEstimators, dict[str, int]]:
        X = reader_of(examples).read(examples.X).X
        return fit_node_estimators(self.estimator, tree, X, examples, seed, self.n_jobs, run)


class EstimatorPlan(TreePlan):
    """A plan for trees with scikit-learn classifiers in their nodes."""

    def make_forest(self, nodes: list[Any], examples: Examples) -> tuple[Forest, Reader | None]:
        return EstimatorForest(nodes, self.tree_weight), reader_of(examples)


def reader_of(examples: Examples) -> EstimatorReader:
    """Return the reader of X for node estimators; it has the features of the examples' reader."""
    reader = examples.reader
    assert reader is not None
    return EstimatorReader(
        reader.owner, reader.normalize, reader.n_features, reader.names, reader.dense_features
    )
