"""`DeepClassifier`: the base class of classifiers that train a neural network on texts."""

from __future__ import annotations

import hashlib
import json
import os
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags

from labeltree.deep.extras import device_named, import_extra, process_number
from labeltree.deep.levels import PositiveNodes, TreeLevels
from labeltree.deep.module_arrays import arrays_of
from labeltree.deep.occlusion import explain_by_occlusion
from labeltree.deep.text_model import TextModel, check_texts
from labeltree.deep.tokens import TextTokenizer, TokenRows
from labeltree.deep.wide_tree import grow_tree
from labeltree.embedding.node_vectors import CERTAIN_SCORE
from labeltree.label_tree_estimator import LabelTreeEstimator
from labeltree.labels.label_index import LabelIndex
from labeltree.labels.label_names import check_label_names
from labeltree.labels.reading import LabelRows, read_labels
from labeltree.model.model import Model, TrainingRecord
from labeltree.model.texts import Text
from labeltree.progress import phases
from labeltree.text.text_explanation import TextExplanation
from labeltree.training.checkpoint import Checkpoint
from labeltree.training.parameters import check_estimator
from labeltree.training.plan import Trained
from labeltree.training.run import Run
from labeltree.trees import TREE_WORDS, LabelTree
from labeltree.trees.parameters import TREE_CONSTRAINTS
from labeltree.trees.recipe import TreeRecipe, TreeSource, check_tree
from labeltree.validation import Choice, Constraint, Number, check_same_rows, check_sample_weight, n_threads
from labeltree.wording import count_text

_Self = TypeVar("_Self", bound="DeepClassifier")

#: At most this many texts are held out to tell when to stop.
MOST_HELD_OUT = 1_000
#: The bias that a node starts from is the log-odds of its share of the examples of its parent, but at least this.
_LOWEST_BIAS = -7.0

CONSTRAINTS: dict[str, Constraint] = {
    "tree": Choice(("auto", *TREE_WORDS), (LabelTree, TreeSource)),
    "arity": TREE_CONSTRAINTS["arity"],
    "max_leaves": TREE_CONSTRAINTS["max_leaves"],
    "max_tokens": Number(1, 100_000, integer=True),
    "batch_size": Number(1, 1 << 16, integer=True),
    "learning_rate": Number(0, 1e3, open_low=True),
    "node_rate": Number(0, 1e3, open_low=True),
    "warm_up": Number(0, 1),
    "candidates": Number(1, 1 << 16, integer=True),
    "dropout": Number(0, 0.95),
    "validation": Number(0, 0.5),
    "patience": Number(1, 1 << 16, integer=True),
    "average": Number(0, 0.999),
    "device": Constraint("'auto', 'cpu', 'cuda' or 'cuda:N'", lambda value: _is_device(value)),
    "checkpoint": Constraint(
        "the path of a directory", lambda value: isinstance(value, str | os.PathLike), optional=True
    ),
}


@dataclass(frozen=True)
class Lesson:
    """What a network is trained on.

    Attributes
    ----------
    texts : list
    labels : LabelRows
    sample_weight : array of shape (n_texts,), optional
    label_names : mapping from label to str, optional
    held_out : array of bool of shape (n_texts,)
        Which texts tell when to stop; the network is trained on the others.
    """

    texts: list[Text]
    labels: LabelRows
    sample_weight: NDArray[np.float32] | None
    label_names: Mapping[Any, str] | None
    held_out: NDArray[np.bool_]

    def digest(self) -> str:
        """Return a hash of all texts, labels and weights."""
        lines = [json.dumps(text, sort_keys=True) for text in self.texts] + [
            repr(self.labels.classes.tolist())
        ]
        weight = np.empty(0) if self.sample_weight is None else self.sample_weight
        told = np.frombuffer("\n".join(lines).encode(errors="surrogatepass"), dtype=np.uint8)
        return _digest(told, self.labels.indptr, self.labels.indices, weight, self.held_out)


class DeepClassifier(LabelTreeEstimator):
    """The base class of classifiers that train a neural network on texts.

    X is texts, everywhere: a list of strings, or one column of a frame. The class attributes are defaults for
    classifiers without these parameters.
    """

    constraints: ClassVar[Mapping[str, Constraint]] = CONSTRAINTS
    #: Whether X is texts, rather than rows of features that a vectorizer makes of texts.
    reads_texts: ClassVar[bool] = True

    # Parameters of trees that these classifiers do not have.
    max_arity: int | None = None
    max_depth: int | None = None
    frequent_share: float = 0.0
    collapse: int = 1
    label_vectors: Any = "features"
    label_vector_prune: float = 0.0

    normalize = False
    validation: float = 0.0
    tree: Any
    device: str
    checkpoint: Any
    max_tokens: int
    epochs: int
    batch_size: int
    learning_rate: float
    node_rate: float
    warm_up: float
    average: float
    patience: int
    candidates: int
    n_jobs: int | None

    def fit(
        self: _Self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        label_names: Mapping[Any, str] | None = None,
    ) -> _Self:
        """Train on texts with their labels.

        Parameters
        ----------
        X : sequence of str, or a column of a frame
            The texts. A text may be a mapping of fields, which are joined.
        y : sequence of collections of labels, sparse or dense 0/1 matrix, or 1-d array
            The labels of each text. Texts may have no label.
        sample_weight : array of shape (n_texts,), optional
            Factor of the loss of each text, 1 by default.
        label_names : mapping from label to str, optional
            Readable names of labels, if the labels themselves are not readable and the classifier learns from names.
        """
        self.check_parameters()
        texts, labels = check_texts(X, type(self).__name__), read_labels(y)
        check_same_rows(len(texts), labels.n_rows)
        if len(labels.indices) == 0:
            raise ValueError("y has no label in any row: there is nothing to learn")
        weight = check_sample_weight(sample_weight, labels.n_rows)
        label_names = check_label_names(label_names, labels.classes.tolist())
        lesson = Lesson(texts, labels, weight, label_names, self._held_out(labels.n_rows))
        # One process of several shows progress.
        with phases(-1 if process_number() else self.verbose) as shown, self._enough_memory():
            trained = self.train(lesson, Run(n_threads(self.n_jobs), shown))
        assert trained.reader is not None
        # Assigned last: if fit fails, an earlier model stays as it was.
        self._model = TextModel(
            trained.forest,
            trained.reader,
            LabelIndex(labels.classes),
            labels.kind,
            labels.counts,
            labels.n_rows,
            TrainingRecord(trained.reports, self.kept_parameters(), trained.seconds, trained.facts),
        )
        return self

    @property
    def model_(self) -> Model:
        """The trained model: its forest, labels, reader and decision. It uses the current parameters."""
        model = super().model_
        for network in self._networks(model):
            network.n_jobs = self.n_jobs
        return model

    @abstractmethod
    def _networks(self, model: Model) -> list[Any]:
        """Return what runs the networks of a trained model."""

    def export_onnx(self, path: str | os.PathLike[str], *, int8: bool = False) -> None:
        """Write the model to a directory with its network as an ONNX graph.

        The directory is a model like any other. It is opened and answers on the CPU, without torch and transformers: it
        needs the extra ``onnx``. It cannot be exported again.

        Parameters
        ----------
        path : path of a directory
            As for `save`.
        int8 : bool
            Store the weights of the network as int8: a quarter of the size, faster on most processors, a little less
            precise.
        """
        from labeltree.deep.onnx_export import export_onnx

        export_onnx(self, path, int8=int8)

    @abstractmethod
    def train(self, lesson: Lesson, run: Run) -> Trained:
        """Train the network; return the forest and the reader of texts."""

    def make_plan(self) -> NoReturn:
        raise TypeError(f"{type(self).__name__} trains on texts, without a plan")

    def check_parameters(self, training: bool = True) -> None:
        check_tree(self.tree)
        check_estimator(self, self.constraints)
        if training:
            import_extra("torch", type(self).__name__)
            device_named(self.device)
            if self.checkpoint is not None and not isinstance(self.random_state, Integral):
                raise ValueError(
                    "a checkpoint needs an integer random_state, so that the training can be repeated; got "
                    f"random_state={self.random_state!r}"
                )
            self._check_processes()

    def _check_processes(self) -> None:
        """Raise `ValueError` if the processes of `torchrun` cannot share this training."""
        if process_number() is None:
            return
        n_processes = int(os.environ["WORLD_SIZE"])
        if not isinstance(self.random_state, Integral):
            raise ValueError(
                "torchrun needs an integer random_state, so that all processes make the same tree; got "
                f"random_state={self.random_state!r}"
            )
        if self.batch_size < n_processes:
            raise ValueError(
                f"batch_size={self.batch_size} cannot be shared by the {n_processes} processes of torchrun: raise it "
                "to at least one text for each, or start fewer processes"
            )

    def link_of(self, loss: str) -> str:
        return "sigmoid"

    def kept_parameters(self) -> Mapping[str, Any]:
        return {"normalize": False, "max_tokens": int(self.max_tokens)}

    def stored_parameters(self) -> dict[str, Any]:
        # Training alone needs them; a device or a directory may be there no longer.
        return super().stored_parameters() | {"device": "auto", "checkpoint": None}

    def grow(self, lesson: Lesson, seed: int, run: Run) -> LabelTree:
        """Build a tree for all labels."""
        recipe = TreeRecipe.of(self)
        return grow_tree(recipe, lesson.texts, lesson.labels, lesson.sample_weight, seed, run)

    def train_network(
        self,
        network: Any,
        levels: TreeLevels,
        lesson: Lesson,
        tokenizer: TextTokenizer,
        tokens: TokenRows,
        seed: int,
        run: Run,
        number: int = 0,
        *,
        decay: float = 0.0,
    ) -> dict[str, int]:
        """Train a network for one tree; return what was counted."""
        from labeltree.deep.torch_context import with_threads
        from labeltree.deep.training.processes import Processes
        from labeltree.deep.training.trainer import Trainer, TrainingSettings

        settings = TrainingSettings(
            epochs=int(self.epochs),
            batch_size=int(self.batch_size),
            rate=float(self.learning_rate),
            node_rate=float(self.node_rate),
            decay=decay,
            warm_up=float(self.warm_up),
            average=float(self.average),
            patience=int(self.patience),
            beam=int(self.candidates),
            seed=seed,
        )
        device = device_named(self.device)
        processes, checkpoint, started = Processes(device), None, {}
        if self.checkpoint is not None or processes.count > 1:
            started = {
                "parameters": self._run_parameters(),
                "seed": seed,
                "data": lesson.digest(),
                "network": _digest(*arrays_of(network).values()),
                "tree": _digest(levels.tree.child_begin, levels.tree.label),
            }
        for name, value in started.items():
            if name != "network":  # which all take from the first process
                processes.check_same(name, value)
        if self.checkpoint is not None and processes.is_first:
            if os.path.isfile(self.checkpoint):
                raise ValueError(f"checkpoint: {self.checkpoint} is not a directory; choose another name")
            checkpoint = Checkpoint(os.path.join(os.fspath(self.checkpoint), f"tree-{number}"), started)
        mean = len(tokens.tokens) / max(tokens.n_rows, 1)
        title = f"training on {count_text(tokens.n_rows, 'text')} of {mean:,.0f} tokens"
        with with_threads(self.n_jobs):
            trainer = Trainer(network.to(device), levels, settings, tokenizer.padding, device)
            report = run.phases.follow(run.prefix + title)
            return trainer.train(*_split_rows(lesson, tokens), report, checkpoint)

    def _run_parameters(self) -> dict[str, Any]:
        """Return the parameters that a training depends on; the tree and the first weights are known otherwise."""
        ignored = {"checkpoint", "device", "n_jobs", "verbose", "search", "beam", "normalize_siblings"}
        ignored |= {"random_state", "tree", "encoder", "pretrained"}
        return {name: value for name, value in self.get_params(deep=False).items() if name not in ignored}

    def explain(  # type: ignore[override] # words are their own names
        self, x: Text, label: Any, *, n_features: int = 10
    ) -> TextExplanation:
        """Explain a label of a text: its path through the tree, and the words without which it is less probable.

        The network runs again without each word, or without each part of a long text. The amount of a part is the
        difference that its absence makes to the log-odds of the label.

        Parameters
        ----------
        x : str
        label : one of `classes_`
        n_features : int
            The maximum number of words in the explanation; `highlights` has all.
        """
        return explain_by_occlusion(self, x, label, n_features, self._tokenizer())

    @abstractmethod
    def _tokenizer(self) -> TextTokenizer:
        """Return the tokenizer of the trained model."""

    def _held_out(self, n_rows: int) -> NDArray[np.bool_]:
        n_held_out = min(round(self.validation * n_rows), MOST_HELD_OUT, n_rows - 1)
        held_out = np.zeros(n_rows, dtype=np.bool_)
        held_out[np.random.default_rng(self.seeds(1)[0]).permutation(n_rows)[:n_held_out]] = True
        return held_out

    def _for_some_rows(self: _Self) -> _Self:
        copied = super()._for_some_rows()
        if self.checkpoint is not None:
            copied.checkpoint = os.path.join(os.fspath(self.checkpoint), "some-texts")
        return copied

    @contextmanager
    def _enough_memory(self) -> Iterator[None]:
        """Say what to lower where memory does not suffice."""
        try:
            yield
        except (RuntimeError, MemoryError) as error:
            # On a GPU torch has an error of its own; on a CPU it says so in words.
            told = type(error).__name__ == "OutOfMemoryError" or "can't allocate memory" in str(error)
            if not told and not isinstance(error, MemoryError):
                raise
            lower = ", ".join(f"{name} (now {value})" for name, value in self._sizes().items())
            raise MemoryError(f"the memory does not suffice for this training: lower {lower}") from error

    def _sizes(self) -> dict[str, Any]:
        """Return the parameters that decide how much memory a training needs."""
        return {name: getattr(self, name) for name in ("batch_size", "max_tokens", "candidates")}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.estimator_type = None  # as of `Tagger`: cross-validation would refuse lists of labels
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def _split_rows(lesson: Lesson, tokens: Any) -> tuple[Any, Any]:
    """Return the examples to train on, and the held-out ones or None."""
    from labeltree.deep.training.trainer import DeepExamples

    weight = lesson.sample_weight
    parts = [
        DeepExamples(tokens.take(rows), lesson.labels.take(rows), None if weight is None else weight[rows])
        for rows in (np.flatnonzero(~lesson.held_out), np.flatnonzero(lesson.held_out))
    ]
    return parts[0], parts[1] if parts[1].tokens.n_rows > 0 else None


def start_bias(tree: LabelTree, labels: LabelRows) -> NDArray[np.float32]:
    """Return the bias that each node starts from: the log-odds of its share of the examples of its parent."""
    positives = PositiveNodes.of(tree, labels)
    counts = np.bincount(positives.nodes, minlength=tree.n_nodes)
    parent = np.where(tree.parent < 0, labels.n_rows, counts[tree.parent])
    share = (counts + 0.5) / (parent + 1.0)
    bias: NDArray[np.float32] = np.clip(np.log(share / (1 - share)), _LOWEST_BIAS, None).astype(np.float32)
    if counts[0] == labels.n_rows:
        bias[0] = CERTAIN_SCORE  # every text has a label
    return bias


def plain_name(path: str | os.PathLike[str]) -> str:
    """Return the name of a file or directory without the place where it lies; a name on a hub stays as it is."""
    name = os.fspath(path)
    return os.path.basename(os.path.normpath(name)) if os.path.exists(name) else name


def _digest(*arrays: NDArray[Any]) -> str:
    """Return a hash of arrays."""
    found = hashlib.sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def _is_device(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    kind, colon, number = value.partition(":")
    return value in ("auto", "cpu") or (kind == "cuda" and (not colon or number.isdecimal()))
