"""`OnlineLearner`: the methods of an online classifier that learn and forget, and its fitted attributes."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from labeltree import _native, scikit_learn
from labeltree.data.sources import Source
from labeltree.estimator import Estimator
from labeltree.labels.reading import LabelRows
from labeltree.mapped_rows import labels_given
from labeltree.model.forest import Search
from labeltree.model.top_labels import TopLabels
from labeltree.online.feature_space import FeatureRows
from labeltree.online.given_tree import start_trees
from labeltree.online.growing_model import GrowingModel
from labeltree.online.settings import OnlineSettings
from labeltree.online.streaming import Batches, learn
from labeltree.trees import LabelTree
from labeltree.validation import LARGEST_INTEGER, check_count, check_same_rows, check_sample_weight, n_threads

_Estimator = TypeVar("_Estimator", bound="OnlineLearner")


class OnlineLearner(Estimator):
    """The base class of `OnlineLabelTreeClassifier`, without its parameters."""

    tree: Any
    epochs: int
    search: str
    beam: int
    normalize_siblings: bool

    def make_search(self, k: int = 1, **wanted: Any) -> Search:
        beam = int(self.beam) if self.search == "beam" else 0
        return super().make_search(k, beam=beam, normalize_siblings=bool(self.normalize_siblings), **wanted)

    @abstractmethod
    def settings(self, seed: int, is_single_pass: bool = True) -> OnlineSettings:
        """Return the parameters with defaults filled in; they depend on whether examples come only once."""

    def growing_model(self) -> GrowingModel:
        """Return the model; raise `NotFittedError` if it has no examples yet."""
        return cast(GrowingModel, self.model_)

    def fit(self: _Estimator, X: Any, y: Any = None, sample_weight: Any = None) -> _Estimator:
        """Start with empty or the given trees, and learn the examples in `epochs` passes, each in a different order.

        Parameters
        ----------
        X : sparse matrix, array or frame of shape (n_rows, n_features), list of dictionaries, or `labeltree.data.Store`
        y : sparse or dense 0/1 matrix of shape (n_rows, n_labels), sequence of collections of labels, or 1-d array
            With a store, the labels of the store by default.
        sample_weight : array of shape (n_rows,), optional
            Factor of the gradient of each example, 1 by default.
        """
        self.check_parameters()
        random = scikit_learn.check_random_state(self.random_state)
        model = self._new_model(random, is_single_pass=self.epochs == 1)
        features, labels, weight = self._examples(model, X, y, sample_weight)
        if len(labels.indices) == 0:
            raise ValueError("y has no label in any row: there is nothing to learn")
        self._start(model, labels, labels.classes)
        for epoch in range(self.epochs):
            order = _native.example_order(model.settings.seed, epoch, labels.n_rows)
            model.learn(features, labels, weight, order, n_threads=n_threads(self.n_jobs))
        self._model = model
        return self

    def partial_fit(
        self: _Estimator, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> _Estimator:
        """Learn more examples in their order. They may have new labels and features.

        Parameters
        ----------
        X : sparse matrix, array or frame of shape (n_rows, n_features), list of dictionaries, or `labeltree.data.Store`
            A sparse matrix may be wider than earlier ones; an array must have the same width.
        y
            As in `fit`; all calls must use the same form.
        classes : array, optional
            The label of each leaf of `tree`, in the first call. Without `tree` it is ignored: tools of scikit-learn
            pass all classes with the first examples.
        sample_weight : array of shape (n_rows,), optional
            Factor of the gradient of each example, 1 by default.
        """
        self._learn(X, y, sample_weight, 0, classes)
        return self

    def predict_then_learn(
        self, X: Any, y: Any = None, k: int = 5, *, sample_weight: Any = None
    ) -> TopLabels:
        """Learn more examples, and return the k best labels of each example before it is learned.

        This is progressive validation: every example first tests the model and then trains it, so no examples need to
        be held out.

        Returns
        -------
        TopLabels
            `labels` and `probabilities`, each (n_rows, k), best first. If the model had fewer than k labels, the
            missing ones are -1, or None if labels are not numbers.
        """
        check_count("k", k)
        return self._learn(X, y, sample_weight, int(k))

    def learn(
        self: _Estimator,
        stream: Source | Batches,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: int = 100_000,
        new_stream: bool = False,
    ) -> _Estimator:
        """Learn the examples of a stream in their order, with checkpoints to resume from.

        Examples of the stream that the model has already learned are skipped. To resume after an interruption, load
        the checkpoint and pass the same stream from its beginning: the result is the same, bit for bit, as without the
        interruption.

        Parameters
        ----------
        stream : str, path-like, binary file, or iterable of (X, y)
            A file as :func:`labeltree.data.read_stream` reads it, or batches of examples as `partial_fit` takes them.
        checkpoint : path of a directory, optional
            Directory to save the model to: after every `checkpoint_every` examples, at the end, and on errors. It is
            locked meanwhile: no other process can save to it.
        checkpoint_every : int
            Number of examples between checkpoints, counted from the first example of the model.
        new_stream : bool
            Whether this is another stream than the last one, so that no example is skipped.

        Examples
        --------
        >>> import io
        >>> from labeltree import OnlineLabelTreeClassifier
        >>> stream = io.BytesIO(b"__label__sea a boat\\n__label__portrait a woman\\n")
        >>> OnlineLabelTreeClassifier().learn(stream).n_examples_
        2
        """
        with ExitStack() as stack:
            save = None
            if checkpoint is not None:
                from labeltree.model_file.saving import learning_into  # which knows this module

                save = partial(stack.enter_context(learning_into(checkpoint)), self)
            learn(self, stream, checkpoint=save, checkpoint_every=checkpoint_every, new_stream=new_stream)
        return self

    def _learn(self, X: Any, y: Any, sample_weight: Any, k: int, classes: Any = None) -> TopLabels:
        started: GrowingModel | None = vars(self).get("_model")
        if started is None:  # a model keeps the parameters that it started with
            self.check_parameters()
        model = started or self._new_model(scikit_learn.check_random_state(self.random_state))
        features, labels, weight = self._examples(model, X, y, sample_weight)
        if started is None:
            self._start(model, labels, classes)
        order = np.arange(labels.n_rows, dtype=np.int64)
        try:
            return model.learn(
                features, labels, weight, order, k, bool(self.normalize_siblings), n_threads(self.n_jobs)
            )
        finally:
            if model.n_samples_fit > 0:
                self._model = model

    def _new_model(self, random: np.random.RandomState, is_single_pass: bool = True) -> GrowingModel:
        return GrowingModel(self.settings(int(random.randint(LARGEST_INTEGER)), is_single_pass))

    def _start(self, model: GrowingModel, labels: LabelRows, classes: Any) -> None:
        """Let a new model start from the given trees, if there are any."""
        if self.tree is not None:
            model.plant(*start_trees(self.tree, labels, classes))
        elif model.settings.policy == "fixed":
            raise ValueError("policy 'fixed' adds no labels: give the tree of all labels, as in tree=...")

    def _examples(
        self, model: GrowingModel, X: Any, y: Any, sample_weight: Any
    ) -> tuple[FeatureRows, LabelRows, NDArray[np.float32] | None]:
        labels = model.labels.read(labels_given(X, y))
        features = model.features.read(X, normalize=model.settings.normalize, learning=True)
        check_same_rows(features.matrix.n_rows, labels.n_rows)
        return features, labels, check_sample_weight(sample_weight, labels.n_rows)

    def forget(self, *, not_seen_for: int | None = None, labels: Sequence[Any] | None = None) -> int:
        """Remove labels and free their memory.

        Other labels keep their nodes; nodes without labels are removed. The weights that remain were trained with the
        removed labels. So they are no longer the same as if the present tree had existed from the first example.

        Parameters
        ----------
        not_seen_for : int, optional
            Remove the labels that do not occur in this many of the latest examples.
        labels : sequence, optional
            Remove these labels. Pass either this or `not_seen_for`.

        Returns
        -------
        int
            Number of removed labels.

        Examples
        --------
        >>> from labeltree import OnlineLabelTreeClassifier
        >>> model = OnlineLabelTreeClassifier().partial_fit([[1.0], [2.0], [3.0]], [["a"], ["b"], ["c"]])
        >>> model.forget(not_seen_for=2)
        1
        >>> model.classes_.tolist()
        ['b', 'c']
        """
        model = self.growing_model()
        if (not_seen_for is None) == (labels is None):
            raise ValueError("forget needs either not_seen_for, a number of examples, or labels")
        if not_seen_for is not None:
            check_count("not_seen_for", not_seen_for, " or None")
        return model.forget(not_seen_for, labels)

    # -- fitted attributes -----------------------------------------------------------------------------------------

    @property
    def n_examples_(self) -> int:
        """The number of learned examples."""
        return self.growing_model().n_samples_fit

    @property
    def n_labels_(self) -> int:
        """The number of labels in each tree."""
        return len(self.growing_model().labels)

    @property
    def named_features_(self) -> bool:
        """Whether features have names, because rows are dictionaries."""
        return self.growing_model().features.has_names

    @property
    def stream_start_(self) -> int:
        """The number of examples learned before the current stream."""
        return self.growing_model().stream_start

    @stream_start_.setter
    def stream_start_(self, n_examples: int) -> None:
        self.growing_model().stream_start = n_examples

    @property
    def counts_(self) -> dict[str, int]:
        """Counts of the work done so far."""
        return self.growing_model().counts()

    @property
    def memory_(self) -> dict[str, int]:
        """The bytes in use, by purpose."""
        return self.growing_model().memory()

    @property
    def tree_(self) -> LabelTree:
        """The first of the current trees."""
        return self.trees_[0]

    @property
    def trees_(self) -> list[LabelTree]:
        """The current trees."""
        model = self.growing_model()
        with model.reading():
            return model.forest.trees
