"""Streams of examples: batch by batch as they come, without an end that anyone knows."""

from __future__ import annotations

import codecs
import re
from collections.abc import Generator, Iterator
from functools import partial
from typing import Literal

from labeltree.errors import DataFormatError

from .block_formats import (
    Batch,
    BlockParser,
    NamedFeatures,
    NumberedRows,
    StreamFormat,
    fasttext_line,
    format_of,
    json_line,
    json_text_line,
)
from .fasttext import check_label_prefix
from .lines import LineError, cut_at_line, line_blocks
from .sources import Source, open_stream, source_name

BLOCK_BYTES = 1 << 18

_FORMATS = ("auto", "jsonl", "xmlc", "libsvm", "fasttext")
_HEADER = re.compile(rb"[ \t]*(\d+)[ \t]+\d+[ \t]+\d+[ \t]*\r?(?:\n|\Z)")


def read_stream(
    source: Source,
    format: Literal["auto"] | StreamFormat = "auto",
    *,
    batch_size: int = 1000,
    one_based: bool | None = None,
    label_prefix: str = "__label__",
    labelled: bool = True,
    skip_bad_lines: bool = False,
) -> ExampleStream:
    """Read examples as they come, for models that learn from a stream.

    At no time is more than a small part in memory, and of a pipe whatever has come is given at once: one line, if
    that is all there is. What batches there are does therefore depend on chance, but the examples and their order do
    not.

    Parameters
    ----------
    source : str, path-like or binary file
        The file; ``"-"`` is standard input. Names ending in ``.gz``, ``.xz`` and ``.zst`` are decompressed.
    format : {"auto", "jsonl", "xmlc", "libsvm", "fasttext"}
        ``"jsonl"``: an object per line, ``{"features": {"name": value}, "labels": ["sea"]}``, where values are numbers
        or texts, or ``{"text": "A boat", "labels": ["sea"]}``, of which :func:`word_counts` are the features.
        ``"xmlc"`` and ``"libsvm"``: features and labels are numbers, as in :func:`read_xmlc` and :func:`read_libsvm`,
        but nothing says which are the largest, nor does the header. ``"fasttext"``: ``__label__sea A boat``; words, as
        they are written, are features by name, and their counts the values. ``"auto"`` goes by the name, then by the
        first line.
    batch_size : int
        At most so many examples are in a batch.
    one_based : bool, optional
        Whether ids count from 1; by default only the features of libsvm files do.
    label_prefix : str
        How labels begin in fastText lines.
    labelled : bool
        Whether JSON objects must have labels. If not, those that they have are left out.
    skip_bad_lines : bool
        Count lines that are not right and go on, instead of raising an error.

    Returns
    -------
    ExampleStream
        An iterator of batches ``(X, y)``: X is a CSR matrix where features are numbers, else a list of dictionaries;
        y a list of lists of labels.

    Raises
    ------
    DataFormatError
        With file and line, when a line is not as described, after all examples before it were given; or at the end,
        when the header of an XMLC file says another number of rows.

    Examples
    --------
    >>> import io
    >>> from labeltree.data import read_stream
    >>> lines = b'{"text": "a boat at sea", "labels": ["sea"]}\\n{"features": {"height": 2.5}, "labels": []}\\n'
    >>> for X, y in read_stream(io.BytesIO(lines)):
    ...     print(X, y)
    [{'boat': 1.0, 'at': 1.0, 'sea': 1.0}, {'height': 2.5}] [['sea'], []]
    """
    if format not in _FORMATS:
        raise ValueError(f"expected format to be one of {', '.join(_FORMATS)}, got {format!r}")
    if batch_size < 1:
        raise ValueError(f"expected a batch_size of at least 1, got {batch_size}")
    check_label_prefix(label_prefix)
    return ExampleStream(
        source,
        format,
        batch_size=batch_size,
        one_based=one_based,
        label_prefix=label_prefix,
        labelled=labelled,
        skip_bad_lines=skip_bad_lines,
    )


class ExampleStream:
    """An iterator of batches; :func:`read_stream` makes one.

    Attributes
    ----------
    n_examples, n_lines, n_bad_lines : int
        How many examples were given, and how many lines were read for them, so far; how many of these were skipped.
    format : str
        How the stream is written; ``"auto"`` until something was read.
    header_rows : int or None
        The number of rows that the header of an XMLC file says, once that is read.
    """

    def __init__(
        self,
        source: Source,
        format: Literal["auto"] | StreamFormat,
        *,
        batch_size: int | None = None,
        one_based: bool | None = None,
        label_prefix: str = "__label__",
        labelled: bool = True,
        whole_texts: bool = False,
        skip_bad_lines: bool = False,
        block_bytes: int = BLOCK_BYTES,
        n_threads: int = 1,
    ) -> None:
        self.n_examples = 0
        self.n_lines = 0
        self.n_bad_lines = 0
        self.header_rows: int | None = None
        self._source = source
        self.format = format
        self._batch_size = batch_size
        self._one_based = one_based
        self._label_prefix = label_prefix
        self._labelled = labelled
        self._whole_texts = whole_texts
        self._skip_bad_lines = skip_bad_lines
        self._block_bytes = block_bytes
        self._n_threads = n_threads
        self._batches = self._read()

    def __iter__(self) -> ExampleStream:
        return self

    def __next__(self) -> Batch:
        return next(self._batches)

    def close(self) -> None:
        """Close the file before its end."""
        self._batches.close()

    def _read(self) -> Generator[Batch]:
        parse = None
        with open_stream(self._source) as file:
            for block in line_blocks(file, self._block_bytes):
                if parse is None:
                    block = block.removeprefix(codecs.BOM_UTF8)
                    if self.format == "auto":
                        self.format = format_of(source_name(self._source), block, self._label_prefix)
                    parse = self._parser()
                    block = self._without_header(block) if self.format == "xmlc" else block
                for batch in self._parsed(block, parse):
                    yield from self._in_small_batches(batch)
        if self.header_rows not in (None, self.n_examples) and not self.n_bad_lines:
            raise DataFormatError(
                f"expected {self.header_rows} rows, as the header says, got {self.n_examples}",
                source_name(self._source),
                1,
            )

    def _parser(self) -> BlockParser:
        if self.format == "jsonl":
            parse_line = json_text_line if self._whole_texts else json_line
            return NamedFeatures(partial(parse_line, labelled=self._labelled))
        if self.format == "fasttext":
            return NamedFeatures(partial(fasttext_line, label_prefix=self._label_prefix))
        is_libsvm = self.format == "libsvm"
        return NumberedRows(
            first_feature=int(is_libsvm if self._one_based is None else self._one_based),
            first_label=int(not is_libsvm and bool(self._one_based)),
            comments=is_libsvm,
            n_threads=self._n_threads,
        )

    def _without_header(self, block: bytes) -> bytes:
        header = _HEADER.match(block)
        if header is None:
            return block
        self.header_rows, self.n_lines = int(header[1]), 1
        return block[header.end() :]

    def _parsed(self, block: bytes, parse: BlockParser) -> Iterator[Batch]:
        """The batches of a block, which are several only where bad lines are between them."""
        while block:
            bad, good, rest = None, block, b""
            try:
                batch = parse(block)
            except LineError as error:
                bad = error
                good, rest = cut_at_line(block, error.line)
                batch = parse(good) if good else None
            if batch is not None:
                yield batch
            self.n_lines += good.count(b"\n") + (bad is not None)
            if bad is not None:
                if not self._skip_bad_lines:
                    raise DataFormatError(bad.reason, source_name(self._source), self.n_lines)
                self.n_bad_lines += 1
            block = rest

    def _in_small_batches(self, batch: Batch) -> Iterator[Batch]:
        n_rows = len(batch.y)
        size = n_rows if self._batch_size is None else self._batch_size
        for begin in range(0, n_rows, size):
            rows = slice(begin, begin + size)
            part = batch if size >= n_rows else Batch(batch.X[rows], batch.y[rows])
            self.n_examples += len(part.y)
            yield part
