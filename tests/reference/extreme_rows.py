"""Rows of synthetic data, one number at a time: the slow and obvious twin of `labeltree.datasets.extreme`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

MASK = (1 << 64) - 1


def hashed(key: int, index: int) -> int:
    """The splitmix64 generator with state `key`, after `index` steps."""
    z = (key + (index + 1) * 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def uniform(bits: int, low_bit: int = 11, n_bits: int = 53) -> float:
    return ((bits >> low_bit) & ((1 << n_bits) - 1)) / (1 << n_bits)


def permutation(key: int, n: int) -> list[int]:
    return sorted(range(n), key=lambda i: hashed(key, i))


@dataclass
class Twin:
    """The parameters of `make_extreme`; `seed` is the number drawn from its random state."""

    n_labels: int
    n_features: int
    labels_per_row: float
    features_per_row: float
    exponent: float
    arity: int
    noise: float
    seed: int

    def __post_init__(self) -> None:
        self.depth = max(1, math.ceil(math.log(self.n_labels, self.arity) - 1e-9))
        label_key, word_key = hashed(self.seed, 1), hashed(self.seed, 2)
        self.label_at = permutation(hashed(label_key, 0), self.n_labels)
        fame = [
            sum(
                uniform(hashed(hashed(hashed(label_key, 1), level), position // self.arity**level))
                for level in range(self.depth)
            )
            for position in range(self.n_labels)
        ]
        self.popularity = [0.0] * self.n_labels
        for rank, position in enumerate(sorted(range(self.n_labels), key=lambda p: -fame[p])):
            self.popularity[position] = (rank + 1) ** -self.exponent
        self.feature_of_rank = permutation(hashed(word_key, 0), self.n_features)
        self.topic_key = hashed(word_key, 1)

    def row(self, part: int, number: int) -> tuple[list[int], dict[int, float]]:
        """The labels of a row, and its features with their values."""
        key = hashed(hashed(hashed(self.seed, 0), part), number)
        positions = self._positions(hashed(key, 0))
        counts = self._counts(hashed(key, 1), positions)
        idf = {feature: self._idf(rank) for rank, feature in enumerate(self.feature_of_rank)}
        values = {feature: (1 + math.log(count)) * idf[feature] for feature, count in counts.items()}
        length = math.hypot(*values.values())
        return (
            sorted(self.label_at[position] for position in positions),
            {feature: round(values[feature] / length, 5) for feature in sorted(values)},
        )

    def _positions(self, key: int) -> list[int]:
        wanted, term, mean = 1, math.exp(1 - self.labels_per_row), self.labels_per_row - 1
        cumulated = term
        while cumulated < uniform(hashed(key, 0)):
            term *= mean / wanted
            cumulated += term
            wanted += 1
        main = self._pick(uniform(hashed(key, 1)), 0, self.n_labels)
        found = [main]
        for i in range(1, 3 * wanted):
            if len(found) == wanted:
                break
            level, climb = 1, 1 - uniform(hashed(key, 2 + 2 * i))
            while level < self.depth and climb <= 0.35**level:
                level += 1
            low = main // self.arity**level * self.arity**level
            high = min(low + self.arity**level, self.n_labels)
            position = self._pick(uniform(hashed(key, 3 + 2 * i)), low, high)
            if position not in found:
                found.append(position)
        return found

    def _pick(self, fraction: float, low: int, high: int) -> int:
        left = fraction * sum(self.popularity[low:high])
        for position in range(low, high):
            left -= self.popularity[position]
            if left < 0:
                return position
        return high - 1

    def _counts(self, key: int, positions: list[int]) -> dict[int, int]:
        normal = NormalDist().inv_cdf(uniform(hashed(key, 0)))
        wanted = round(self.features_per_row * math.exp(0.4 * normal - 0.4**2 / 2))
        wanted = min(max(wanted, 1), self.n_features)
        counts: dict[int, int] = {}
        for i in range(2 * wanted):
            feature = self.feature_of_rank[self._rank(key, i, positions)]
            if feature not in counts and len(counts) == wanted:
                break
            counts[feature] = counts.get(feature, 0) + 1
        return counts

    def _rank(self, key: int, i: int, positions: list[int]) -> int:
        choice, spelling = hashed(key, 1 + 2 * i), uniform(hashed(key, 2 + 2 * i))
        offset = 2.0
        if uniform(choice, 0, 16) >= self.noise:
            position = positions[int(len(positions) * uniform(choice, 16, 24))]
            level, climb = 0, 1 - (1 - 0.5**self.depth) * uniform(choice, 40, 24)
            while climb <= 0.5 ** (level + 1):
                level += 1
            topic = hashed((self.topic_key + level) & MASK, position // self.arity**level)
            spelling, offset = uniform(hashed(topic, int(16 * spelling**2))), 100.0
        return min(int(offset * (((self.n_features + offset) / offset) ** spelling - 1)), self.n_features - 1)

    def _idf(self, rank: int) -> float:
        def probability(offset: float) -> float:
            return math.log((rank + 1 + offset) / (rank + offset)) / math.log(1 + self.n_features / offset)

        use = self.noise * probability(2.0) + (1 - self.noise) * probability(100.0)
        return 1 - math.log(1 - math.exp(-2 * self.features_per_row * use))
