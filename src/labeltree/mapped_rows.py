"""`MappedRows`: rows of X that lie on disk, and that the kernel reads where they are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labeltree import _native
    from labeltree.labels.reading import LabelRows
    from labeltree.text.vectorizer import TextVectorizer


class MappedRows(ABC):
    """X and y of a store, or of some of its rows. Estimators take it in place of a matrix."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """The number of rows and of features."""

    @property
    @abstractmethod
    def directory(self) -> Path:
        """The directory of the store."""

    @property
    @abstractmethod
    def labels(self) -> LabelRows:
        """The labels of the rows."""

    @property
    @abstractmethod
    def has_filtered_pairs(self) -> bool:
        """Whether some pairs of a row and a label do not count in an evaluation."""

    @property
    @abstractmethod
    def vectorizer(self) -> TextVectorizer | None:
        """Turns texts into rows like these, if these were texts."""

    @property
    @abstractmethod
    def label_names(self) -> dict[Any, str] | None:
        """Readable names by label, if there are any."""

    @abstractmethod
    def features(
        self, normalize: bool, dense_features: tuple[int, int] | None = None
    ) -> _native.FeatureMatrix:
        """Return the rows as the kernel reads them; indices and values are not copied."""

    @abstractmethod
    def take(self, rows: Any) -> MappedRows:
        """Return some rows, in this order, without a copy."""

    @abstractmethod
    def matrix(self) -> Any:
        """Return the rows as a CSR matrix, for code that knows no stores."""

    @abstractmethod
    def check_unchanged(self) -> None:
        """Raise `DataFormatError` if the directory has another store by now, which other processes would read."""

    def __len__(self) -> int:
        return self.shape[0]


def labels_given(X: Any, y: Any) -> Any:
    """Return y or, if it is left out, the labels that the rows of a store have."""
    return X.labels if y is None and isinstance(X, MappedRows) else y
