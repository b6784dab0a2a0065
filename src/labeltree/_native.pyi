"""
The compiled kernel of labeltree. Private: everything public is re-exported by the package.
"""

from collections.abc import Callable, Sequence
import enum
from typing import Annotated, overload

import numpy
import numpy.typing
from numpy.typing import NDArray

import labeltree.errors


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
    def csr(indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], data: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_features: int, normalize: bool, dense_features: tuple[int, int] | None = (0, 0)) -> FeatureMatrix: ...

    @overload
    @staticmethod
    def csr(indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], data: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_features: int, normalize: bool, dense_features: tuple[int, int] | None = (0, 0)) -> FeatureMatrix: ...

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

    @property
    def normalize(self) -> bool: ...

    @property
    def arrays(self) -> list[numpy.typing.NDArray]:
        """
        The arrays it was made of: data; indptr, indices and data; or these and the dense data.
        """

    @property
    def rows(self) -> numpy.typing.NDArray[numpy.int64] | None:
        """The numbers of the rows in the arrays, or None for all rows."""

    def row(self, row: int) -> tuple:
        """The features of a row and their values, as the kernel sees them."""

    def take(self, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> FeatureMatrix:
        """Some of the rows, in this order."""

    def dense_rows(self, n_threads: int) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None))]:
        """The dense features of all rows."""

    @overload
    def hidden(self, vectors: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], scale: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, mean: bool) -> FeatureMatrix: ...

    @overload
    def hidden(self, vectors: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)], scale: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, mean: bool) -> FeatureMatrix: ...

    @overload
    def hidden(self, vectors: Annotated[NDArray[numpy.int8], dict(shape=(None, None), order='C', device='cpu', writable=False)], scale: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, mean: bool) -> FeatureMatrix:
        """The rows as sums of the vectors of their features, times the values."""

    @property
    def canonical(self) -> bool:
        """Whether features ascend in every row, none twice."""

class Tree:
    """A label tree, looked at where its arrays are; checked when made."""

    def __init__(self, child_begin: NDArray[numpy.int32], label: NDArray[numpy.int32], n_labels: int) -> None: ...

    @property
    def n_nodes(self) -> int: ...

    @property
    def n_labels(self) -> int: ...

class Examples:
    """
    Rows of X with their labels and weights, looked at where they are; checked when made.
    """

    def __init__(self, features: FeatureMatrix, label_indptr: NDArray[numpy.int64], label_indices: NDArray[numpy.int32], n_labels: int, sample_weight: NDArray[numpy.float32] | None = None, label_weight: NDArray[numpy.float32] | None = None) -> None: ...

    @property
    def n_rows(self) -> int: ...

    @property
    def n_labels(self) -> int: ...

def vector_code() -> str:
    """
    The instruction set whose vector code is used (LABELTREE_ISA in the environment chooses another).
    """

def available_vector_code() -> list[str]:
    """The instruction sets that can be used here, best first."""

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
    """The probability of a score."""

def apply_link_to_all(link: Link, scores: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], probabilities: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Fill the probabilities of scores."""

def normalize_blocks(begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], probabilities: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Scale the probabilities of siblings, block after block, to sum to 1 where they sum to less.
    """

def bin_scores(score: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], positive: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], edges: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple:
    """
    Sums over the pairs whose scores lie between two edges: of weights, of the weights of positive pairs, and of scores times weights.
    """

def pool(value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple:
    """
    Isotonic regression: where each range of equal values begins, and the values.
    """

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
    """How node classifiers are learned."""

    def __init__(self, *, solver: Solver = Solver.descent, loss: Loss = Loss.squared_hinge, penalty: Penalty = Penalty.l2, joint_siblings: bool = False, C: float = 1.0, block_C: Sequence[float] = [], tol: float = 0.20000000298023224, max_iter: int = 10, l1: float = 0.0, learning_rate: float = 1.0, falling_rate: bool = True, initial_accumulator: float = 1.0, epochs: int = 3, regularization: float = 0.0, bias: float = 1.0, prune: float = 0.10000000149011612, seed: int = 0, n_threads: int = 1) -> None: ...

def example_order(seed: int, epoch: int, n_rows: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """The order in which incremental learning takes the rows of an epoch."""

class CorruptModel(labeltree.errors.ModelFileError):
    pass

class BlockStore:
    """One tree and its weights, read where they are."""

    def __init__(self, tree: Tree, arrays: dict, n_features: int, link: Link, dense_features: tuple[int, int] = (0, 0), fused: bool = True) -> None: ...

    def verify(self) -> None:
        """Check the insides of every block."""

    def scores(self, features: FeatureMatrix, row: int, block: int) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]:
        """The scores of a block's nodes for one row."""

    def probabilities(self, features: FeatureMatrix, row: int, block: int, normalize_siblings: bool) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]:
        """
        The probabilities of a block's nodes for one row, given their parent's.
        """

    def held_out_nodes(self, examples: Examples, normalize_siblings: bool, negative_share: float, seed: int, n_threads: int) -> dict:
        """
        Node, score, probability and truth of every row at all nodes whose parent is positive, and the root; of negative ones, a share.
        """

    def column(self, block: int, column: int) -> tuple:
        """Features and weights of one node."""

def pack_index(arrays: dict) -> tuple:
    """
    The arrays index_begin and index, which hold what block_begin, feature and entry_begin of sound arrays do.
    """

class LabelColumns:
    """One linear classifier for each label. The arrays are not copied."""

    def __init__(self, arrays: dict, n_features: int, dense_features: tuple[int, int]) -> None: ...

    def scores(self, features: FeatureMatrix, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int, scores: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """Fill the scores of (row, label) pairs."""

    def column(self, label: int) -> tuple:
        """Return the features of a label and their weights."""

    def verify(self) -> None:
        """Check the inside of every column."""

def quantize(arrays: dict, first_column: numpy.typing.NDArray[numpy.int64], block_columns: numpy.typing.NDArray[numpy.int64], n_columns: int, n_threads: int) -> tuple:
    """
    The weights of blocks as int8, and the size of a step of each column, which is not finite if a weight of the column is not.
    """

class Search:
    """
    What a forest is asked for: how many labels, which ones, and how to look for them.

    At most k labels per row with a probability of at least `threshold`, or in `above` with at least `label_threshold`. `top_k` ranks by label_weight times probability. Labels where `allowed` is 0 are not found. A beam of 0 is exact search. The arrays have one entry per label and are not copied.
    """

    def __init__(self, k: int, *, threshold: float = 0.0, label_threshold: NDArray[numpy.float32] | None = None, label_weight: NDArray[numpy.float64] | None = None, allowed: NDArray[numpy.uint8] | None = None, beam: int = 0, missing_as_zero: bool = False, normalize_siblings: bool = False, n_threads: int = 1) -> None: ...

    def replace(self, *, k: int = ..., threshold: float = ..., label_threshold: NDArray[numpy.float32] | None = ..., label_weight: NDArray[numpy.float64] | None = ..., allowed: NDArray[numpy.uint8] | None = ..., beam: int = ..., missing_as_zero: bool = ..., normalize_siblings: bool = ..., n_threads: int = ...) -> Search:
        """Return a copy with some fields changed."""

    @property
    def k(self) -> int: ...

    @property
    def threshold(self) -> float: ...

    @property
    def label_threshold(self) -> NDArray[numpy.float32] | None: ...

    @property
    def label_weight(self) -> NDArray[numpy.float64] | None: ...

    @property
    def allowed(self) -> NDArray[numpy.uint8] | None: ...

    @property
    def beam(self) -> int: ...

    @property
    def missing_as_zero(self) -> bool: ...

    @property
    def normalize_siblings(self) -> bool: ...

    @property
    def n_threads(self) -> int: ...

class Forest:
    """The trees of a model, asked together."""

    def __init__(self, stores: Sequence[BlockStore], weights: Sequence[float]) -> None: ...

    def top_k(self, features: FeatureMatrix, search: Search, labels: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], probabilities: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], evaluations: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')] | None = None, progress: Progress | None = None) -> None:
        """
        Fill labels and probabilities, shape (rows, search.k), with the best labels of each row.
        """

    def above(self, features: FeatureMatrix, search: Search, evaluations: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')] | None = None) -> tuple:
        """
        Return the labels with at least their threshold, at most search.k per row: indptr, labels and probabilities, best first.
        """

    def pairs(self, features: FeatureMatrix, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], search: Search, probabilities: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """Fill the probabilities of (row, label) pairs; rows ascending."""

class RerankedForest:
    """
    Trees that propose labels, and a classifier for each label that ranks the proposals.
    """

    def __init__(self, forest: Forest, columns: LabelColumns, map: dict, n_proposed: int, least: float) -> None: ...

    def top_k(self, features: FeatureMatrix, search: Search, labels: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], probabilities: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], evaluations: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')] | None = None, progress: Progress | None = None) -> None:
        """
        Fill labels and probabilities, shape (rows, search.k), with the best labels of each row.
        """

    def above(self, features: FeatureMatrix, search: Search, evaluations: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')] | None = None) -> tuple:
        """
        Return the labels with at least their threshold, at most search.k per row: indptr, labels and probabilities, best first.
        """

    def pairs(self, features: FeatureMatrix, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], search: Search, probabilities: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """Fill the probabilities of (row, label) pairs; rows ascending."""

    def probability(self, score: float) -> float:
        """Return the probability of a score of a label classifier."""

class ExampleForest:
    """
    Trees over examples, asked together.

    Answers the calls of Forest. It ignores beam, missing_as_zero and normalize_siblings: a row goes one way through a tree, there are no siblings, and a label that a tree does not speak of has the probability 0 there.
    """

    def __init__(self, arrays: dict, n_labels: int, n_features: int, gamma: float = 0.0, alpha: float = 1.0) -> None: ...

    def verify(self) -> None:
        """Check the insides of every node, leaf and mean."""

    def top_k(self, features: FeatureMatrix, search: Search, labels: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], probabilities: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], evaluations: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')] | None = None, progress: Progress | None = None) -> None:
        """
        Fill labels and probabilities, shape (rows, search.k), with the best labels of each row.
        """

    def above(self, features: FeatureMatrix, search: Search, evaluations: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')] | None = None) -> tuple:
        """
        Return the labels with at least their threshold, at most search.k per row: indptr, labels and probabilities, best first.
        """

    def pairs(self, features: FeatureMatrix, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], search: Search, probabilities: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """Fill the probabilities of (row, label) pairs; rows ascending."""

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

class WeightKind(enum.Enum):
    map = 0

    dense = 1

    hashed = 2

    shared = 3

class OnlineOptions:
    def __init__(self, loss: Loss, solver: Solver, link: Link, learning_rate: float, regularization: float, initial_accumulator: float, bias: bool, weights: WeightKind, length: int, most_lanes: int, most_labels: int) -> None: ...

class OnlineTree:
    """A tree that grows and learns with every example, in an OnlineForest."""

    def __init__(self, options: OnlineOptions, policy: TreePolicy) -> None: ...

    @staticmethod
    def of_shape(options: OnlineOptions, policy: TreePolicy, tree: Tree) -> OnlineTree:
        """A tree of this shape, not yet trained."""

    @staticmethod
    def from_state(options: OnlineOptions, policy: TreePolicy, arrays: dict) -> OnlineTree:
        """The tree that `state` gave."""

    @staticmethod
    def from_store(options: OnlineOptions, policy: TreePolicy, store: BlockStore) -> OnlineTree:
        """A tree that goes on from trained weights."""

    def state(self) -> dict:
        """All there is, as arrays."""

    def explain(self, features: FeatureMatrix, row: int, label: int, normalize_siblings: bool) -> list:
        """The steps to a label."""

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

class OnlineForest:
    """
    Online trees that learn the same examples and answer together, as Forest.
    """

    def __init__(self, trees: Sequence[OnlineTree]) -> None: ...

    def top_k(self, features: FeatureMatrix, search: Search, labels: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], probabilities: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], evaluations: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')] | None = None, progress: Progress | None = None) -> None:
        """
        Fill labels and probabilities, shape (rows, search.k), with the best labels of each row.
        """

    def above(self, features: FeatureMatrix, search: Search, evaluations: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')] | None = None) -> tuple:
        """
        Return the labels with at least their threshold, at most search.k per row: indptr, labels and probabilities, best first.
        """

    def pairs(self, features: FeatureMatrix, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], search: Search, probabilities: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')]) -> None:
        """Fill the probabilities of (row, label) pairs; rows ascending."""

    def learn(self, features: FeatureMatrix, label_indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], label_indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], sample_weight: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, n_threads: int = 1, search: Search | None = None, labels: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')] | None = None, probabilities: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')] | None = None) -> None:
        """
        Learn these rows in turn; if a search is given, fill labels and probabilities with the best of each row before it is learned.
        """

    def forget(self, kept: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Keep only some labels."""

class Enumeration:
    """
    The labels of one row, best first: those that search.allowed allows, without a threshold.
    """

    def __init__(self, forest: Forest | ExampleForest | OnlineForest, features: FeatureMatrix, row: int, search: Search) -> None: ...

    def next(self) -> tuple[int, float] | None:
        """The next label and its probability, or None."""

class GuidedStrategy(enum.Enum):
    best_first = 0

    all_above = 1

    beam = 2

class GuidedSearch:
    """A search for many rows at once over probabilities that it is given."""

    def __init__(self, tree: Tree, n_rows: int, strategy: GuidedStrategy, search: Search) -> None: ...

    def wanted(self) -> tuple:
        """The rows and parents (-1: the root alone) of the blocks to score next."""

    def give(self, probabilities: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Go on with the probabilities of all wanted nodes, block after block."""

    def found(self) -> tuple:
        """What was found: indptr, labels and probabilities, best first."""

def assign_to_nodes(tree: Tree, label_indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], label_indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> tuple:
    """The rows with a label below each node, as row_begin and rows."""

def assign_rows(tree: Tree, examples: Examples, n_threads: int, progress: Progress) -> dict:
    """
    The rows with a label below each node, to be given to train_blocks: row_begin, rows and, if labels have weights, weight, the largest of the row's labels below the node.
    """

def train_blocks(tree: Tree, examples: Examples, options: SolverOptions, progress: Progress, assignment: dict | None = None, first_block: int = 0, last_block: int = -1) -> dict:
    """
    Train the node classifiers of a tree, or those of a range of its blocks; returns the arrays of the blocks and a report. `assignment` is the result of assign_rows, which is found if not given. The arrays of a range count from 0; otherwise they are those of the whole.
    """

def block_groups(tree: Tree, examples: Examples, n_threads: int, assignment: dict | None = None) -> dict:
    """
    The groups of sibling columns that train_blocks solves together: block, begin, end, level, n_rows and n_entries of each.
    """

def block_costs(tree: Tree, examples: Examples, assignment: dict, options: SolverOptions, progress: Progress) -> dict:
    """
    What training costs per block: n_rows, n_entries and n_columns, the columns that need learning.
    """

def held_out_blocks(tree: Tree, examples: Examples, options: SolverOptions, held_out: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], block: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], column_begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], column: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], C_values: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], most_rows: int, negative_share: float, progress: Progress, assignment: dict | None = None) -> dict:
    """
    Learn groups of columns of blocks from the rows where held_out is 0, with each C of the group, and score the rows where it is 1; returns group_begin, node, row, column, positive and score of the pairs.
    """

def train_softmax(tree: Tree, examples: Examples, options: SolverOptions, progress: Progress) -> dict:
    """
    Train hierarchical softmax on a tree; returns the arrays of the blocks and a report.
    """

class VectorSolver(enum.Enum):
    sgd = 0

    adagrad = 1

    adam = 2

class NodeLoss(enum.Enum):
    logistic = 0

    softmax = 1

class VectorOptions:
    """How vectors of words and nodes are learned."""

    def __init__(self, *, dimension: int = 100, loss: NodeLoss = NodeLoss.logistic, solver: VectorSolver = VectorSolver.adam, beta1: float = 0.8999999761581421, beta2: float = 0.9990000128746033, epsilon: float = 9.99999993922529e-09, initial_accumulator: float = 0.0, l2: float = 0.0, learning_rate: float = 0.009999999776482582, falling_rate: bool = True, n_visits: int = 1, batch_size: int = 256, mean: bool = False, bias: bool = True, dropout: float = 0.0, initial_range: float = 0.0, hard_negatives: int = 0, trains_root: bool = False, seed: int = 0, n_threads: int = 1) -> None: ...

class VectorTrainer:
    """Learns vectors of words and of the nodes of a tree together."""

    def __init__(self, tree: Tree, n_features: int, options: VectorOptions) -> None: ...

    def set_words(self, index: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], vectors: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], frozen: bool) -> None:
        """
        Set the vectors of some words before training; frozen ones do not change.
        """

    def learn(self, examples: Examples, progress: Progress) -> None:
        """
        Learn all examples once, in random order; progress counts the examples of all calls.
        """

    def arrays(self) -> dict:
        """Return the vectors of words and nodes, and the biases of nodes."""

class MaxMarginOptions:
    """How all labels are learned at once for a margin."""

    def __init__(self, *, C: float = 1.0, l1: float = 0.10000000149011612, tol: float = 0.009999999776482582, max_iter: int = 30, bias: float = 1.0, prune: float = 0.0, seed: int = 0, n_threads: int = 1) -> None: ...

def train_max_margin(examples: Examples, options: MaxMarginOptions, progress: Progress) -> dict:
    """
    Train all labels of a flat tree for a margin; returns the arrays of the blocks and a report.
    """

class ColumnPlan:
    """
    Which labels are learned, in which groups and chunks, and which chunks.
    """

    def __init__(self, label: NDArray[numpy.int32], group_begin: NDArray[numpy.int64], chunk_groups: int, chunks: NDArray[numpy.int64]) -> None: ...

class Negatives:
    """
    Rows that labels learn from besides their own: proposed and random ones.
    """

    def __init__(self, label_indptr: NDArray[numpy.int64], label_indices: NDArray[numpy.int32], n_random: int) -> None: ...

def train_columns(examples: Examples, plan: ColumnPlan, negatives: Negatives | None, options: SolverOptions, finished: Callable, progress: Progress) -> None:
    """
    Train the columns of labels against all rows, or some; finished(number, arrays) is called for every chunk.
    """

def merge_columns(chunks: Sequence[dict], always: Sequence[int], n_labels: int, n_features: int, n_dense: int) -> dict:
    """The arrays of the flat tree whose columns were trained in chunks."""

def fingerprint(features: FeatureMatrix, progress: Progress) -> int:
    """A number that tells matrices apart."""

class LabelVectors:
    """A vector of unit length for every label that has examples."""

    @property
    def n_features(self) -> int: ...

    def arrays(self) -> tuple:
        """
        The arrays of a CSR matrix with a row per label, without a copy: indptr, indices and data.
        """

def label_vectors(examples: Examples, prune: float, n_threads: int, progress: Progress, first: int = 0, last: int = -1) -> LabelVectors:
    """
    The sums of the examples of each label, or of each label from first to last - 1.
    """

def cooccurrence_vectors(examples: Examples, prune: float, n_threads: int, progress: Progress, first: int = 0, last: int = -1) -> LabelVectors:
    """
    The sums of the label sets of the examples of each label, or of each label from first to last - 1.
    """

def join_vectors(first: LabelVectors, second: LabelVectors) -> LabelVectors:
    """Vectors of two kinds side by side, of the same weight."""

class ClusteringOptions:
    """How labels are clustered into a tree."""

    def __init__(self, *, arity: int = 32, even_levels: bool = True, max_leaves: int = 100, max_depth: int = 0, frequent_share: float = 0.01, balanced: bool = True, first_sample: int = 128, sample: int = 2048, max_iter: int = 8, eps: float = 9.999999747378752e-05, seed: int = 0, n_threads: int = 1) -> None: ...

@overload
def cluster_labels(vectors: LabelVectors, examples: Examples, options: ClusteringOptions, progress: Progress) -> tuple: ...

@overload
def cluster_labels(vectors: FeatureMatrix, examples: Examples, options: ClusteringOptions, progress: Progress) -> tuple:
    """
    Cluster the labels into a tree by vectors of unit length; returns child_begin and label.
    """

@overload
def cluster_top(vectors: LabelVectors, examples: Examples, options: ClusteringOptions, progress: Progress, most_labels: int) -> dict: ...

@overload
def cluster_top(vectors: FeatureMatrix, examples: Examples, options: ClusteringOptions, progress: Progress, most_labels: int) -> dict:
    """
    The upper part of the tree of cluster_labels; nodes with at most most_labels labels are left open. Returns child_begin, label, and open_node, open_begin, open_label, open_n_seen, open_depth and open_seed: the arguments of cluster_subtree.
    """

def cluster_subtree(vectors: FeatureMatrix, examples: Examples, options: ClusteringOptions, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_seen: int, depth: int, seed: int, progress: Progress) -> tuple:
    """
    The tree below an open node of cluster_top, which is its root: child_begin and label. The vectors are those of its labels, in their order.
    """

def join_subtrees(child_begin: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], open_node: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], subtrees: Sequence[tuple]) -> tuple:
    """
    The tree of cluster_labels, given the top and what cluster_subtree found for each open node: child_begin and label.
    """

class ExampleTreeOptions:
    """How trees over examples are grown."""

    def __init__(self, *, C: float = 1.0, tol: float = 0.2, max_iter: int = 10, bias: float = 1.0, max_leaf: int = 10, leaf_labels: int = 100, normalize_gain: bool = True, n_threads: int = 1) -> None: ...

def grow_example_trees(examples: Examples, label_gain: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, seeds: Sequence[int], options: ExampleTreeOptions, progress: Progress) -> dict:
    """Grow a tree over the rows for each seed; returns the arrays of all."""

def label_means(examples: Examples, n_threads: int, progress: Progress) -> dict:
    """The mean of the rows of each label, all scaled to unit length before."""

def split_by_ranking(label_indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], label_indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_labels: int, row_gain: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], label_gain: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, positive: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Alternate rankings of two sides and the sides of rows until both are stable; from `positive` on.
    """

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

    WHITESPACE = 1

    CHAR = 2

    CHAR_WB = 3

    TOKENS = 4

class RowNorm(enum.Enum):
    """What the values of a row are divided by."""

    NONE = 0

    L1 = 1

    L2 = 2

class TextAnalyzer:
    """Splits texts into terms."""

    def __init__(self, kind: AnalyzerKind, min_n: int, max_n: int, lowercase: bool, stop_words: tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]] | None, maps_words: bool) -> None: ...

class TextPart:
    """Columns that share their analyzers: known, hashed or to be learned."""

    def __init__(self, analyzers: Sequence[TextAnalyzer], vocabulary: tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]] | None, n_hashed: int, alternate_sign: bool, first_column: int) -> None: ...

class LearnedWords:
    """What words become, as a function tells it: once for every word."""

    def __init__(self, function: object) -> None: ...

    def __len__(self) -> int: ...

class TextCounter:
    """Counts the terms of texts."""

    def __init__(self, parts: Sequence[TextPart], binary: bool, keep_rows: bool, count_texts: bool, n_threads: int) -> None: ...

    def add(self, texts: object, character_table: object, small_sigma: object | None, fields: object | None, words: LearnedWords | None) -> None:
        """
        Count the terms of texts, from any iterable. With fields, texts may be mappings of these.
        """

    @property
    def n_texts(self) -> int: ...

    def hashed_texts(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """How many texts have each hashed column."""

    def finish(self, part: int, fewest_texts: int, most_texts: int) -> tuple:
        """
        Return the numbers of texts and of occurrences of the terms that fewest_texts to most_texts texts have, in the order of the terms.
        """

    def select(self, part: int, keep: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Keep only some of the terms."""

    def terms(self, part: int) -> tuple:
        """The bytes of the terms, and where each begins."""

    def rows(self, sublinear_tf: bool, norm: RowNorm, idf: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> tuple:
        """indptr, indices and data of the texts' rows."""

class TextReader:
    """Turns texts into features by terms that are known or hashed."""

    def __init__(self, parts: Sequence[TextPart], binary: bool, sublinear_tf: bool, norm: RowNorm, idf: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_columns: int) -> None: ...

    def read(self, texts: object, character_table: object, small_sigma: object | None, fields: object | None, words: LearnedWords | None, normalize: bool, dense_features: tuple[int, int], n_threads: int) -> FeatureMatrix:
        """
        The features of texts, from any iterable. With fields, texts may be mappings of these.
        """

def text_spans(parts: Sequence[TextPart], text: object, character_table: object, small_sigma: object | None, words: LearnedWords | None) -> list[tuple[int, int, int]]:
    """Column, begin and end of every known term of a text."""
