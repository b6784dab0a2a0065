"""Streams of examples, read batch by batch as they arrive."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any, BinaryIO, Literal

from labeltree.errors import DataFormatError

from . import fasttext
from .arrow import read_arrow, seekable
from .columns import Columns
from .delimited import delimiter_of, read_delimited
from .examples import Batch, Block, Example, Parsed, read_lines_as_examples, text_example, words_example
from .formats import COLUMN_FORMATS, FORMATS, DataFormat, format_of_content, format_of_name
from .jsonl import JsonLines
from .labelled_rows import RowReader
from .lines import LineError, line_blocks
from .numbered_rows import read_numbered_rows
from .sources import Source, is_plain_file, open_measured, source_name

BLOCK_BYTES = 1 << 18

#: The first line of an XMLC file: the numbers of rows, features and labels.
XMLC_HEADER = re.compile(rb"[ \t]*(\d+)[ \t]+(\d+)[ \t]+(\d+)[ \t]*\r?(?:\n|\Z)")


def read_stream(
    source: Source,
    format: Literal["auto"] | DataFormat = "auto",
    *,
    batch_size: int = 1000,
    one_based: bool | None = None,
    label_prefix: str = fasttext.LABEL_PREFIX,
    text: str | Sequence[str] = "text",
    labels: str | None = "labels",
    separator: str | None = None,
    skip_bad_lines: bool = False,
) -> ExampleStream:
    """Read examples as they arrive, for models that learn from a stream.

    Only a small part of the stream is in memory at any time. From a pipe, all examples that have arrived are yielded
    at once, even a single line. The sizes of batches therefore depend on timing, but the examples and their order do
    not.

    Parameters
    ----------
    source : str, path-like or binary file
        The file; ``"-"`` is standard input. Names ending in ``.gz``, ``.xz`` and ``.zst`` are decompressed.
    format : {"auto", "jsonl", "csv", "tsv", "parquet", "arrow", "fasttext", "xmlc", "libsvm"}
        Format of the file.

        - ``"jsonl"``: an object per line, either ``{"features": {"name": value}, "labels": ["sea"]}``, where values
          are numbers or texts, or ``{"text": "A boat", "labels": ["sea"]}``, which gives the features
          ``word_counts(text)``.
        - ``"csv"``, ``"tsv"``, ``"parquet"`` and ``"arrow"``: tables with columns of texts and labels, which give the
          features ``word_counts(text)``.
        - ``"xmlc"`` and ``"libsvm"``: numbered features and labels, as in :func:`read_xmlc` and :func:`read_libsvm`.
          The numbers are not limited, not even by a header.
        - ``"fasttext"``: ``__label__sea A boat``. The words, as they are written, are features by name, and their
          counts are the values.
        - ``"auto"``: detected from the name of the file or else from its first line.
    batch_size : int
        Maximum number of examples in a batch.
    one_based : bool, optional
        Whether ids count from 1. By default only the features of libsvm files do.
    label_prefix : str
        Prefix of labels in fastText lines.
    text : str or sequence of str
        Column or JSON key of the text. Several are joined by a newline.
    labels : str, optional
        Column or JSON key of the labels. None ignores labels.
    separator : str, optional
        Splits a string of labels. Without it, a string is one label.
    skip_bad_lines : bool
        Whether to count and skip wrong lines instead of raising an error.

    Returns
    -------
    ExampleStream
        An iterator of batches ``(X, y)``. X is a CSR matrix if features are numbered and a list of dictionaries if
        they are named; y is a list of lists of labels.

    Raises
    ------
    DataFormatError
        With file and line, if a line has another format, after all examples before it were yielded; or at the end, if
        the header of an XMLC file has another number of rows.

    Examples
    --------
    >>> import io
    >>> from labeltree.data import read_stream
    >>> lines = b'{"text": "a boat at sea", "labels": ["sea"]}\\n{"features": {"height": 2.5}, "labels": []}\\n'
    >>> for X, y in read_stream(io.BytesIO(lines)):
    ...     print(X, y)
    [{'boat': 1.0, 'at': 1.0, 'sea': 1.0}, {'height': 2.5}] [['sea'], []]
    """
    check_format(format)
    if batch_size < 1:
        raise ValueError(f"expected a batch_size of at least 1, got {batch_size}")
    fasttext.check_label_prefix(label_prefix)
    return ExampleStream(
        source,
        format,
        batch_size=batch_size,
        one_based=one_based,
        label_prefix=label_prefix,
        columns=Columns((text,) if isinstance(text, str) else tuple(text), labels, separator),
        skip_bad_lines=skip_bad_lines,
    )


def check_format(format: str) -> None:
    """Raise `ValueError` unless a format is known."""
    if format not in ("auto", *FORMATS):
        raise ValueError(f"expected format to be one of auto, {', '.join(FORMATS)}, got {format!r}")


@dataclass(eq=False)
class ExampleStream:
    """An iterator of batches, made by :func:`read_stream`.

    Attributes
    ----------
    n_examples, n_lines, n_bad_lines : int
        Numbers of examples yielded, lines read, and wrong lines skipped so far.
    format : str
        Format of the stream; ``"auto"`` until the first block is read.
    header_rows : int or None
        Number of rows in the header of an XMLC file, once it is read.
    ids : list
        The ids of the last batch, each None if the stream has none.
    n_bytes : int
        Number of bytes of the file read so far, of a compressed file those on disk.
    """

    source: Source
    format: Literal["auto"] | DataFormat
    batch_size: int | None = None
    one_based: bool | None = None
    label_prefix: str = fasttext.LABEL_PREFIX
    columns: Columns = field(default_factory=Columns)
    whole_texts: bool = False
    skip_bad_lines: bool = False
    block_bytes: int = BLOCK_BYTES
    n_threads: int = 1
    n_examples: int = field(default=0, init=False)
    n_lines: int = field(default=0, init=False)
    n_bad_lines: int = field(default=0, init=False)
    header_rows: int | None = field(default=None, init=False)
    ids: list[Any] = field(default_factory=list, init=False)
    n_bytes: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._batches = self._read()

    def __iter__(self) -> ExampleStream:
        return self

    def __next__(self) -> Batch:
        return next(self._batches)

    def close(self) -> None:
        """Close the file before its end."""
        self._batches.close()

    def _read(self) -> Generator[Batch]:
        name = source_name(self.source)
        try:
            with open_measured(self.source) as (file, position):
                for parsed in self._parsed(file, name):
                    self.n_bytes = position()
                    if isinstance(parsed, LineError):
                        self._count_bad_line(parsed)
                    else:
                        self.n_lines = parsed.n_lines
                        yield from self._in_small_batches(parsed)
        except LineError as error:
            raise DataFormatError(error.reason, name, error.line or None) from None
        if self.header_rows not in (None, self.n_examples) and not self.n_bad_lines:
            raise DataFormatError(
                f"expected {self.header_rows} rows, as the header says, got {self.n_examples}", name, 1
            )

    def _parsed(self, file: BinaryIO, name: str) -> Parsed:
        """Return the examples of a file, and the errors of its wrong lines."""
        if self.format == "auto":
            self.format = format_of_name(name) or "auto"
        if self.format in ("parquet", "arrow"):
            return self._parsed_arrow(seekable(file, is_plain_file(self.source)), name)
        blocks = line_blocks(file, self.block_bytes)
        first = next(blocks, b"").removeprefix(codecs.BOM_UTF8)
        if self.format == "auto":
            while not first.strip() and (more := next(blocks, b"")):
                first += more
            self.format = format_of_content(first, self.columns, self.label_prefix)
        if self.format in ("parquet", "arrow"):
            return self._parsed_arrow(io.BytesIO(b"".join([first, *blocks])), name)
        if self.format not in COLUMN_FORMATS and self.columns.are_chosen:
            raise LineError(
                f"{self.format} files have no columns: leave out text, labels, separator and id", 0
            )
        return self._parsed_lines(first, blocks)

    def _parsed_arrow(self, file: BinaryIO, name: str) -> Parsed:
        return read_arrow(file, name, self.format, self.columns, self._make)

    def _parsed_lines(self, first: bytes, blocks: Iterator[bytes]) -> Parsed:
        if self.format == "xmlc":
            header = XMLC_HEADER.match(first)
            if header is not None:
                self.header_rows, first = int(header[1]), first[header.end() :]
            return read_numbered_rows(chain([first], blocks), self._row_reader(), int(header is not None))
        blocks = chain([first] if first else [], blocks)
        if self.format == "libsvm":
            return read_numbered_rows(blocks, self._row_reader(), 0)
        if self.format == "jsonl":
            return read_lines_as_examples(blocks, JsonLines(self.columns, self.whole_texts).parse)
        if self.format == "fasttext":
            parse = fasttext.parse_text if self.whole_texts else fasttext.parse_words
            return read_lines_as_examples(blocks, partial(parse, label_prefix=self.label_prefix))
        delimiter = "\t" if self.format == "tsv" else delimiter_of(first.lstrip().partition(b"\n")[0])
        return read_delimited(blocks, delimiter, self.columns, self._make)

    @property
    def _make(self) -> Callable[[Mapping[str, Any], Columns], Example]:
        return text_example if self.whole_texts else words_example

    def _row_reader(self) -> RowReader:
        is_libsvm = self.format == "libsvm"
        return RowReader(
            first_feature=int(is_libsvm if self.one_based is None else self.one_based),
            first_label=int(not is_libsvm and bool(self.one_based)),
            comments=is_libsvm,
            n_threads=self.n_threads,
        )

    def _count_bad_line(self, error: LineError) -> None:
        self.n_lines = error.line or self.n_lines
        if not self.skip_bad_lines:
            raise error
        self.n_bad_lines += 1

    def _in_small_batches(self, block: Block) -> Iterator[Batch]:
        n_rows = len(block.y)
        size = self.batch_size or n_rows or 1
        for begin in range(0, n_rows, size):
            rows = slice(begin, begin + size)
            X, y, self.ids = block[:3] if size >= n_rows else (block.X[rows], block.y[rows], block.ids[rows])
            self.n_examples += len(y)
            yield Batch(X, y)
