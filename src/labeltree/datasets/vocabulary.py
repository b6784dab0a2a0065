"""Words of Zipf's law and the topics that use them: which features a synthetic row has."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from .hashed_draws import hashed, permutation, uniform

#: How far the numbers of different words of rows differ: the deviation of their logarithm.
_LENGTH_DEVIATION = 0.4
#: Words written per different word wanted.
_REPETITION = 2.0
#: Words of a topic, and how much the first of them are preferred: slot = _TOPIC_WORDS · u^_TOPIC_SKEW.
_TOPIC_WORDS = 16
_TOPIC_SKEW = 2.0
#: How often a label's word is one of the topic above, rather than of this one.
_GENERAL = 0.5
#: p(word of rank r) ~ 1 / (r + offset): words that all rows use, and those that topics use.
_COMMON_OFFSET = 2.0
_TOPICAL_OFFSET = 100.0


class Vocabulary:
    """Draws the words of rows from the topics of their labels, and weighs them by tf-idf."""

    def __init__(
        self,
        n_features: int,
        *,
        arity: int,
        depth: int,
        features_per_row: float,
        noise: float,
        key: NDArray[np.uint64],
    ) -> None:
        self.n_features = n_features
        self._feature_at = permutation(
            hashed(key, 0), n_features
        )  # by rank: numbers of words tell nothing about them
        self._arity = arity
        self._depth = depth
        self._features_per_row = features_per_row
        self._noise = noise
        self._topic_key = hashed(key, 1)
        rate = noise * self._probabilities(_COMMON_OFFSET) + (1 - noise) * self._probabilities(
            _TOPICAL_OFFSET
        )
        frequency = -np.expm1(-features_per_row * _REPETITION * rate)
        self._idf = np.empty(n_features)
        self._idf[self._feature_at] = 1 - np.log(frequency)

    def draw(
        self, keys: NDArray[np.uint64], label_indptr: NDArray[np.int64], positions: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
        """Return indptr, features and values of the rows with seeds `keys` and labels at `positions`."""
        n_rows = len(keys)
        spread = ndtri(np.clip(uniform(hashed(keys, 0)), 1e-9, 1 - 1e-9)) * _LENGTH_DEVIATION
        wanted = np.rint(self._features_per_row * np.exp(spread - _LENGTH_DEVIATION**2 / 2)).astype(np.int64)
        wanted = np.clip(wanted, 1, self.n_features)
        n_written = np.ceil(_REPETITION * wanted).astype(np.int64)
        begin = np.cumsum(n_written) - n_written
        row = np.repeat(np.arange(n_rows), n_written)
        number = np.arange(len(row)) - np.repeat(begin, n_written)
        word = self._words(keys[row], number, label_indptr[row], np.diff(label_indptr)[row], positions)

        # Sorted by row, word and time: far quicker than to sort references.
        longest = int(n_written.max(initial=1))
        order = (row * self.n_features + word) * longest + number
        order.sort()
        entry, time = np.divmod(order, longest)
        starts = np.flatnonzero(np.diff(entry, prepend=-1))
        # A row ends before its first word that would be one too many.
        new = np.zeros(len(row), dtype=np.int64)
        new[begin[entry[starts] // self.n_features] + time[starts]] = 1
        seen = np.cumsum(new)
        seen -= np.repeat(seen[begin] - 1, n_written)
        written = seen <= wanted[row]
        at = begin[entry // self.n_features] + time
        count = np.add.reduceat(written[at].astype(np.int64), starts) if len(starts) else starts
        entry, count = entry[starts][count > 0], count[count > 0]
        owner, feature = np.divmod(entry, self.n_features)
        value = (1 + np.log(count)) * self._idf[feature]
        norm = np.sqrt(np.bincount(owner, value * value, minlength=n_rows))
        value = np.rint(value / norm[owner] * 1e5) / 1e5
        indptr = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=n_rows))])
        return indptr, feature.astype(np.int32), value.astype(np.float32)

    def _words(
        self,
        keys: NDArray[np.uint64],
        number: NDArray[np.int64],
        first_label: NDArray[np.int64],
        n_labels: NDArray[np.int64],
        positions: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Return the feature of each word: of everybody, or of a topic of one of the row's labels."""
        choice = hashed(keys, 1 + 2 * number)
        spelling = uniform(hashed(keys, 2 + 2 * number))
        is_topical = uniform(choice, 0, 16) >= self._noise
        choice = choice[is_topical]
        label = (n_labels[is_topical] * uniform(choice, 16, 24)).astype(np.int64)
        position = positions[first_label[is_topical] + label]
        reach = 1 - _GENERAL**self._depth
        level = (np.log1p(-reach * uniform(choice, 40, 24)) / math.log(_GENERAL)).astype(np.int64)
        topic = hashed(self._topic_key + level.astype(np.uint64), position // self._arity**level)
        slot = (_TOPIC_WORDS * spelling[is_topical] ** _TOPIC_SKEW).astype(np.int64)
        rank = self._rank(spelling, _COMMON_OFFSET)
        rank[is_topical] = self._rank(uniform(hashed(topic, slot)), _TOPICAL_OFFSET)
        return self._feature_at[rank]

    def _rank(self, fraction: NDArray[np.float64], offset: float) -> NDArray[np.int64]:
        """Return the rank r with probability ~ 1 / (r + offset) that belongs to each fraction."""
        ranks = offset * np.exp(fraction * math.log1p(self.n_features / offset)) - offset
        return np.minimum(ranks.astype(np.int64), self.n_features - 1)

    def _probabilities(self, offset: float) -> NDArray[np.float64]:
        """Return how probable each rank is."""
        bounds = np.log(np.arange(self.n_features + 1) + offset)
        probabilities: NDArray[np.float64] = np.diff(bounds) / (bounds[-1] - bounds[0])
        return probabilities
