"""`import_files`: data files of any format become a store."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import labeltree
from labeltree.data.columns import Columns
from labeltree.data.fasttext import LABEL_PREFIX, check_label_prefix
from labeltree.data.filtered_pairs import read_filtered_pairs
from labeltree.data.formats import DataFormat
from labeltree.data.stream import check_format
from labeltree.errors import DataFormatError
from labeltree.labels.name_file import NameFile
from labeltree.text.vectorizer import TextVectorizer
from labeltree.validation import n_threads

from .label_table import pack_titles
from .number_files import NumberFiles
from .source_files import SourceFile, find_files
from .store import Store, finished
from .text_files import TextFiles
from .writer import StoreWriter

#: Called with what is done, and with the number of bytes done and of all bytes.
ProgressFunction = Callable[[str, int, int], None]


def import_files(
    files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    to: str | os.PathLike[str],
    *,
    format: Literal["auto"] | DataFormat = "auto",
    text: str | Sequence[str] = "text",
    labels: str = "labels",
    separator: str | None = None,
    label_prefix: str = LABEL_PREFIX,
    one_based: bool | None = None,
    n_features: int | None = None,
    n_labels: int | None = None,
    vectorizer: TextVectorizer | None = None,
    like: str | os.PathLike[str] | Store | None = None,
    label_names: str | os.PathLike[str] | None = None,
    filter_labels: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    n_jobs: int | None = None,
    progress: ProgressFunction | None = None,
) -> Store:
    """Import data files into a store.

    Rows of numbers are read once, texts twice: first for their words and labels, then for their rows. Memory is needed
    for a block of rows and, with texts, for all words and labels, but not for all rows. An import that was interrupted
    resumes when it is called again with the same arguments; if it was complete already, the store is opened.

    Parameters
    ----------
    files : path or iterable of paths
        The files, or patterns such as ``"part-*.jsonl.gz"``. The rows of the store are in the order of the files. Files
        that match one pattern are sorted by name. All files have numbers, or all have texts.
    to : str or path-like
        The directory of the store.
    format, text, labels, separator, label_prefix
        As in `read_texts`. ``"auto"`` recognises the format of each file.
    one_based, n_features, n_labels
        For rows of numbers, as in `read_xmlc` and `read_libsvm`.
    vectorizer : TextVectorizer, optional
        For texts. It learns from them; the default is ``TextVectorizer()``.
    like : path or Store, optional
        The store of the training rows, for test rows. Texts are then read with its words, and rows of numbers have at
        least its numbers of features and labels.
    label_names : path, optional
        A file with readable names of labels, as in `labeltree.labels.read_label_names`, for models that are trained on
        the store.
    filter_labels : path, optional
        A file with lines 'row label', counted from 0: pairs that do not count when a model is evaluated on the store.
    overwrite : bool
        Replace a store, which stays until the new one is complete, or an unfinished import of other files.
    n_jobs : int, optional
        Number of threads, as in scikit-learn. The store is the same for any number.
    progress : callable, optional
        Called with a description, the number of bytes read, and the number of all bytes.

    Returns
    -------
    Store

    Raises
    ------
    DataFormatError
        With file and line, if a file has another format than the others, or is damaged.
    FileExistsError
        If the directory has another store, or other files.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from labeltree.data import import_files
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, line in (("a", "0,2 1:0.5 3:1.5"), ("b", "1 0:2")):
    ...         _ = pathlib.Path(folder, f"{name}.txt").write_text(line + "\\n")
    ...     store = import_files(f"{folder}/*.txt", f"{folder}/store")
    >>> store
    Store(n_rows=2, n_features=4, n_labels=3)
    """
    check_format(format)
    check_label_prefix(label_prefix)
    known = like if like is None or isinstance(like, Store) else Store(like)
    words = _words(vectorizer, known)
    fields = () if words is None else tuple(words.fields or ())
    names = fields or ((text,) if isinstance(text, str) else tuple(text))
    columns = Columns(names, labels, separator, are_fields=bool(fields))
    paths = find_files([files] if isinstance(files, str | os.PathLike) else files)
    found = [SourceFile.recognise(path, format, columns, label_prefix) for path in paths]
    reader: NumberFiles | TextFiles
    if _have_numbers(found):
        _refuse_options("texts", vectorizer=vectorizer)
        least = (0, 0) if known is None else (known.n_features, known.n_labels)
        reader = NumberFiles(one_based, n_features, n_labels, least, n_threads(n_jobs))
    else:
        _refuse_options("rows of numbers", one_based=one_based, n_features=n_features, n_labels=n_labels)
        if known is not None and words is None:
            raise ValueError(f"{known.path} has rows of numbers: it has no words to read texts with")
        learned_in = None if known is None else known.fingerprint
        reader = TextFiles(columns, label_prefix, words or TextVectorizer(n_jobs=n_jobs), learned_in)
    # Read before any rows are: a mistake in one of them shall not come after hours.
    titles = None if label_names is None else NameFile.read(label_names)
    filtered = None if filter_labels is None else read_filtered_pairs(filter_labels)
    extra = [path for path in (label_names, filter_labels) if path is not None]
    job = {
        "labeltree": labeltree.__version__,
        "files": [file.identity() for file in found],
        "parameters": reader.job(),
        "label names or filter": [SourceFile.of(os.fspath(path), "text").identity() for path in extra],
    }
    if not overwrite and (done := finished(to, job)) is not None:
        return done
    with StoreWriter(to, n_features=n_features, n_labels=n_labels, job=job, overwrite=overwrite) as writer:
        report = progress or (lambda what, done, total: None)
        n_rows = _write(writer, reader, found, report)
        if titles is not None:
            writer.add_arrays(pack_titles(titles.names_of(writer.labels), writer.labels))
        if filter_labels is not None and filtered is not None:
            writer.add_arrays(_filtered(filter_labels, filtered, writer.n_rows))
        for file in found:
            file.check_unchanged()
        return writer.finish(
            [
                {"path": file.path, "format": file.format, "bytes": file.n_bytes, "rows": rows}
                for file, rows in zip(found, n_rows, strict=True)
            ]
        )


def _words(vectorizer: TextVectorizer | None, known: Store | None) -> TextVectorizer | None:
    """Return the vectorizer of texts that was given, or that of another store."""
    if known is None or known.vectorizer is None:
        return vectorizer
    if vectorizer is not None:
        raise ValueError(f"the words of texts are those of {known.path}: leave out vectorizer, or like")
    return known.vectorizer


def _write(
    writer: StoreWriter,
    reader: NumberFiles | TextFiles,
    files: Sequence[SourceFile],
    report: ProgressFunction,
) -> list[int]:
    """Write the rows of all files that are not written yet; return the number of rows of each file."""
    total = sum(file.n_bytes for file in files)
    reader.prepare(writer, files, lambda done: report("counting words and labels", done, total))
    n_rows: list[int] = list(writer.note.get("finished", ()))
    start: Mapping[str, Any] = writer.note.get("place", {})
    for file in files[len(n_rows) :]:
        place, before = start, sum(one.n_bytes for one in files[: len(n_rows)])
        for rows in reader.blocks(writer, file, start):
            place = rows.place
            writer.append(rows.X, rows.y, {"finished": list(n_rows), "place": dict(place)})
            report("writing rows", before + rows.n_bytes, total)
        n_rows.append(place.get("rows", 0))
        start = {}
    return n_rows


def _have_numbers(files: Sequence[SourceFile]) -> bool:
    """Return whether files have rows of numbers; raise `DataFormatError` if only some have."""
    first = files[0]
    for file in files:
        if file.has_numbers != first.has_numbers:
            kinds = {True: "rows of numbers", False: "texts"}
            raise DataFormatError(
                f"expected {kinds[first.has_numbers]}, as {first.path} has, got {kinds[file.has_numbers]} "
                f"({file.format}): import them into stores of their own",
                file.path,
            )
    return first.has_numbers


def _refuse_options(noun: str, **options: Any) -> None:
    given = next((name for name, value in options.items() if value is not None), None)
    if given is not None:
        raise ValueError(f"{given} is an option for {noun}, which the files do not have: leave it out")


def _filtered(path: str | os.PathLike[str], pairs: NDArray[np.int64], n_rows: int) -> dict[str, NDArray[Any]]:
    rows, labels = pairs.T
    if len(rows) and rows.max() >= n_rows:
        raise DataFormatError(
            f"expected rows from 0 to {n_rows - 1}, as the data have, got row {rows.max()}: is it for other data?",
            os.fspath(path),
        )
    return {"filtered.rows": rows, "filtered.labels": labels}
