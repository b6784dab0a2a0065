"""What an online classifier has learned: the tree, the labels and the features that came so far."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree import _native
from labeltree.labels.reading import LabelRows
from labeltree.model.top_labels import TopLabels
from labeltree.online.feature_space import FeatureRows, FeatureSpace
from labeltree.online.label_table import LabelTable
from labeltree.online.memory_budget import hashed_length, shared_length
from labeltree.online.policies import make_policy
from labeltree.online.readers_writer_lock import ReadersWriterLock

#: Rows that are learned before readers may ask again.
ROWS_PER_TURN = 64


@dataclass(frozen=True)
class OnlineSettings:
    """The parameters that a model was begun with, none left open; they hold as long as it lives."""

    policy: Any
    arity: int
    alpha: float
    seed: int
    weights: str
    memory_mb: float | None
    expected_labels: int | None
    loss: str
    link: str
    solver: str
    learning_rate: float
    regularization: float
    bias: bool
    normalize: bool

    def options(self) -> _native.OnlineOptions:
        """The same for the kernel."""
        return _native.OnlineOptions(
            loss=getattr(_native.Loss, self.loss),
            solver=getattr(_native.Solver, self.solver),
            link=getattr(_native.Link, self.link),
            learning_rate=self.learning_rate,
            regularization=self.regularization,
            bias=self.bias,
            weights=getattr(_native.WeightKind, self.weights),
            length=self.length,
            most_lanes=self.most_lanes,
            most_labels=self.expected_labels if self.weights == "hashed" and self.expected_labels else 0,
        )

    def tree_policy(self) -> _native.TreePolicy:
        return make_policy(self.policy, self.arity, self.alpha, self.seed)

    @property
    def length(self) -> int:
        """Of hashed weights, or of the table that all nodes share; else 0."""
        if self.weights == "hashed":
            assert self.memory_mb is not None
            assert self.expected_labels is not None
            return hashed_length(self.memory_mb, self.expected_labels, self.solver)
        if self.weights == "shared":
            assert self.memory_mb is not None
            return shared_length(self.memory_mb, self.most_lanes, self.solver)
        return 0

    @property
    def most_lanes(self) -> int:
        """The lanes of the widest block, with what the kernel may round them up by."""
        return self.arity + 3

    @property
    def hashes_names(self) -> bool:
        return self.weights in ("hashed", "shared")


class GrowingModel:
    """A tree with the labels and features it knows. One thread learns while none asks, or any number ask."""

    def __init__(
        self,
        settings: OnlineSettings,
        tree: _native.OnlineTree | None = None,
        labels: LabelTable | None = None,
        features: FeatureSpace | None = None,
        stream_start: int = 0,
    ) -> None:
        self.settings = settings
        self.tree = _native.OnlineTree(settings.options(), settings.tree_policy()) if tree is None else tree
        self.labels = LabelTable() if labels is None else labels
        self.features = FeatureSpace(settings.hashes_names) if features is None else features
        self.stream_start = stream_start  # examples that were learned before the stream at hand began
        self.lock = ReadersWriterLock()
        self._learning = threading.Lock()  # of two that learn, one goes first

    def learn(
        self,
        features: FeatureRows,
        labels: LabelRows,
        weight: NDArray[np.float32] | None,
        order: NDArray[np.int64],
        k: int = 0,
        normalize_siblings: bool = False,
    ) -> TopLabels:
        """Learn rows in this order; give the k best labels of each before it was learned.

        If one cannot be learned, those before it are, and the exception says why.
        """
        self.lock.check_other_thread()
        with self._learning:
            return self._learn(features, labels, weight, order, k, normalize_siblings)

    def _learn(
        self,
        features: FeatureRows,
        labels: LabelRows,
        weight: NDArray[np.float32] | None,
        order: NDArray[np.int64],
        k: int,
        normalize_siblings: bool,
    ) -> TopLabels:
        best = np.empty((len(order), k), dtype=np.int32)
        probabilities = np.empty((len(order), k), dtype=np.float32)
        with self.lock.writing():
            numbers, new_labels = self.labels.number(labels, order)
            n_before = len(self.labels)
            self.labels.note_form(labels)
            self.features.adopt(features)
        search = _native.Search(k, normalize_siblings=normalize_siblings) if k > 0 else None
        n_added = 0
        for begin in range(0, len(order), ROWS_PER_TURN):
            turn = slice(begin, begin + ROWS_PER_TURN)
            with self.lock.writing():
                try:
                    self.tree.learn(
                        features.matrix,
                        labels.indptr,
                        numbers,
                        order[turn],
                        weight,
                        search,
                        None if search is None else best[turn],
                        None if search is None else probabilities[turn],
                    )
                finally:  # also of a turn that failed half-way
                    n_known = self.tree.n_labels - n_before
                    self.labels.add(new_labels[n_added:n_known])
                    n_added = n_known
        return TopLabels(self.labels.names_of(best), probabilities)

    def forget(self, not_seen_for: int | None, labels: Sequence[Any] | None) -> int:
        """Remove the labels that the last so many examples did not have, or these; tell how many they were."""
        self.lock.check_other_thread()
        with self._learning, self.lock.writing():
            if not_seen_for is not None:
                kept = self.tree.last_seen > self.tree.n_examples - not_seen_for
            else:
                removed = self.labels.names.positions(labels or ())
                kept = ~np.isin(self.labels.position, removed)
            self.tree.forget(kept.astype(np.uint8))
            self.labels.keep(kept)
        return int((~kept).sum())

    def memory(self) -> dict[str, int]:
        """Bytes in use, by purpose; not counted are the names of labels and features, which Python keeps."""
        used: dict[str, int] = self.tree.memory
        return {**used, "total": sum(used.values())}

    def __getstate__(self) -> dict[str, Any]:
        with self.lock.reading():
            return {
                "settings": self.settings,
                "state": self.tree.state(),
                "labels": self.labels,
                "features": self.features,
                "stream_start": self.stream_start,
            }

    def __setstate__(self, state: dict[str, Any]) -> None:
        settings: OnlineSettings = state["settings"]
        tree = _native.OnlineTree.from_state(settings.options(), settings.tree_policy(), state["state"])
        self.__init__(settings, tree, state["labels"], state["features"], state["stream_start"])  # type: ignore[misc]
