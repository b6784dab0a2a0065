"""`AttentionForest`: label trees whose nodes attend to the words of a text, answered by guided search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from labeltree.deep.extras import NOT_FINITE, device_named
from labeltree.deep.levels import TreeLevels
from labeltree.deep.module_arrays import arrays_of, check_shapes, fill
from labeltree.deep.text_model import check_texts
from labeltree.deep.tokens import TextTokenizer, TokenRows
from labeltree.errors import ModelFileError
from labeltree.exchange import NodeBlocks
from labeltree.exchange.blocks import first_nodes
from labeltree.model.explanation import Explanation, FeatureNames, Step
from labeltree.model.forest import Search
from labeltree.node_estimators.forest import Answers, EstimatorForest
from labeltree.trees import LabelTree

#: Texts that are encoded together, and kept while the search goes down the tree.
ROWS_PER_BATCH = 64
#: At most this many products of words and nodes are computed at a time.
_PRODUCTS = 1 << 26


class AttentionScorer(Protocol):
    """Encodes texts, and scores nodes: by torch, or without."""

    n_jobs: int | None

    def encode(self, rows: TokenRows) -> Any:
        """Return what `scores` needs of these texts."""

    def scores(self, encoded: Any, tier: int, nodes: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the scores of nodes: those of a row of `nodes` for each text, or the same for all if it is 1-d."""


class TorchAttention:
    """A network that torch runs.

    Parameters
    ----------
    network : AttentionNetwork
    device : str
        As for `device_named`.
    n_jobs : int, optional
        Number of threads on a CPU.
    weights : {"float32", "bfloat16", "int8"}
        The type of the weights in the file that the network was read from.
    """

    def __init__(
        self, network: Any, device: str = "auto", n_jobs: int | None = None, weights: str = "float32"
    ) -> None:
        self.device = device_named(device)
        self.network = network.to(self.device).eval()
        self.n_jobs = n_jobs
        self.weights = weights

    def encode(self, rows: TokenRows) -> Any:
        from labeltree.deep.torch_context import computing

        with computing(self.device, self.n_jobs) as torch:
            tokens, sizes = (torch.from_numpy(array) for array in rows.padded(0))
            return self.network.encode(tokens.to(self.device), sizes)

    def scores(self, encoded: Any, tier: int, nodes: NDArray[np.int64]) -> NDArray[np.float32]:
        from labeltree.deep.torch_context import computing

        with computing(self.device, self.n_jobs) as torch:
            wanted = torch.from_numpy(nodes).to(self.device)
            found: NDArray[np.float32] = self.network.scores(encoded, tier, wanted).float().cpu().numpy()
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        network = self.network
        shape = (network.encoder.words.num_embeddings, network.output.sizes, network.settings())
        return _restored, (*shape, arrays_of(network), self.n_jobs, self.weights)


def make_network(
    n_words: int, sizes: list[int], settings: Mapping[str, Any], arrays: Mapping[str, NDArray[np.float32]]
) -> Any:
    """Return a network with these weights; raise `ValueError` if it must have others."""
    import torch

    from labeltree.deep.networks.attention_network import AttentionNetwork

    with torch.device("meta"):  # shapes alone, without memory
        network = AttentionNetwork.make(n_words, sizes, **settings)
    check_shapes(network, arrays)
    return fill(network, arrays)


def _restored(
    n_words: int,
    sizes: list[int],
    settings: Mapping[str, Any],
    arrays: Mapping[str, NDArray[np.float32]],
    n_jobs: int | None,
    weights: str,
) -> TorchAttention:
    """Return a network that was pickled, on the device that is there now."""
    return TorchAttention(make_network(n_words, sizes, settings, arrays), "auto", n_jobs, weights)


def check_scorer(scorer: Any, width: int) -> None:
    """Encode a text of two words; raise `ValueError` if that fails, or if hidden vectors are not of this width."""
    try:
        _, hidden = scorer.encode(TokenRows.of([[0, 0]]))[0]
    except Exception as error:  # whatever a graph from a file can make go wrong
        raise ValueError(f"the network does not work: {error}") from error
    if hidden.shape != (1, 2, width) or hidden.dtype != np.float32:
        raise ValueError(
            f"two words must have float32 of shape {(1, 2, width)}, got {hidden.dtype} of {hidden.shape}"
        )


@dataclass(frozen=True, eq=False)
class AttentionNodes:
    """A tree, and the network that scores its nodes.

    Attributes
    ----------
    levels : TreeLevels
    scorer : AttentionScorer
    longest : int
        The largest number of words of a text.
    """

    levels: TreeLevels
    scorer: AttentionScorer
    longest: int

    @property
    def tree(self) -> LabelTree:
        return self.levels.tree

    def probabilities(self, X: TokenRows, blocks: NodeBlocks) -> NDArray[np.float32]:
        """Return the probability of every entry of `blocks`, whose rows are rows of X."""
        scores = np.empty(len(blocks), dtype=np.float32)
        order = np.argsort(blocks.row, kind="stable")
        rows, begin = np.unique(blocks.row[order], return_index=True)
        ends = np.append(begin[1:], len(order))
        for first in range(0, len(rows), ROWS_PER_BATCH):
            some = slice(first, first + ROWS_PER_BATCH)
            entries = order[begin[some][0] : ends[some][-1]]
            encoded = self._encoded(X, rows[some])
            at = np.searchsorted(rows[some], blocks.row[entries])
            self._score(encoded, at, blocks.node[entries], scores, entries)
        if np.isnan(scores).any():
            raise ModelFileError(NOT_FINITE)
        with np.errstate(over="ignore"):
            chances = 1 / (1 + np.exp(-scores))
        return chances.astype(np.float32, copy=False)

    def _encoded(self, X: TokenRows, rows: NDArray[np.int64]) -> Any:
        """Encode some rows; the rows of the last call are kept, because a search asks for them at every level."""
        wanted, (known, encoded) = rows.tobytes(), X.kept.get(self, (None, None))
        if wanted != known:
            encoded = self.scorer.encode(X.take(rows))
            X.kept[self] = (wanted, encoded)
        return encoded

    def _score(
        self,
        encoded: Any,
        rows: NDArray[np.int64],
        nodes: NDArray[np.int64],
        scores: NDArray[np.float32],
        entries: NDArray[np.int64],
    ) -> None:
        """Fill in the scores of entries, tier by tier; the rows are numbers of encoded texts, and ascend."""
        tiers = np.searchsorted(self.levels.begin, nodes, side="right") - 1
        n_rows = int(rows[-1]) + 1
        for tier in np.unique(tiers).tolist():
            inside = np.flatnonzero(tiers == tier)
            own, place = rows[inside], nodes[inside] - self.levels.begin[tier]
            counts = np.bincount(own, minlength=n_rows)
            column = np.arange(len(own)) - np.repeat(np.cumsum(counts) - counts, counts)
            wanted = np.zeros((n_rows, int(counts.max())), dtype=np.int64)
            wanted[own, column] = place
            found = np.empty(wanted.shape, dtype=np.float32)
            for part in self._parts(wanted.shape):
                same = bool((wanted[:, part] == wanted[0, part]).all())
                asked = np.ascontiguousarray(wanted[0, part] if same else wanted[:, part])
                found[:, part] = self.scorer.scores(encoded, tier, asked)
            scores[entries[inside]] = found[own, column]

    def _parts(self, shape: tuple[int, int]) -> Iterator[slice]:
        step = max(_PRODUCTS // max(shape[0] * self.longest, 1), 1)
        return (slice(begin, begin + step) for begin in range(0, shape[1], step))


@dataclass(frozen=True)
class TokenFeatures:
    """Texts as the forest reads them."""

    X: TokenRows

    @property
    def n_rows(self) -> int:
        return self.X.n_rows

    def take(self, rows: NDArray[np.int64]) -> TokenFeatures:
        """Return some of the rows, in this order."""
        return TokenFeatures(self.X.take(rows))


@dataclass(frozen=True, eq=False)
class TokenReader:
    """Turns texts into tokens.

    Attributes
    ----------
    tokenizer : TextTokenizer
    """

    tokenizer: TextTokenizer
    names: ClassVar[None] = None

    @property
    def n_features(self) -> int:
        """The number of words."""
        return self.tokenizer.n_tokens

    def read(self, X: Any) -> TokenFeatures:
        """Return texts as tokens; those that are read already stay as they are."""
        if isinstance(X, TokenFeatures):
            return X
        return TokenFeatures(self.tokenizer.read(check_texts(X, "AttentionXMLClassifier")))

    def read_csr(self, *_: Any) -> Any:
        raise ValueError("AttentionXMLClassifier reads texts, got rows of features")


class AttentionForest(EstimatorForest):
    """Trees of `AttentionNodes`."""

    rows_per_batch = ROWS_PER_BATCH

    def pairs(
        self, features: Any, rows: NDArray[np.int64], labels: NDArray[np.int32], search: Search
    ) -> NDArray[np.float32]:
        """Return the probability of each pair; all pairs of a text are asked together, so that it is encoded once."""
        distinct = np.unique(rows)
        begin = np.searchsorted(rows, distinct[:: self.rows_per_batch])
        parts = [np.empty(0, dtype=np.float32)]
        for first, stop in pairwise([*begin.tolist(), len(rows)]):
            asked = [Answers(nodes, features.X) for nodes in self.weights]
            parts.append(self._mean(asked, rows[first:stop], labels[first:stop], search))
        return np.concatenate(parts)

    def explain(  # type: ignore[override] # node estimators cannot
        self,
        features: TokenFeatures,
        label: int,
        search: Search,
        n_features: int,
        feature_names: FeatureNames,
    ) -> Explanation:
        """Return the path of a label in each tree, without words: see `labeltree.deep.occlusion` for these."""
        paths = [_path(nodes, features.X, label) for nodes in self.weights]
        mean = np.average([path[-1].probability_so_far for path in paths], weights=self.tree_weight)
        return Explanation(label, float(mean), paths)

    def calibrated(self, _: Any) -> NoReturn:
        raise ValueError(
            "calibrate needs linear node classifiers, but the nodes of this model attend to words"
        )


def _path(nodes: Any, X: TokenRows, label: int) -> list[Step]:
    tree = nodes.tree
    path = tree.path(label).astype(np.int64)
    parents = tree.parent[path].astype(np.int64)
    blocks = NodeBlocks.of(tree, np.zeros(len(path), dtype=np.int64), parents)
    at = blocks.begin[:-1] + path - first_nodes(tree, parents)
    chances = nodes.probabilities(X, blocks)[at].astype(np.float64)
    so_far = np.cumprod(chances)
    safe = np.clip(chances, 1e-12, 1 - 1e-12)
    scores = np.log(safe) - np.log1p(-safe)
    return [
        Step(node, int(tree.n_labels_of_node[node]), score, chance, product, 0.0, ())
        for node, score, chance, product in zip(
            path.tolist(), scores.tolist(), chances.tolist(), so_far.tolist(), strict=True
        )
    ]
