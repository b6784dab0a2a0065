"""The features of synthetic rows: words with Zipf's law, and the topics that use them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from .hashed_draws import Bits, Floats, Integers, hashed, permutation, uniform

#: Standard deviation of the logarithm of the number of distinct words in a row.
_LENGTH_DEVIATION = 0.4
#: Words drawn per distinct word wanted; surplus words are dropped.
_REPETITION = 2.0
#: Number of words of a topic. A topic prefers its first words: it uses word _TOPIC_WORDS · u^_TOPIC_SKEW.
_TOPIC_WORDS = 16
_TOPIC_SKEW = 2.0
#: Probability that a word comes from the topic one level higher.
_GENERAL = 0.5
#: A word of rank r has a probability proportional to 1 / (r + offset), for common words and for words of topics.
_COMMON_OFFSET = 2.0
_TOPICAL_OFFSET = 100.0
#: Decimals of a value: enough to keep the information, and few enough for short files.
_DECIMALS = 5


@dataclass(eq=False)
class Vocabulary:
    """Draws the words of rows from the topics of their labels, and weights them by tf-idf.

    Every label and every node above a label is a topic with a few common and rare words. Topics may share words. A
    share `noise` of the words of a row comes from no topic.
    """

    n_features: int
    arity: int
    depth: int
    features_per_row: float
    noise: float
    key: Bits

    def __post_init__(self) -> None:
        self._feature_of_rank = permutation(
            hashed(self.key, 0), self.n_features
        )  # so that ids do not reveal ranks
        self._topic_key = hashed(self.key, 1)
        common, topical = self._probabilities(_COMMON_OFFSET), self._probabilities(_TOPICAL_OFFSET)
        use = self.noise * common + (1 - self.noise) * topical
        document_frequency = -np.expm1(-self.features_per_row * _REPETITION * use)
        self._idf = np.empty(self.n_features)
        self._idf[self._feature_of_rank] = 1 - np.log(document_frequency)

    def draw(
        self, keys: Bits, label_indptr: Integers, positions: Integers
    ) -> tuple[Integers, NDArray[np.int32], NDArray[np.float32]]:
        """Return indptr, features and values of rows with labels at `positions`; `keys` has a seed for each row."""
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

    def _lengths(self, bits: Bits) -> Integers:
        """Return the number of distinct words of each row, from a log-normal distribution with the right mean."""
        normal = ndtri(np.maximum(uniform(bits), 2.0**-54))  # infinite at 0
        length = self.features_per_row * np.exp(_LENGTH_DEVIATION * normal - _LENGTH_DEVIATION**2 / 2)
        rounded: Integers = np.clip(np.rint(length), 1, self.n_features).astype(np.int64)
        return rounded

    def _features(
        self, keys: Bits, number: Integers, label_begin: Integers, label_end: Integers, positions: Integers
    ) -> Integers:
        """Return the feature of each drawn word: a common word, or a word of a topic of one of the row's labels."""
        choice = hashed(keys, 1 + 2 * number)
        spelling = uniform(hashed(keys, 2 + 2 * number))
        rank = self._rank(spelling, _COMMON_OFFSET)

        topical = np.flatnonzero(uniform(choice, 0, 16) >= self.noise)
        choice, label_begin, label_end = choice[topical], label_begin[topical], label_end[topical]
        label = label_begin + ((label_end - label_begin) * uniform(choice, 16, 24)).astype(np.int64)
        reach = 1 - _GENERAL**self.depth  # the root is not a topic: its words are the common words
        level = (np.log1p(-reach * uniform(choice, 40, 24)) / math.log(_GENERAL)).astype(np.int64)
        level = np.minimum(level, self.depth - 1)  # rounding may reach the root
        topic = hashed(self._topic_key + level.astype(np.uint64), positions[label] // self.arity**level)
        slot = (_TOPIC_WORDS * spelling[topical] ** _TOPIC_SKEW).astype(np.int64)
        rank[topical] = self._rank(uniform(hashed(topic, slot)), _TOPICAL_OFFSET)
        return self._feature_of_rank[rank]

    def _counted(
        self, row: Integers, feature: Integers, number: Integers, begin: Integers, wanted: Integers
    ) -> tuple[Integers, Integers, Integers]:
        """Return row, feature and count of the distinct words, up to the number wanted for each row."""
        # Sorting integers that encode row, feature and place is much faster than sorting indices.
        longest = int(number.max(initial=0)) + 1
        ordered = (row * self.n_features + feature) * longest + number
        ordered.sort()
        entry, place = np.divmod(ordered, longest)
        entry_row, entry_feature = np.divmod(entry, self.n_features)
        place += begin[entry_row]
        first = np.flatnonzero(np.diff(entry, prepend=-1))

        # A row ends before its first surplus word.
        n_different = np.zeros(len(row), dtype=np.int64)
        n_different[place[first]] = 1
        n_different = np.cumsum(n_different)
        n_different -= (n_different[begin] - 1)[row]
        is_used = n_different <= wanted[row]
        n_used = np.concatenate([[0], np.cumsum(is_used[place])])
        count = np.diff(n_used[np.append(first, len(row))])
        kept = first[count > 0]
        return entry_row[kept], entry_feature[kept], count[count > 0]

    def _rank(self, fraction: Floats, offset: float) -> Integers:
        """Return the rank at which the probabilities sum to `fraction`, by their continuous form."""
        rank = offset * np.expm1(fraction * math.log1p(self.n_features / offset))
        return np.minimum(rank.astype(np.int64), self.n_features - 1)

    def _probabilities(self, offset: float) -> Floats:
        """Return the probability of each rank."""
        cumulated = np.log(np.arange(self.n_features + 1) + offset)
        probabilities: Floats = np.diff(cumulated) / (cumulated[-1] - cumulated[0])
        return probabilities
