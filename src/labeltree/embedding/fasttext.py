"""`FastTextClassifier`: fastText's supervised classifier."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from labeltree.embedding.estimator import CONSTRAINTS, EmbeddingClassifier
from labeltree.embedding.plan import LINKS
from labeltree.trees.recipe import TreeRecipe
from labeltree.validation import Choice, Constraint


@dataclass(frozen=True)
class _Output:
    """The output layer of one of fastText's losses: a tree, and the loss of its nodes."""

    tree: str
    node_loss: str


OUTPUTS = {
    "softmax": _Output("flat", "softmax"),
    "hs": _Output("huffman", "softmax"),
    "ova": _Output("flat", "logistic"),
}


@dataclass(eq=False, repr=False)
class FastTextClassifier(EmbeddingClassifier):
    """fastText's supervised classifier.

    The hidden vector of a row is the mean of the vectors of its words. The output layer is a softmax over all labels,
    a hierarchical softmax over a Huffman tree, or one logistic classifier for each label. It is the kernel of
    `ExtremeTextClassifier`: the same seed gives the same model for any number of threads, and models can be saved,
    served, explained and mixed like all others. `docs/fasttext.md` has the commands of fastText beside ours.
    `FastTextClassifier.fasttext()` has all of fastText's own settings.

    With "softmax" and "hs", a row with several labels counts as one example for each label, with equal shares of its
    weight. fastText draws one of the labels at random instead. Use "ova" for rows with several labels.

    Parameters
    ----------
    loss : {"softmax", "hs", "ova"}
        The output layer: softmax, hierarchical softmax, or one-vs-all. "hs" is fastest for many labels; use "ova"
        where rows have several labels.
    dimension : int
        Number of dimensions of the vectors. More dimensions are more precise, and cost time and memory in proportion.
    learning_rate : float, optional
        Step size at the start, which falls to 0 in proportion to the rows seen. By default 0.5 / √dimension for "adam",
        0.2 for "adagrad", and 0.1 / √batch_size for "sgd".
    epochs : int
        Number of passes over the rows. Raise it for few rows.
    solver : {"adam", "adagrad", "sgd"}
        How vectors go down their gradients. "adam" is more precise; "sgd" is fastText's own.
    batch_size : int
        Number of rows whose gradients are added up for one step. With 1, every row is a step, as in fastText; larger
        batches train faster.
    regularization : float
        Weight of the L2 penalty. It is applied to a vector each time an example changes it.
    bias : bool
        Add a bias to the score of every node. fastText has none.
    pretrained : str, path-like, pair of paths or WordVectors, optional
        Word vectors to start from: a file for `labeltree.data.read_word_vectors`, or a ``.npy`` array with a text file
        of the same name that has a word per line. Words without a vector start from random numbers.
    frozen : bool
        Keep the pretrained vectors as they are.
    vector_type : {"int8", "bfloat16", "float32"}
        The type that trained vectors are rounded to. The smaller types make smaller models, and cost little precision.
    n_jobs : int, optional
        Number of threads, as in scikit-learn: None is one, -1 is one per processor. The model does not depend on it.
    random_state : int, RandomState or None
        Seed of the training. The same integer gives the same model, bit for bit.
    verbose : int
        Progress bars: above 0 always, 0 on a terminal only, below 0 never.

    Attributes
    ----------
    classes_, tree_, word_vectors_, node_vectors_, label_counts_, n_samples_fit_, decision_, calibration_, fit_seconds_
        As in `ExtremeTextClassifier`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from labeltree import FastTextClassifier
    >>> X = [[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 2, 0]] * 10
    >>> y = ["cat", "cat", "dog", "dog"] * 10
    >>> model = FastTextClassifier(dimension=8, epochs=50, learning_rate=1.0, random_state=0).fit(X, y)
    >>> model.predict([[0, 2, 1]])
    array(['dog'], dtype='<U3')
    """

    loss: str = "softmax"
    _: KW_ONLY
    dimension: int = 100
    learning_rate: float | None = None
    epochs: int = 5
    solver: str = "adam"
    batch_size: int = 128
    regularization: float = 0.0
    bias: bool = True
    pretrained: Any = None
    frozen: bool = False
    vector_type: str = "int8"
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0

    @classmethod
    def fasttext(cls, **parameters: Any) -> FastTextClassifier:
        """Return an estimator with fastText's own settings: plain SGD, a step for every row, a rate of 0.1."""
        return cls(**{"solver": "sgd", "learning_rate": 0.1, "batch_size": 1, "bias": False, **parameters})

    # What fastText has no parameters for.
    normalize = False
    pooling = "mean"

    constraints: ClassVar[Mapping[str, Constraint]] = {**CONSTRAINTS, "loss": Choice(tuple(OUTPUTS))}

    @property
    def node_loss(self) -> str:
        return OUTPUTS[self.loss].node_loss

    def link_of(self, loss: str) -> str:
        return LINKS[OUTPUTS[loss].node_loss]

    def _recipe(self) -> TreeRecipe:
        return TreeRecipe(
            tree=OUTPUTS[self.loss].tree,
            max_arity=None,
            arity=2,
            max_leaves=1,
            max_depth=None,
            frequent_share=0.0,
            collapse=1,
            label_vectors="features",
            label_vector_prune=0.01,
        )
