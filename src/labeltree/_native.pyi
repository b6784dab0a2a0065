"""
The compiled kernel of labeltree. Private: everything public is re-exported by the package.
"""

from collections.abc import Callable, Sequence
import enum
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray

import labeltree.errors


class FeatureMatrix:
    """Rows of X, looked at where they are; checked when made."""

    @overload
    @staticmethod
    def csr(indptr: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], data: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_features: int, normalize: bool, dense_features: tuple[int, int] | None = (0, 0)) -> FeatureMatrix: ...

    @overload
    @staticmethod
    def csr(indptr: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], data: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_features: int, normalize: bool, dense_features: tuple[int, int] | None = (0, 0)) -> FeatureMatrix: ...

    @overload
    @staticmethod
    def csr(indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], data: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_features: int, normalize: bool, dense_features: tuple[int, int] | None = (0, 0)) -> FeatureMatrix: ...

    @overload
    @staticmethod
    def csr(indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], data: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_features: int, normalize: bool, dense_features: tuple[int, int] | None = (0, 0)) -> FeatureMatrix: ...

    @overload
    @staticmethod
    def dense(data: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], normalize: bool, dense_features: tuple[int, int] | None = (0, 0)) -> FeatureMatrix: ...

    @overload
    @staticmethod
    def dense(data: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], normalize: bool, dense_features: tuple[int, int] | None = (0, 0)) -> FeatureMatrix: ...

    @overload
    @staticmethod
    def pair(indptr: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], data: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_sparse: int, dense: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], normalize: bool) -> FeatureMatrix: ...

    @overload
    @staticmethod
    def pair(indptr: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], data: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_sparse: int, dense: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], normalize: bool) -> FeatureMatrix: ...

    @overload
    @staticmethod
    def pair(indptr: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], data: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_sparse: int, dense: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], normalize: bool) -> FeatureMatrix: ...

    @overload
    @staticmethod
    def pair(indptr: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], data: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_sparse: int, dense: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], normalize: bool) -> FeatureMatrix: ...

    @overload
    @staticmethod
    def pair(indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], data: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_sparse: int, dense: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], normalize: bool) -> FeatureMatrix: ...

    @overload
    @staticmethod
    def pair(indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], data: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_sparse: int, dense: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], normalize: bool) -> FeatureMatrix: ...

    @overload
    @staticmethod
    def pair(indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], data: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_sparse: int, dense: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], normalize: bool) -> FeatureMatrix: ...

    @overload
    @staticmethod
    def pair(indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], data: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_sparse: int, dense: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], normalize: bool) -> FeatureMatrix: ...

    @property
    def n_rows(self) -> int: ...

    @property
    def n_features(self) -> int: ...

    @property
    def dense_features(self) -> tuple[int, int]:
        """The range of features that are handled as dense ones."""

    def row(self, row: int) -> tuple:
        """The features of a row and their values, as the kernel sees them."""

    @property
    def canonical(self) -> bool:
        """Whether features ascend in every row, none twice."""

def vector_code() -> str:
    """
    The instruction set whose vector code is used (LABELTREE_ISA in the environment chooses another).
    """

def available_vector_code() -> list[str]:
    """The instruction sets that can be used here, best first."""

class CorruptModel(labeltree.errors.ModelFileError):
    pass

class Link(enum.Enum):
    sigmoid = 0

    clip = 1

    exp2 = 2

    exp3 = 3

    exp4 = 4

    exp5 = 5

    sigmoid2 = 6

    softmax = 7

def apply_link(link: Link, score: float) -> float:
    """The probability that a score stands for."""

class BlockStore:
    """One tree and its weights, read where they are."""

    def __init__(self, arrays: dict, n_labels: int, n_features: int, link: Link, dense_features: tuple[int, int] = (0, 0)) -> None: ...

    def verify(self) -> None:
        """Check the insides of every block."""

    def scores(self, features: FeatureMatrix, row: int, block: int) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]:
        """The scores of a block's nodes for one row."""

    def probabilities(self, features: FeatureMatrix, row: int, block: int, normalize_siblings: bool) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]:
        """
        The probabilities of a block's nodes for one row, given their parent's.
        """

    def held_out_loss(self, features: FeatureMatrix, label_indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], label_indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], label_weight: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_threads: int, loss: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
        """Fill loss with the log loss of every row at every level of the tree."""

    def held_out_nodes(self, features: FeatureMatrix, label_indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], label_indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], normalize_siblings: bool, negative_share: float, seed: int, n_threads: int) -> dict:
        """
        Node, score, probability and truth of every row at all nodes whose parent is positive, and the root; of negative ones, a share.
        """

    def column(self, block: int, column: int) -> tuple:
        """Features and weights of one node."""

class Forest:
    """The trees of a model, asked together."""

    def __init__(self, stores: list, weights: Sequence[float]) -> None: ...

    def top_k(self, features: FeatureMatrix, threshold: float, normalize_siblings: bool, beam: int, missing_as_zero: bool, allowed: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_threads: int, labels: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], probabilities: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], evaluations: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')] | None, label_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, progress: Progress | None = None) -> None:
        """
        Fill labels and probabilities, one row of k for each row of features; beam 0 is exact search. Best are the most probable, or with weights those with the largest weight times probability.
        """

    def above(self, features: FeatureMatrix, k: int, threshold: float, label_threshold: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, normalize_siblings: bool, allowed: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_threads: int, evaluations: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')] | None) -> tuple:
        """
        The k best labels with at least their threshold: indptr, labels and probabilities, best first.
        """

    def pairs(self, features: FeatureMatrix, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], normalize_siblings: bool, n_threads: int, probabilities: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """Fill the probabilities of (row, label) pairs; rows ascending."""

class Enumeration:
    """A row's labels, best first."""

    def __init__(self, forest: Forest, features: FeatureMatrix, row: int, normalize_siblings: bool, allowed: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> None: ...

    def next(self) -> tuple[int, float] | None:
        """The next label and its probability, or None."""

class GuidedStrategy(enum.Enum):
    best_first = 0

    all_above = 1

    beam = 2

class GuidedSearch:
    """A search for many rows at once over probabilities that it is given."""

    def __init__(self, child_begin: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_labels: int, n_rows: int, strategy: GuidedStrategy, k: int, beam: int, threshold: float, node_threshold: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, node_allowed: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, label_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, node_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None: ...

    def wanted(self) -> tuple:
        """The rows and parents (-1: the root alone) of the blocks to score next."""

    def give(self, probabilities: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Go on with the probabilities of all wanted nodes, block after block."""

    def found(self) -> tuple:
        """What was found: indptr, labels and probabilities, best first."""

def normalize_blocks(begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], probabilities: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Scale the probabilities of siblings, block after block, to sum to 1 where they sum to less.
    """

def apply_link_to_all(link: Link, scores: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], probabilities: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Fill the probabilities that scores stand for."""

class HeaderRule(enum.Enum):
    """Whether the first line is a header."""

    ABSENT = 0

    OPTIONAL = 1

    REQUIRED = 2

class TextFormatError(ValueError):
    pass

def read_text_format(text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], *, header: HeaderRule, first_feature: int, first_label: int, n_features: int | None, n_labels: int | None, comments: bool, n_threads: int, chunk_bytes: int = 1048576) -> tuple:
    """
    Parse lines into n_features, n_labels, features (indptr, ids, values), labels (indptr, ids).
    """

def format_text_rows(feature_indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], feature_ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], label_indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], label_ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> bytes:
    """Format rows of two CSR matrices as lines of text."""

def decode_texts(text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> list:
    """
    The strings whose UTF-8 bytes are one after another in text, the i-th from begin[i] to begin[i + 1].
    """

class CharacterTable:
    """What characters are, and what they become in terms."""

    def __init__(self, word_ranges: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], space_ranges: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], changed: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

class AnalyzerKind(enum.Enum):
    """What terms are made of."""

    WORD = 0

    CHAR = 1

    CHAR_WB = 2

class RowNorm(enum.Enum):
    """What the values of a row are divided by."""

    NONE = 0

    L1 = 1

    L2 = 2

class TextPart:
    """Columns of one analyzer: known, hashed or to be learned."""

    def __init__(self, kind: AnalyzerKind, min_n: int, max_n: int, lowercase: bool, stop_words: tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]] | None, vocabulary: tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]] | None, n_hashed: int, first_column: int) -> None: ...

class TextCounter:
    """Counts the terms of texts."""

    def __init__(self, parts: Sequence[TextPart], keep_rows: bool, count_texts: bool, n_threads: int) -> None: ...

    def add(self, texts: object, character_table: object, small_sigma: object | None) -> None:
        """Count the terms of texts, from any iterable."""

    @property
    def n_texts(self) -> int: ...

    def hashed_texts(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """How many texts have each hashed column."""

    def finish(self, part: int, fewest_texts: int, most_texts: int) -> tuple:
        """
        How many texts have each term, and how often; only terms of so many texts, in their order.
        """

    def select(self, part: int, keep: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Keep only some of the terms."""

    def terms(self, part: int) -> tuple:
        """The bytes of the terms, and where each begins."""

    def rows(self, binary: bool, sublinear_tf: bool, norm: RowNorm, idf: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> tuple:
        """indptr, indices and data of the texts' rows."""

def text_spans(parts: Sequence[TextPart], text: object, character_table: object, small_sigma: object | None) -> list[tuple[int, int, int]]:
    """Column, begin and end of every known term of a text."""

class Cancelled(Exception):
    pass

class Progress:
    """How far a computation is; cancel() stops it."""

    def __init__(self) -> None: ...

    @property
    def done(self) -> int: ...

    @property
    def total(self) -> int: ...

    def cancel(self) -> None: ...

class Loss(enum.Enum):
    squared_hinge = 0

    logistic = 1

    squared = 2

    exponential = 3

class Penalty(enum.Enum):
    l2 = 0

    l1 = 1

class Solver(enum.Enum):
    descent = 0

    adagrad = 1

    sgd = 2

    fobos = 3

    sparse = 4

class SolverOptions:
    def __init__(self) -> None: ...

    @property
    def solver(self) -> Solver: ...

    @solver.setter
    def solver(self, arg: Solver, /) -> None: ...

    @property
    def loss(self) -> Loss: ...

    @loss.setter
    def loss(self, arg: Loss, /) -> None: ...

    @property
    def penalty(self) -> Penalty: ...

    @penalty.setter
    def penalty(self, arg: Penalty, /) -> None: ...

    @property
    def joint_siblings(self) -> bool: ...

    @joint_siblings.setter
    def joint_siblings(self, arg: bool, /) -> None: ...

    @property
    def C(self) -> float: ...

    @C.setter
    def C(self, arg: float, /) -> None: ...

    @property
    def block_C(self) -> list[float]: ...

    @block_C.setter
    def block_C(self, arg: Sequence[float], /) -> None: ...

    @property
    def tol(self) -> float: ...

    @tol.setter
    def tol(self, arg: float, /) -> None: ...

    @property
    def max_iter(self) -> int: ...

    @max_iter.setter
    def max_iter(self, arg: int, /) -> None: ...

    @property
    def l1(self) -> float: ...

    @l1.setter
    def l1(self, arg: float, /) -> None: ...

    @property
    def learning_rate(self) -> float: ...

    @learning_rate.setter
    def learning_rate(self, arg: float, /) -> None: ...

    @property
    def epochs(self) -> int: ...

    @epochs.setter
    def epochs(self, arg: int, /) -> None: ...

    @property
    def regularization(self) -> float: ...

    @regularization.setter
    def regularization(self, arg: float, /) -> None: ...

    @property
    def bias(self) -> float: ...

    @bias.setter
    def bias(self, arg: float, /) -> None: ...

    @property
    def prune(self) -> float: ...

    @prune.setter
    def prune(self, arg: float, /) -> None: ...

    @property
    def seed(self) -> int: ...

    @seed.setter
    def seed(self, arg: int, /) -> None: ...

    @property
    def n_threads(self) -> int: ...

    @n_threads.setter
    def n_threads(self, arg: int, /) -> None: ...

def assign_to_nodes(child_begin: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_labels: int, label_indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], label_indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> tuple:
    """The rows with a label below each node, as row_begin and rows."""

def train_blocks(child_begin: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_labels: int, features: FeatureMatrix, label_indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], label_indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], sample_weight: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, label_weight: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, options: SolverOptions, progress: Progress) -> dict:
    """
    Train all node classifiers of a tree; returns the arrays of the blocks and a report.
    """

def train_softmax(child_begin: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_labels: int, features: FeatureMatrix, label_indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], label_indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], sample_weight: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, options: SolverOptions, progress: Progress) -> dict:
    """
    Train hierarchical softmax on a tree; returns the arrays of the blocks and a report.
    """

class MaxMarginOptions:
    def __init__(self) -> None: ...

    @property
    def C(self) -> float: ...

    @C.setter
    def C(self, arg: float, /) -> None: ...

    @property
    def l1(self) -> float: ...

    @l1.setter
    def l1(self, arg: float, /) -> None: ...

    @property
    def tol(self) -> float: ...

    @tol.setter
    def tol(self, arg: float, /) -> None: ...

    @property
    def max_iter(self) -> int: ...

    @max_iter.setter
    def max_iter(self, arg: int, /) -> None: ...

    @property
    def bias(self) -> float: ...

    @bias.setter
    def bias(self, arg: float, /) -> None: ...

    @property
    def prune(self) -> float: ...

    @prune.setter
    def prune(self, arg: float, /) -> None: ...

    @property
    def seed(self) -> int: ...

    @seed.setter
    def seed(self, arg: int, /) -> None: ...

    @property
    def n_threads(self) -> int: ...

    @n_threads.setter
    def n_threads(self, arg: int, /) -> None: ...

def train_max_margin(n_labels: int, features: FeatureMatrix, label_indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], label_indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], sample_weight: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, options: MaxMarginOptions, progress: Progress) -> dict:
    """
    Train all labels of a flat tree for a margin; returns the arrays of the blocks and a report.
    """

def train_columns(features: FeatureMatrix, label_indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], label_indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_labels: int, sample_weight: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, negative_indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, negative_indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_random: int, label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], group_begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], chunk_groups: int, chunks: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], options: SolverOptions, finished: Callable, progress: Progress) -> None:
    """
    Train the columns of labels against all rows, or some; finished(number, arrays) is called for every chunk.
    """

def merge_columns(chunks: Sequence[dict], always: Sequence[int], n_labels: int, n_features: int, n_dense: int) -> dict:
    """The arrays of the flat tree whose columns were trained in chunks."""

def fingerprint(features: FeatureMatrix, progress: Progress) -> int:
    """A number that tells matrices apart."""

class WeightKind(enum.Enum):
    map = 0

    dense = 1

    hashed = 2

    shared = 3

class PolicyView:
    """The tree and the example, as a policy sees them."""

    @property
    def n_nodes(self) -> int: ...

    @property
    def n_labels(self) -> int: ...

    @property
    def root(self) -> int: ...

    def parent(self, node: int) -> int:
        """The parent of a node, -1 for the root."""

    def children(self, node: int) -> list[int]: ...

    def is_leaf(self, node: int) -> bool: ...

    def is_open(self, node: int) -> bool:
        """Whether the node may be chosen."""

    def label(self, node: int) -> int:
        """The number of a leaf's label, -1 for an inner node."""

    def n_leaves(self, node: int) -> int:
        """How many labels there are below the node."""

    def probability(self, node: int) -> float:
        """The probability of the node given its parent's and the example."""

class TreePolicy:
    """Where the leaves of new labels go."""

class FixedPolicy(TreePolicy):
    def __init__(self) -> None: ...

class CompletePolicy(TreePolicy):
    def __init__(self, arity: int) -> None: ...

class RandomPolicy(TreePolicy):
    def __init__(self, arity: int, seed: int) -> None: ...

class BestFitPolicy(TreePolicy):
    def __init__(self, arity: int, alpha: float) -> None: ...

class CallablePolicy(TreePolicy):
    def __init__(self, choose: object, closes: object | None) -> None: ...

class OnlineOptions:
    def __init__(self, loss: Loss, solver: Solver, link: Link, learning_rate: float, regularization: float, bias: bool, weights: WeightKind, length: int, most_lanes: int, most_labels: int) -> None: ...

class OnlineTree:
    """A tree that grows and learns with every example."""

    def __init__(self, options: OnlineOptions, policy: TreePolicy) -> None: ...

    @staticmethod
    def of_shape(options: OnlineOptions, policy: TreePolicy, child_begin: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_labels: int) -> OnlineTree:
        """A tree of this shape, not yet trained."""

    @staticmethod
    def from_state(options: OnlineOptions, policy: TreePolicy, arrays: dict) -> OnlineTree:
        """The tree that `state` gave."""

    @staticmethod
    def from_store(options: OnlineOptions, policy: TreePolicy, store: BlockStore) -> OnlineTree:
        """A tree that goes on from trained weights."""

    def state(self) -> dict:
        """All there is, as arrays."""

    def learn(self, features: FeatureMatrix, label_indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], label_indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], sample_weight: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')] | None, probabilities: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')] | None, normalize_siblings: bool) -> None:
        """
        Learn these rows in turn; if labels and probabilities are given, fill them with the best of each row before it is learned.
        """

    def top_k(self, features: FeatureMatrix, threshold: float, normalize_siblings: bool, beam: int, allowed: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_threads: int, labels: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], probabilities: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], evaluations: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')] | None, label_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None:
        """As Forest.top_k."""

    def above(self, features: FeatureMatrix, k: int, threshold: float, label_threshold: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, normalize_siblings: bool, allowed: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_threads: int, evaluations: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')] | None) -> tuple:
        """As Forest.above."""

    def pairs(self, features: FeatureMatrix, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], normalize_siblings: bool, n_threads: int, probabilities: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """As Forest.pairs."""

    def explain(self, features: FeatureMatrix, row: int, label: int, normalize_siblings: bool) -> list:
        """The steps to a label."""

    def forget(self, kept: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Keep only some labels."""

    def freeze(self, prune: float, position: Sequence[int], n_labels: int) -> dict:
        """The arrays of a tree that only answers."""

    def structure(self) -> tuple:
        """Per node, its parent and its label, -1 for none."""

    def children(self, node: int) -> list[int]: ...

    @property
    def n_nodes(self) -> int: ...

    @property
    def n_labels(self) -> int: ...

    @property
    def label_counts(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    @property
    def last_seen(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    @property
    def n_examples(self) -> int: ...

    @property
    def counts(self) -> dict: ...

    @property
    def memory(self) -> dict: ...

class KMeansOptions:
    def __init__(self) -> None: ...

    @property
    def balanced(self) -> bool: ...

    @balanced.setter
    def balanced(self, arg: bool, /) -> None: ...

    @property
    def first_sample(self) -> int: ...

    @first_sample.setter
    def first_sample(self, arg: int, /) -> None: ...

    @property
    def sample(self) -> int: ...

    @sample.setter
    def sample(self, arg: int, /) -> None: ...

    @property
    def max_iter(self) -> int: ...

    @max_iter.setter
    def max_iter(self, arg: int, /) -> None: ...

    @property
    def eps(self) -> float: ...

    @eps.setter
    def eps(self, arg: float, /) -> None: ...

class ClusteringOptions:
    def __init__(self) -> None: ...

    @property
    def arity(self) -> int: ...

    @arity.setter
    def arity(self, arg: int, /) -> None: ...

    @property
    def max_leaves(self) -> int: ...

    @max_leaves.setter
    def max_leaves(self, arg: int, /) -> None: ...

    @property
    def max_depth(self) -> int: ...

    @max_depth.setter
    def max_depth(self, arg: int, /) -> None: ...

    @property
    def frequent_share(self) -> float: ...

    @frequent_share.setter
    def frequent_share(self, arg: float, /) -> None: ...

    @property
    def kmeans(self) -> KMeansOptions: ...

    @kmeans.setter
    def kmeans(self, arg: KMeansOptions, /) -> None: ...

    @property
    def seed(self) -> int: ...

    @seed.setter
    def seed(self, arg: int, /) -> None: ...

    @property
    def n_threads(self) -> int: ...

    @n_threads.setter
    def n_threads(self, arg: int, /) -> None: ...

class LabelVectors:
    """A vector of unit length for every label that has examples."""

    @property
    def n_features(self) -> int: ...

    def arrays(self) -> tuple:
        """
        Copies of the arrays of a CSR matrix with a row per label: indptr, indices and data.
        """

def label_vectors(features: FeatureMatrix, label_indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], label_indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_labels: int, sample_weight: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, prune: float, n_threads: int, progress: Progress) -> LabelVectors:
    """The sums of the labels' examples."""

def cooccurrence_vectors(label_indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], label_indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_labels: int, sample_weight: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, prune: float, n_threads: int, progress: Progress) -> LabelVectors:
    """The sums of the label sets of the labels' examples."""

def join_vectors(first: LabelVectors, second: LabelVectors) -> LabelVectors:
    """Vectors of two kinds side by side, of the same weight."""

@overload
def cluster_labels(vectors: LabelVectors, label_indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], label_indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], options: ClusteringOptions, progress: Progress) -> tuple: ...

@overload
def cluster_labels(vectors: FeatureMatrix, label_indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], label_indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], options: ClusteringOptions, progress: Progress) -> tuple:
    """
    Cluster the labels into a tree by vectors of unit length; returns child_begin and label.
    """

class ExampleTreeOptions:
    def __init__(self) -> None: ...

    @property
    def C(self) -> float: ...

    @C.setter
    def C(self, arg: float, /) -> None: ...

    @property
    def tol(self) -> float: ...

    @tol.setter
    def tol(self, arg: float, /) -> None: ...

    @property
    def max_iter(self) -> int: ...

    @max_iter.setter
    def max_iter(self, arg: int, /) -> None: ...

    @property
    def bias(self) -> float: ...

    @bias.setter
    def bias(self, arg: float, /) -> None: ...

    @property
    def max_leaf(self) -> int: ...

    @max_leaf.setter
    def max_leaf(self, arg: int, /) -> None: ...

    @property
    def leaf_labels(self) -> int: ...

    @leaf_labels.setter
    def leaf_labels(self, arg: int, /) -> None: ...

    @property
    def normalize_gain(self) -> bool: ...

    @normalize_gain.setter
    def normalize_gain(self, arg: bool, /) -> None: ...

    @property
    def n_threads(self) -> int: ...

    @n_threads.setter
    def n_threads(self, arg: int, /) -> None: ...

def grow_example_trees(features: FeatureMatrix, label_indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], label_indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_labels: int, sample_weight: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, label_gain: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, seeds: Sequence[int], options: ExampleTreeOptions, progress: Progress) -> dict:
    """Grow a tree over the rows for each seed; returns the arrays of all."""

def label_means(features: FeatureMatrix, label_indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], label_indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_labels: int, sample_weight: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_threads: int, progress: Progress) -> dict:
    """The mean of the rows of each label, all scaled to unit length before."""

def split_by_ranking(label_indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], label_indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_labels: int, row_gain: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], label_gain: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, positive: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Alternate rankings of two sides and the sides of rows until both are stable; from `positive` on.
    """

class ExampleForest:
    """Trees over examples, asked together."""

    def __init__(self, arrays: dict, n_labels: int, n_features: int, gamma: float = 0.0, alpha: float = 1.0) -> None: ...

    def verify(self) -> None:
        """Check the insides of every node, leaf and mean."""

    def top_k(self, features: FeatureMatrix, threshold: float, allowed: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_threads: int, labels: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], probabilities: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], evaluations: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')] | None, label_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> None:
        """Fill labels and probabilities, one row of k for each row of features."""

    def above(self, features: FeatureMatrix, k: int, threshold: float, label_threshold: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, allowed: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_threads: int, evaluations: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')] | None) -> tuple:
        """
        The k best labels with at least their threshold, as indptr, labels and probabilities.
        """

    def pairs(self, features: FeatureMatrix, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int, probabilities: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """Fill the probabilities of (row, label) pairs; rows ascending."""
