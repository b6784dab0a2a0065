"""`Model`: the result of training."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from labeltree.decisions.decision import HALF, Decision
from labeltree.labels.label_index import LabelIndex
from labeltree.labels.label_names import check_label_names
from labeltree.labels.reading import LabelKind
from labeltree.mapped_rows import MappedRows
from labeltree.model.feature_reader import one_row
from labeltree.model.forest import Features, Forest
from labeltree.model.texts import are_texts, as_texts
from labeltree.validation import n_threads

if TYPE_CHECKING:
    from labeltree.calibration.level_maps import Calibration
    from labeltree.text.vectorizer import TextVectorizer

_NOT_LOCKED: AbstractContextManager[None] = nullcontext()


class Reader(Protocol):
    """Turns X into the features that one forest understands."""

    @property
    def n_features(self) -> int: ...

    @property
    def names(self) -> NDArray[Any] | None: ...

    def read(self, X: Any) -> Features: ...

    def read_csr(
        self, indptr: NDArray[Any], indices: NDArray[Any], values: NDArray[Any], n_features: int
    ) -> Features: ...


@dataclass(frozen=True)
class TrainingRecord:
    """How a model was trained.

    Attributes
    ----------
    reports : list of dict
        What training counted, for each tree.
    parameters : dict
        Parameters that hold for the trained weights, whatever is set on the estimator later.
    seconds : dict, optional
        How long each phase took; None for a model that was loaded.
    facts : dict
        Fitted attributes that only some estimators have, such as `C_`.
    maps : Calibration, optional
        The maps of `fit`, while a link that was set later takes their place.
    """

    reports: list[dict[str, int]] = field(default_factory=list)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seconds: Mapping[str, float] | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    maps: Calibration | None = None


@dataclass(frozen=True, eq=False)
class Model:
    """A trained model. It never changes: training, calibrating and deciding make another one.

    The one exception is the model of an online tree, which has the same attributes and changes behind its lock.

    Attributes
    ----------
    forest : Forest
        Answers questions about rows, with labels as positions in `classes`.
    reader : Reader
        Turns X into features that the forest understands.
    label_index : LabelIndex
        The labels: `label_index.classes` has them in the order of their positions.
    label_kind : {"csr", "dense", "lists", "multiclass"}
        The form of the y that the model was trained on.
    label_counts : array of shape (n_labels,)
        The number of training rows with each label.
    n_samples_fit : int
        The number of training rows.
    training : TrainingRecord
    decision : Decision
        Which labels `predict` returns.
    vectorizer : TextVectorizer, optional
        Turns texts into X, if the model was trained on texts.
    label_names : mapping from label to str, optional
        Readable names, for labels that have one.
    """

    forest: Forest
    reader: Reader
    label_index: LabelIndex
    label_kind: LabelKind
    label_counts: NDArray[np.int64]
    n_samples_fit: int
    training: TrainingRecord = field(default_factory=TrainingRecord)
    decision: Decision = HALF
    vectorizer: TextVectorizer | None = None
    label_names: Mapping[Any, str] | None = None

    #: Whether the model can learn more examples.
    learns: ClassVar[bool] = False
    #: Whether the model reads the fields of a text as one text, whatever they are called.
    joins_fields: ClassVar[bool] = False

    @property
    def prefers_batches(self) -> bool:
        """Whether a batch of rows is read much faster than row by row, so that a server joins requests."""
        return False

    @property
    def n_features(self) -> int:
        return self.reader.n_features

    @property
    def feature_names(self) -> NDArray[Any] | None:
        """The names of the features, if X was a frame."""
        return self.reader.names

    @property
    def takes_text(self) -> bool:
        """Whether `text_rows` can read texts."""
        return self.vectorizer is not None

    @property
    def text_fields(self) -> tuple[str, ...]:
        """The fields that a text may have; empty if texts are strings only."""
        return tuple(self.vectorizer.fields or ()) if self.vectorizer is not None else ()

    def text_rows(self, texts: Any) -> Any:
        """Return X for texts."""
        assert self.vectorizer is not None
        return self.vectorizer.transform(texts)

    def read_texts(self, texts: Any) -> Features:
        """Return texts as features that the forest understands, without the checks that X needs."""
        assert self.vectorizer is not None
        features = self.vectorizer.features
        # One text is read faster than a thread starts.
        threads = n_threads(self.vectorizer.n_jobs) if len(texts) > 1 else 1
        reader: Any = self.reader  # that of a model with a vectorizer reads the features of texts
        found: Features = reader.read_texts(features, texts, threads)
        return found

    def read_csr(
        self, indptr: NDArray[Any], indices: NDArray[Any], values: NDArray[Any], n_features: int
    ) -> Features:
        """Return the rows of a CSR matrix that is known to be valid as features that the forest understands."""
        return self.reader.read_csr(indptr, indices, values, n_features)

    def reading(self) -> AbstractContextManager[None]:
        """Keep the model as it is while a question is answered."""
        return _NOT_LOCKED

    def check_words(self, X: Any) -> None:
        """Raise `ValueError` if X is a store of texts whose columns stand for other words than those of the model."""
        words = X.vectorizer if isinstance(X, MappedRows) else None
        if words is not None and self.vectorizer is not None and not words.has_columns_of(self.vectorizer):
            raise ValueError(
                "the rows of this store have other words as columns than the model: import its texts again with the "
                "words of the training rows, with --like STORE (like= in Python)"
            )

    def read(self, X: Any) -> Features:
        """Return X, or texts if the model has a vectorizer, as features that the forest understands."""
        if self.vectorizer is not None:
            if are_texts(X):
                return self.read_texts(list(as_texts(X)))
            self.check_words(X)
        return self.reader.read(X)

    def feature_rows(self, X: Any) -> Any:
        """Return X, or the rows of features of texts if the model has a vectorizer."""
        return self.text_rows(as_texts(X)) if self.vectorizer is not None and are_texts(X) else X

    def read_one(self, x: Any) -> Features:
        """Return one row, which may be 1-d, or one text as features."""
        features = self.read([x] if isinstance(x, str) else one_row(x))
        if features.n_rows != 1:
            raise ValueError(f"expected one row, got {features.n_rows}; ask for one row at a time")
        return features

    def deciding(self, decision: Decision, classes: NDArray[Any] | None = None) -> Model:
        """Return the model with another decision, which was made for these classes."""
        return replace(self, decision=decision)

    def reading_texts(self, vectorizer: TextVectorizer) -> Model:
        """Return the model with a vectorizer for texts."""
        return replace(self, vectorizer=vectorizer)

    def naming(self, names: Mapping[Any, str] | None) -> Model:
        """Return the model with other names of labels; names for labels that it does not have are ignored."""
        return replace(self, label_names=check_label_names(names, self.label_index.classes.tolist()))
