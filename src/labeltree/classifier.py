"""`LabelTreeClassifier`: the batch probabilistic label tree."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, check_random_state

from labeltree.label_weights import read_label_weight
from labeltree.labels import LabelRows, check_rows, read_labels
from labeltree.losses import LOSSES
from labeltree.prediction import LabelTreePredictor
from labeltree.progress import Phases, phases
from labeltree.regularization import Examples, choose_regularization
from labeltree.training import SolverSettings, train_tree, warn_if_all_is_pruned
from labeltree.trees import LabelTree
from labeltree.trees.kmeans import kmeans_tree
from labeltree.validation import (
    LARGEST_INTEGER,
    Choice,
    Constraint,
    Flag,
    Number,
    WordOrNumber,
    adopt_features,
    check_features,
    check_parameters,
    check_sample_weight,
    n_threads,
)

_CONSTRAINTS: dict[str, Constraint] = {
    "n_trees": Number(1, LARGEST_INTEGER, integer=True),
    "tree": Choice(("kmeans", "unbalanced_kmeans", "flat"), (LabelTree, list, tuple)),
    "arity": Number(2, LARGEST_INTEGER, integer=True),
    "max_leaves": Number(1, LARGEST_INTEGER, integer=True),
    "max_depth": Number(1, LARGEST_INTEGER, integer=True, optional=True),
    "frequent_share": Number(0, 1),
    "label_vector_prune": Number(0),
    "loss": Choice(tuple(LOSSES)),
    "link": Choice(("auto", "exp5", "exp4", "exp3", "exp2", "clip", "sigmoid", "sigmoid2")),
    "C": WordOrNumber(("auto", "auto_per_level"), Number(0, 1e10, open_low=True, optional=True)),
    "label_weight": Choice(("propensity",), (Mapping, list, tuple, np.ndarray), optional=True),
    "tol": Number(0, open_low=True),
    "max_iter": Number(1, LARGEST_INTEGER, integer=True),
    "prune": Number(0),
    "normalize": Flag(),
    "bias": Flag(),
    "search": Choice(("exact", "beam")),
    "beam": Number(1, LARGEST_INTEGER, integer=True),
    "normalize_siblings": Flag(),
    "n_jobs": Number(integer=True, optional=True),
    "verbose": Number(integer=True),
}


class LabelTreeClassifier(LabelTreePredictor, ClassifierMixin, BaseEstimator):
    """Multi-label classification with a few labels out of very many, by a probabilistic label tree.

    Labels are the leaves of a tree. Every node has a linear classifier that estimates the probability of a positive
    label below it given that there is one below its parent; the probability of a label is the product along its path.

    Parameters
    ----------
    n_trees : int
        Trees to train, each from another seed; their probabilities are averaged.
    tree : {"kmeans", "unbalanced_kmeans", "flat"}, LabelTree, or sequence of LabelTree
        How labels are arranged: clustered into parts of equal size, clustered as they come, all under the root
        (1-vs-all), or as given (one tree for each of `n_trees`).
    arity : int
        The largest number of clusters that the labels of a node are split into.
    max_leaves : int
        A node with at most so many labels has them as its children.
    max_depth : int, optional
        The largest number of edges from the root to a label; a node one edge above that has all its labels as children.
    frequent_share : float
        A label that at least this share of a node's examples have is a leaf right below that node, beside the
        clusters of the others; 0 for none.
    label_vector_prune : float
        Labels are clustered by the sum of their examples, scaled to unit length; entries below this are dropped.
    loss : {"squared_hinge", "logistic", "squared", "exponential"}
        What the node classifiers minimise, with an L2 penalty.
    link : {"auto", "exp5", "exp4", "exp3", "exp2", "clip", "sigmoid", "sigmoid2"}
        How a node's score s becomes a probability. For the squared hinge: exp(-max(0, 1 - s)ⁿ) with n = 4 (the
        default), 5, 3 or 2, or (1 + s) / 2 clipped to [0, 1]; so for the squared loss. For the logistic loss: the
        sigmoid of s; for the exponential loss: that of 2 s.
    C : float, "auto", "auto_per_level" or None
        The weight of the examples against the penalty; by default 1 for the squared hinge, 8 for the logistic, 0.7 for
        the squared and 2 for the exponential loss. "auto" chooses it by the precision on rows held out of a sample,
        "auto_per_level" chooses one for each level of the tree by the log loss of its nodes.
    label_weight : {"propensity"}, array of shape (n_labels,), dict or None
        How much positive examples of each label count, 1 by default; at an inner node as much as the heaviest of their
        labels below it. "propensity" makes rare labels count more, as the propensity-scored metrics do. An array is in
        the order of `classes_`; a dict may leave labels out.
    tol : float
        A node is trained until no example violates its optimality conditions by more than half of this, in units of
        the score. Features that are not scaled (`normalize` off) may need less.
    max_iter : int
        The largest number of passes over the examples of a node.
    prune : float
        Weights below this are dropped after training. It suits rows of about unit length; if `normalize` is off and
        features are larger, weights are smaller and so must this be.
    normalize : bool
        Scale every row of X to unit length, in training and prediction.
    bias : bool
        Add a feature that is 1 in every row.
    search : {"exact", "beam"}
        How the k best labels are found: exactly, or by keeping only the `beam` best nodes of every level. All labels
        above a threshold (`predict`, `predict_proba` with ``top_k=None`` or thresholds per label) are found exactly.
    beam : int
        The width of the beam.
    normalize_siblings : bool
        Scale the probabilities of siblings that sum to less than 1 (they cannot, were they exact).
    n_jobs : int, optional
        Threads, as in scikit-learn: None is one, -1 is one per processor. The model does not depend on it.
    random_state : int, RandomState or None
        The seed. The same seed gives the same model, bit for bit.
    verbose : int
        Above 0: show progress; 0: show it on a terminal only; below 0: never.

    Attributes
    ----------
    classes_ : array of shape (n_labels,)
        The labels as they were given: of a matrix its column numbers.
    tree_, trees_ : LabelTree, list of LabelTree
        The first tree, and all.
    weights_ : list of TreeWeights
        The trained weights of each tree.
    training_report_ : list of dict
        Per tree: binary problems solved, how many of them `max_iter` stopped, nodes that are constant, rows visited
        and the most passes over the rows that a problem took.
    n_iter_ : int
        The most passes over its rows that a node took.
    C_ : float or list of float
        The C that was used, or that of each level from the root down. Not saved with a model; but the parameter `C` is
        saved as this number where it is "auto".
    C_scores_ : dict or None
        If C was chosen: the score of every C that was tried, which is the mean of P@1, P@3 and P@5, or for each level
        its log loss per row. Not saved with a model.
    label_counts_ : array of shape (n_labels,)
        How many training rows had each label.
    n_samples_fit_ : int
        The number of training rows.
    fit_seconds_ : dict
        How long clustering the labels, choosing C if so asked, and training the nodes took, over all trees. Not saved
        with a model.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from labeltree import LabelTreeClassifier
    >>> X = [[1.0, 0.0, 0.2], [0.9, 0.1, 0.0], [0.0, 1.0, 0.1], [0.1, 0.9, 0.0]]
    >>> y = [["cat", "pet"], ["cat", "pet"], ["dog", "pet"], ["dog", "pet"]]
    >>> model = LabelTreeClassifier(random_state=0).fit(X, y)
    >>> labels, probabilities = model.predict_topk([[0.0, 1.0, 0.0]], k=2)
    >>> labels
    array([['pet', 'dog']], dtype=object)
    """

    def __init__(
        self,
        n_trees: int = 1,
        *,
        tree: Any = "kmeans",
        arity: int = 32,
        max_leaves: int = 100,
        max_depth: int | None = None,
        frequent_share: float = 0.01,
        label_vector_prune: float = 0.01,
        loss: str = "squared_hinge",
        link: str = "auto",
        C: float | str | None = None,
        label_weight: Any = None,
        tol: float = 0.2,
        max_iter: int = 10,
        prune: float = 0.1,
        normalize: bool = True,
        bias: bool = True,
        search: str = "exact",
        beam: int = 10,
        normalize_siblings: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_trees = n_trees
        self.tree = tree
        self.arity = arity
        self.max_leaves = max_leaves
        self.max_depth = max_depth
        self.frequent_share = frequent_share
        self.label_vector_prune = label_vector_prune
        self.loss = loss
        self.link = link
        self.C = C
        self.label_weight = label_weight
        self.tol = tol
        self.max_iter = max_iter
        self.prune = prune
        self.normalize = normalize
        self.bias = bias
        self.search = search
        self.beam = beam
        self.normalize_siblings = normalize_siblings
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    # -- settings of published systems -----------------------------------------------------------------------------

    @classmethod
    def parabel(cls, **parameters: Any) -> LabelTreeClassifier:
        """The settings of Parabel: three balanced binary trees, squared hinge, beam search of width 10."""
        preset = {
            "n_trees": 3, "arity": 2, "max_leaves": 100, "frequent_share": 0.0, "label_vector_prune": 0.0,
            "loss": "squared_hinge", "link": "exp2", "C": 1.0, "tol": 0.1, "max_iter": 20, "prune": 0.1,
            "search": "beam", "beam": 10,
        }  # fmt: skip
        return cls(**{**preset, **parameters})

    @classmethod
    def bonsai(cls, **parameters: Any) -> LabelTreeClassifier:
        """The settings of Bonsai: three shallow trees of 100 unbalanced clusters per node, beam search of width 10."""
        preset = {
            "n_trees": 3, "tree": "unbalanced_kmeans", "arity": 100, "max_leaves": 100, "max_depth": 3,
            "frequent_share": 0.0, "label_vector_prune": 0.0, "loss": "squared_hinge", "link": "exp2", "C": 1.0,
            "tol": 0.1, "max_iter": 20, "prune": 0.1, "search": "beam", "beam": 10,
        }  # fmt: skip
        return cls(**{**preset, **parameters})

    @classmethod
    def napkinxc(cls, **parameters: Any) -> LabelTreeClassifier:
        """The settings of napkinXC: one balanced binary tree, logistic loss, exact search.

        C is the middle of the values the paper tunes over: 1, 8, 12, 16 and 32.
        """
        preset = {
            "n_trees": 1, "arity": 2, "max_leaves": 100, "frequent_share": 0.0, "label_vector_prune": 0.0,
            "loss": "logistic", "C": 12.0, "tol": 0.1, "max_iter": 1000, "prune": 0.1, "search": "exact",
        }  # fmt: skip
        return cls(**{**preset, **parameters})

    # -- training --------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LabelTreeClassifier:
        """Train on the examples X with labels y.

        Parameters
        ----------
        X : sparse matrix, array or frame of shape (n_rows, n_features)
        y : sparse or dense 0/1 matrix of shape (n_rows, n_labels), sequence of collections of labels, or 1-d array
            Rows without any label are welcome: the root then learns the probability that there is one.
        sample_weight : array of shape (n_rows,), optional
            How much each example counts, 1 by default.
        """
        self._check_parameters()
        # Everything is stored at the end: a failed fit leaves an earlier model as it was.
        checked = copy(self)
        features = check_features(checked, X, normalize=self.normalize, reset=True)
        labels = read_labels(y)
        check_rows(features.n_rows, labels)
        weight = check_sample_weight(sample_weight, labels.n_rows)
        label_weight = read_label_weight(self.label_weight, labels)
        given = self._given_trees(labels.n_labels)
        seeds = check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=self.n_trees)
        threads = n_threads(self.n_jobs)
        default_c = LOSSES[self.loss].default_c
        solver = SolverSettings(
            loss=self.loss,
            C=float(self.C) if isinstance(self.C, Real) else default_c,
            tol=self.tol,
            max_iter=self.max_iter,
            bias=float(self.bias),
            prune=self.prune,
        )

        weights, reports = [], []
        seconds = {"clustering": 0.0, "training": 0.0}
        scores = None
        with phases(self.verbose) as shown:
            for t, seed in enumerate(seeds.tolist()):
                name = f"tree {t + 1} of {self.n_trees}: " if self.n_trees > 1 else ""
                started = time.perf_counter()
                tree = given[t] if given else self._grow(features, labels, weight, seed, threads, shown, name)
                grown = time.perf_counter()
                seconds["clustering"] += grown - started
                if t == 0 and isinstance(self.C, str):
                    chosen = choose_regularization(
                        tree,
                        Examples(features, labels, weight, label_weight),
                        solver,
                        self._link_of(self.loss),
                        start=default_c,
                        per_level=self.C == "auto_per_level",
                        seed=seed,
                        n_threads=threads,
                        phases=shown,
                        name="choosing C: ",
                    )
                    solver, scores = replace(solver, C=chosen.C), chosen.scores
                    seconds["choosing_C"] = time.perf_counter() - grown
                ready = time.perf_counter()
                trained, report = train_tree(
                    tree,
                    features,
                    labels,
                    weight,
                    solver,
                    seed,
                    threads,
                    shown,
                    name,
                    label_weight=label_weight,
                )
                seconds["training"] += time.perf_counter() - ready
                weights.append(trained)
                reports.append(report)

        warn_if_all_is_pruned(self.prune, weights, reports)
        adopt_features(self, checked)
        self.classes_ = labels.classes
        self.label_kind_ = labels.kind
        self.label_counts_ = np.bincount(labels.indices, minlength=labels.n_labels).astype(np.int64)
        self.n_samples_fit_ = labels.n_rows
        self.weights_ = weights
        self._keep_report(reports)
        self.fit_seconds_ = seconds
        self.C_ = solver.C
        self.C_scores_ = scores
        self._renew_caches()
        return self

    def _check_parameters(self) -> None:
        check_parameters(self, _CONSTRAINTS)
        check_random_state(self.random_state)
        n_threads(self.n_jobs)  # raises for 0
        self._link_of(self.loss)

    def _given_trees(self, n_labels: int) -> list[LabelTree]:
        """The user's trees, if any."""
        if isinstance(self.tree, str):
            return [LabelTree.flat(n_labels)] * self.n_trees if self.tree == "flat" else []
        trees = [self.tree] if isinstance(self.tree, LabelTree) else list(self.tree)
        if len(trees) != self.n_trees:
            raise ValueError(f"tree: expected n_trees = {self.n_trees} trees, got {len(trees)}")
        for given in trees:
            if not isinstance(given, LabelTree):
                raise ValueError(f"tree must hold LabelTree objects, got {given!r}")
            if given.n_labels != n_labels:
                raise ValueError(f"the given tree has {given.n_labels} labels, but y has {n_labels}")
        return trees

    def _grow(
        self, features: Any, labels: LabelRows, weight: Any, seed: int, threads: int, shown: Phases, name: str
    ) -> LabelTree:
        return shown.run(
            f"{name}clustering {labels.n_labels:,} labels",
            lambda progress: kmeans_tree(
                features,
                labels,
                arity=self.arity,
                max_leaves=self.max_leaves,
                max_depth=self.max_depth,
                balanced=self.tree == "kmeans",
                frequent_share=self.frequent_share,
                label_vector_prune=self.label_vector_prune,
                sample_weight=weight,
                seed=seed,
                n_threads=threads,
                progress=progress,
            ),
        )

    def _link(self) -> str:
        return self._link_of(self.loss_)

    def _link_of(self, loss: str) -> str:
        links = LOSSES[loss].links
        if self.link == "auto":
            return links[0]
        if self.link not in links:
            raise ValueError(f"link {self.link!r} does not go with loss {loss!r}; expected one of {links}")
        return self.link

    def _keep_report(self, reports: list[dict[str, int]]) -> None:
        self.training_report_ = reports
        self.n_iter_ = max([1, *(report.get("n_passes", 1) for report in reports)])
        # What weights were trained with goes with them, whatever is set later.
        self.normalize_ = bool(self.normalize)
        self.loss_ = self.loss

    def _parameters_as_trained(self) -> dict[str, Any]:
        # A saved model answers the same for ever, whatever "auto" will mean: the link is written by name, C as chosen.
        trained = {"normalize": self.normalize_, "loss": self.loss_, "link": self._link()}
        if self.C == "auto":
            trained["C"] = getattr(self, "C_", self.C)
        return {**self.get_params(deep=False), **trained}

    # -- storage ---------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str], *, weights: str | None = None) -> None:
        """Write the model to a directory, atomically: a reader sees the old model or the new one.

        Parameters
        ----------
        path : path of a directory
            Made if it is not there. A directory with anything but a model in it is refused.
        weights : {"float32", "bfloat16", "int8"}, optional
            How weights are stored; the smaller ones cost a little precision. By default as they are: float32 after
            training.
        """
        from labeltree.model_file import save_classifier

        save_classifier(self, path, weights=weights)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, verify: bool = False) -> LabelTreeClassifier:
        """Open a saved model. Its weights are mapped, not read: opening takes milliseconds.

        Parameters
        ----------
        path : path of a directory
        verify : bool
            Read everything and compare it with the checksums.
        """
        from labeltree.model_file import load_classifier

        return load_classifier(cls, path, verify=verify)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags
