"""`OneVsRestClassifier`: one linear classifier per label, as DiSMEC, PPDSparse or PD-Sparse."""

from __future__ import annotations

import os
from dataclasses import KW_ONLY, dataclass
from inspect import signature
from typing import Any, TypeVar

from labeltree.label_tree_estimator import LabelTreeEstimator
from labeltree.rivals.one_vs_rest.max_margin import MaxMarginLearner
from labeltree.rivals.one_vs_rest.negatives import DEFAULT_NEGATIVES
from labeltree.rivals.one_vs_rest.training import OneVsRestLearner
from labeltree.training.linear_nodes import SolverSettings
from labeltree.training.losses import LOSSES, choose_link
from labeltree.training.parameters import check_checkpoint, check_estimator
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

#: The settings that PPDSparse and PD-Sparse share. The paper tunes `l1` over 0.01, 0.1 and 1.
_PD_SPARSE = {"C": 1.0, "l1": 0.01, "max_iter": 30}

_Self = TypeVar("_Self", bound="OneVsRestClassifier")


@dataclass(eq=False, repr=False)
class OneVsRestClassifier(LabelTreeEstimator):
    """One linear classifier per label, trained on all rows: 1-vs-all, as DiSMEC, PPDSparse or PD-Sparse.

    This is the strongest linear baseline, and the most expensive: training and prediction cost time in proportion to
    the number of labels, while a label tree needs its logarithm. The model is a label tree whose root has all labels as
    children, so it answers every question that a `LabelTreeClassifier` answers. Labels that are trained on the same
    rows are trained 32 at a time. Training needs memory for the model, a copy of the rows, and for each thread the
    weights and dual variables of 32 labels. A long training can be stopped and resumed (`checkpoint`).

    Parameters
    ----------
    solver : {"descent", "sparse", "max_margin"}
        Algorithm of the training. "descent" trains every label separately against all other rows, as DiSMEC. "sparse"
        does the same with the hinge loss and an L1 penalty, which leaves few weights, and visits only rows that the
        margin depends on, as PPDSparse: it is faster for many rows and labels. "max_margin" trains all labels together,
        so that each label of a row scores 1 more than each label it does not have, with the same penalty, as PD-Sparse.
        See docs/one-vs-rest.md.
    loss : {"squared_hinge", "logistic"}
        Loss that each classifier minimises, in addition to half the sum of its squared weights. Solver "descent" only.
    link : {"auto", "sigmoid2", "exp5", "exp4", "exp3", "exp2", "clip", "sigmoid"}
        Function from a score s to a probability. The default is strictly increasing, because it ranks the labels: the
        sigmoid of s for the logistic loss, else of 2 s. The links of `LabelTreeClassifier` also work with the squared
        hinge, but give the same probability to all scores above 1.
    C : float
        Weight of the examples against the penalty. A larger value fits the training rows more closely.
    l1 : float
        Weight of the sum of absolute weights, which is added to half the sum of squared weights. A larger value leaves
        fewer weights. Solvers "sparse" and "max_margin" only.
    tol : float
        Tolerance of the stopping criterion. "descent" stops when no example violates its optimality conditions by more
        than half of this, in units of the score. The other solvers stop when the duality gap, divided by `C` and a
        number of examples, is at most this: the examples with the label, or those without it if they are fewer
        ("sparse"), or all examples ("max_margin").
    max_iter : int
        Maximum number of passes over the examples, the start of "descent" counted as up to three; with the solver
        "sparse", of searches among all of them.
    prune : float
        Threshold below which weights are dropped after training; weights of dense features are all kept.
    weights : {"int8", "bfloat16", "float32"}
        Type that weights are rounded to at the end of `fit`: a trained model answers the same before and after it is
        saved. int8 weights are multiples of 1/127 of the largest weight of their label. They are as precise and as fast
        as float32, and make the smallest model.
    negatives : {"all", "tree"}
        The negative examples of a label: all rows without it, or hard ones only. For "tree", a `LabelTreeClassifier` is
        trained first. The negatives are rows whose best labels include the label, rows of the labels in the same group
        (its siblings in the tree), and 1,000 random rows. This is not in the paper. It makes training several times as
        fast, the more so the more labels there are, with about the same precision at 1 and less at 5; prediction is as
        slow as with "all". Scores of labels in different groups compare less well, and probabilities are too high. Not
        with the solver "max_margin".
    n_negatives : int, optional
        With ``negatives="tree"``, the number of labels that the tree proposes for each row, including those of the
        row. The default is 20.
    normalize : bool
        Scale every row of X to unit length, in training and prediction; of a pair, the sparse and the dense part get
        the same length. Turn it off if the length of rows matters.
    bias : bool
        Add a feature that is 1 in every row.
    checkpoint : path, optional
        Directory to save trained labels to, some hundreds at a time. An interrupted `fit` resumes from it when called
        with the same examples and parameters (the number of threads may differ), and gives the same model. Remove the
        directory after saving the model. A checkpoint of other examples or parameters is refused. It needs an integer
        as `random_state`. `fit_for` uses it for the training on all rows only. It is not saved with a model. Not with
        the solver "max_margin".
    n_jobs : int, optional
        Number of threads, as in scikit-learn: None is one, -1 is one per processor. The model does not depend on it.
    random_state : int, RandomState or None
        Seed of the training. The same integer gives the same model, bit for bit.
    verbose : int
        Progress bars: above 0 always, 0 on a terminal only, below 0 never.

    Attributes
    ----------
    classes_ : array of shape (n_labels,)
        The labels of y; the column numbers if y is a matrix.
    weights_ : list of BlockWeights
        A list with the trained weights.
    tree_, trees_ : LabelTree, list of LabelTree
        The flat tree, and a list with it.
    training_report_ : list of dict
        A list with one report: binary problems solved, problems stopped by `max_iter`, constant nodes, rows visited (by
        32 labels at a time, or fewer if some have converged), dropped weights, and the maximum number of passes over
        the rows of a group. With the solver "max_margin": 1 if `max_iter` stopped it, rows visited by searches among
        all labels, and active pairs of a row and a label at the end (`n_active`).
    objective_, duality_gap_ : float
        With the solver "max_margin": the value of the objective before pruning, and its maximum distance from the
        minimum. Not saved with a model.
    n_iter_ : int
        Maximum number of passes over the rows of a group of labels.
    label_counts_, n_samples_fit_, decision_, calibration_, fit_seconds_, dense_features_
        As in `LabelTreeClassifier`.
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

    _: KW_ONLY
    solver: str = "descent"
    loss: str = "squared_hinge"
    link: str = "auto"
    C: float = 1.0
    l1: float = 0.01
    tol: float = 0.01
    max_iter: int = 1000
    prune: float = 0.01
    weights: str = "int8"
    negatives: str = "all"
    n_negatives: int | None = None
    normalize: bool = True
    bias: bool = True
    checkpoint: Any = None
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0

    def check_parameters(self, training: bool = True) -> None:
        check_estimator(self, _CONSTRAINTS)
        self.link_of(self.loss)
        # A saved model may come from a version where an unused parameter had another default.
        if not training:
            return
        check_unread_parameters(self, _DEFAULTS, SOLVERS)
        if self.negatives == "all" and self.n_negatives is not None:
            raise ValueError(
                f"n_negatives works only with negatives='tree', got n_negatives={self.n_negatives} with negatives='all'"
            )
        check_checkpoint(self)

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
            weights=self.weights,
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

    # -- settings of published systems, from the paper's appendix --------------------------------------------------

    @classmethod
    def dismec(cls: type[_Self], **parameters: Any) -> _Self:
        """Return an estimator with DiSMEC's settings: squared hinge, all other rows as negatives."""
        settings = {"solver": "descent", "loss": "squared_hinge", "C": 1.0, "tol": 0.01, "prune": 0.01}
        return cls(**{**settings, **parameters})

    @classmethod
    def ppdsparse(cls: type[_Self], **parameters: Any) -> _Self:
        """Return an estimator with PPDSparse's settings: one hinge loss per label with an L1 penalty."""
        return cls(**{"solver": "sparse", **_PD_SPARSE, **parameters})

    @classmethod
    def pdsparse(cls: type[_Self], **parameters: Any) -> _Self:
        """Return an estimator with PD-Sparse's settings: a margin between labels with an L1 penalty, no bias."""
        return cls(**{"solver": "max_margin", "bias": False, **_PD_SPARSE, **parameters})

    @property
    def loss_(self) -> str:
        """The loss that the classifiers were trained with."""
        return str(self.model_.training.parameters["loss"])

    @property
    def objective_(self) -> float:
        """The value of the objective that `solver="max_margin"` reached."""
        return float(self._fact("objective_"))

    @property
    def duality_gap_(self) -> float:
        """The maximum distance of `objective_` from the minimum."""
        return float(self._fact("duality_gap_"))

    def stored_parameters(self) -> dict[str, Any]:
        return {**super().stored_parameters(), "checkpoint": None}


_DEFAULTS = {name: parameter.default for name, parameter in signature(OneVsRestClassifier).parameters.items()}
