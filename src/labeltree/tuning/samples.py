"""The features of the rows that a trial trains on and is measured on: given as numbers, or made from texts."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from labeltree.engines.protocol import Engine
from labeltree.engines.shared_rows import opened_rows, share_rows
from labeltree.text.vectorizer import TextVectorizer
from labeltree.validation import take_rows

#: Vectorized samples are kept up to this size; the sample that was used longest ago goes first.
_KEPT_BYTES = 1 << 29


class Sample(NamedTuple):
    """Features to train on and to validate with; `vectorizer` has made them, if they were texts."""

    X: Any
    X_valid: Any
    vectorizer: TextVectorizer | None = None

    @property
    def n_bytes(self) -> int:
        return sum(
            part.nbytes
            for matrix in (self.X, self.X_valid)
            for part in (matrix.data, matrix.indices, matrix.indptr)
        )


class NumberSamples:
    """Samples of rows of numbers."""

    def __init__(self, X: Any, X_valid: Any) -> None:
        self._X, self.X_valid = X, X_valid

    def shared(self, engine: Engine) -> NumberSamples:
        """Return these samples for tasks, which open them: a store is published, not copied."""
        return NumberSamples(share_rows(self._X, engine), share_rows(self.X_valid, engine))

    def opened(self) -> NumberSamples:
        """Return the samples that were shared, wherever this runs."""
        return NumberSamples(opened_rows(self._X), opened_rows(self.X_valid))

    def sample(self, rows: NDArray[np.int64], text_parameters: dict[str, Any]) -> Sample:
        """Return the features of some rows, and of all rows to validate with."""
        return Sample(take_rows(self._X, rows), self.X_valid)


class TextSamples:
    """Samples of texts. Each is vectorized once for all trials that have the same parameters of texts."""

    def __init__(self, texts: Sequence[Any], texts_valid: Sequence[Any], vectorizer: TextVectorizer) -> None:
        self._texts, self.X_valid = texts, texts_valid
        self._vectorizer = vectorizer
        self._kept: dict[Any, Sample] = {}

    def shared(self, engine: Engine) -> TextSamples:
        """Return these samples: texts are sent as they are."""
        return self

    def opened(self) -> TextSamples:
        return self

    def sample(self, rows: NDArray[np.int64], text_parameters: dict[str, Any]) -> Sample:
        """Return the features of some texts, and of all texts to validate with."""
        # A sample is the beginning of a larger one: its size identifies it.
        key = len(rows), *text_parameters.items()
        sample = self._kept.pop(key, None)
        if sample is None:
            vectorizer = clone(self._vectorizer).set_params(**text_parameters)
            X = vectorizer.fit_transform(take_rows(self._texts, rows))
            sample = Sample(X, vectorizer.transform(self.X_valid), vectorizer)
        self._kept[key] = sample
        while len(self._kept) > 1 and sum(one.n_bytes for one in self._kept.values()) > _KEPT_BYTES:
            del self._kept[next(iter(self._kept))]
        return sample


def features_of(batch: Any, vectorizer: TextVectorizer | None) -> Any:
    """Return the features of rows of numbers or of texts, with one thread."""
    return batch if vectorizer is None else copy(vectorizer).set_params(n_jobs=1).transform(batch)
