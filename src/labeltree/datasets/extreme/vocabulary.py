"""Words of Zipf's law and the topics that use them: which features a synthetic row has."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from .hashed_draws import hashed, permutation, uniform

#: How much rows differ in their number of different words: the deviation of its logarithm.
_LENGTH_DEVIATION = 0.4
#: Words drawn per different word wanted; what is too much is not used.
_REPETITION = 2.0
#: Words of a topic. It prefers the first of them: the one it uses is number _TOPIC_WORDS · u^_TOPIC_SKEW.
_TOPIC_WORDS = 16
_TOPIC_SKEW = 2.0
#: How often a word comes from the topic one level higher up, rather than from here.
_GENERAL = 0.5
#: The probability of the word of rank r is as 1 / (r + offset): of words that all use, and of those of topics.
_COMMON_OFFSET = 2.0
_TOPICAL_OFFSET = 100.0
#: Digits of a value behind the point: so many tell all there is, and make short files.
_DECIMALS = 5


class Vocabulary:
    """Draws the words of rows from the topics of their labels, and weighs them by tf-idf.

    Every label and every node above one is a topic with a few words of its own, common and rare; topics share them. A
    share `noise` of a row's words is no topic's.
    """

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
        self._n_features = n_features
        self._arity = arity
        self._depth = depth
        self._features_per_row = features_per_row
        self._noise = noise
        self._feature_of_rank = permutation(hashed(key, 0), n_features)  # numbers of features tell nothing
        self._topic_key = hashed(key, 1)
        use = noise * self._probabilities(_COMMON_OFFSET) + (1 - noise) * self._probabilities(_TOPICAL_OFFSET)
        document_frequency = -np.expm1(-features_per_row * _REPETITION * use)
        self._idf = np.empty(n_features)
        self._idf[self._feature_of_rank] = 1 - np.log(document_frequency)

    def draw(
        self, keys: NDArray[np.uint64], label_indptr: NDArray[np.int64], positions: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
        """Return indptr, features and values of rows whose labels are at `positions`; `keys` has their seeds."""
        n_rows = len(keys)
        wanted = self._lengths(hashed(keys, 0))
        n_drawn = np.ceil(_REPETITION * wanted).astype(np.int64)
        row = np.repeat(np.arange(n_rows, dtype=np.int64), n_drawn)
        begin = np.cumsum(n_drawn) - n_drawn
        number = np.arange(len(row)) - begin[row]
        feature = self._features(keys[row], number, label_indptr[row], label_indptr[row + 1], positions)

        row, feature, count = self._counted(row, feature, number, begin, wanted)
        value = (1 + np.log(count)) * self._idf[feature]
        length = np.sqrt(np.bincount(row, value * value, minlength=n_rows))
        value = np.round(value / length[row], _DECIMALS)
        indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n_rows))])
        return indptr, feature.astype(np.int32), value.astype(np.float32)

    def _lengths(self, bits: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return how many different words each row shall have: log-normal, of the right mean."""
        normal = ndtri(np.maximum(uniform(bits), 2.0**-54))  # at 0 it is infinite
        length = self._features_per_row * np.exp(_LENGTH_DEVIATION * normal - _LENGTH_DEVIATION**2 / 2)
        rounded: NDArray[np.int64] = np.clip(np.rint(length), 1, self._n_features).astype(np.int64)
        return rounded

    def _features(
        self,
        keys: NDArray[np.uint64],
        number: NDArray[np.int64],
        label_begin: NDArray[np.int64],
        label_end: NDArray[np.int64],
        positions: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Return the feature of each drawn word: anybody's, or that of a topic of one of the row's labels."""
        choice = hashed(keys, 1 + 2 * number)
        spelling = uniform(hashed(keys, 2 + 2 * number))
        rank = self._rank(spelling, _COMMON_OFFSET)

        topical = np.flatnonzero(uniform(choice, 0, 16) >= self._noise)
        choice, label_begin, label_end = choice[topical], label_begin[topical], label_end[topical]
        label = label_begin + ((label_end - label_begin) * uniform(choice, 16, 24)).astype(np.int64)
        reach = 1 - _GENERAL**self._depth  # the root is no topic: its words are anybody's
        level = (np.log1p(-reach * uniform(choice, 40, 24)) / math.log(_GENERAL)).astype(np.int64)
        level = np.minimum(level, self._depth - 1)  # rounding may reach the root
        topic = hashed(self._topic_key + level.astype(np.uint64), positions[label] // self._arity**level)
        slot = (_TOPIC_WORDS * spelling[topical] ** _TOPIC_SKEW).astype(np.int64)
        rank[topical] = self._rank(uniform(hashed(topic, slot)), _TOPICAL_OFFSET)
        return self._feature_of_rank[rank]

    def _counted(
        self,
        row: NDArray[np.int64],
        feature: NDArray[np.int64],
        number: NDArray[np.int64],
        begin: NDArray[np.int64],
        wanted: NDArray[np.int64],
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return row, feature and count of the different words, of each row as many as it wants."""
        # Numbers that say row, feature and place are sorted much faster than references to them.
        longest = int(number.max(initial=0)) + 1
        ordered = (row * self._n_features + feature) * longest + number
        ordered.sort()
        entry, place = np.divmod(ordered, longest)
        entry_row, entry_feature = np.divmod(entry, self._n_features)
        place += begin[entry_row]
        first = np.flatnonzero(np.diff(entry, prepend=-1))

        # A row ends where its first word too many would come.
        n_different = np.zeros(len(row), dtype=np.int64)
        n_different[place[first]] = 1
        n_different = np.cumsum(n_different)
        n_different -= (n_different[begin] - 1)[row]
        is_used = n_different <= wanted[row]
        n_used = np.concatenate([[0], np.cumsum(is_used[place])])
        count = np.diff(n_used[np.append(first, len(row))])
        kept = first[count > 0]
        return entry_row[kept], entry_feature[kept], count[count > 0]

    def _rank(self, fraction: NDArray[np.float64], offset: float) -> NDArray[np.int64]:
        """Return the rank at which the probabilities sum to `fraction`, by their continuous form."""
        rank = offset * np.expm1(fraction * math.log1p(self._n_features / offset))
        return np.minimum(rank.astype(np.int64), self._n_features - 1)

    def _probabilities(self, offset: float) -> NDArray[np.float64]:
        """Return how probable each rank is."""
        cumulated = np.log(np.arange(self._n_features + 1) + offset)
        probabilities: NDArray[np.float64] = np.diff(cumulated) / (cumulated[-1] - cumulated[0])
        return probabilities
