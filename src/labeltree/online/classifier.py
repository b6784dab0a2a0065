"""`OnlineLabelTreeClassifier`: a label tree that starts empty and learns from a stream."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from labeltree import _native
from labeltree.classifier import LabelTreeClassifier
from labeltree.data.sources import Source
from labeltree.explanation import Contribution, Step
from labeltree.label_names import LabelNames
from labeltree.labels import LabelKind, LabelRows
from labeltree.losses import LOSSES
from labeltree.online.feature_space import FeatureRows
from labeltree.online.freezing import freeze, shape_of, thaw
from labeltree.online.growing_forest import GrowingForest
from labeltree.online.growing_model import GrowingModel, OnlineSettings
from labeltree.online.learners import LEARNERS, learner_settings
from labeltree.online.policies import POLICIES
from labeltree.online.storage import load, save
from labeltree.online.streaming import Batches, learn
from labeltree.prediction import LabelTreePredictor
from labeltree.top_labels import TopLabels
from labeltree.trees import LabelTree
from labeltree.validation import (
    LARGEST_INTEGER,
    Choice,
    Constraint,
    Flag,
    Number,
    check_count,
    check_parameters,
    check_sample_weight,
    n_threads,
)

WEIGHTS = ("map", "dense", "hashed", "shared")

_CONSTRAINTS: dict[str, Constraint] = {
    "policy": Choice(POLICIES, (Callable,)),  # type: ignore[arg-type]
    "arity": Number(2, LARGEST_INTEGER, integer=True),
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

_Method = TypeVar("_Method", bound=Callable[..., Any])


def _reading(method: _Method) -> _Method:
    """A question that sees the model as it is between two examples, whoever learns meanwhile."""

    @functools.wraps(method)
    def locked(self: OnlineLabelTreeClassifier, *arguments: Any, **options: Any) -> Any:
        self._check_trained()
        with self._model.lock.reading():
            return method(self, *arguments, **options)

    return locked  # type: ignore[return-value]


class OnlineLabelTreeClassifier(LabelTreePredictor, ClassifierMixin, BaseEstimator):
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

    def __init__(
        self,
        policy: Any = "complete",
        *,
        arity: int = 16,
        alpha: float = 0.5,
        weights: str = "map",
        memory_mb: float | None = None,
        expected_labels: int | None = None,
        loss: str = "logistic",
        link: str = "auto",
        solver: str = "adagrad",
        learning_rate: float | None = None,
        regularization: float | None = None,
        epochs: int = 3,
        normalize: bool = True,
        bias: bool = True,
        search: str = "exact",
        beam: int = 10,
        normalize_siblings: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.policy = policy
        self.arity = arity
        self.alpha = alpha
        self.weights = weights
        self.memory_mb = memory_mb
        self.expected_labels = expected_labels
        self.loss = loss
        self.link = link
        self.solver = solver
        self.learning_rate = learning_rate
        self.regularization = regularization
        self.epochs = epochs
        self.normalize = normalize
        self.bias = bias
        self.search = search
        self.beam = beam
        self.normalize_siblings = normalize_siblings
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    # -- learning --------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> OnlineLabelTreeClassifier:
        """Start anew and learn the examples in `epochs` passes, each in another order.

        Parameters
        ----------
        X : sparse matrix, array or frame of shape (n_rows, n_features), or list of dictionaries
        y : sparse or dense 0/1 matrix of shape (n_rows, n_labels), sequence of collections of labels, or 1-d array
        sample_weight : array of shape (n_rows,), optional
            How much each example counts, 1 by default: its gradient is multiplied by this.
        """
        self._check_parameters()
        random = check_random_state(self.random_state)
        model = GrowingModel(self._settings(int(random.randint(LARGEST_INTEGER))))
        features, labels, weight = self._examples(model, X, y, sample_weight)
        if len(labels.indices) == 0:
            raise ValueError("y has no label in any row: there is nothing to learn")
        for _ in range(self.epochs):
            model.learn(features, labels, weight, random.permutation(labels.n_rows).astype(np.int64))
        self._begin(model)
        return self

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> OnlineLabelTreeClassifier:
        """Learn more examples, in their order; any of them may bring labels and features that are new.

        Parameters
        ----------
        X : sparse matrix, array or frame of shape (n_rows, n_features), or list of dictionaries
            A sparse matrix may be wider than those before it; an array may not.
        y : as in `fit`, but always in the same form
        classes : array, optional
            Not needed: for tools of scikit-learn, which give all classes with the first examples.
        sample_weight : array of shape (n_rows,), optional
            How much each example counts.
        """
        self._learn(X, y, sample_weight, 0)
        return self

    def predict_then_learn(self, X: Any, y: Any, k: int = 5, *, sample_weight: Any = None) -> TopLabels:
        """Learn more examples, but ask for the k best labels of each before it is learned.

        This is progressive validation: how good the answers were to examples that had not been seen, which is what the
        model is worth at that moment, without setting any examples aside.

        Returns
        -------
        TopLabels
            `labels` and `probabilities`, each (n_rows, k), best first. Where fewer than k labels were known yet, the
            label is -1, or None if labels are not numbers.
        """
        check_count("k", k)
        return self._learn(X, y, sample_weight, int(k))

    def learn(
        self,
        stream: Source | Batches,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: int = 100_000,
        new_stream: bool = False,
    ) -> OnlineLabelTreeClassifier:
        """Learn the examples of a stream in their order, with checkpoints from which learning can go on.

        Examples of the stream that the model has learned before are passed over. Whatever happened, a model that is
        loaded from its checkpoint and given the same stream again, from its beginning, ends the same, bit for bit, as
        one that was never interrupted.

        Parameters
        ----------
        stream : str, path-like, binary file, or iterable of (X, y)
            A file as :func:`labeltree.data.read_stream` reads it, or batches of examples as `partial_fit` takes them.
        checkpoint : path of a directory, optional
            Where the model is saved: after every `checkpoint_every` examples, at the end, and when the stream fails.
        checkpoint_every : int
            Counted from the first example that the model ever learned, whatever the batches are.
        new_stream : bool
            All of the stream is new: it goes on where the one before it ended.

        Examples
        --------
        >>> import io
        >>> from labeltree import OnlineLabelTreeClassifier
        >>> stream = io.BytesIO(b"__label__sea a boat\\n__label__portrait a woman\\n")
        >>> OnlineLabelTreeClassifier().learn(stream).n_examples_
        2
        """
        learn(self, stream, checkpoint=checkpoint, checkpoint_every=checkpoint_every, new_stream=new_stream)
        return self

    def _learn(self, X: Any, y: Any, sample_weight: Any, k: int) -> TopLabels:
        model = self.__dict__.get("_model")
        if model is None:  # what a model was begun with holds from then on
            self._check_parameters()
            model = GrowingModel(
                self._settings(int(check_random_state(self.random_state).randint(LARGEST_INTEGER)))
            )
        order = np.arange(_n_rows(X), dtype=np.int64)
        features, labels, weight = self._examples(model, X, y, sample_weight)
        try:
            return model.learn(features, labels, weight, order, k, self._normalizes_siblings)
        finally:
            if model.tree.n_examples > 0:
                self._begin(model)

    def _examples(
        self, model: GrowingModel, X: Any, y: Any, sample_weight: Any
    ) -> tuple[FeatureRows, LabelRows, NDArray[np.float32] | None]:
        labels = model.labels.read(y)
        features = model.features.read(self, X, normalize=model.settings.normalize, learning=True)
        if features.matrix.n_rows != labels.n_rows:
            raise ValueError(
                "X and y must have the same number of rows "
                f"(inconsistent: {features.matrix.n_rows} and {labels.n_rows})"
            )
        return features, labels, check_sample_weight(sample_weight, labels.n_rows)

    def _begin(self, model: GrowingModel) -> None:
        """Answer from this model from now on."""
        self._model = model
        self.n_features_in_ = model.features.n_features
        if model.features.column_names is not None:
            self.feature_names_in_ = model.features.column_names
        else:
            self.__dict__.pop("feature_names_in_", None)

    def forget(self, *, not_seen_for: int | None = None, labels: Sequence[Any] | None = None) -> int:
        """Remove labels, and give back the memory of what they had of the tree.

        The tree stays as it was for the others, but for nodes that are of no use any more. What remains is what was
        learned, not what would have been learned without the removed labels: the promise that node classifiers are as
        if their tree had been there from the start holds no longer.

        Parameters
        ----------
        not_seen_for : int, optional
            Remove the labels that none of the last so many examples had.
        labels : sequence, optional
            Remove these. One of the two must be given.

        Returns
        -------
        int
            How many labels were removed.

        Examples
        --------
        >>> from labeltree import OnlineLabelTreeClassifier
        >>> model = OnlineLabelTreeClassifier().partial_fit([[1.0], [2.0], [3.0]], [["a"], ["b"], ["c"]])
        >>> model.forget(not_seen_for=2)
        1
        >>> model.classes_.tolist()
        ['b', 'c']
        """
        self._check_trained()
        if (not_seen_for is None) == (labels is None):
            raise ValueError("forget needs either not_seen_for, a number of examples, or labels")
        model = self._model
        with model.lock.reading():
            if not_seen_for is not None:
                check_count("not_seen_for", not_seen_for, " or None")
                kept = model.tree.last_seen > model.tree.n_examples - not_seen_for
            else:
                assert labels is not None
                removed = {int(position) for position in self._label_names().positions(list(labels))}
                kept = np.array([int(at) not in removed for at in model.labels.position], dtype=bool)
        model.forget(kept)
        return int((~kept).sum())

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
        self._check_trained()
        given = {name: getattr(self, name) for name in ("search", "beam", "normalize_siblings", "n_jobs")}
        return freeze(self._model, prune, **{**given, **parameters})

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
        check_is_fitted(model, "weights_")
        for name in ("loss", "link", "normalize", "bias"):
            if name in parameters:
                raise ValueError(f"the trained model says what {name} is: leave it out")
        online = cls(
            **parameters,
            loss=model.loss_,
            link=model._link(),
            normalize=model.normalize_,
            bias=bool(model.bias),
        )
        online._check_parameters()
        random = check_random_state(online.random_state)
        online._begin(thaw(model, online._settings(int(random.randint(LARGEST_INTEGER)))))
        return online

    # -- answers ---------------------------------------------------------------------------------------------------

    predict_topk = _reading(LabelTreePredictor.predict_topk)
    predict_proba = _reading(LabelTreePredictor.predict_proba)
    predict = _reading(LabelTreePredictor.predict)
    predict_pairs = _reading(LabelTreePredictor.predict_pairs)
    iter_labels = _reading(LabelTreePredictor.iter_labels)
    explain = _reading(LabelTreePredictor.explain)

    @property
    def classes_(self) -> NDArray[Any]:  # type: ignore[override]
        """The labels so far."""
        return self._learned().labels.classes

    @property
    def label_kind_(self) -> LabelKind:  # type: ignore[override]
        """The form of y."""
        kind = self._learned().labels.kind
        assert kind is not None
        return kind

    @property
    def label_counts_(self) -> NDArray[np.int64]:  # type: ignore[override]
        """How many examples had each label."""
        model = self._learned()
        counts = np.zeros(len(model.labels.classes), dtype=np.int64)
        counts[model.labels.position] = model.tree.label_counts
        return counts

    @property
    def n_examples_(self) -> int:
        """How many examples were learned."""
        return int(self._learned().tree.n_examples)

    @property
    def n_labels_(self) -> int:
        """How many labels the examples had."""
        return len(self._learned().labels)

    @property
    def named_features_(self) -> bool:
        """Whether features have names: rows are dictionaries."""
        return self._learned().features.has_names

    @property
    def stream_start_(self) -> int:
        """How many of the examples were learned before the stream at hand began."""
        return self._learned().stream_start

    @stream_start_.setter
    def stream_start_(self, n_examples: int) -> None:
        self._learned().stream_start = n_examples

    @property
    def n_samples_fit_(self) -> int:  # type: ignore[override]
        """The same, by the name that other classifiers have for it."""
        return self.n_examples_

    @property
    def counts_(self) -> dict[str, int]:
        """What was done so far."""
        return dict(self._learned().tree.counts)

    @property
    def memory_(self) -> dict[str, int]:
        """Bytes in use."""
        return self._learned().memory()

    @property
    def tree_(self) -> LabelTree:
        """The tree as it is now."""
        model = self._learned()
        with model.lock.reading():
            return shape_of(model)

    @property
    def trees_(self) -> list[LabelTree]:
        """The tree as it is now, as a list of one."""
        return [self.tree_]

    def _learned(self) -> GrowingModel:
        model: GrowingModel | None = self.__dict__.get("_model")
        if model is None:  # so that hasattr says no
            raise AttributeError(f"this {type(self).__name__} has not learned anything yet")
        return model

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in self.__dict__

    def _check_trained(self) -> None:
        check_is_fitted(self)

    @property
    def _is_one_tree(self) -> bool:
        return True

    @property
    def _has_node_estimators(self) -> bool:
        return False

    def _weights_of_trees(self) -> list[float]:
        return [1.0]

    missing_estimates = "path"

    def _features(self, X: Any) -> _native.FeatureMatrix:
        self._check_trained()
        model = self._model
        return model.features.read(self, X, normalize=model.settings.normalize, learning=False).matrix

    def _label_names(self) -> LabelNames:
        return self._learned().labels.names

    def _forest(self) -> Any:
        model = self._learned()
        return GrowingForest(model.tree, model.labels.position, len(model.labels.classes))

    def _enumeration(self, features: _native.FeatureMatrix, allowed: NDArray[np.uint8] | None) -> Any:
        return self._forest().enumerate(features, self._normalizes_siblings, allowed)

    def _paths(
        self,
        features: _native.FeatureMatrix,
        index: int,
        n_features: int,
        feature_names: Sequence[str] | None,
    ) -> list[list[Step]]:
        model = self._learned()
        number = self._forest().number_of(index)
        if number < 0:
            raise ValueError(
                f"no example so far had the label {self.classes_[index]!r}: there is nothing to explain"
            )
        names = feature_names if feature_names is not None else model.features.names or None
        indices, values = (array.tolist() for array in features.row(0))
        steps, so_far = [], 1.0
        for node, n_labels, score, probability, bias, weights in model.tree.explain(
            features, 0, number, self._normalizes_siblings
        ):
            so_far *= probability
            known = [
                Contribution(feature if names is None else names[feature], value, weight)
                for feature, value, weight in zip(indices, values, weights.tolist(), strict=True)
                if weight != 0
            ]
            known.sort(key=lambda contribution: -abs(contribution.amount))
            steps.append(Step(node, n_labels, score, probability, so_far, bias, tuple(known[:n_features])))
        return [steps]

    # -- parameters and storage ------------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
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
        links = LOSSES[self.loss].links
        if self.link == "auto":
            return links[0]
        if self.link not in links:
            raise ValueError(
                f"link {self.link!r} does not go with loss {self.loss!r}; expected one of {links}"
            )
        return self.link

    def _settings(self, seed: int) -> OnlineSettings:
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
        self._check_trained()
        save(self, self._model, path)

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, policy: Any = None, verify: bool = False
    ) -> OnlineLabelTreeClassifier:
        """Open a saved model.

        Parameters
        ----------
        path : path of a directory
        policy : callable, optional
            The policy, if the model has one of your own: no file can hold it.
        verify : bool
            Compare everything with the checksums.
        """
        return load(cls, path, policy, verify)

    def _parameters_as_trained(self) -> dict[str, Any]:
        return dict(self.get_params(deep=False))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags


def _n_rows(X: Any) -> int:
    shape = getattr(X, "shape", None)
    return int(shape[0]) if shape else len(X)
