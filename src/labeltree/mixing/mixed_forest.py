"""`MixedForest`: several models that answer as one, by the weighted mean of their probabilities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from labeltree.cached import cached_property
from labeltree.errors import ModelFileError
from labeltree.labels.reading import LabelRows
from labeltree.model.candidates import (
    as_top,
    best_on_average,
    by_thresholds,
    is_exact,
    pooled,
    ranked,
    row_of_each,
    weighted_mean,
)
from labeltree.model.explanation import Explanation, FeatureNames
from labeltree.model.forest import Forest, RowAnswer, Search, TopAnswer, TreeShape
from labeltree.model.model import Model
from labeltree.trees import LabelTree

#: Each member first proposes this many times as many labels as needed: with 2 most questions need no second round.
AHEAD = 2


@dataclass(frozen=True)
class Member:
    """One of the models, with the search that its own parameters ask for.

    Attributes
    ----------
    name : str
        What messages call it.
    model : Model
    search : Search
        Its options, such as the beam; k, thresholds and labels come from each question.
    position : array of shape (n_labels,)
        The member's position of each label of the mix.
    """

    name: str
    model: Model
    search: Search
    position: NDArray[np.int32]

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """The mix's position of each label of the member, sorted once for all questions."""
        return np.argsort(self.position)

    def asked(self, search: Search, **changes: Any) -> Search:
        """Return the member's own search for the labels of a question."""
        order = self.order
        arrays = {name: getattr(search, name) for name in ("allowed", "label_weight", "label_threshold")}
        for name, values in arrays.items():
            if values is not None and len(values) != len(order):
                raise ValueError(
                    f"{name} must have one entry per label: expected {len(order)}, got {len(values)}"
                )
        given: dict[str, Any] = {
            name: None if values is None else np.ascontiguousarray(values[order])
            for name, values in arrays.items()
        }
        given |= {"k": search.k, "n_threads": search.n_threads, **changes}
        return self.search.replace(**given)

    def to_mix(self, labels: NDArray[Any]) -> NDArray[np.int64]:
        """Return the mix's positions of labels that the member found."""
        positions: NDArray[np.int64] = self.order[labels]
        return positions


@dataclass(frozen=True)
class MixedFeatures:
    """X as each member reads it."""

    parts: list[Any]

    @property
    def n_rows(self) -> int:
        return int(self.parts[0].n_rows)

    def take(self, rows: NDArray[np.int64]) -> MixedFeatures:
        """Return some of the rows, in this order."""
        return MixedFeatures([part.take(rows) for part in self.parts])


class MixedForest:
    """Members that are asked together.

    If the members search exactly, no question misses a label: `top_k` asks for more proposals until no other label can
    be among the k best, and a mean never exceeds the largest of its parts. If a member has a beam, or counts missing
    estimates as 0, each member proposes its k best labels once for `top_k`. A label that no member proposes is missed.

    Parameters
    ----------
    members : sequence of Member
    weights : sequence of float
        Weight of each member in the mean.
    """

    has_label_trees = False
    has_node_scores = False
    gives_probabilities = True

    def __init__(self, members: Sequence[Member], weights: Sequence[float]) -> None:
        self.members = list(members)
        self.weights = list(weights)

    @property
    def n_labels(self) -> int:
        return len(self.members[0].position)

    @property
    def n_trees(self) -> int:
        return sum(member.model.forest.n_trees for member in self.members)

    @property
    def trees(self) -> list[LabelTree]:
        raise AttributeError("a mix has no label tree of its own: look at the trees of its members_")

    def shapes(self) -> list[TreeShape]:
        return [shape for member in self.members for shape in member.model.forest.shapes()]

    def _asked(self, features: MixedFeatures) -> Iterator[tuple[Member, Forest, Any]]:
        for member, part in zip(self.members, features.parts, strict=True):
            yield member, member.model.forest, part

    def exact_best(self, search: Search) -> bool:
        """Return whether all members search exactly."""
        return all(is_exact(member.search, member.model.forest.n_trees) for member in self.members)

    def top_k(
        self, features: MixedFeatures, search: Search, evaluations: NDArray[np.int64] | None = None
    ) -> TopAnswer:
        exact = self.exact_best(search)
        # A label may be below the threshold in one member and above it on average, see `native/search/forest.cpp`.
        threshold = search.threshold if exact or search.label_weight is not None else 0.0
        total = np.zeros(features.n_rows, dtype=np.int64)

        def propose(rows: NDArray[np.int64], k: int) -> list[TopAnswer]:
            answers = []
            counts = np.empty(len(rows), dtype=np.int64)
            some = features if len(rows) == features.n_rows else features.take(rows)
            for member, forest, part in self._asked(some):
                wanted = member.asked(search, k=k, threshold=threshold, label_threshold=None)
                labels, probabilities = forest.top_k(part, wanted, counts)
                total[rows] += counts
                answers.append((np.where(labels >= 0, member.to_mix(labels), -1), probabilities))
            return answers

        def mean_of(rows: NDArray[np.int64], labels: NDArray[np.int64]) -> NDArray[np.float32]:
            return self.pairs(features, rows, labels, search)

        if exact:
            n_labels = self.n_labels
            answer = best_on_average(features.n_rows, n_labels, self.weights, search, propose, mean_of, AHEAD)
        else:
            found = [labels for labels, _ in propose(np.arange(features.n_rows), search.k)]
            at = [np.nonzero(labels >= 0) for labels in found]
            of_members = [labels[where] for labels, where in zip(found, at, strict=True)]
            answer = self._ranked(features, [where[0] for where in at], of_members, search)
        if evaluations is not None:
            evaluations[:] = total
        return as_top(answer, search.k)

    def above(
        self, features: MixedFeatures, search: Search, evaluations: NDArray[np.int64] | None = None
    ) -> RowAnswer:
        rows, labels = [], []
        counts = np.empty(features.n_rows, dtype=np.int64)
        total = np.zeros(features.n_rows, dtype=np.int64)
        for member, forest, part in self._asked(features):
            wanted = member.asked(search, k=self.n_labels, threshold=search.threshold, label_weight=None)
            indptr, found, _ = forest.above(part, wanted, counts)
            total += counts
            rows.append(row_of_each(indptr))
            labels.append(member.to_mix(found))
        if evaluations is not None:
            evaluations[:] = total
        return self._ranked(features, rows, labels, search)

    def pairs(
        self, features: MixedFeatures, rows: NDArray[np.int64], labels: NDArray[Any], search: Search
    ) -> NDArray[np.float32]:
        parts = [
            forest.pairs(part, rows, member.position[labels], member.asked(search))
            for member, forest, part in self._asked(features)
        ]
        return weighted_mean(parts, self.weights)

    def enumerate(self, features: MixedFeatures, search: Search) -> Iterator[tuple[int, float]]:
        return by_thresholds(lambda wanted: self.above(features, wanted), self.n_labels, search)

    def explain(
        self,
        features: MixedFeatures,
        label: int,
        search: Search,
        n_features: int,
        feature_names: FeatureNames,
    ) -> Explanation:
        """Return the paths of all members, one after another."""
        parts = []
        for member, forest, part in self._asked(features):
            names = member.model.feature_names if feature_names is None else feature_names
            position = int(member.position[label])
            try:
                parts.append(forest.explain(part, position, member.asked(search), n_features, names))
            except ModelFileError as error:  # of a damaged file
                raise ModelFileError(f"{member.name}: {error}") from error
            except ValueError as error:
                raise ValueError(f"{member.name}: {error}") from None
        mean = float(np.average([part.probability for part in parts], weights=self.weights))
        return Explanation(label, mean, [path for part in parts for path in part.paths])

    def node_scores(self, features: Any, labels: LabelRows, search: Search, seed: int) -> NoReturn:
        raise ValueError("a mix has no nodes of its own: ask its members")

    def _ranked(
        self,
        features: MixedFeatures,
        rows: list[NDArray[np.int64]],
        labels: list[NDArray[Any]],
        search: Search,
    ) -> RowAnswer:
        """The k best of the labels that some member found, by the mean over all members."""
        pairs = pooled(rows, labels, self.n_labels)
        mean = self.pairs(features, *np.divmod(pairs, self.n_labels), search)
        return ranked(features.n_rows, self.n_labels, pairs, mean, search)
