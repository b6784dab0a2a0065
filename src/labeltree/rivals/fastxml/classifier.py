"""`FastXMLClassifier` and `PfastreXMLClassifier`: ensembles of trees over examples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from labeltree.estimator import Estimator
from labeltree.model.model import Model
from labeltree.rivals.fastxml.example_trees import ExampleTrees
from labeltree.rivals.fastxml.plan import ExampleTreePlan
from labeltree.rivals.fastxml.tail import Propensities, Reranking
from labeltree.training.fit import fit
from labeltree.training.parameters import check_estimator
from labeltree.validation import LARGEST_INTEGER, Constraint, Number

_CONSTRAINTS: dict[str, Constraint] = {
    "max_leaf": Number(1, LARGEST_INTEGER, integer=True),
    "leaf_labels": Number(1, LARGEST_INTEGER, integer=True),
    "propensity_A": Number(0, 1e10, open_low=True),
    "propensity_B": Number(0, 1e10, open_low=True),
    "gamma": Number(0, 1e10),
}


class FastXMLClassifier(Estimator):
    """Multi-label classification by an ensemble of trees over examples: FastXML, after Prabhu and Varma (2014).

    Every inner node of a tree sends a row one way or the other by a sparse linear separator. It was trained to tell two
    halves of the node's examples apart, which were found by turns: each half ranks the labels, each example goes to the
    half whose ranking has the larger nDCG for its labels. A leaf keeps how frequent labels are among its examples, and
    the probability of a label is the average over the leaves that a row falls into.

    Parameters
    ----------
    n_trees : int
        Trees to grow, each from another seed.
    C : float
        The weight of the examples of a node against the L1 penalty of its separator.
    max_leaf : int
        A node with at most so many examples is a leaf.
    leaf_labels : int
        How many labels a leaf keeps, the most frequent ones.
    max_iter : int
        The largest number of Newton steps of a separator.
    tol : float
        A separator is trained until no weight would move a score by more than a tenth of this.
    normalize : bool
        Scale every row of X to unit length, in training and prediction; of a row with sparse and dense features each
        part to half of it, by squares.
    bias : bool
        Add a feature that is 1 in every row.
    n_jobs : int, optional
        Threads, as in scikit-learn: None is one, -1 is one per processor; in training each grows a tree of its own. The
        model does not depend on it.
    random_state : int, RandomState or None
        The seed. The same seed gives the same model, bit for bit.
    verbose : int
        Above 0: show progress; 0: show it on a terminal only; below 0: never.

    Attributes
    ----------
    classes_ : array of shape (n_labels,)
        The labels as they were given: of a matrix its column numbers.
    example_trees_ : ExampleTrees
        The trees, as flat arrays. There are no label trees.
    training_report_ : list of dict
        Per tree: its leaves, and the most Newton steps that a separator took.
    n_iter_ : int
        The most Newton steps that a separator took.
    label_counts_ : array of shape (n_labels,)
        How many training rows had each label.
    n_samples_fit_ : int
        The number of training rows.
    decision_ : Decision
        What `predict` gives: labels of probability 0.5 or more, unless `decide_for` says otherwise.
    fit_seconds_ : dict
        How long training took. Not saved with a model.
    dense_features_ : (int, int)
        The range of features that came as dense ones: the first of them and the one after the last.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from labeltree import FastXMLClassifier
    >>> X = [[1.0, 0.0, 0.2], [0.9, 0.1, 0.0], [0.0, 1.0, 0.1], [0.1, 0.9, 0.0]] * 5
    >>> y = [["cat", "pet"], ["cat", "pet"], ["dog", "pet"], ["dog", "pet"]] * 5
    >>> model = FastXMLClassifier(random_state=0).fit(X, y)
    >>> labels, probabilities = model.predict_topk([[0.0, 1.0, 0.0]], k=2)
    >>> labels
    array([['pet', 'dog']], dtype=object)
    """

    fit = fit

    def __init__(
        self,
        n_trees: int = 50,
        *,
        C: float = 1.0,
        max_leaf: int = 10,
        leaf_labels: int = 100,
        max_iter: int = 10,
        tol: float = 0.2,
        normalize: bool = True,
        bias: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_trees = n_trees
        self.C = C
        self.max_leaf = max_leaf
        self.leaf_labels = leaf_labels
        self.max_iter = max_iter
        self.tol = tol
        self.normalize = normalize
        self.bias = bias
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def check_parameters(self, training: bool = True) -> None:
        check_estimator(self, _CONSTRAINTS)

    def make_plan(self) -> ExampleTreePlan:
        """Return how to train, by the parameters."""
        random = check_random_state(self.random_state)
        options = {
            "C": float(self.C),
            "tol": float(self.tol),
            "max_iter": int(self.max_iter),
            "bias": 1.0 if self.bias else 0.0,
            "max_leaf": int(self.max_leaf),
            "leaf_labels": int(self.leaf_labels),
        }
        return ExampleTreePlan(
            random.randint(np.iinfo(np.int32).max, size=int(self.n_trees)).tolist(), options
        )

    def reranking(self) -> Reranking | None:
        """Return how the labels that the trees propose are ranked; None by their votes."""
        return None

    def kept_parameters(self) -> Mapping[str, Any]:
        """Return the parameters that hold for the trained trees, whatever is set later."""
        return {"normalize": bool(self.normalize)}

    def stored_parameters(self) -> dict[str, Any]:
        return {**super().stored_parameters(), "n_trees": self.example_trees_.n_trees}

    @property
    def example_trees_(self) -> ExampleTrees:
        """The trees, as flat arrays."""
        forest: Any = self.model_.forest
        trees: ExampleTrees = forest.example_trees
        return trees

    @property
    def dense_features_(self) -> tuple[int, int]:
        """The range of dense features: the first of them and the one after the last."""
        return self.example_trees_.dense_features


class PfastreXMLClassifier(FastXMLClassifier):
    """FastXML for rare labels: PfastreXML, after Jain, Prabhu and Varma (2016).

    Trees are grown as in FastXML, but finding a label is worth its inverse propensity: rankings, and what leaves keep,
    favour rare labels. Then the labels that the trees propose are ranked anew, by
    ``alpha * log(trees) + (1 - alpha) * log(near)``: `trees` is their average, `near` is
    ``1 / (1 + exp(gamma * d))`` with d the squared distance of the row from the mean of the label's training rows, all
    of unit length. What is given as the probability of a label is the exponential of that score over
    ``1 + (1 - alpha) * gamma``, with what the leaves say divided by the largest inverse propensity: so it lies between
    0 and 1, and ranks in the same order. But it is no probability: `decide_for` finds thresholds for it.

    Parameters
    ----------
    n_trees : int
        Trees to grow, each from another seed.
    C : float
        The weight of the examples of a node against the L1 penalty of its separator.
    max_leaf : int
        A node with at most so many examples is a leaf.
    leaf_labels : int
        How many labels a leaf keeps, those worth most.
    propensity_A : float
        A of the model of propensities; see `labeltree.metrics.inverse_propensity`.
    propensity_B : float
        B of the model of propensities.
    gamma : float
        How fast nearness falls with the squared distance.
    alpha : float
        The weight of the trees against nearness, from 0 to 1; with 1 nearness does not count, which is PfastXML.
    max_iter : int
        The largest number of Newton steps of a separator.
    tol : float
        A separator is trained until no weight would move a score by more than a tenth of this.
    normalize : bool
        Scale every row of X to unit length, in training and prediction; of a row with sparse and dense features each
        part to half of it, by squares. Distances are always those of rows of unit length.
    bias : bool
        Add a feature that is 1 in every row.
    n_jobs : int, optional
        Threads, as in scikit-learn: None is one, -1 is one per processor; in training each grows a tree of its own. The
        model does not depend on it.
    random_state : int, RandomState or None
        The seed. The same seed gives the same model, bit for bit.
    verbose : int
        Above 0: show progress; 0: show it on a terminal only; below 0: never.

    Attributes
    ----------
    classes_, example_trees_, training_report_, n_iter_, label_counts_, n_samples_fit_, decision_, fit_seconds_
        As of `FastXMLClassifier`.
    dense_features_, n_features_in_, feature_names_in_
        As of `FastXMLClassifier`.

    Examples
    --------
    >>> from labeltree import PfastreXMLClassifier
    >>> X = [[1.0, 0.0, 0.2], [0.9, 0.1, 0.0], [0.0, 1.0, 0.1], [0.1, 0.9, 0.0]] * 5
    >>> y = [["cat", "pet"], ["cat", "pet"], ["dog", "pet"], ["dog", "pet"]] * 5
    >>> model = PfastreXMLClassifier(random_state=0).fit(X, y)
    >>> labels, scores = model.predict_topk([[0.0, 1.0, 0.0]], k=2)
    >>> labels
    array([['dog', 'pet']], dtype=object)
    """

    def __init__(
        self,
        n_trees: int = 50,
        *,
        C: float = 1.0,
        max_leaf: int = 10,
        leaf_labels: int = 100,
        propensity_A: float = 0.55,
        propensity_B: float = 1.5,
        gamma: float = 30.0,
        alpha: float = 0.8,
        max_iter: int = 10,
        tol: float = 0.2,
        normalize: bool = True,
        bias: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_trees,
            C=C,
            max_leaf=max_leaf,
            leaf_labels=leaf_labels,
            max_iter=max_iter,
            tol=tol,
            normalize=normalize,
            bias=bias,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.propensity_A = propensity_A
        self.propensity_B = propensity_B
        self.gamma = gamma
        self.alpha = alpha

    def make_plan(self) -> ExampleTreePlan:
        propensities = Propensities(float(self.propensity_A), float(self.propensity_B))
        return replace(super().make_plan(), propensities=propensities, reranking=self.reranking())

    def reranking(self) -> Reranking:
        return Reranking(float(self.gamma), float(self.alpha))

    @property
    def model_(self) -> Model:
        """The trained model. It answers as the parameters `gamma` and `alpha` say now."""
        model = super().model_
        forest: Any = model.forest
        answering = forest.answering(self.reranking())
        if answering is not forest:
            model = self._model = replace(model, forest=answering)
        return model
