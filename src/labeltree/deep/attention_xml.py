"""`AttentionXMLClassifier`: a BiLSTM over words, with an attention vector for each node of a shallow label tree."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

from labeltree.deep.attention_forest import AttentionForest, AttentionNodes, TokenReader, TorchAttention
from labeltree.deep.estimator import (
    CONSTRAINTS,
    DeepClassifier,
    Lesson,
    start_bias,
)
from labeltree.deep.levels import TreeLevels
from labeltree.deep.tokens import TextTokenizer, learn_words
from labeltree.embedding.pretrained import is_pretrained, start_vectors
from labeltree.model.model import Model
from labeltree.training.plan import Trained
from labeltree.training.run import Run
from labeltree.validation import Constraint, Number


@dataclass(eq=False, repr=False)
class AttentionXMLClassifier(DeepClassifier):
    """AttentionXML: each label, or node of a label tree, attends to the words of a text that matter to it.

    Words have vectors, a BiLSTM reads them in both directions, and every node has an attention vector, by which it
    weighs the words; what it finds goes through a network that all nodes share. All labels are scored if they are few
    (``tree="auto"``). If they are many, training goes level by level through a shallow, wide tree: the candidates of a
    level are the positives, and the children of the best predictions of the level above; the probability of a label is
    the product along its path. One network serves all levels: what the level above has learned is where the next level
    starts. Where the original trains a network for each level, this one predicts with a single pass over the words.

    Needs the extra ``torch``, and a GPU for more than some thousand texts.

    Parameters
    ----------
    n_trees : int
        Number of trees, each with a network of its own, whose probabilities are averaged.
    tree : str, LabelTree or taxonomy
        "auto" is flat for up to 20,000 labels, and else a wide tree of two levels of clusters at most. Other words are
        those of `LabelTreeClassifier`.
    arity : int
        Maximum number of clusters that the labels of a node are split into, for trees that are not "auto".
    max_leaves : int
        Maximum number of labels in a cluster.
    max_words : int
        Maximum number of different words; rarer ones are unknown.
    min_count : int
        Words that occur less often are unknown.
    max_tokens : int
        Further words of a text are left out.
    dimension : int
        Dimension of the vectors of words.
    pretrained : str, path-like, pair of paths or WordVectors, optional
        Vectors of words to start from, as in `ExtremeTextClassifier`. They must have `dimension` dimensions.
    hidden : int
        Dimension of the state of the BiLSTM in each direction.
    shared : int
        Width of the network that all nodes share.
    epochs : int
        Maximum number of passes over the texts.
    batch_size : int
        Number of texts in a batch. Lower it if memory does not suffice.
    learning_rate, node_rate : float
        The largest learning rates of the network and of the attention vectors.
    warm_up : float
        Share of the steps in which the learning rates rise; then they fall to 0.
    candidates : int
        Number of clusters whose labels a text trains: the true ones, and the most probable others up to this number.
        For trees of several levels.
    word_dropout, dropout : float
        Share of the numbers that are left out in training after the vectors of words, and after the BiLSTM.
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
    tree_, trees_ : LabelTree, list of LabelTree
        The first tree, and all trees.
    label_counts_, n_samples_fit_, decision_, fit_seconds_
        As in `LabelTreeClassifier`.
    """

    constraints: ClassVar[Mapping[str, Constraint]] = {
        **CONSTRAINTS,
        "max_words": Number(1, 10_000_000, integer=True),
        "min_count": Number(1, 1 << 31, integer=True),
        "dimension": Number(1, 10_000, integer=True),
        "hidden": Number(1, 10_000, integer=True),
        "shared": Number(1, 10_000, integer=True),
        "word_dropout": Number(0, 0.95),
        "pretrained": Constraint(
            "a file of word vectors, a pair of a .npy file and a file of its words, or labeltree.data.WordVectors",
            is_pretrained,
            optional=True,
        ),
    }

    _: KW_ONLY
    n_trees: int = 1
    tree: Any = "auto"
    arity: int = 16
    max_leaves: int = 64
    max_words: int = 100_000
    min_count: int = 2
    max_tokens: int = 500
    dimension: int = 300
    pretrained: Any = None
    hidden: int = 256
    shared: int = 256
    epochs: int = 13
    batch_size: int = 128
    learning_rate: float = 2e-3
    node_rate: float = 2e-3
    warm_up: float = 0.1
    candidates: int = 15
    word_dropout: float = 0.2
    dropout: float = 0.5
    validation: float = 0.05
    patience: int = 3
    average: float = 0.9
    device: str = "auto"
    checkpoint: Any = None
    search: str = "exact"
    beam: int = 15
    normalize_siblings: bool = False
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0

    def train(self, lesson: Lesson, run: Run) -> Trained:
        tokenizer = TextTokenizer(learn_words(lesson.texts, self.max_words, self.min_count), self.max_tokens)
        tokens = tokenizer.read(lesson.texts)
        nodes, reports, seconds = [], [], {"clustering": 0.0, "training": 0.0}
        for number, seed in enumerate(self.seeds(self.n_trees)):
            prefix = f"tree {number + 1} of {self.n_trees}: " if self.n_trees > 1 else ""
            tree_run = replace(run, prefix=prefix)
            started = time.perf_counter()
            levels = TreeLevels.of(self.grow(lesson, seed, tree_run))
            built = time.perf_counter()
            network = self._network(levels, lesson, tokenizer, seed)
            counted = self.train_network(network, levels, lesson, tokenizer, tokens, seed, tree_run, number)
            scorer = TorchAttention(network, self.device, self.n_jobs)
            nodes.append(AttentionNodes(levels, scorer, int(self.max_tokens)))
            reports.append(counted)
            seconds["clustering"] += built - started
            seconds["training"] += time.perf_counter() - built
        return Trained(AttentionForest(nodes), reports, seconds, reader=TokenReader(tokenizer))

    def _network(self, levels: TreeLevels, lesson: Lesson, tokenizer: TextTokenizer, seed: int) -> Any:
        """Return a network with random weights."""
        import torch

        from labeltree.deep.networks.attention_network import AttentionNetwork
        from labeltree.deep.torch_context import seeded

        with seeded(seed, torch.device("cpu")):
            network = AttentionNetwork.make(
                tokenizer.n_tokens,
                levels.sizes,
                dimension=int(self.dimension),
                hidden=int(self.hidden),
                layers=[int(self.shared)],
                word_dropout=float(self.word_dropout),
                dropout=float(self.dropout),
            )
        self._start(network, levels, lesson, tokenizer)
        return network

    def _start(self, network: Any, levels: TreeLevels, lesson: Lesson, tokenizer: TextTokenizer) -> None:
        """Set the biases that nodes start from, and the vectors of words that have one."""
        import torch

        network.output.start(torch.from_numpy(start_bias(levels.tree, lesson.labels)))
        if self.pretrained is not None:
            vocabulary = tokenizer.vocabulary()
            words: list[str | None] = [None] * tokenizer.n_tokens
            for word, at in vocabulary.items():
                words[at] = word if at > 1 else None
            found = start_vectors(self.pretrained, words, len(words), int(self.dimension), False)
            with torch.no_grad():
                network.encoder.words.weight[torch.from_numpy(found.words)] = torch.from_numpy(found.values)

    def _sizes(self) -> dict[str, Any]:
        return {**super()._sizes(), "hidden": self.hidden}

    def stored_parameters(self) -> dict[str, Any]:
        return super().stored_parameters() | {"pretrained": None}

    def _networks(self, model: Model) -> list[Any]:
        forest: Any = model.forest
        return [nodes.scorer for nodes in forest.weights if nodes.scorer is not None]

    def _tokenizer(self) -> TextTokenizer:
        reader = self.model_.reader
        assert isinstance(reader, TokenReader)
        return reader.tokenizer
