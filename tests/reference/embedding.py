"""Word vectors and node vectors, learned by the book: one example, one node and one word at a time, in float64.

Random numbers are those of the kernel, so that the vectors are those of the kernel, up to rounding.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.trees import LabelTree

Array = NDArray[np.float64]

MASK = 2**64 - 1
INITIAL_VECTORS, ORDER, DROPOUT = 0, 1, 2  # what random numbers are drawn for


class SplitMix64:
    """The random numbers of the kernel."""

    def __init__(self, seed: int) -> None:
        self.state = seed & MASK

    def next(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
        return z ^ (z >> 31)

    def shuffled(self, n: int) -> list[int]:
        items = list(range(n))
        for i in range(n, 1, -1):
            j = (self.next() >> 32) * i >> 32
            items[i - 1], items[j] = items[j], items[i - 1]
        return items


def mix_seed(*parts: int) -> int:
    """A seed for the part of the part … of a computation."""
    seed, *rest = parts
    for part in rest:
        seed = SplitMix64(seed ^ (part * 0xD1342543DE82EF95 + 0x632BE59BD9B4E019 & MASK)).next()
    return seed


def sigmoid(score: Any) -> Any:
    return 1 / (1 + np.exp(-score))


def softmax(scores: Array) -> Array:
    powers = np.exp(scores - scores.max())
    return np.asarray(powers / powers.sum())


@dataclass(frozen=True)
class Example:
    """Words with their values, labels, and what the loss counts."""

    words: dict[int, float]
    labels: Sequence[int]
    weight: float = 1.0


@dataclass(frozen=True)
class Options:
    """The options of the kernel, with their names; numbers are rounded to float32 as there."""

    dimension: int
    loss: str = "logistic"
    solver: str = "adam"
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    initial_accumulator: float = 0.0
    l2: float = 0.0
    learning_rate: float = 0.01
    falling_rate: bool = True
    n_visits: int = 1
    batch_size: int = 256
    mean: bool = False
    bias: bool = True
    dropout: float = 0.0
    initial_range: float = 0.0
    hard_negatives: int = 0
    trains_root: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, float):
                object.__setattr__(self, name, float(np.float32(value)))


class Table:
    """Vectors that step down their gradients."""

    def __init__(self, n_vectors: int, dimension: int, options: Options) -> None:
        self.options = options
        self.vectors = np.zeros((n_vectors, dimension))
        start = options.initial_accumulator if options.solver == "adagrad" else 0.0
        self.squares = np.full((n_vectors, dimension), start)
        self.means = np.zeros((n_vectors, dimension))
        self.n_steps = np.zeros(n_vectors, dtype=int)

    def step(self, i: int, gradient: Array, rate: float, n_examples: int) -> None:
        """One step down a gradient that is the sum over some examples; each adds its L2 penalty."""
        o = self.options
        g = gradient + o.l2 * n_examples * self.vectors[i]
        if o.solver == "sgd":
            self.vectors[i] -= rate * g
        elif o.solver == "adagrad":
            self.squares[i] += g**2
            self.vectors[i] -= rate * g / (np.sqrt(self.squares[i]) + o.epsilon)
        else:
            self.n_steps[i] += 1
            t = self.n_steps[i]
            self.means[i] = o.beta1 * self.means[i] + (1 - o.beta1) * g
            self.squares[i] = o.beta2 * self.squares[i] + (1 - o.beta2) * (g**2).mean()  # over all dimensions
            rate *= np.sqrt(1 - o.beta2**t) / (1 - o.beta1**t)
            self.vectors[i] -= rate * self.means[i] / (np.sqrt(self.squares[i]) + o.epsilon)


class VectorTwin:
    """Learns vectors of words, and vectors of nodes whose last number is the bias."""

    def __init__(self, tree: LabelTree, n_features: int, options: Options) -> None:
        self.tree, self.options = tree, options
        self.words = Table(n_features, options.dimension, options)
        self.nodes = Table(tree.n_nodes, options.dimension + 1, options)
        for word in range(n_features):
            random = SplitMix64(mix_seed(options.seed, INITIAL_VECTORS, word))
            for d in range(options.dimension):
                unit = (random.next() >> 11) * 2.0**-53
                self.words.vectors[word, d] = np.float32((2 * unit - 1) * options.initial_range)
        self.frozen: set[int] = set()
        self.n_visited = self.n_passes = 0

    def learn(self, examples: Sequence[Example]) -> None:
        """Learn all examples once."""
        order = SplitMix64(mix_seed(self.options.seed, ORDER, self.n_passes)).shuffled(len(examples))
        self.n_passes += 1
        for begin in range(0, len(order), self.options.batch_size):
            batch = [examples[i] for i in order[begin : begin + self.options.batch_size]]
            self._learn_batch(batch)
            self.n_visited += len(batch)

    def arrays(self) -> dict[str, Array]:
        nodes = self.nodes.vectors
        return {"word_vector": self.words.vectors, "node_vector": nodes[:, :-1], "bias": nodes[:, -1]}

    def _learn_batch(self, batch: Sequence[Example]) -> None:
        o = self.options
        rate = o.learning_rate
        if o.falling_rate:
            rate *= max(1 - self.n_visited / o.n_visits, 0)
        by_node: dict[int, list[Array]] = defaultdict(list)
        by_word: dict[int, list[Array]] = defaultdict(list)
        for row, example in enumerate(batch):
            values = pooled(example.words, o.mean)
            kept = self._kept_dimensions(self.n_visited + row)
            hidden = hidden_vector(self.words.vectors, values) * kept
            with_bias = np.append(hidden, float(o.bias))
            of_hidden = np.zeros(o.dimension)
            for node, slope in self._slopes(example, with_bias):
                by_node[node].append(slope * with_bias)
                of_hidden += slope * self.nodes.vectors[node, :-1]
            for word, value in values.items():
                by_word[word].append(value * kept * of_hidden)
        for table, gradients in ((self.nodes, by_node), (self.words, by_word)):
            for i, of_examples in gradients.items():
                if not (table is self.words and i in self.frozen):
                    table.step(i, np.sum(of_examples, axis=0), rate, len(of_examples))

    def _kept_dimensions(self, visit: int) -> Array:
        """What dropout multiplies the dimensions of a hidden vector by."""
        o = self.options
        kept = np.ones(o.dimension)
        if o.dropout == 0:
            return kept
        random, number = SplitMix64(mix_seed(o.seed, DROPOUT, visit)), 0
        for d in range(o.dimension):  # a random number has four parts of 16 bits
            number = random.next() if d % 4 == 0 else number >> 16
            kept[d] = 0 if number % 2**16 < int(o.dropout * 2**16) else 1 / (1 - o.dropout)
        return kept

    def _slopes(self, example: Example, hidden: Array) -> Iterator[tuple[int, float]]:
        """The nodes that an example trains, with the derivative of its loss by their scores."""
        tree, weight = self.tree, example.weight
        positive = {int(node) for label in example.labels for node in tree.path(label)}
        if self.options.trains_root:
            yield 0, weight * (self._probability(0, hidden) - bool(positive))
        inner = [node for node in sorted(positive) if not tree.is_leaf[node]]
        if self.options.loss == "logistic":
            for node in inner + self._hard_negatives(positive, hidden):
                for child in tree.children(node):
                    yield child, weight * (self._probability(child, hidden) - (child in positive))
            return
        # Every label is an example of its own.
        slopes = {child: 0.0 for node in inner for child in learning_children(tree, node)}
        for label in example.labels:
            for node, chosen in pairwise(tree.path(label).tolist()):
                scores = (self.nodes.vectors * hidden).sum(axis=1)
                for child, p in zip(
                    learning_children(tree, node), child_probabilities(tree, node, scores), strict=False
                ):
                    slopes[child] += weight / len(example.labels) * (p - (child == chosen))
        yield from slopes.items()

    def _hard_negatives(self, positive: set[int], hidden: Array) -> list[int]:
        """The most probable inner nodes without a label below; that of a node with a label is taken as certain."""
        candidates: list[tuple[float, int]] = []

        def add_children(node: int, probability: float) -> None:
            for child in self.tree.children(node):
                if child not in positive and not self.tree.is_leaf[child]:
                    candidates.append((-probability * self._probability(child, hidden), child))

        for node in positive:
            add_children(node, 1.0)
        found: list[int] = []
        while candidates and len(found) < self.options.hard_negatives:
            best = min(candidates)
            candidates.remove(best)
            found.append(best[1])
            add_children(best[1], -best[0])
        return found

    def _probability(self, node: int, hidden: Array) -> float:
        return float(sigmoid((self.nodes.vectors[node] * hidden).sum()))


def pooled(words: dict[int, float], mean: bool) -> dict[int, float]:
    total = sum(abs(value) for value in words.values()) if mean else 1.0
    return {word: value / total for word, value in words.items()}


def hidden_vector(vectors: Array, values: dict[int, float]) -> Array:
    return sum((value * vectors[word] for word, value in values.items()), np.zeros(vectors.shape[1]))


def learning_children(tree: LabelTree, node: int) -> range:
    """The children that a softmax learns: of two, the second mirrors the first."""
    children = tree.children(node)
    return children[:1] if len(children) == 2 else children


def child_probabilities(tree: LabelTree, node: int, scores: Array) -> Array:
    """The probabilities of a node's children by the softmax of their scores; of two, the first has all of the score."""
    of_children = scores[tree.children(node)]
    if len(of_children) == 2:
        return np.array([sigmoid(of_children[0]), sigmoid(-of_children[0])])
    return softmax(of_children)


def total_loss(
    tree: LabelTree, options: Options, examples: Sequence[Example], words: Array, nodes: Array, bias: Array
) -> float:
    """The loss of all examples: no batches, no gradients, no blocks; minus the log of what was to be probable."""
    total = 0.0
    for example in examples:
        hidden = hidden_vector(words, pooled(example.words, options.mean))
        scores = nodes @ hidden + (bias if options.bias else 0.0)
        paths = [tree.path(label).tolist() for label in example.labels]
        positive = {node for path in paths for node in path}
        seen: list[Any] = []  # probabilities of what was seen, with what they count
        if options.trains_root:
            seen.append((1, sigmoid(scores[0] if positive else -scores[0])))
        if options.loss == "logistic":
            for node in range(1, tree.n_nodes):
                if tree.parent[node] in positive:
                    seen.append((1, sigmoid(scores[node] if node in positive else -scores[node])))
        else:
            for node, child in (pair for path in paths for pair in pairwise(path)):
                which = child - tree.children(node)[0]
                seen.append((1 / len(paths), child_probabilities(tree, node, scores)[which]))
        total -= example.weight * sum(count * np.log(probability) for count, probability in seen)
    return total


def numeric_gradients(
    tree: LabelTree, options: Options, examples: Sequence[Example], arrays: dict[str, Array]
) -> dict[str, Array]:
    """The gradients of the loss by all numbers, each by two losses close by."""
    at = {name: array.astype(np.float64) for name, array in arrays.items()}
    gradients = {name: np.zeros_like(array) for name, array in at.items()}
    step = 1e-5
    for name, array in at.items():
        for i in np.ndindex(array.shape):
            before = array[i]
            losses = []
            for moved in (before - step, before + step):
                array[i] = moved
                losses.append(
                    total_loss(tree, options, examples, at["word_vector"], at["node_vector"], at["bias"])
                )
            array[i] = before
            gradients[name][i] = (losses[1] - losses[0]) / (2 * step)
    return gradients
