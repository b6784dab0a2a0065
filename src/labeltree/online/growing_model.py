"""`GrowingModel`: the model of online trees; a lock guards its changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from labeltree import _native
from labeltree import sparse as sp
from labeltree.data.words import word_counts
from labeltree.decisions.decision import HALF, Decision
from labeltree.labels.label_index import LabelIndex
from labeltree.labels.label_names import check_label_names
from labeltree.labels.reading import LabelKind, LabelRows
from labeltree.model.forest import empty_answer
from labeltree.model.model import Model, TrainingRecord
from labeltree.model.top_labels import TopLabels
from labeltree.online.feature_space import FeatureRows, FeatureSpace
from labeltree.online.growing_forest import GrowingForest
from labeltree.online.label_table import LabelTable
from labeltree.online.readers_writer_lock import ReadersWriterLock
from labeltree.online.settings import OnlineSettings
from labeltree.trees import LabelTree
from labeltree.wording import count_text

#: Number of rows to learn before readers get the lock again.
ROWS_PER_TURN = 64


class GrowingModel:
    """Online trees with their labels and features.

    Any number of threads may ask questions, or one thread may learn. It has the attributes of a `Model`, which may
    change between two questions but never while `reading` is held.
    """

    learns = True
    prefers_batches = False
    vectorizer = None

    def __init__(
        self,
        settings: OnlineSettings,
        trees: Sequence[_native.OnlineTree] | None = None,
        labels: LabelTable | None = None,
        features: FeatureSpace | None = None,
        stream_start: int = 0,
        decided: tuple[Decision, NDArray[Any] | None] = (HALF, None),
        label_names: Mapping[Any, str] | None = None,
    ) -> None:
        self.settings = settings
        if trees is None:
            trees = [_native.OnlineTree(settings.options(), policy) for policy in settings.tree_policies()]
        self._take(trees)
        self.labels = LabelTable() if labels is None else labels
        self.features = FeatureSpace(settings.hashes_names) if features is None else features
        self.stream_start = stream_start  # the number of examples before the current stream
        self.lock = ReadersWriterLock()
        self.label_names = label_names
        self._decided = decided  # a decision and its labels

    def _take(self, trees: Sequence[_native.OnlineTree]) -> None:
        self.trees = list(trees)
        self.native = _native.OnlineForest(self.trees)

    # -- the attributes of a model ---------------------------------------------------------------------------------

    @property
    def forest(self) -> GrowingForest:
        """The trees as they are now."""
        n_labels, names = len(self.labels.classes), self.features.names
        return GrowingForest(self.trees, self.native, self.labels.position, n_labels, names, self.reading)

    @property
    def label_index(self) -> LabelIndex:
        return self.labels.index

    @property
    def label_kind(self) -> LabelKind:
        kind = self.labels.kind
        assert kind is not None
        return kind

    @property
    def label_counts(self) -> NDArray[np.int64]:
        counts = np.zeros(len(self.labels.classes), dtype=np.int64)
        counts[self.labels.position] = self.trees[0].label_counts
        return counts

    @property
    def n_samples_fit(self) -> int:
        return int(self.trees[0].n_examples)

    @property
    def n_features(self) -> int:
        return self.features.n_features

    @property
    def feature_names(self) -> NDArray[Any] | None:
        """The names of the columns, if X was a frame."""
        return self.features.column_names

    @property
    def training(self) -> TrainingRecord:
        return TrainingRecord(
            [{"n_examples": self.n_samples_fit}] * len(self.trees), {"normalize": self.settings.normalize}
        )

    @property
    def decision(self) -> Decision:
        """The labels that `predict` returns; labels newer than the decision have the median threshold."""
        decision, labels = decided = self._decided
        if labels is not None and labels is not self.labels.classes:
            decision = decision.for_labels(labels, self.labels.classes)
            if self._decided is decided:  # else another thread has decided since
                self._decided = decision, self.labels.classes
        return decision

    def deciding(self, decision: Decision, classes: NDArray[Any] | None = None) -> GrowingModel:
        """Replace the decision, which was made for these classes, by default those of now; return this model."""
        self._decided = decision, self.labels.classes if classes is None else classes
        return self

    def naming(self, names: Mapping[Any, str] | None) -> GrowingModel:
        """Replace the names of labels; names for labels that the model does not have yet are ignored."""
        with self.reading():
            labels = list(self.labels.labels)
        self.label_names = check_label_names(names, labels)
        return self

    @property
    def takes_text(self) -> bool:
        """Whether features have names; a text is then a row of word counts."""
        return self.features.has_names

    #: Texts are strings only.
    text_fields: ClassVar[tuple[str, ...]] = ()

    def text_rows(self, texts: Sequence[str]) -> list[dict[str, float]]:
        """Return X for texts."""
        return [word_counts(text) for text in texts]

    def reading(self) -> AbstractContextManager[None]:
        """Keep the model as it is while a question is answered."""
        return self.lock.reading()

    def read(self, X: Any) -> _native.FeatureMatrix:
        """Return X as the trees read it."""
        if isinstance(X, _native.FeatureMatrix):  # already read for this model
            return X
        return self.features.read(X, normalize=self.settings.normalize, learning=False).matrix

    read_one = Model.read_one

    def read_texts(self, texts: Sequence[str]) -> _native.FeatureMatrix:
        """Return texts as the trees read them."""
        return self.read(self.text_rows(texts))

    def read_csr(
        self, indptr: NDArray[Any], indices: NDArray[Any], values: NDArray[Any], n_features: int
    ) -> _native.FeatureMatrix:
        """Return the rows of a CSR matrix, which may have new features, as the trees read them."""
        width = max(n_features, int(indices.max(initial=0)) + 1)
        return self.read(sp.csr_matrix((values, indices, indptr), shape=(len(indptr) - 1, width)))

    # -- learning --------------------------------------------------------------------------------------------------

    def plant(self, shapes: Sequence[LabelTree], labels: LabelTable) -> None:
        """Start from trees of these shapes, whose nodes are not trained; before the first example."""
        settings = self.settings
        if settings.expected_labels is not None and len(labels) > settings.expected_labels:
            raise ValueError(
                f"the given tree has {count_text(len(labels), 'label')}, more than "
                f"expected_labels={settings.expected_labels}: expect as many"
            )
        planted = zip(settings.tree_policies(), shapes, strict=True)
        self._take(
            [
                _native.OnlineTree.of_shape(settings.options(), policy, shape.native)
                for policy, shape in planted
            ]
        )
        self.labels = labels

    def learn(
        self,
        features: FeatureRows,
        labels: LabelRows,
        weight: NDArray[np.float32] | None,
        order: NDArray[np.int64],
        k: int = 0,
        normalize_siblings: bool = False,
        n_threads: int = 1,
    ) -> TopLabels:
        """Learn rows in this order; return the k best labels of each row before it was learned.

        If a row cannot be learned, the rows before it are learned, and the exception says why. With the policy "fixed",
        a row with a new label is such a row.
        """
        best, probabilities = empty_answer(len(order), k)
        search = _native.Search(k, normalize_siblings=normalize_siblings) if k > 0 else None
        with self.lock.turns():
            with self.lock.writing():
                numbers, new_labels = self.labels.number(labels, order)
                n_before = len(self.labels)
                self.labels.note_form(labels)
                self.features.adopt(features)
            n_learned_before = self.n_samples_fit
            n_taken = len(order)
            if self.settings.policy == "fixed" and new_labels:
                is_refused = np.zeros(labels.n_rows, dtype=bool)
                is_refused[
                    np.repeat(np.arange(labels.n_rows), np.diff(labels.indptr))[numbers >= n_before]
                ] = True
                n_taken = int(is_refused[order].argmax())

            def name_new_labels() -> None:
                """Name the labels that the trees have learned and that have no name yet."""
                self.labels.add(new_labels[len(self.labels) - n_before : self.trees[0].n_labels - n_before])

            try:
                for begin in range(0, n_taken, ROWS_PER_TURN):
                    turn = slice(begin, min(begin + ROWS_PER_TURN, n_taken))
                    answers = (None, None) if search is None else (best[turn], probabilities[turn])
                    with self.lock.writing():
                        try:
                            self.native.learn(
                                features.matrix,
                                labels.indptr,
                                numbers,
                                order[turn],
                                weight,
                                n_threads,
                                search,
                                *answers,
                            )
                        finally:  # also after a turn that failed half-way
                            name_new_labels()
                if n_taken < len(order):
                    raise ValueError(
                        f"y, row {order[n_taken]}: the label {new_labels[0]!r} is not in the tree, to which "
                        "policy='fixed' adds no labels. The row is not learned; the rows before it are. Leave the "
                        "label out, or use another policy"
                    )
            except BaseException:
                with self.lock.writing():
                    name_new_labels()  # Ctrl-C may have come just before they got their names
                    self.features.release(features, order[: self.n_samples_fit - n_learned_before])
                raise
            return TopLabels(self.labels.names_of(best), probabilities)

    def forget(self, not_seen_for: int | None, labels: Sequence[Any] | None) -> int:
        """Remove the labels not seen in the last `not_seen_for` examples, or the given ones; return their number."""
        with self.lock.turns(), self.lock.writing():
            if not_seen_for is not None:
                kept = self.trees[0].last_seen > self.n_samples_fit - not_seen_for
            else:
                removed = self.labels.index.positions(labels or ())
                kept = ~np.isin(self.labels.position, removed)
            self.native.forget(kept.astype(np.uint8))
            self.labels.keep(kept)
            if self.label_names is not None:
                remaining = set(self.labels.labels)
                names = {label: name for label, name in self.label_names.items() if label in remaining}
                self.label_names = names or None
        return int((~kept).sum())

    def memory(self) -> dict[str, int]:
        """Return the bytes in use, by purpose, without the names of labels and features."""
        used = _sum_by_name(tree.memory for tree in self.trees)
        return {**used, "total": sum(used.values())}

    def counts(self) -> dict[str, int]:
        """Return the work done so far in all trees, and the number of examples."""
        return {**_sum_by_name(tree.counts for tree in self.trees), "n_examples": self.n_samples_fit}

    def __getstate__(self) -> dict[str, Any]:
        with self.lock.reading():
            return {
                "settings": self.settings,
                "states": [tree.state() for tree in self.trees],
                "labels": self.labels,
                "features": self.features,
                "stream_start": self.stream_start,
                "decided": self._decided,
                "label_names": self.label_names,
            }

    def __setstate__(self, state: dict[str, Any]) -> None:
        settings: OnlineSettings = state["settings"]
        trees = [
            _native.OnlineTree.from_state(settings.options(), policy, of_tree)
            for policy, of_tree in zip(settings.tree_policies(), state["states"], strict=True)
        ]
        others = (state[name] for name in ("labels", "features", "stream_start", "decided", "label_names"))
        GrowingModel.__init__(self, settings, trees, *others)


def _sum_by_name(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return the sum of each entry."""
    sums: dict[str, int] = {}
    for part in parts:
        for name, number in part.items():
            sums[name] = sums.get(name, 0) + number
    return sums
