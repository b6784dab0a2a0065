"""Hierarchical softmax by the book: every example once for each of its labels, and scikit-learn at every node."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from labeltree.trees import LabelTree


def pick_one_label(
    y: sp.csr_matrix, sample_weight: NDArray[np.float64] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """The multi-class examples: which row each is of, its label and its weight."""
    counts = np.diff(y.indptr)
    rows = np.repeat(np.arange(y.shape[0]), counts)
    weight = np.ones(y.shape[0]) if sample_weight is None else sample_weight
    return rows, y.indices.astype(np.int64), (weight[rows] / counts[rows])


@dataclass
class HierarchicalSoftmax:
    """Fitted on rows that are scaled as they are to be."""

    tree: LabelTree
    C: float
    bias: bool = True
    tol: float = 1e-10

    def fit(self, X: Any, y: sp.csr_matrix, sample_weight: NDArray[np.float64] | None = None) -> Any:
        X = self._with_bias(X)
        rows, labels, weight = pick_one_label(y, sample_weight)
        child_of: list[dict[int, int]] = [{} for _ in range(self.tree.n_nodes)]  # of a node, by label
        for label in range(self.tree.n_labels):
            path = self.tree.path(label).tolist()
            for parent, child in pairwise(path):
                child_of[parent][label] = child
        self.models: dict[int, Any] = {}
        for node in self.tree.inner_nodes.tolist():
            here = np.flatnonzero([label in child_of[node] for label in labels])
            classes = np.array([child_of[node][label] for label in labels[here]])
            if len(set(classes)) < 2:
                self.models[node] = int(classes[0]) if len(classes) else None
                continue
            model = LogisticRegression(C=self.C, fit_intercept=False, tol=self.tol, max_iter=100_000)
            self.models[node] = model.fit(X[rows[here]], classes, weight[here])
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        X = self._with_bias(X)
        node_probability = np.zeros((X.shape[0], self.tree.n_nodes))
        node_probability[:, 0] = 1
        for node in self.tree.inner_nodes.tolist():
            children = np.arange(self.tree.child_begin[node], self.tree.child_begin[node + 1])
            of_child = np.zeros((X.shape[0], self.tree.n_nodes))
            model = self.models[node]
            if model is None:
                of_child[:, children] = 1 / len(children)
            elif isinstance(model, int):
                of_child[:, model] = 1
            else:
                of_child[:, model.classes_] = model.predict_proba(X)
            node_probability[:, children] = node_probability[:, [node]] * of_child[:, children]
        leaves = np.flatnonzero(self.tree.label >= 0)
        probabilities = np.empty((X.shape[0], self.tree.n_labels))
        probabilities[:, self.tree.label[leaves]] = node_probability[:, leaves]
        return probabilities

    def _with_bias(self, X: Any) -> Any:
        return sp.hstack([X, np.full((X.shape[0], 1), float(self.bias))]).tocsr()
