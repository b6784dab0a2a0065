"""`FastXMLClassifier` and `PfastreXMLClassifier`: ensembles of trees over examples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from labeltree.estimator import Estimator
from labeltree.model.model import Model
from labeltree.rivals.fastxml.example_trees import ExampleTrees
from labeltree.rivals.fastxml.forest import ExampleForest
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


#: FastXML's settings, from the paper's appendix.
_FASTXML = {"n_trees": 50, "C": 1.0, "max_leaf": 10, "leaf_labels": 100}


@dataclass(eq=False, repr=False)
class FastXMLClassifier(Estimator):
    """Multi-label classification by an ensemble of trees over examples: FastXML, after Prabhu and Varma (2014).

    Every inner node of a tree sends a row to one of two sides by a sparse linear separator. The separator is trained to
    distinguish two halves of the node's examples. The halves come from an alternating optimisation: each half ranks the
    labels, then each example moves to the half whose ranking has the larger nDCG for its labels. A leaf keeps the
    frequency of labels among its examples. The probability of a label is the average over the leaves that a row
    reaches.

    Parameters
    ----------
    n_trees : int
        Number of trees. More trees are more precise, and cost time and memory in proportion.
    C : float
        Weight of the examples of a node against the L1 penalty of its separator.
    max_leaf : int
        Maximum number of examples in a leaf.
    leaf_labels : int
        Maximum number of labels that a leaf keeps: the most frequent ones.
    max_iter : int
        Maximum number of Newton steps of a separator.
    tol : float
        Tolerance of the stopping criterion: training of a separator stops when no weight would change a score by more
        than a tenth of this.
    normalize : bool
        Scale every row of X to unit length, in training and prediction; of a pair, the sparse and the dense part get
        the same length. Turn it off if the length of rows matters.
    bias : bool
        Add a feature that is 1 in every row.
    n_jobs : int, optional
        Number of threads, as in scikit-learn: None is one, -1 is one per processor. The model does not depend on it. In
        training, each thread grows one tree at a time.
    random_state : int, RandomState or None
        Seed of the training. The same integer gives the same model, bit for bit.
    verbose : int
        Progress bars: above 0 always, 0 on a terminal only, below 0 never.

    Attributes
    ----------
    classes_ : array of shape (n_labels,)
        The labels of y; the column numbers if y is a matrix.
    example_trees_ : ExampleTrees
        The trees, as flat arrays. There are no label trees.
    training_report_ : list of dict
        Counts for each tree: its leaves, and the maximum number of Newton steps of a separator.
    n_iter_ : int
        Maximum number of Newton steps of a separator.
    label_counts_ : array of shape (n_labels,)
        Number of training rows with each label.
    n_samples_fit_ : int
        Number of training rows.
    decision_ : Decision
        The labels that `predict` returns: by default those with a probability of at least 0.5; `decide_for` changes it.
    fit_seconds_ : dict
        Duration of the training. Not saved with a model.
    dense_features_ : (int, int)
        The range of dense features: the first one, and the one after the last.
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

    n_trees: int = 50
    _: KW_ONLY
    C: float = 1.0
    max_leaf: int = 10
    leaf_labels: int = 100
    max_iter: int = 10
    tol: float = 0.2
    normalize: bool = True
    bias: bool = True
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0

    @staticmethod
    def fastxml(**parameters: Any) -> FastXMLClassifier:
        """Return an estimator with FastXML's settings: 50 trees, at most 10 rows and 100 labels in a leaf."""
        return FastXMLClassifier(**{**_FASTXML, **parameters})

    def check_parameters(self, training: bool = True) -> None:
        check_estimator(self, _CONSTRAINTS)

    def make_plan(self) -> ExampleTreePlan:
        """Return the plan of the training."""
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
        """Return the parameters of the reranking; None if labels are ranked by the votes of the trees."""
        return None

    def kept_parameters(self) -> Mapping[str, Any]:
        """Return the parameters that the trained trees keep when parameters of the estimator change."""
        return {"normalize": bool(self.normalize)}

    def stored_parameters(self) -> dict[str, Any]:
        return {**super().stored_parameters(), "n_trees": self.example_trees_.n_trees}

    @property
    def example_trees_(self) -> ExampleTrees:
        """The trees, as flat arrays."""
        forest = self.model_.forest
        assert isinstance(forest, ExampleForest)
        return forest.example_trees

    @property
    def dense_features_(self) -> tuple[int, int]:
        """The range of dense features: the first one, and the one after the last."""
        return self.example_trees_.dense_features


@dataclass(eq=False, repr=False)
class PfastreXMLClassifier(FastXMLClassifier):
    """FastXML for rare labels: PfastreXML, after Jain, Prabhu and Varma (2016).

    Trees grow as in FastXML, but every label has its inverse propensity as weight, so that rankings and leaves favour
    rare labels. The labels that the trees propose are then ranked again, by
    ``alpha * log(trees) + (1 - alpha) * log(near)``. Here `trees` is the average over the trees, `near` is
    ``1 / (1 + exp(gamma * d))``, and d is the squared distance of the row from the mean of the label's training rows,
    all of unit length. The model returns the exponential of this score divided by ``1 + (1 - alpha) * gamma``; votes of
    leaves are divided by the largest inverse propensity. The result is between 0 and 1 and keeps the ranking, but it is
    not a probability: use `decide_for` to tune thresholds.

    Parameters
    ----------
    n_trees : int
        Number of trees. More trees are more precise, and cost time and memory in proportion.
    C : float
        Weight of the examples of a node against the L1 penalty of its separator.
    max_leaf : int
        Maximum number of examples in a leaf.
    leaf_labels : int
        Maximum number of labels that a leaf keeps: those with the largest weight.
    propensity_A : float
        Parameter A of the propensity model; see `labeltree.metrics.inverse_propensity`.
    propensity_B : float
        Parameter B of the propensity model.
    gamma : float
        Decay of nearness with the squared distance. A larger value favours labels of very similar rows.
    alpha : float
        Weight of the trees against nearness, from 0 to 1. With 1, nearness has no effect; this is PfastXML.
    max_iter : int
        Maximum number of Newton steps of a separator.
    tol : float
        Tolerance of the stopping criterion: training of a separator stops when no weight would change a score by more
        than a tenth of this.
    normalize : bool
        Scale every row of X to unit length, in training and prediction; of a pair, the sparse and the dense part get
        the same length. Turn it off if the length of rows matters. Distances
        always use rows of unit length.
    bias : bool
        Add a feature that is 1 in every row.
    n_jobs : int, optional
        Number of threads, as in scikit-learn: None is one, -1 is one per processor. The model does not depend on it. In
        training, each thread grows one tree at a time.
    random_state : int, RandomState or None
        Seed of the training. The same integer gives the same model, bit for bit.
    verbose : int
        Progress bars: above 0 always, 0 on a terminal only, below 0 never.

    Attributes
    ----------
    classes_, example_trees_, training_report_, n_iter_, label_counts_, n_samples_fit_, decision_, fit_seconds_
        As in `FastXMLClassifier`.
    dense_features_, n_features_in_, feature_names_in_
        As in `FastXMLClassifier`.

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

    can_be_mixed: ClassVar[bool] = False

    _: KW_ONLY
    propensity_A: float = 0.55
    propensity_B: float = 1.5
    gamma: float = 30.0
    alpha: float = 0.8

    @staticmethod
    def pfastrexml(**parameters: Any) -> PfastreXMLClassifier:
        """Return an estimator with PfastreXML's settings: FastXML's, and a second ranking of weight 0.2."""
        return PfastreXMLClassifier(**{**_FASTXML, "gamma": 30.0, "alpha": 0.8, **parameters})

    @staticmethod
    def pfastxml(**parameters: Any) -> PfastreXMLClassifier:
        """Return an estimator with PfastXML's settings: PfastreXML's without the second ranking."""
        return PfastreXMLClassifier(**{**_FASTXML, "alpha": 1.0, **parameters})

    def make_plan(self) -> ExampleTreePlan:
        propensities = Propensities(float(self.propensity_A), float(self.propensity_B))
        return replace(super().make_plan(), propensities=propensities, reranking=self.reranking())

    def reranking(self) -> Reranking:
        return Reranking(float(self.gamma), float(self.alpha))

    @property
    def model_(self) -> Model:
        """The trained model, with the current parameters `gamma` and `alpha`."""
        model = super().model_
        forest = model.forest
        assert isinstance(forest, ExampleForest)
        answering = forest.answering(self.reranking())
        if answering is not forest:
            model = self._model = replace(model, forest=answering)
        return model
