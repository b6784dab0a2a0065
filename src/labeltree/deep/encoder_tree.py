"""`EncoderTreeClassifier`: a pretrained encoder of texts, fine-tuned with a label tree as its output layer."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin

from labeltree import _native
from labeltree.deep.encoder_place import check_encoder_place
from labeltree.deep.encoders import Pretrained, TorchEncoder, VectorEncoder, encode, read_pretrained
from labeltree.deep.estimator import (
    CONSTRAINTS,
    DeepClassifier,
    Lesson,
    plain_name,
    start_bias,
)
from labeltree.deep.extras import device_named
from labeltree.deep.levels import TreeLevels
from labeltree.deep.text_model import check_texts
from labeltree.deep.tokens import TextTokenizer
from labeltree.embedding.node_vectors import NodeVectors
from labeltree.embedding.vectors import Vectors
from labeltree.model.linear_forest import LinearForest
from labeltree.model.model import Model
from labeltree.training.plan import Trained
from labeltree.training.run import Run
from labeltree.trees import LabelTree
from labeltree.validation import Choice, Constraint, Flag, Number

logger = logging.getLogger(__name__)

#: The weight decay of the matrices of the encoder.
_DECAY = 0.01
#: The length of the vectors of nodes that start from names of labels.
_NAME_LENGTH = 1.0


@dataclass(eq=False, repr=False)
class EncoderTreeClassifier(TransformerMixin, DeepClassifier):
    """A pretrained encoder of texts, fine-tuned with a label tree as its output layer.

    The encoder makes a vector of a text. Every node of the tree has a vector; the product of both, through a sigmoid,
    is the probability of the node given its parent. All labels are scored if they are few (``tree="auto"``). If they
    are many, training goes level by level: first the clusters of labels are learned, then also the labels in the true
    clusters and in those that seem most probable, which hold the negatives that are hard to tell.

    Alone it is about as precise as `LabelTreeClassifier`, and mixed with it better than both: see `labeltree.mix` and
    `labeltree.text.Tagger`, whose ``Tagger(encoder=…, mix="linear")`` does everything.

    Needs the extra ``torch``. A GPU is used if there is one; without, expect to wait.

    Parameters
    ----------
    encoder : str or path
        The directory of a pretrained encoder, or its name on the hub, such as "sentence-transformers/all-MiniLM-L6-v2".
        Code of a repository is never run.
    tree : str, LabelTree or taxonomy
        "auto" is flat for up to 20,000 labels, and else a wide tree of two levels of clusters at most. Other words are
        those of `LabelTreeClassifier`.
    arity : int
        Maximum number of clusters that the labels of a node are split into, for trees that are not "auto".
    max_leaves : int
        Maximum number of labels in a cluster.
    pooling : {"auto", "mean", "first"}
        How the vectors of tokens become one: their mean, or that of the first token. "auto" is what the encoder says.
    max_tokens : int
        Further tokens of a text are left out.
    epochs : int
        Number of passes over the texts.
    batch_size : int
        Number of texts in a batch. Lower it if memory does not suffice.
    learning_rate, node_rate : float
        The largest learning rates of the encoder and of the vectors of nodes.
    warm_up : float
        Share of the steps in which the learning rates rise; then they fall to 0.
    candidates : int
        Number of clusters whose labels a text trains: the true ones, and the most probable others up to this number.
        For trees of several levels.
    dropout : float
        Share of the numbers of the vector of a text that are left out in training.
    name_vectors : bool
        Start the vectors of nodes from the encoded names of labels. Helps if labels are words and many are rare.
    validation : float
        Share of the texts that are held out to stop early, when nDCG@5 gets no better; 0 trains on all texts.
    patience : int
        Stop after as many epochs without a better nDCG@5.
    average : float
        Predict by a moving average of the weights, updated ten times per epoch. This is the share of the old average
        that each update keeps; 0 for no average.
    device : {"auto", "cpu", "cuda", "cuda:N"}
        Where to train, and to answer afterwards. A model that was loaded answers on a GPU if there is one.
    checkpoint : path of a directory, optional
        Where to keep the state of the training, after each epoch and every ten minutes. The same training that was
        killed resumes from there. Needs an integer `random_state`.
    search : {"exact", "beam"}
        Search for the k best labels: exact, or a beam search that keeps the `beam` best nodes of every level.
    beam : int
        Width of the beam. A wider beam is slower and more exact.
    normalize_siblings : bool
        Scale the probabilities of siblings that sum to less than 1, so that they sum to 1.
    n_jobs : int, optional
        Number of threads on a CPU, as in scikit-learn: None is one, -1 is one per processor.
    random_state : int, RandomState or None
        Seed of the training. On a CPU, the same integer and the same number of threads give the same model.
    verbose : int
        Progress bars: above 0 always, 0 on a terminal only, below 0 never.

    Attributes
    ----------
    classes_ : array of shape (n_labels,)
        The labels of y; the column numbers if y is a matrix.
    tree_ : LabelTree
        The tree.
    node_vectors_ : array of shape (n_nodes, dimension)
        The vectors of the nodes, as float32.
    label_counts_, n_samples_fit_, decision_, calibration_, fit_seconds_
        As in `LabelTreeClassifier`.
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {
        **CONSTRAINTS,
        "encoder": Constraint(
            "the directory of an encoder, or its name on the hub",
            lambda value: isinstance(value, str | os.PathLike) and bool(os.fspath(value)),
        ),
        "pooling": Choice(("auto", "mean", "first")),
        "name_vectors": Flag(),
        "epochs": Number(1, 1 << 16, integer=True),
    }

    encoder: Any = ""
    _: KW_ONLY
    tree: Any = "auto"
    arity: int = 16
    max_leaves: int = 64
    pooling: str = "auto"
    max_tokens: int = 128
    epochs: int = 12
    batch_size: int = 128
    learning_rate: float = 2e-4
    node_rate: float = 4e-3
    warm_up: float = 0.1
    candidates: int = 10
    dropout: float = 0.1
    name_vectors: bool = False
    validation: float = 0.0
    patience: int = 3
    average: float = 0.0
    device: str = "auto"
    checkpoint: Any = None
    search: str = "exact"
    beam: int = 10
    normalize_siblings: bool = False
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0

    def check_parameters(self, training: bool = True) -> None:
        super().check_parameters(training)
        if training:
            check_encoder_place(self.encoder)

    def train(self, lesson: Lesson, run: Run) -> Trained:
        from labeltree.deep.networks.encoder_network import EncoderNetwork, PooledEncoder
        from labeltree.deep.networks.output_layers import NodeVectorLayer
        from labeltree.deep.torch_context import seeded

        started = time.perf_counter()
        seed, device = self.seeds(1)[0], device_named(self.device)
        with seeded(seed, device):  # weights that the files do not have are drawn
            pretrained = read_pretrained(self.encoder)
        if pretrained.longest < self.max_tokens:
            logger.warning("the encoder reads %d tokens of a text, fewer than max_tokens", pretrained.longest)
        tokenizer = TextTokenizer(pretrained.tokenizer, min(self.max_tokens, pretrained.longest))
        tokens = tokenizer.read(lesson.texts)
        growing = time.perf_counter()
        levels = TreeLevels.of(self.grow(lesson, seed, run))
        clustering = time.perf_counter() - growing
        pooled = PooledEncoder(pretrained.body, self._pooling(pretrained))
        network = EncoderNetwork(pooled, NodeVectorLayer(levels.sizes, pooled.dimension), self.dropout)
        self._start(network, levels.tree, lesson, tokenizer)
        counted = self.train_network(network, levels, lesson, tokenizer, tokens, seed, run, decay=_DECAY)
        nodes = np.concatenate([tier.detach().float().cpu().numpy() for tier in network.output.tiers])
        bias = np.ascontiguousarray(nodes[:, -1])
        vectors = NodeVectors(levels.tree, Vectors(np.ascontiguousarray(nodes[:, :-1])), bias)
        reader = EncoderReader(tokenizer, TorchEncoder(pooled, self.device, self.n_jobs))
        forest = LinearForest([vectors], pooled.dimension, "sigmoid")  # type: ignore[list-item]
        seconds = {"clustering": clustering, "training": time.perf_counter() - started - clustering}
        return Trained(forest, [counted], seconds, reader=reader)

    def _pooling(self, pretrained: Pretrained) -> str:
        return pretrained.pooling if self.pooling == "auto" else self.pooling

    def _start(self, network: Any, tree: LabelTree, lesson: Lesson, tokenizer: TextTokenizer) -> None:
        """Set the biases that nodes start from, and their vectors if names of labels give some."""
        import torch

        bias = torch.from_numpy(start_bias(tree, lesson.labels))
        vectors = None
        if self.name_vectors:
            names = lesson.label_names or {}
            classes = lesson.labels.classes.tolist()
            rows = tokenizer.read([str(names.get(label, label)) for label in classes])
            found = encode(TorchEncoder(network.encoder, self.device, self.n_jobs), rows, tokenizer.padding)
            vectors = torch.from_numpy(mean_of_labels(tree, found))
        network.output.start(bias, vectors)

    @property
    def node_vectors_(self) -> NDArray[np.float32]:
        """The vector of each node of the tree, as float32."""
        weights: Any = self.model_.forest
        vectors: NDArray[np.float32] = weights.weights[0].vectors.as_float32()
        return vectors

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Return the vector that the fine-tuned encoder makes of each text, shape (n_texts, dimension).

        For texts that the encoder was trained on, these vectors know too much: a classifier that is trained on them
        does worse on others. `labeltree.deep.out_of_fold_vectors` makes vectors to train on.
        """
        return self._reader.vectors(check_texts(X, type(self).__name__))

    def kept_parameters(self) -> Mapping[str, Any]:
        return {**super().kept_parameters(), "encoder": plain_name(self.encoder)}

    def _networks(self, model: Model) -> list[Any]:
        return [model.reader.encoder] if isinstance(model.reader, EncoderReader) else []

    @property
    def _reader(self) -> EncoderReader:
        reader = self.model_.reader
        assert isinstance(reader, EncoderReader)
        return reader

    def _tokenizer(self) -> TextTokenizer:
        return self._reader.tokenizer


@dataclass(frozen=True, eq=False)
class EncoderReader:
    """Turns texts into vectors.

    Attributes
    ----------
    tokenizer : TextTokenizer
    encoder : VectorEncoder
    """

    tokenizer: TextTokenizer
    encoder: VectorEncoder
    names: ClassVar[None] = None
    #: The encoder reads a batch faster than its texts one by one.
    prefers_batches: ClassVar[bool] = True

    @property
    def n_features(self) -> int:
        """The dimension of the vectors."""
        return self.encoder.dimension

    def vectors(self, texts: list[Any]) -> NDArray[np.float32]:
        """Return a vector for each text."""
        return encode(self.encoder, self.tokenizer.read(texts), self.tokenizer.padding)

    def read(self, X: Any) -> _native.FeatureMatrix:
        """Return texts as rows of features; those that are read already stay as they are."""
        if isinstance(X, _native.FeatureMatrix):
            return X
        vectors = self.vectors(check_texts(X, "EncoderTreeClassifier"))
        return _native.FeatureMatrix.dense(vectors, False, (0, vectors.shape[1]))

    def read_csr(self, *_: Any) -> Any:
        raise ValueError("EncoderTreeClassifier reads texts, got rows of features")


def mean_of_labels(tree: LabelTree, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return a vector of the same length for each node: the direction of the mean of the vectors of its labels."""
    total = np.zeros((tree.n_nodes, vectors.shape[1]), dtype=np.float64)
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    total[tree.leaf_of_label] = vectors / np.maximum(length, 1e-12)
    for level in reversed(tree.levels()[1:]):
        nodes = slice(level.start, level.stop)
        np.add.at(total, tree.parent[nodes], total[nodes])
    total *= _NAME_LENGTH / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-12)
    return total.astype(np.float32)
