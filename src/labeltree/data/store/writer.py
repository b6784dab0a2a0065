"""`StoreWriter`: writes a store in little memory, and resumes where it was interrupted."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from labeltree.data.atomic_file import FULL_DISK, open_atomic
from labeltree.errors import DataFormatError, ModelFileError
from labeltree.labels.label_index import LabelIndex
from labeltree.model_file.lock import ModelLock

from .array_file import ArrayFile
from .array_names import DOCUMENT_NAME, LABEL_ARRAYS, PROGRESS_NAME, ROW_ARRAYS, TEXT_ARRAYS
from .document import StoreDocument
from .label_table import LabelTable
from .mapping import blaming_store, map_array
from .progress_file import job_hash
from .store import Store
from .unfinished import discard, prepare, remove, replace_store
from .written_rows import WrittenRows, checked_features, checked_labels

if TYPE_CHECKING:
    from labeltree.text.vectorizer import TextVectorizer

#: Rows are made safe after this many bytes or seconds.
CHECKPOINT_BYTES = 1 << 28
CHECKPOINT_SECONDS = 30.0


class StoreWriter:
    """Writes rows to a store, batch by batch.

    A context manager: the store is complete, and `Store` opens it, when the block ends without an error. Rows are made
    safe on disk from time to time. A writer that was interrupted resumes if another one is made with the same path and
    the same `job`: its `n_rows` is then the number of rows that are safe, and the rows behind them are appended again.

    Parameters
    ----------
    path : str or path-like
        The directory of the store. It is created if it does not exist.
    n_features, n_labels : int, optional
        The numbers of columns of X and y. The default is that of the widest batch.
    labels : iterable of str or int, optional
        The labels, if they are not the numbers of columns. y is then a list of labels for each row.
    vectorizer : TextVectorizer, optional
        A fitted vectorizer, if the rows are those of texts. A model that is trained on the store then reads texts.
    job : mapping of str to JSON values, optional
        Everything that the rows follow from, such as the names and sizes of files. Without it, nothing is resumed.
    overwrite : bool
        Replace a store when the new one is complete, or the unfinished store of another job at once.

    Attributes
    ----------
    n_rows : int
        The number of rows so far.
    note : mapping
        The note of the last batch; after resuming, of the last batch that is safe.

    Raises
    ------
    FileExistsError
        If the directory has a store, the unfinished store of another job, or other files.

    Examples
    --------
    >>> import tempfile
    >>> from scipy.sparse import csr_matrix
    >>> from labeltree.data import Store, StoreWriter
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with StoreWriter(folder + "/rows") as writer:
    ...         writer.append(csr_matrix([[0, 0.5], [1, 0]]), csr_matrix([[1, 0, 1], [0, 1, 0]]))
    ...     Store(folder + "/rows").y.toarray()
    array([[1., 0., 1.],
           [0., 1., 0.]], dtype=float32)
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        n_features: int | None = None,
        n_labels: int | None = None,
        labels: Iterable[Any] | None = None,
        vectorizer: TextVectorizer | None = None,
        job: Mapping[str, Any] | None = None,
        overwrite: bool = False,
    ) -> None:
        self.path = Path(path)
        self._n_features, self._n_labels = n_features, n_labels
        self.vectorizer: TextVectorizer | None = None
        self._index: LabelIndex | None = None
        self._files: dict[str, ArrayFile] = {}
        self._extra: dict[str, NDArray[Any]] = {}
        self._lock = _locked(self.path)
        # Nobody knows whether rows without a job are those of an earlier writer: no other job is equal to this one.
        own = {"writer": secrets.token_hex(16)} if job is None else dict(job)
        try:
            with blaming_store(self.path):
                self._folder, self._progress = prepare(self.path, own, overwrite)
                self._safe = self._progress
                self._open_files()
                self._read_columns()
            if self.n_rows == 0 and (labels is not None or vectorizer is not None):
                self.define(labels, vectorizer)
        except BaseException:
            self.close()
            raise
        self._since = time.monotonic()

    @property
    def n_rows(self) -> int:
        return self._progress.n_rows

    @property
    def note(self) -> Mapping[str, Any]:
        return self._progress.note

    @property
    def labels(self) -> list[Any]:
        """The labels of the columns of y so far."""
        return (
            list(range(self._document(()).n_labels)) if self._index is None else self._index.classes.tolist()
        )

    @property
    def is_defined(self) -> bool:
        """Whether labels or a vectorizer were set, by this writer or by an earlier one of the same job."""
        return self._index is not None or self._progress.text is not None

    def define(self, labels: Iterable[Any] | None, vectorizer: TextVectorizer | None) -> None:
        """Set the labels and the vectorizer, before the first rows."""
        arrays: dict[str, NDArray[Any]] = {} if labels is None else LabelTable.of(labels).arrays()
        text = None
        if vectorizer is not None:
            text, learned = vectorizer.state()
            arrays |= {f"text.{name}": values for name, values in learned.items()}
        with self._on_disk():
            for name, values in arrays.items():
                self._files[name] = ArrayFile(self._folder, name)
                self._files[name].append(values)
        self._progress = replace(self._progress, text=text, items=self._sizes())
        self.checkpoint()
        self._read_columns()

    def append(self, X: Any, y: Any, note: Mapping[str, Any] | None = None) -> None:
        """Write a batch of rows.

        Parameters
        ----------
        X : sparse matrix or array
            The features: finite numbers, which are stored as float32.
        y : sparse or dense 0/1 matrix, or sequence of collections of labels if the writer has `labels`
        note : mapping of str to JSON values, optional
            Where the batch ends, to find the place again when the writer resumes.
        """
        features = checked_features(X, self._n_features)
        labels = y if isinstance(y, WrittenRows) else checked_labels(y, self._index, self._n_labels)
        if len(features.indptr) != len(labels.indptr):
            raise ValueError(
                f"X and y must have the same number of rows, got {len(features.indptr) - 1} and "
                f"{len(labels.indptr) - 1}"
            )
        with self._on_disk():
            for part, rows in (("features", features), ("labels", labels)):
                indices = self._files[f"{part}.indices"]
                self._files[f"{part}.indptr"].append(rows.indptr[1:] + indices.n_items)
                indices.append(rows.indices)
            self._files["features.values"].append(features.values)
        self._progress = replace(
            self._progress,
            n_features=max(self._progress.n_features, features.n_columns),
            n_labels=max(self._progress.n_labels, labels.n_columns),
            items=self._sizes(),
            note=note or {},
        )
        if self._unsafe_bytes() > CHECKPOINT_BYTES or time.monotonic() - self._since > CHECKPOINT_SECONDS:
            self.checkpoint()

    def widen(self, n_features: int, n_labels: int) -> None:
        """Give the store at least these numbers of columns, as the header of a file says."""
        self._progress = replace(
            self._progress,
            n_features=max(self._progress.n_features, n_features),
            n_labels=max(self._progress.n_labels, n_labels),
        )

    def add_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Add arrays that do not grow with the rows, such as readable names; `finish` writes them."""
        self._extra.update(arrays)

    def checkpoint(self) -> None:
        """Make all rows so far safe on disk."""
        with self._on_disk():
            for file in self._files.values():
                file.sync()
            self._progress.write(self._folder)
        self._safe, self._since = self._progress, time.monotonic()

    def finish(self, sources: Sequence[Mapping[str, Any]] = ()) -> Store:
        """Complete the store and return it. `sources` are the files that its rows came from."""
        with self._on_disk():
            for name, values in self._extra.items():
                self._files[name] = ArrayFile(self._folder, name)
                self._files[name].append(values)
            for file in self._files.values():
                file.sync()
            document = self._document(sources).to_json()
            with open_atomic(self._folder / DOCUMENT_NAME) as written:
                written.write(document)
        remove(self._folder, PROGRESS_NAME)
        self._close_files()  # Windows moves only closed files
        if self._folder != self.path:
            replace_store(self.path)
        self.close()
        return Store(self.path)

    def close(self) -> None:
        """Let go of the files and of the lock; an unfinished store stays as it is."""
        self._close_files()
        self._lock.release()

    def _close_files(self) -> None:
        for file in self._files.values():
            file.close()
        self._files = {}

    def __enter__(self) -> StoreWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        try:
            if not self._files:  # finished or closed already
                return
            if kind is None:
                self.finish()
            elif self.n_rows == 0 and not self.is_defined:
                discard(self._folder)  # nothing to resume: the same command works once its cause is mended
            elif self._progress is not self._safe:
                with suppress(OSError):  # what was safe before stays safe
                    self.checkpoint()
        finally:
            self.close()

    def _open_files(self) -> None:
        """Open the arrays that were begun, and begin those of rows."""
        items = self._progress.items
        for name in items.keys() | ROW_ARRAYS.keys():
            self._files[name] = ArrayFile(self._folder, name, items.get(name, 0))
            if name.endswith(".indptr") and self._files[name].n_items == 0:
                self._files[name].append([0])

    def _read_columns(self) -> None:
        """Read the labels and the number of features that were defined."""
        arrays = {
            name: map_array(self._folder, name, self._files[name].n_items)
            for name in (*LABEL_ARRAYS, *TEXT_ARRAYS)
            if name in self._files
        }
        if LABEL_ARRAYS.keys() <= arrays.keys():
            self._index = LabelIndex(LabelTable.from_arrays(arrays).classes)
            self._n_labels = len(self._index)
        if self._progress.text is not None:
            from labeltree.text.vectorizer import TextVectorizer

            learned = {name.removeprefix("text."): arrays[name] for name in TEXT_ARRAYS if name in arrays}
            self.vectorizer = TextVectorizer.from_state(self._progress.text, learned)
            self._n_features = self.vectorizer.n_features_out

    def _sizes(self) -> dict[str, int]:
        return {name: file.n_items for name, file in self._files.items()}

    def _unsafe_bytes(self) -> int:
        """The number of bytes since the last checkpoint, for the largest array; the others are of its order."""
        name = "features.values"
        return 4 * (self._files[name].n_items - self._safe.items.get(name, 0))

    def _document(self, sources: Sequence[Mapping[str, Any]]) -> StoreDocument:
        progress = self._progress
        return StoreDocument(
            n_rows=self.n_rows,
            n_features=progress.n_features if self._n_features is None else self._n_features,
            n_labels=progress.n_labels if self._n_labels is None else self._n_labels,
            label_kind="csr" if self._index is None else "lists",
            text=progress.text,
            sources=[dict(source) for source in sources],
            job=job_hash(progress.job),
            arrays={name: self._files[name].stored() for name in sorted(self._files)},
        )

    @contextmanager
    def _on_disk(self) -> Iterator[None]:
        """Say of a full disk how to go on."""
        try:
            yield
        except OSError as error:
            if error.errno not in FULL_DISK:
                raise
            raise OSError(
                error.errno,
                f"{error.strerror} after {self._safe.n_rows:,} rows, which are safe: make room and run the same "
                "command again to resume",
                str(self.path),
            ) from error


def _locked(path: Path) -> ModelLock:
    """Lock the directory of a store, which is made if necessary; raise `DataFormatError` if another process has it."""
    if os.path.lexists(path) and not path.is_dir():
        raise FileExistsError(f"{path} is not a directory: a store is a directory, choose another name")
    try:
        return ModelLock(path, "writes this store")
    except ModelFileError as error:
        raise DataFormatError(str(error).removeprefix(f"{path}: "), str(path)) from None
