"""`MixedReader`: X, or texts, as each member of a mix reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.cached import cached_property
from labeltree.mixing.mixed_forest import Member, MixedFeatures
from labeltree.model.model import Model
from labeltree.model.texts import are_texts, as_texts


@dataclass(frozen=True)
class MixedReader:
    """Reads X once for each member. Members with different features read texts only."""

    members: Sequence[Member]

    @property
    def n_features(self) -> int:
        """The number of features of the first member."""
        return self.members[0].model.n_features

    @property
    def names(self) -> NDArray[Any] | None:
        """The names of the features of the first member."""
        return self.members[0].model.feature_names

    @property
    def takes_text(self) -> bool:
        """Whether every member reads texts."""
        return all(member.model.takes_text for member in self.members)

    @property
    def text_fields(self) -> tuple[str, ...]:
        """The fields that a text may have, which every member must know; neural networks read any fields."""
        known = [member.model.text_fields for member in self.members if not member.model.joins_fields]
        return tuple(field for field in known[0] if all(field in other for other in known)) if known else ()

    @property
    def prefers_batches(self) -> bool:
        """Whether any member reads batches much faster than row by row."""
        return any(member.model.prefers_batches for member in self.members)

    @cached_property
    def same_features(self) -> bool:
        """Whether a row of features means the same to every member."""
        first = self.members[0].model
        return all(_have_same_features(first, member.model) for member in self.members[1:])

    def read(self, X: Any) -> MixedFeatures:
        """Return X, rows of features or texts, as each member reads it."""
        if isinstance(X, MixedFeatures):
            return X
        if self.takes_text and are_texts(X):
            texts = list(as_texts(X))
            return MixedFeatures([member.model.read_texts(texts) for member in self.members])
        if isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], str):
            numbers = next(member.name for member in self.members if not member.model.takes_text)
            raise ValueError(f"{numbers}, was trained on numbers and reads no texts: pass rows of features")
        self._check_same_features()
        return MixedFeatures([member.model.read(X) for member in self.members])

    def read_csr(
        self, indptr: NDArray[Any], indices: NDArray[Any], values: NDArray[Any], n_features: int
    ) -> MixedFeatures:
        """Return the rows of a CSR matrix that is known to be valid, as each member reads them."""
        self._check_same_features()
        rows = (indptr, indices, values, n_features)
        return MixedFeatures([member.model.read_csr(*rows) for member in self.members])

    def _check_same_features(self) -> None:
        if not self.same_features:
            advice = "pass texts" if self.takes_text else "they cannot be asked together"
            raise ValueError(f"the members of this mix have different features: {advice}")


def _have_same_features(one: Model, other: Model) -> bool:
    """Whether two models have the same features: as many, with the same names, made of texts in the same way."""
    if one.n_features != other.n_features:
        return False
    names, others = one.feature_names, other.feature_names
    if names is not None and others is not None and not np.array_equal(names, others):
        return False
    if one.vectorizer is None or other.vectorizer is None:
        return one.vectorizer is other.vectorizer
    return one.vectorizer is other.vectorizer or _states_agree(one.vectorizer, other.vectorizer)


def _states_agree(one: Any, other: Any) -> bool:
    (settings, arrays), (others, other_arrays) = one.state(), other.state()
    return (
        settings == others
        and arrays.keys() == other_arrays.keys()
        and all(np.array_equal(arrays[name], other_arrays[name]) for name in arrays)
    )
