"""`OnlineLabelTreeClassifier`: a label tree that starts empty and learns from a stream."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

from sklearn.utils import check_random_state

from labeltree.classifier import LabelTreeClassifier
from labeltree.online.freezing import freeze, thaw
from labeltree.online.learners import LEARNERS, learner_settings
from labeltree.online.learning import OnlineLearner
from labeltree.online.policies import POLICIES
from labeltree.online.settings import OnlineSettings
from labeltree.training.losses import LOSSES, choose_link
from labeltree.validation import (
    LARGEST_INTEGER,
    Choice,
    Constraint,
    Flag,
    Number,
    check_parameters,
    n_threads,
)

WEIGHTS = ("map", "dense", "hashed", "shared")

_CONSTRAINTS: dict[str, Constraint] = {
    "policy": Choice(POLICIES, (Callable,)),  # type: ignore[arg-type]
    "arity": Number(2, 2**30, integer=True),
    "alpha": Number(0, 1),
    "weights": Choice(WEIGHTS),
    "memory_mb": Number(0, open_low=True, optional=True),
    "expected_labels": Number(1, LARGEST_INTEGER, integer=True, optional=True),
    "loss": Choice(("logistic", "squared_hinge")),
    "link": Choice(("auto", "exp5", "exp4", "exp3", "exp2", "clip", "sigmoid")),
    "solver": Choice(tuple(LEARNERS)),
    "learning_rate": Number(0, 1e10, open_low=True, optional=True),
    "regularization": Number(0, 1e10, optional=True),
    "epochs": Number(1, LARGEST_INTEGER, integer=True),
    "normalize": Flag(),
    "bias": Flag(),
    "search": Choice(("exact", "beam")),
    "beam": Number(1, LARGEST_INTEGER, integer=True),
    "normalize_siblings": Flag(),
    "n_jobs": Number(integer=True, optional=True),
    "verbose": Number(integer=True),
}


@dataclass(eq=False, repr=False)
class OnlineLabelTreeClassifier(OnlineLearner):
    """A probabilistic label tree that starts empty, learns from a stream and can be asked at any moment.

    Examples come one by one or in batches, with labels and features that were never announced. A new label gets a leaf;
    every node classifier is then what it would be had it been there from the first example on. Labels are any hashable;
    rows are those of a matrix, whose width need not be known, or dictionaries from names of features to values.

    Parameters
    ----------
    policy : {"complete", "random", "best_fit"} or callable
        Where the leaf of a new label goes: so that the tree is a complete one, below a node at random, below the nodes
        that fit the example best (against balance, see `alpha`), or as your own policy says; see
        `labeltree.online.TreePolicy`.
    arity : int
        The largest number of children of a node.
    alpha : float
        What "best_fit" trades: at 0 a new label goes where the tree expects a label of the example to be, at 1 where
        there are fewest labels.
    weights : {"map", "dense", "hashed", "shared"}
        Where weights are kept: in a hash map for every group of siblings, which has a place for each feature that they
        have seen; in arrays with a place for all features; in arrays of a fixed length, where features share places by
        their hash; or in one table of a fixed length that all nodes share. The last two keep within `memory_mb`.
    memory_mb : float, optional
        The memory for all weights, in MB (2²⁰ bytes), with "hashed" and "shared" weights.
    expected_labels : int, optional
        With "hashed" weights: how many labels the memory is for. There cannot be more; `forget` makes room.
    loss : {"logistic", "squared_hinge"}
        What the node classifiers minimise.
    link : {"auto", "exp5", "exp4", "exp3", "exp2", "clip", "sigmoid"}
        How a node's score becomes a probability, as for `LabelTreeClassifier`.
    solver : {"adagrad", "sgd", "fobos"}
        How the node classifiers are learned: by AdaGrad, by stochastic gradient descent with an L2 penalty, or by
        FOBOS, which is the same with an L1 penalty.
    learning_rate : float, optional
        The size of a step. AdaGrad's is divided by the root of the sum of squared gradients of the feature; that of the
        others by the root of the number of examples a node has seen. The default depends on solver and loss.
    regularization : float, optional
        The weight of the penalty of SGD or FOBOS; by default 1e-6, or 0 with "shared" weights, which allow no other.
    epochs : int
        Passes over the examples in `fit`, each in another order.
    normalize : bool
        Scale every row of X to unit length, in learning and prediction.
    bias : bool
        Add a feature that is 1 in every row.
    search : {"exact", "beam"}
        How the k best labels are found: exactly, or by keeping only the `beam` best nodes of every level.
    beam : int
        The width of the beam.
    normalize_siblings : bool
        Scale the probabilities of siblings that sum to less than 1 (they cannot, were they exact).
    n_jobs : int, optional
        Threads for prediction, as in scikit-learn. Learning takes one.
    random_state : int, RandomState or None
        The seed of the order of examples in `fit` and of the policy "random".
    verbose : int
        Above 0: show progress of `fit`; 0: show it on a terminal only; below 0: never.

    Attributes
    ----------
    classes_ : array of shape (n_labels,)
        The labels so far: sorted, or of a matrix y all its columns.
    tree_ : LabelTree
        The tree as it is now, labels being positions in `classes_`.
    n_examples_ : int
        How many examples were learned since the model was empty.
    n_labels_ : int
        How many labels these had.
    named_features_ : bool
        Whether rows are dictionaries, from names of features to values.
    stream_start_ : int
        How many of the examples were learned before the stream that `learn` had last.
    counts_ : dict of int
        What was done: updates of regular and auxiliary classifiers (`n_updates`, `n_auxiliary_updates`), nodes that the
        policy looked at (`n_policy_steps`), how many classifiers there are (`n_classifiers`, `n_auxiliary`).
    memory_ : dict of int
        Bytes in use: of "weights", "maps", the "tree", and in "total". The names of labels and features come on top.
    label_counts_ : array of shape (n_labels,)
        How many examples had each label.
    decision_ : Decision
        What `predict` gives: labels of probability 0.5 or more, unless `decide_for` says otherwise. Labels that come
        later have the median of the thresholds.
    n_features_in_, feature_names_in_
        The number of features so far, and the names of the columns if X was a frame.

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
        """The model as it is now, as one that only answers: as small, fast and mappable as any trained one.

        Parameters
        ----------
        prune : float
            Weights below this are left out, as in `LabelTreeClassifier`; 0 for the very same answers.
        **parameters
            Parameters of `LabelTreeClassifier` that prediction heeds, as `search` and `n_jobs`; by default as here.

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
        """A model that goes on from a trained one, with new examples, labels and features.

        Loss, link, scaling and bias are those of the trained model. It does not know what the auxiliary classifiers
        would have learned: those start from nothing, and so labels that come soon start from little.

        Parameters
        ----------
        model : LabelTreeClassifier
            A trained model of one tree, with the loss "logistic" or "squared_hinge".
        **parameters
            Parameters of this class. A node that has `arity` children or more gets no more.

        Examples
        --------
        >>> from labeltree import LabelTreeClassifier, OnlineLabelTreeClassifier
        >>> trained = LabelTreeClassifier(loss="logistic").fit([[1.0, 0.0], [0.0, 1.0]], [["cat"], ["dog"]])
        >>> model = OnlineLabelTreeClassifier.from_batch(trained)
        >>> model.partial_fit([[0.5, 0.5]], [["cow"]]).classes_.tolist()
        ['cat', 'cow', 'dog']
        """
        trained = model.model_
        for name in ("loss", "link", "normalize", "bias"):
            if name in parameters:
                raise ValueError(f"the trained model says what {name} is: leave it out")
        online = cls(
            **parameters,
            loss=model.loss_,
            link=model.trained_link(),
            normalize=model.normalize_,
            bias=bool(model.bias),
        )
        online.check_parameters()
        random = check_random_state(online.random_state)
        online._model = thaw(trained, online.settings(int(random.randint(LARGEST_INTEGER))))
        return online

    # -- parameters and storage ------------------------------------------------------------------------------------

    def check_parameters(self, training: bool = True) -> None:
        check_parameters(self, _CONSTRAINTS)
        check_random_state(self.random_state)
        n_threads(self.n_jobs)  # raises for 0
        learner_settings(self.solver, self.loss, self.weights, self.learning_rate, self.regularization)
        self._link_of_loss()
        has_budget = self.weights in ("hashed", "shared")
        if has_budget != (self.memory_mb is not None):
            raise ValueError(
                f"weights={self.weights!r} {'needs' if has_budget else 'has no use for'} memory_mb, "
                f"got {self.memory_mb!r}"
            )
        if (self.weights == "hashed") != (self.expected_labels is not None):
            raise ValueError(
                f"weights={self.weights!r} {'needs' if self.weights == 'hashed' else 'has no use for'} "
                f"expected_labels, got {self.expected_labels!r}"
            )

    def _link_of_loss(self) -> str:
        return choose_link(self.link, self.loss, LOSSES[self.loss].links)

    def settings(self, seed: int) -> OnlineSettings:
        rate, penalty = learner_settings(
            self.solver, self.loss, self.weights, self.learning_rate, self.regularization
        )
        return OnlineSettings(
            policy=self.policy,
            arity=int(self.arity),
            alpha=float(self.alpha),
            seed=seed,
            weights=self.weights,
            memory_mb=None if self.memory_mb is None else float(self.memory_mb),
            expected_labels=None if self.expected_labels is None else int(self.expected_labels),
            loss=self.loss,
            link=self._link_of_loss(),
            solver=self.solver,
            learning_rate=float(rate),
            regularization=float(penalty),
            bias=bool(self.bias),
            normalize=bool(self.normalize),
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a directory, atomically: a reader sees the old model or the new one.

        Nothing is left out: a model that is loaded and learns on becomes, bit for bit, the one that had never been
        saved. `freeze` gives a smaller one, for those who only ask.

        Parameters
        ----------
        path : path of a directory
            Made if it is not there. A directory with anything but a model in it is refused.
        """
        super().save(path)

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, policy: Any = None, verify: bool = False
    ) -> OnlineLabelTreeClassifier:
        """Open a saved model.

        Parameters
        ----------
        path : path of a directory
        policy : callable, optional
            Your own policy, if the model has one: no file can hold it.
        verify : bool
            Compare everything with the checksums.
        """
        from labeltree.model_file import load

        model: OnlineLabelTreeClassifier = load(path, verify, cls, policy=policy)
        return model

    def stored_parameters(self) -> dict[str, Any]:
        return dict(self.get_params(deep=False))
