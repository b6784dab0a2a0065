"""`OnlineLabelTreeClassifier`: label trees that start empty and learn from a stream."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

from labeltree import scikit_learn
from labeltree.classifier import LabelTreeClassifier
from labeltree.online.freezing import freeze, thaw
from labeltree.online.given_tree import check_given_trees, check_trees_differ
from labeltree.online.learners import LARGE_ACCUMULATOR, LEARNERS, adagrad_settings, learner_settings
from labeltree.online.learning import OnlineLearner
from labeltree.online.policies import POLICIES
from labeltree.online.settings import OnlineSettings
from labeltree.training.losses import LOSSES, choose_link
from labeltree.training.parameters import check_estimator
from labeltree.validation import LARGEST_INTEGER, Choice, Constraint, Number

WEIGHTS = ("map", "dense", "hashed", "shared")

_CONSTRAINTS: dict[str, Constraint] = {
    "policy": Choice(POLICIES, (Callable,)),  # type: ignore[arg-type]
    "n_trees": Number(1, LARGEST_INTEGER, integer=True),
    "arity": Number(2, 2**30, integer=True),
    "weights": Choice(WEIGHTS),
    "memory_mb": Number(0, open_low=True, optional=True),
    "expected_labels": Number(1, LARGEST_INTEGER, integer=True, optional=True),
    "loss": Choice(("logistic", "squared_hinge")),
    "link": Choice(("auto", "exp5", "exp4", "exp3", "exp2", "clip", "sigmoid")),
    "solver": Choice(tuple(LEARNERS)),
}


@dataclass(eq=False, repr=False)
class OnlineLabelTreeClassifier(OnlineLearner):
    """A probabilistic label tree that learns from a stream and can predict at any time.

    It starts empty, or with a given tree. Examples arrive one by one or in batches. Labels and features need not be
    known in advance. A new label gets a leaf; every node classifier is then the same as if it had existed from the
    first example on. Labels are any hashable objects. Rows are rows of a matrix, whose width may grow, or dictionaries
    from names of features to values.

    Parameters
    ----------
    policy : {"complete", "random", "best_fit", "fixed"} or callable
        Where the leaf of a new label goes. "complete" keeps the tree complete, "random" chooses a node at random,
        "best_fit" chooses nodes that fit the example, see `alpha`. "fixed" refuses labels outside the given `tree`. A
        callable is a `labeltree.online.TreePolicy`.
    n_trees : int
        Number of trees. All learn every example, and probabilities are their mean. Several trees are more precise, and
        need as many times the time and the memory. They must differ: use the policy "random" or a callable, or give as
        many trees.
    tree : LabelTree, Taxonomy, or a list of these, optional
        Tree to start with instead of an empty one, such as the result of `LabelTreeClassifier.build_tree`. The
        parameter `classes` of `partial_fit` has the label of each leaf. Without it, they are the numbers from 0, or all
        concepts of a taxonomy. In `fit`, they are the labels of y, as in `LabelTreeClassifier`. Use a tree that is
        clustered or known in advance for better precision. A list has a tree of the same labels for each of the
        `n_trees` trees. A saved model stores the current trees instead.
    arity : int
        Maximum number of children of a node.
    alpha : float
        Weight of balance against fit in the policy "best_fit", from 0 to 1. With 0 a new label goes where the tree
        predicts the example to belong, with 1 where there are fewest labels.
    weights : {"map", "dense", "hashed", "shared"}
        Storage of the weights. "map" has a hash map for every group of siblings, with the features that they have
        seen; "dense" has arrays over all features. "hashed" has arrays of a fixed length, in which features may
        collide; "shared" has one table of a fixed length for all nodes. Use the last two to limit the memory, see
        `memory_mb`.
    memory_mb : float, optional
        Memory budget of the weights of all trees in MB (2²⁰ bytes). Required with "hashed" and "shared" weights.
    expected_labels : int, optional
        Maximum number of labels with "hashed" weights, required there. `forget` makes room for more.
    loss : {"logistic", "squared_hinge"}
        Loss that the node classifiers minimise.
    link : {"auto", "exp5", "exp4", "exp3", "exp2", "clip", "sigmoid"}
        Function from a node's score to a probability, as in `LabelTreeClassifier`.
    solver : {"adagrad", "sgd", "fobos"}
        Algorithm that trains the node classifiers: AdaGrad, stochastic gradient descent with an L2 penalty, or FOBOS,
        which has an L1 penalty. Use FOBOS for fewer weights.
    learning_rate : float, optional
        Step size. AdaGrad divides it by the root of the sum of squared gradients of the feature, the other solvers by
        the root of the number of examples of the node. The default depends on solver, loss and `initial_accumulator`.
    regularization : float, optional
        Weight of the penalty of SGD or FOBOS. The default is 1e-6, or 0 with "shared" weights, which allow no penalty.
    initial_accumulator : float, optional
        Initial value of AdaGrad's sums of squared gradients (the ε of the paper), from 1e-12 to 1e12. A smaller value
        lets rare features make larger first steps. The default is 0.01 with the logistic loss. It is 1 with the squared
        hinge, in `fit` with several `epochs`, and in `from_batch`.
    epochs : int
        Number of passes over the examples in `fit`, each in a different order.
    normalize : bool
        Scale every row of X to unit length, in training and prediction. Turn it off if the length of rows matters.
    bias : bool
        Add a feature that is 1 in every row.
    search : {"exact", "beam"}
        Search for the k best labels: exact, or a beam search that keeps the `beam` best nodes of every level.
    beam : int
        Width of the beam. A wider beam is slower and more exact.
    normalize_siblings : bool
        Scale up probabilities of siblings that sum to less than 1. Exact probabilities would sum to at least 1.
    n_jobs : int, optional
        Number of threads for prediction, as in scikit-learn. Learning uses a thread for each tree, up to this number.
        The model does not depend on it.
    random_state : int, RandomState or None
        Seed of the order of examples in `fit` and of the policy "random", whose choices differ from tree to tree.
    verbose : int
        Progress bars of `fit`: above 0 always, 0 on a terminal only, below 0 never.

    Attributes
    ----------
    classes_ : array of shape (n_labels,)
        The labels so far, sorted; if y is a matrix, all its columns.
    tree_, trees_ : LabelTree, list of LabelTree
        The first of the current trees, and all of them. Their labels are positions in `classes_`.
    n_examples_ : int
        Number of learned examples.
    n_labels_ : int
        Number of labels in each tree.
    named_features_ : bool
        Whether rows are dictionaries, from names of features to values.
    stream_start_ : int
        Number of examples learned before the last stream of `learn`.
    counts_ : dict of int
        Counts of the work done: updates of regular and auxiliary classifiers (`n_updates`, `n_auxiliary_updates`),
        nodes that the policy looked at (`n_policy_steps`), and numbers of classifiers (`n_classifiers`, `n_auxiliary`),
        in all trees together; `n_examples` is the number of examples.
    memory_ : dict of int
        Bytes in use in all trees for "weights", "maps" and the "tree", and in "total", without the names of labels and
        features.
    label_counts_ : array of shape (n_labels,)
        Number of examples with each label.
    decision_ : Decision
        The labels that `predict` returns: by default those with a probability of at least 0.5; `decide_for` changes
        it. A label newer than the decision has the median of the thresholds.
    n_features_in_, feature_names_in_
        Number of features so far, and the names of the columns if X was a frame.

    Examples
    --------
    >>> from labeltree import OnlineLabelTreeClassifier
    >>> model = OnlineLabelTreeClassifier()
    >>> for row, labels in [({"purrs": 1.0}, ["cat"]), ({"barks": 1.0}, ["dog", "pet"]), ({"purrs": 2.0}, ["cat"])]:
    ...     _ = model.partial_fit([row], [labels])
    >>> model.predict_topk([{"purrs": 1.0, "runs": 1.0}], k=2).labels.tolist()
    [['cat', 'dog']]
    """

    policy: Any = "complete"
    _: KW_ONLY
    n_trees: int = 1
    tree: Any = None
    arity: int = 16
    alpha: float = 0.5
    weights: str = "map"
    memory_mb: float | None = None
    expected_labels: int | None = None
    loss: str = "logistic"
    link: str = "auto"
    solver: str = "adagrad"
    learning_rate: float | None = None
    regularization: float | None = None
    initial_accumulator: float | None = None
    epochs: int = 3
    normalize: bool = True
    bias: bool = True
    search: str = "exact"
    beam: int = 10
    normalize_siblings: bool = False
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0

    # -- other models ----------------------------------------------------------------------------------------------

    def freeze(self, prune: float = 0.1, **parameters: Any) -> LabelTreeClassifier:
        """Return the current model as a `LabelTreeClassifier`, which is smaller and faster but learns no more.

        Parameters
        ----------
        prune : float
            Threshold below which weights are dropped, as in `LabelTreeClassifier`. Use 0 for exactly the same answers.
        **parameters
            Parameters of `LabelTreeClassifier` for prediction, such as `search` and `n_jobs`; by default as here. The
            weights stay float32; ``weights="int8"`` rounds them.

        Examples
        --------
        >>> from labeltree import OnlineLabelTreeClassifier
        >>> model = OnlineLabelTreeClassifier().partial_fit([[1.0, 0.0], [0.0, 1.0]], [["cat"], ["dog"]])
        >>> model.freeze().predict_topk([[1.0, 0.0]], k=1).labels.tolist()
        [['cat']]
        """
        model = self.growing_model()
        given = {name: getattr(self, name) for name in ("search", "beam", "normalize_siblings", "n_jobs")}
        return freeze(model, prune, **{**given, **parameters})

    @classmethod
    def from_batch(cls, model: LabelTreeClassifier, **parameters: Any) -> OnlineLabelTreeClassifier:
        """Return an online model that starts from a trained one and learns new examples, labels and features.

        Loss, link, scaling and bias are those of the trained model, and so are its weights: int8 weights become the
        float32 numbers that they stand for, from which learning continues. It has no auxiliary classifiers, so these
        start untrained. The first new labels therefore start with little training.

        Parameters
        ----------
        model : LabelTreeClassifier
            A trained model with the loss "logistic" or "squared_hinge". If it has several trees, all of them learn on.
        **parameters
            Parameters of this class. A node with `arity` or more children gets no new ones.

        Examples
        --------
        >>> from labeltree import LabelTreeClassifier, OnlineLabelTreeClassifier
        >>> trained = LabelTreeClassifier(loss="logistic").fit([[1.0, 0.0], [0.0, 1.0]], [["cat"], ["dog"]])
        >>> model = OnlineLabelTreeClassifier.from_batch(trained)
        >>> model.partial_fit([[0.5, 0.5]], [["cow"]]).classes_.tolist()
        ['cat', 'cow', 'dog']
        """
        trained = model.model_
        for name in ("n_trees", "tree", "loss", "link", "normalize", "bias"):
            if name in parameters:
                raise ValueError(f"{name} is the same as in the trained model: leave it out")
        online = cls(
            **parameters,
            n_trees=trained.forest.n_trees,
            loss=model.loss_,
            link=model.trained_link(),
            normalize=model.normalize_,
            bias=bool(model.bias),
        )
        online.check_parameters(training=False)  # the trees differ already
        seed = int(scikit_learn.check_random_state(online.random_state).randint(LARGEST_INTEGER))
        return online.adopt(thaw(trained, online.settings(seed, is_single_pass=False)))

    # -- settings of published systems -----------------------------------------------------------------------------

    @classmethod
    def plt_vw(cls, **parameters: Any) -> OnlineLabelTreeClassifier:
        """Return an estimator as ``vw --plt``: a complete binary tree, logistic loss, one table of weights.

        `memory_mb` is the size of the table, 256 by default. A binary tree uses half of it: that is ``-b 24``.
        """
        return cls(**{"policy": "complete", "arity": 2, "weights": "shared", "memory_mb": 256, **parameters})

    @classmethod
    def cpt(cls, alpha: float = 0.4, **parameters: Any) -> OnlineLabelTreeClassifier:
        """Return an estimator that grows the conditional probability trees of Beygelzimer et al. (2009).

        A new label goes to the right child if (1 - alpha) 2 (p - 1/2) + alpha log2(L / R) > 0: p is the probability of
        the right child, L and R are the numbers of labels on the left and on the right. The policy "best_fit" chooses
        the same child in a binary tree, but has the natural logarithm: the estimator's `alpha` makes up for that.

        Examples
        --------
        >>> from labeltree import OnlineLabelTreeClassifier
        >>> round(OnlineLabelTreeClassifier.cpt(alpha=0.5).alpha, 3)
        0.591
        """
        bits = alpha / math.log(2)
        natural = bits / (1 - alpha + bits)
        return cls(**{"policy": "best_fit", "arity": 2, "alpha": natural, **parameters})

    # -- parameters and storage ------------------------------------------------------------------------------------

    def check_parameters(self, training: bool = True) -> None:
        check_estimator(self, _CONSTRAINTS)
        check_given_trees(self.tree, self.n_trees)
        if training and self.n_trees > 1 and self.tree is not None:
            check_trees_differ(self.tree)
        if training and self.n_trees > 1 and self.tree is None and self.policy in ("complete", "best_fit"):
            raise ValueError(
                f"with n_trees={self.n_trees}, policy={self.policy!r} puts every label at the same place in each tree: "
                "use policy='random' or one of your own, or give a different tree for each"
            )
        self.settings(seed=0)  # raises for parameters that exclude each other
        for name, is_needed in (
            ("memory_mb", self.weights in ("hashed", "shared")),
            ("expected_labels", self.weights == "hashed"),
        ):
            value = getattr(self, name)
            if is_needed != (value is not None):
                verb = "needs" if is_needed else "does not use"
                raise ValueError(f"weights={self.weights!r} {verb} {name}, got {value!r}")

    def settings(self, seed: int, is_single_pass: bool = True) -> OnlineSettings:
        rate, penalty = learner_settings(
            self.solver, self.loss, self.weights, self.learning_rate, self.regularization
        )
        accumulator = LARGE_ACCUMULATOR
        if self.solver == "adagrad":
            rate, accumulator = adagrad_settings(
                self.loss, self.learning_rate, self.initial_accumulator, is_single_pass
            )
        elif self.initial_accumulator is not None:
            raise ValueError(
                f"solver {self.solver!r} sums up no squared gradients: leave initial_accumulator at None, got "
                f"{self.initial_accumulator!r}"
            )
        return OnlineSettings(
            policy=self.policy,
            arity=int(self.arity),
            alpha=float(self.alpha),
            seed=seed,
            n_trees=int(self.n_trees),
            weights=self.weights,
            memory_mb=None if self.memory_mb is None else float(self.memory_mb),
            expected_labels=None if self.expected_labels is None else int(self.expected_labels),
            loss=self.loss,
            link=choose_link(self.link, self.loss, LOSSES[self.loss].links),
            solver=self.solver,
            learning_rate=float(rate),
            regularization=float(penalty),
            initial_accumulator=float(accumulator),
            bias=bool(self.bias),
            normalize=bool(self.normalize),
        )

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, policy: Any = None, verify: bool = False
    ) -> OnlineLabelTreeClassifier:
        """Open a saved model. It continues to learn as if it had never been saved, bit for bit.

        Parameters
        ----------
        path : path of a directory
        policy : callable, optional
            The policy of the model, if it is a callable: a file cannot hold it.
        verify : bool
            Compare all data with the checksums.
        """
        from labeltree.model_file import load

        model: OnlineLabelTreeClassifier = load(path, verify, cls, policy=policy)
        return model

    def stored_parameters(self) -> dict[str, Any]:
        return dict(self.get_params(deep=False))
