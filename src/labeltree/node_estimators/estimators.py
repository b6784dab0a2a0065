"""Any scikit-learn classifier in the nodes of a tree: slower than the kernel's own, and free to be anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from labeltree import _native
from labeltree.exchange import NodeBlocks
from labeltree.labels.reading import LabelRows
from labeltree.progress import Phases
from labeltree.training.solvers import SOLVER_PARAMETERS, is_set
from labeltree.trees import LabelTree

#: Parameters of the kernel's linear classifiers, which say nothing about others.
LINEAR_PARAMETERS = ("loss", "link", "solver", *SOLVER_PARAMETERS, "label_weight", "prune", "bias")


@dataclass(frozen=True)
class EstimatorFeatures:
    """X as the estimators get it: a CSR matrix or an array of floats."""

    X: Any

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])


@dataclass(frozen=True)
class NodeEstimators:
    """The trained estimators of one tree.

    Attributes
    ----------
    tree : LabelTree
    estimators : dict of int to estimator
        By node.
    constant : array of shape (n_nodes,), float32
        The probability of every node that has no estimator: its examples were all of one class.
    """

    tree: LabelTree
    estimators: dict[int, Any]
    constant: NDArray[np.float32]
    #: To them all features are alike.
    dense_features: ClassVar[tuple[int, int]] = (0, 0)

    def probabilities(self, X: Any, blocks: NodeBlocks) -> NDArray[np.float32]:
        """The probability of every entry of `blocks`, whose rows are rows of X."""
        answers = self.constant[blocks.node]
        for nodes, rows, entries in blocks.by_parent():
            examples = None
            for column, node in enumerate(nodes):
                if node in self.estimators:
                    examples = X[rows] if examples is None else examples
                    answers[entries[:, column]] = self.estimators[node].predict_proba(examples)[:, 1]
        return answers


def check_node_estimator(model: BaseEstimator, defaults: Mapping[str, Any]) -> None:
    """Raise `ValueError` unless `node_estimator` can be used, and no parameter is set that only others heed."""
    estimator = model.node_estimator
    if estimator is None:
        return
    if isinstance(estimator, type) or not all(
        hasattr(estimator, method) for method in ("fit", "predict_proba", "get_params")
    ):
        raise ValueError(
            "node_estimator must be a scikit-learn classifier (an object, not a class) with predict_proba, "
            f"got {estimator!r}"
        )
    for name in LINEAR_PARAMETERS:
        default = defaults[name]
        if is_set(getattr(model, name), default):
            raise ValueError(
                f"{name} is a parameter of the linear node classifiers and means nothing to node_estimator; "
                f"leave it at {default!r} and set the parameters of {type(estimator).__name__}"
            )


def fit_node_estimators(
    estimator: Any,
    tree: LabelTree,
    features: EstimatorFeatures,
    labels: LabelRows,
    sample_weight: NDArray[np.float32] | None,
    seed: int,
    n_jobs: int | None,
    phases: Phases,
    name: str = "",
) -> tuple[NodeEstimators, dict[str, int]]:
    """Fit a copy of `estimator` for every node whose examples are of both classes.

    Returns
    -------
    NodeEstimators
    dict
        `n_columns`: nodes that were fitted; `n_constant`: those that need no estimator; `n_row_visits`: examples that
        the fitted nodes had, all together.
    """
    if sample_weight is not None and not has_fit_parameter(estimator, "sample_weight"):
        raise ValueError(f"node_estimator {estimator!r} takes no sample_weight: fit without it")
    constant = np.zeros(tree.n_nodes, dtype=np.float32)
    nodes, tasks = [], []
    n_row_visits = 0
    for node, (rows, target) in enumerate(_examples(tree, labels)):
        if sample_weight is not None:
            counts = sample_weight[rows] > 0
            rows, target = rows[counts], target[counts]
        if len(rows) > 0 and target.min() < target.max():
            copy = _copy(estimator, seed, node)
            nodes.append(node)
            tasks.append(delayed(_fit)(copy, features.X, rows, target, sample_weight))
            n_row_visits += len(rows)
        elif len(rows) > 0:
            constant[node] = target[0]
    running = Parallel(n_jobs=n_jobs, return_as="generator")(tasks)
    fitted = phases.count(f"{name}training {len(nodes):,} nodes", running, len(nodes))
    report = {"n_columns": len(nodes), "n_constant": tree.n_nodes - len(nodes), "n_row_visits": n_row_visits}
    return NodeEstimators(tree, dict(zip(nodes, fitted, strict=True)), constant), report


def _examples(tree: LabelTree, labels: LabelRows) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int64]]]:
    """The examples of every node: those with a label below its parent, and whether they have one below itself."""
    begin, positive = _native.assign_to_nodes(tree.native, labels.indptr, labels.indices, 1)
    is_positive = np.zeros(labels.n_rows, dtype=np.int64)
    for node, parent in enumerate(tree.parent.tolist()):
        rows = (
            np.arange(labels.n_rows, dtype=np.int32)
            if parent < 0
            else positive[begin[parent] : begin[parent + 1]]
        )
        own = positive[begin[node] : begin[node + 1]]
        is_positive[own] = 1
        yield rows, is_positive[rows]
        is_positive[own] = 0


def _copy(estimator: Any, seed: int, node: int) -> Any:
    """An unfitted copy; where it leaves a seed open, one that depends on the node alone."""
    copy = clone(estimator)
    parameters = copy.get_params(deep=True)
    open_seeds = sorted(
        name
        for name, value in parameters.items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    )
    states = np.random.SeedSequence((seed, node)).generate_state(len(open_seeds)) >> 1
    return copy.set_params(**dict(zip(open_seeds, states.tolist(), strict=True)))


def _fit(
    estimator: Any,
    X: Any,
    rows: NDArray[np.int32],
    target: NDArray[np.int64],
    sample_weight: NDArray[np.float32] | None,
) -> Any:
    weight = {} if sample_weight is None else {"sample_weight": sample_weight[rows]}
    return estimator.fit(X[rows], target, **weight)
