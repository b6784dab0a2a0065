"""`OneVsRestClassifier`: one linear classifier per label, as DiSMEC, PPDSparse or PD-Sparse."""

from __future__ import annotations

import os
from inspect import signature
from numbers import Integral
from typing import Any, TypeVar

from labeltree.label_tree_estimator import LabelTreeEstimator
from labeltree.rivals.one_vs_rest.max_margin import MaxMarginLearner
from labeltree.rivals.one_vs_rest.negatives import DEFAULT_NEGATIVES
from labeltree.rivals.one_vs_rest.training import OneVsRestLearner
from labeltree.training.linear_nodes import SolverSettings
from labeltree.training.losses import LOSSES, choose_link
from labeltree.training.parameters import check_estimator
from labeltree.training.solvers import check_unread_parameters
from labeltree.training.tree_plan import NodeLearner, TreePlan
from labeltree.trees.recipe import TreeRecipe
from labeltree.validation import LARGEST_INTEGER, Choice, Constraint, Number

#: The links of each loss, the default first. The default is strictly increasing, so that no two scores tie.
LINKS = {"squared_hinge": ("sigmoid2", *LOSSES["squared_hinge"].links), "logistic": LOSSES["logistic"].links}

#: The parameters of each solver that not all solvers read.
SOLVERS = {
    "descent": ("loss", "negatives", "n_negatives", "checkpoint"),
    "sparse": ("l1", "negatives", "n_negatives", "checkpoint"),
    "max_margin": ("l1",),
}

_CONSTRAINTS: dict[str, Constraint] = {
    "solver": Choice(tuple(SOLVERS)),
    "loss": Choice(tuple(LINKS)),
    "link": Choice(("auto", "sigmoid2", "exp5", "exp4", "exp3", "exp2", "clip", "sigmoid")),
    "l1": Number(0, 1e10),
    "negatives": Choice(("all", "tree")),
    "n_negatives": Number(1, LARGEST_INTEGER, integer=True, optional=True),
    "checkpoint": Choice((), (str, os.PathLike), optional=True),
}

#: The flat tree has all labels as children of the root; the other tree parameters have no effect on it.
_FLAT = TreeRecipe("flat", None, 2, 1, None, 0.0, 1, "features", 0.0)

_Self = TypeVar("_Self", bound="OneVsRestClassifier")


class OneVsRestClassifier(LabelTreeEstimator):
    """One linear classifier per label, trained on all rows: 1-vs-all, as DiSMEC, PPDSparse or PD-Sparse.

    The strongest linear baseline, and the most expensive: training and prediction cost in proportion to the number of
    labels, where a label tree takes its logarithm. It is the label tree whose root has all labels for its children, so
    all that a `LabelTreeClassifier` can be asked can be asked of it. Labels that learn from the same rows are learned
    32 at a time. Beside the model, training needs a copy of the rows and for each thread the weights and dual
    variables of 32 labels, whatever the number of labels; a training of days can be stopped and resumed
    (`checkpoint`).

    Parameters
    ----------
    solver : {"descent", "sparse", "max_margin"}
        "descent": every label learns for itself to tell its rows from all others, as in DiSMEC. "sparse": so it does,
        but by the hinge loss with a penalty of the sum of absolute weights, which leaves few of them, and from those
        rows only that its margin depends on, as in PPDSparse: faster where rows and labels are many. "max_margin": all
        labels learn together that of every row each label that it has shall score 1 more than each that it has not,
        with the same penalty, as in PD-Sparse. See docs/one-vs-rest.md.
    loss : {"squared_hinge", "logistic"}
        What every label's classifier minimises, beside half the sum of its squared weights. Solver "descent" only.
    link : {"auto", "sigmoid2", "exp5", "exp4", "exp3", "exp2", "clip", "sigmoid"}
        How a score s becomes a probability. Labels are ranked by it, so that by default it tells all scores apart: the
        sigmoid of 2 s for the squared hinge and the solvers without a loss to choose, of s for the logistic loss.
        Others for the squared hinge: those of `LabelTreeClassifier`, which are the same for all scores above 1.
    C : float
        The weight of the examples against the penalty.
    l1 : float
        The weight of the sum of absolute weights, which is added to half the sum of squared ones. Solvers "sparse" and
        "max_margin" only.
    tol : float
        A label is trained until no example violates its optimality conditions by more than half of this, in units of
        the score. Other solvers: until the duality gap is at most this for an example of weight `C`: of those that have
        the label, or of the others if they are fewer ("sparse"), or of all ("max_margin").
    max_iter : int
        The largest number of passes over the examples; with the solver "sparse" the largest number of searches among
        all of them.
    prune : float
        Weights below this are dropped after training; those of dense features are all kept.
    negatives : {"all", "tree"}
        What a label learns from beside the rows that have it: all others, or those which are hard to tell from its own.
        For "tree" a `LabelTreeClassifier` is trained first, and a row that has the label among its best ones is a
        negative example; so are those of the labels that it is trained together with, its siblings in the tree, and
        1,000 rows drawn at random. This is not in the paper. It makes training several times as fast, more so with more
        labels, for about the same precision at 1 and less at 5; prediction costs what it does otherwise. Scores of
        labels that were not taught by the same rows compare less well, and probabilities are too high. Not with the
        solver "max_margin".
    n_negatives : int, optional
        With ``negatives="tree"``: how many labels the tree proposes for each row, those it has among them; by default
        20.
    normalize : bool
        Scale every row of X to unit length, in training and prediction; of a row with sparse and dense features each
        part to half of it, by squares.
    bias : bool
        Add a feature that is 1 in every row.
    checkpoint : path, optional
        A directory to keep the labels that are trained in, some hundreds at a time. A `fit` that was interrupted, or
        killed, goes on from there if it is called with the same examples and parameters (the number of threads may
        differ) and gives the very same model. The files stay when it is done; remove the directory when the model is
        saved. A checkpoint of other examples or parameters is refused. Needs an integer for `random_state`. Of the
        two trainings of `fit_for` only the one on all rows has it. Not saved with a model. Not with the solver
        "max_margin".
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
    weights_ : list of BlockWeights
        The trained weights, in a list of one.
    tree_, trees_ : LabelTree, list of LabelTree
        The flat tree, and a list of it.
    training_report_ : list of dict
        In a list of one: binary problems solved, how many of them `max_iter` stopped, nodes that are constant, rows
        visited (by 32 labels at a time, or by those of them that are not done), weights dropped and the most passes
        over the rows that a group took. With the solver "max_margin": 1 if `max_iter` stopped it, rows visited by
        searches among all labels, and the pairs of a row and a label that are active in the end (`n_active`).
    objective_, duality_gap_ : float
        With the solver "max_margin": what the weights, before any were dropped, made of what is minimised, and how far
        that is from its smallest value at most. Not saved with a model.
    n_iter_ : int
        The most passes over the rows that a group of labels took.
    label_counts_, n_samples_fit_, decision_, calibration_, fit_seconds_, dense_features_
        As of `LabelTreeClassifier`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from labeltree import OneVsRestClassifier
    >>> X = [[1.0, 0.0, 0.2], [0.9, 0.1, 0.0], [0.0, 1.0, 0.1], [0.1, 0.9, 0.0]]
    >>> y = [["cat", "pet"], ["cat", "pet"], ["dog", "pet"], ["dog", "pet"]]
    >>> model = OneVsRestClassifier(random_state=0).fit(X, y)
    >>> model.predict_topk([[0.0, 1.0, 0.0]], k=2).labels.tolist()
    [['pet', 'dog']]
    """

    def __init__(
        self,
        *,
        solver: str = "descent",
        loss: str = "squared_hinge",
        link: str = "auto",
        C: float = 1.0,
        l1: float = 0.01,
        tol: float = 0.01,
        max_iter: int = 1000,
        prune: float = 0.01,
        negatives: str = "all",
        n_negatives: int | None = None,
        normalize: bool = True,
        bias: bool = True,
        checkpoint: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.solver = solver
        self.loss = loss
        self.link = link
        self.C = C
        self.l1 = l1
        self.tol = tol
        self.max_iter = max_iter
        self.prune = prune
        self.negatives = negatives
        self.n_negatives = n_negatives
        self.normalize = normalize
        self.bias = bias
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def check_parameters(self, training: bool = True) -> None:
        check_estimator(self, _CONSTRAINTS)
        self.link_of(self.loss)
        # A saved model may come from a version where an unused parameter had another default.
        if not training:
            return
        check_unread_parameters(self, _DEFAULTS, SOLVERS)
        if self.negatives == "all" and self.n_negatives is not None:
            raise ValueError(
                f"n_negatives goes with negatives='tree', got n_negatives={self.n_negatives} with negatives='all'"
            )
        if self.checkpoint is not None and not isinstance(self.random_state, Integral):
            raise ValueError(
                "checkpoint needs an integer for random_state, so that a run that resumes starts from the same seed, "
                f"got {self.random_state!r}"
            )

    def link_of(self, loss: str) -> str:
        return choose_link(self.link, loss, LINKS[loss])

    def make_plan(self) -> TreePlan:
        """Return the plan of the training."""
        settings = SolverSettings(
            solver=self.solver,
            loss=self.loss,
            C=float(self.C),
            tol=float(self.tol),
            max_iter=int(self.max_iter),
            bias=float(self.bias),
            prune=float(self.prune),
            l1=0.0 if self.solver == "descent" else float(self.l1),
        )
        learner: NodeLearner = MaxMarginLearner(settings)
        if self.solver != "max_margin":
            n_negatives = DEFAULT_NEGATIVES if self.n_negatives is None else int(self.n_negatives)
            learner = OneVsRestLearner(
                settings, n_negatives if self.negatives == "tree" else None, self.checkpoint
            )
        return TreePlan([_FLAT], self.seeds(1), learner, self.link_of(self.loss))

    def _for_some_rows(self: _Self) -> _Self:
        # Only the training on all rows has a checkpoint.
        copied: _Self = super()._for_some_rows().set_params(checkpoint=None)
        return copied

    @property
    def loss_(self) -> str:
        """The loss that the classifiers were trained with."""
        loss: str = self.model_.training.parameters["loss"]
        return loss

    @property
    def objective_(self) -> float:
        """The value of the objective that `solver="max_margin"` reached."""
        objective: float = self._fact("objective_")
        return objective

    @property
    def duality_gap_(self) -> float:
        """The maximum distance of `objective_` from the minimum."""
        gap: float = self._fact("duality_gap_")
        return gap

    def stored_parameters(self) -> dict[str, Any]:
        return {**super().stored_parameters(), "checkpoint": None}


_DEFAULTS = {name: parameter.default for name, parameter in signature(OneVsRestClassifier).parameters.items()}
