"""`Store`: rows and labels on disk, mapped into memory."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labeltree import _native
from labeltree import sparse as sp
from labeltree.cached import cached_property
from labeltree.errors import DataFormatError
from labeltree.labels.reading import LabelRows
from labeltree.mapped_rows import MappedRows

from .array_names import TEXT_ARRAYS, file_name
from .document import StoreDocument
from .kernel_rows import CsrArrays, feature_matrix, mapped_csr
from .label_table import LabelTable, unpack_texts
from .mapping import blaming_store, map_array, read_document
from .progress_file import job_hash
from .verification import check_rows, verify_checksums
from .view import StoreRows

if TYPE_CHECKING:
    from labeltree.text.vectorizer import TextVectorizer


class Store(MappedRows):
    """A data set in a directory, which `labeltree data import` or `StoreWriter` has written.

    Opening maps the arrays and reads almost nothing. `fit`, `predict_topk` and all other methods take a store in place
    of X, and the labels of the store in place of y if y is left out. Memory that the system needs for other things is
    taken from the mapped arrays, so that a store may be larger than memory.

    Parameters
    ----------
    path : str or path-like
        The directory.

    Attributes
    ----------
    path : Path
    shape : (int, int)
        The numbers of rows and features.
    n_rows, n_features, n_labels : int
    classes : array of shape (n_labels,)
        The labels.
    labels : LabelRows
        The labels of each row, as positions in `classes`.
    X, y : csr_matrix
        Features and labels as matrices over the mapped arrays. They cannot be changed in place.
    vectorizer : TextVectorizer or None
        Turns texts into rows like these, if the store was made from texts.
    label_names : dict or None
        Readable names by label, if the import was given some.
    sources : list of dict
        The files that were imported.
    fingerprint : str
        A hash of the content: stores with the same fingerprint have the same rows.

    Raises
    ------
    DataFormatError
        If the store is missing, incomplete, damaged or from a newer version. `verify` also compares checksums.

    Examples
    --------
    >>> import tempfile
    >>> from labeltree import LabelTreeClassifier
    >>> from labeltree.data import Store, StoreWriter
    >>> folder = tempfile.TemporaryDirectory()
    >>> with StoreWriter(folder.name + "/pets", labels=["cat", "dog", "pet"]) as writer:
    ...     writer.append([[1, 0], [0, 1], [1, 0]], [["cat", "pet"], ["dog"], ["cat"]])
    >>> store = Store(folder.name + "/pets")
    >>> store
    Store(n_rows=3, n_features=2, n_labels=3)
    >>> LabelTreeClassifier(random_state=0).fit(store).predict_topk(store.take([1]), k=1).labels
    array([['dog']], dtype=object)
    >>> folder.cleanup()
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        with blaming_store(self.path):
            document = read_document(self.path)
            self._document = StoreDocument.parse(document)
            arrays = self._document.arrays
            self._arrays = {
                name: map_array(self.path, name, stored.n_items) for name, stored in arrays.items()
            }
            self._check_ends()
        self.fingerprint = _fingerprint(document)
        self._features: dict[Any, _native.FeatureMatrix] = {}

    # -- sizes -----------------------------------------------------------------------------------------------------

    @property
    def n_rows(self) -> int:
        return self._document.n_rows

    @property
    def n_features(self) -> int:
        return self._document.n_features

    @property
    def n_labels(self) -> int:
        return self._document.n_labels

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_rows, self.n_features

    @property
    def n_entries(self) -> int:
        """The number of stored values of X."""
        return len(self._arrays["features.indices"])

    @property
    def n_pairs(self) -> int:
        """The number of pairs of a row and its label."""
        return len(self._arrays["labels.indices"])

    @property
    def n_bytes(self) -> int:
        """The size of all arrays."""
        return sum(array.nbytes for array in self._arrays.values())

    @property
    def job(self) -> str:
        """The hash of everything that the content follows from: files and parameters of an import."""
        return self._document.job

    @property
    def sources(self) -> list[dict[str, Any]]:
        return self._document.sources

    @property
    def directory(self) -> Path:
        return self.path

    # -- rows ------------------------------------------------------------------------------------------------------

    @cached_property
    def labels(self) -> LabelRows:
        indptr, indices = self._arrays["labels.indptr"], self._arrays["labels.indices"]
        with blaming_store(self.path):
            check_rows("labels", indptr, indices, self.n_labels)
        return LabelRows(indptr, indices, self.classes, self._document.label_kind)  # type: ignore[arg-type] # checked

    @cached_property
    def classes(self) -> NDArray[Any]:
        if self._document.label_kind == "csr":
            return np.arange(self.n_labels)
        with blaming_store(self.path):
            return LabelTable.from_arrays(self._arrays).classes

    @property
    def X(self) -> sp.csr_matrix:  # noqa: N802
        return mapped_csr(self.csr_arrays(), self.n_features)

    def csr_arrays(self) -> CsrArrays:
        """Return indptr, indices and values of X, checked."""
        self.features(normalize=False)
        return self._rows

    @property
    def y(self) -> sp.csr_matrix:
        labels = self.labels
        ones = np.ones(len(labels.indices), dtype=np.float32)
        return mapped_csr(CsrArrays(labels.indptr, labels.indices, ones), self.n_labels)

    def features(
        self, normalize: bool, dense_features: tuple[int, int] | None = None
    ) -> _native.FeatureMatrix:
        key = bool(normalize), dense_features
        if key not in self._features:  # making it reads and checks all rows
            with blaming_store(self.path):
                made = feature_matrix(self._rows, self.n_features, *key)
                if not made.canonical:
                    raise ValueError(
                        "the features of a row must ascend: the store is damaged, import the data again"
                    )
            self._features[key] = made
        return self._features[key]

    @property
    def _rows(self) -> CsrArrays:
        return CsrArrays(*(self._arrays[f"features.{part}"] for part in CsrArrays._fields))

    def matrix(self) -> sp.csr_matrix:
        return self.X

    def take(self, rows: ArrayLike) -> StoreRows:
        """Return some rows, in this order, without a copy.

        Parameters
        ----------
        rows : array of int, or slice
        """
        return StoreRows(self, np.arange(self.n_rows)[rows] if isinstance(rows, slice) else np.asarray(rows))

    def blocks(self, n_rows: int) -> Iterator[StoreRows]:
        """Yield all rows in their order, at most `n_rows` at a time."""
        for begin in range(0, self.n_rows, n_rows):
            yield self.take(np.arange(begin, min(begin + n_rows, self.n_rows)))

    # -- what else it knows ----------------------------------------------------------------------------------------

    @cached_property
    def vectorizer(self) -> TextVectorizer | None:
        if self._document.text is None:
            return None
        from labeltree.text.vectorizer import TextVectorizer

        learned = {
            name.removeprefix("text."): self._arrays[name] for name in TEXT_ARRAYS if name in self._arrays
        }
        with blaming_store(self.path):
            made = TextVectorizer.from_state(self._document.text, learned)
            if made.n_features_out != self.n_features:
                raise ValueError(
                    f"store.json says {self.n_features:,} features, but its texts have {made.n_features_out:,}"
                )
        return made

    @cached_property
    def label_names(self) -> dict[Any, str] | None:
        if "labels.titles" not in self._arrays:
            return None
        with blaming_store(self.path):
            titles = unpack_texts(
                self._arrays["labels.titles"], self._arrays["labels.titles_begin"], "labels.titles"
            )
        return {label: title for label, title in zip(self.classes.tolist(), titles, strict=True) if title}

    @property
    def filtered_pairs(self) -> NDArray[np.int64]:
        """Array of shape (pairs, 2): rows and numbers of labels that do not count in an evaluation."""
        if "filtered.rows" not in self._arrays:
            return np.empty((0, 2), dtype=np.int64)
        return np.column_stack([self._arrays["filtered.rows"], self._arrays["filtered.labels"]])

    @property
    def has_filtered_pairs(self) -> bool:
        return len(self._arrays.get("filtered.rows", ())) > 0

    def verify(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Compare all checksums and check all arrays; raise `DataFormatError` if anything is wrong.

        Parameters
        ----------
        progress : callable, optional
            Called with the number of bytes read and the number of all bytes.
        """
        with blaming_store(self.path):
            verify_checksums(self._arrays, self._document.arrays, progress or (lambda done, total: None))
        # Each of these checks the arrays that it is made of.
        self.features(normalize=False)
        _ = self.labels, self.vectorizer, self.label_names

    def check_unchanged(self) -> None:
        with blaming_store(self.path):
            if _fingerprint(read_document(self.path)) != self.fingerprint:
                raise ValueError("the store was replaced after it was opened: open it again")

    def _check_ends(self) -> None:
        """Raise `ValueError` unless row pointers begin with 0 and end with the number of entries."""
        for part, values in (("features", "features.indices"), ("labels", "labels.indices")):
            indptr, n_items = self._arrays[f"{part}.indptr"], len(self._arrays[values])
            if indptr[0] != 0 or indptr[-1] != n_items:
                raise ValueError(
                    f"{file_name(f'{part}.indptr')} must begin with 0 and end with {n_items}, got {indptr[0]} and "
                    f"{indptr[-1]}: copy it again, or import the data again"
                )

    def __reduce__(self) -> tuple[Any, ...]:
        return Store, (self.path,)

    def __repr__(self) -> str:
        return f"Store(n_rows={self.n_rows}, n_features={self.n_features}, n_labels={self.n_labels})"


def _fingerprint(document: bytes) -> str:
    return hashlib.sha256(document).hexdigest()


def finished(path: str | os.PathLike[str], job: Mapping[str, Any]) -> Store | None:
    """Return the store that a job was to write, if it is complete."""
    try:
        store = Store(path)
    except DataFormatError:
        return None
    return store if store.job == job_hash(job) else None
