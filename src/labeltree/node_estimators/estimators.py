"""Any scikit-learn classifier in the nodes of a tree: slower than the kernel's linear classifiers, but flexible."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from labeltree import _native, scikit_learn
from labeltree.exchange import NodeBlocks
from labeltree.labels.reading import LabelRows
from labeltree.training.examples import Examples
from labeltree.training.run import Run
from labeltree.training.solvers import SOLVER_PARAMETERS, is_set
from labeltree.trees import LabelTree

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

#: Parameters of the linear classifiers, which have no effect on node estimators.
LINEAR_PARAMETERS = (
    "loss",
    "link",
    "solver",
    *SOLVER_PARAMETERS,
    "label_weight",
    "prune",
    "weights",
    "bias",
    "rerank",
)


@dataclass(frozen=True)
class EstimatorFeatures:
    """X for node estimators: a CSR matrix or an array of floats."""

    X: Any

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    def take(self, rows: NDArray[np.int64]) -> EstimatorFeatures:
        """Return some of the rows, in this order."""
        return EstimatorFeatures(self.X[rows])


@dataclass(frozen=True)
class NodeEstimators:
    """The trained estimators of one tree.

    Attributes
    ----------
    tree : LabelTree
    estimators : dict of int to estimator
        The fitted estimator of each node.
    constant : array of shape (n_nodes,), float32
        The probability of every node without an estimator, whose examples were all of one class.
    """

    tree: LabelTree
    estimators: dict[int, Any]
    constant: NDArray[np.float32]
    #: Estimators do not distinguish dense features.
    dense_features: ClassVar[tuple[int, int]] = (0, 0)

    def probabilities(self, X: Any, blocks: NodeBlocks) -> NDArray[np.float32]:
        """Return the probability of every entry of `blocks`, whose rows are rows of X."""
        answers = self.constant[blocks.node]
        for nodes, rows, entries in blocks.by_parent():
            examples = None
            for column, node in enumerate(nodes):
                if node in self.estimators:
                    examples = X[rows] if examples is None else examples
                    answers[entries[:, column]] = self.estimators[node].predict_proba(examples)[:, 1]
        return answers


def check_node_estimator(model: BaseEstimator, defaults: Mapping[str, Any]) -> None:
    """Raise `ValueError` if `node_estimator` is not a classifier, or a parameter is set that it ignores."""
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
                f"{name} is a parameter of the linear node classifiers and has no effect on node_estimator; "
                f"leave it at {default!r} and set the parameters of {type(estimator).__name__}"
            )


def fit_node_estimators(
    estimator: Any,
    tree: LabelTree,
    X: Any,
    examples: Examples,
    seed: int,
    n_jobs: int | None,
    run: Run,
) -> tuple[NodeEstimators, dict[str, int]]:
    """Fit a copy of `estimator` for every node that has examples of both classes.

    Returns
    -------
    NodeEstimators
    dict
        `n_columns`: number of fitted nodes; `n_constant`: number of nodes without an estimator; `n_row_visits`: total
        number of examples of the fitted nodes.
    """
    from sklearn.utils.parallel import Parallel, delayed
    from sklearn.utils.validation import has_fit_parameter

    sample_weight = examples.sample_weight
    if sample_weight is not None and not has_fit_parameter(estimator, "sample_weight"):
        raise ValueError(f"node_estimator {estimator!r} takes no sample_weight: fit without it")
    constant = np.zeros(tree.n_nodes, dtype=np.float32)
    nodes, tasks = [], []
    n_row_visits = 0
    for node, (rows, target) in enumerate(_examples(tree, examples.labels)):
        if sample_weight is not None:
            counts = sample_weight[rows] > 0
            rows, target = rows[counts], target[counts]
        if len(rows) > 0 and target.min() < target.max():
            copy = _copy(estimator, seed, node)
            nodes.append(node)
            tasks.append(delayed(_fit)(copy, X, rows, target, sample_weight))
            n_row_visits += len(rows)
        elif len(rows) > 0:
            constant[node] = target[0]
    running = Parallel(n_jobs=n_jobs, return_as="generator")(tasks)
    fitted = run.phases.count(f"{run.prefix}training {len(nodes):,} nodes", running, len(nodes))
    report = {"n_columns": len(nodes), "n_constant": tree.n_nodes - len(nodes), "n_row_visits": n_row_visits}
    return NodeEstimators(tree, dict(zip(nodes, fitted, strict=True)), constant), report


def _examples(tree: LabelTree, labels: LabelRows) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int64]]]:
    """Yield for every node the rows with a label below its parent, and whether they have a label below the node."""
    begin, positive = _native.assign_to_nodes(tree.native, labels.indptr, labels.indices, 1)
    everyone = np.arange(labels.n_rows, dtype=np.int32)
    is_positive = np.zeros(labels.n_rows, dtype=np.int64)
    for node, parent in enumerate(tree.parent.tolist()):
        rows = everyone if parent < 0 else positive[begin[parent] : begin[parent + 1]]
        own = positive[begin[node] : begin[node + 1]]
        is_positive[own] = 1
        yield rows, is_positive[rows]
        is_positive[own] = 0


def _copy(estimator: Any, seed: int, node: int) -> Any:
    """Return an unfitted copy; a `random_state` of None becomes a seed that depends on the node alone."""
    copy = scikit_learn.clone(estimator)
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
