"""Streams of examples, read batch by batch as they arrive."""

from __future__ import annotations

import codecs
import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

from labeltree.errors import DataFormatError

from . import block_formats
from .block_formats import Batch, Block, BlockParser, StreamFormat
from .columns import Columns
from .fasttext import check_label_prefix
from .jsonl import parse_text
from .labelled_rows import RowReader
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
    """Read examples as they arrive, for models that learn from a stream.

    Only a small part of the stream is in memory at any time. From a pipe, all examples that have arrived are yielded
    at once, even a single line. The sizes of batches therefore depend on timing, but the examples and their order do
    not.

    Parameters
    ----------
    source : str, path-like or binary file
        The file; ``"-"`` is standard input. Names ending in ``.gz``, ``.xz`` and ``.zst`` are decompressed.
    format : {"auto", "jsonl", "xmlc", "libsvm", "fasttext"}
        Format of the lines.

        - ``"jsonl"``: an object per line, either ``{"features": {"name": value}, "labels": ["sea"]}``, where values
          are numbers or texts, or ``{"text": "A boat", "labels": ["sea"]}``, which gives the features
          ``word_counts(text)``.
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
    labelled : bool
        Whether JSON objects must have labels. If False, labels are ignored.
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
    """

    source: Source
    format: Literal["auto"] | StreamFormat
    batch_size: int | None = None
    one_based: bool | None = None
    label_prefix: str = "__label__"
    columns: Columns = field(default_factory=Columns)
    labelled: bool = True
    whole_texts: bool = False
    skip_bad_lines: bool = False
    block_bytes: int = BLOCK_BYTES
    n_threads: int = 1
    n_examples: int = field(default=0, init=False)
    n_lines: int = field(default=0, init=False)
    n_bad_lines: int = field(default=0, init=False)
    header_rows: int | None = field(default=None, init=False)
    ids: list[Any] = field(default_factory=list, init=False)

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
        parse = None
        with open_stream(self.source) as file:
            for block in line_blocks(file, self.block_bytes):
                if parse is None:
                    block = block.removeprefix(codecs.BOM_UTF8)
                    if self.format == "auto":
                        self.format = block_formats.format_of(name, block, self.label_prefix)
                    parse = self._parser()
                    header = _HEADER.match(block) if self.format == "xmlc" else None
                    if header is not None:
                        self.header_rows, self.n_lines = int(header[1]), 1
                        block = block[header.end() :]
                for parsed in self._parsed(block, parse):
                    yield from self._in_small_batches(parsed)
        if self.header_rows not in (None, self.n_examples) and not self.n_bad_lines:
            raise DataFormatError(
                f"expected {self.header_rows} rows, as the header says, got {self.n_examples}", name, 1
            )

    def _parser(self) -> BlockParser:
        parse_line: Any
        if self.format == "jsonl":
            columns = self.columns if self.labelled else replace(self.columns, labels=None)
            parse_line = parse_text if self.whole_texts else block_formats.parse_json_features
            return partial(block_formats.parse_named_rows, parse_line=partial(parse_line, columns=columns))
        if self.format == "fasttext":
            parse_line = (
                block_formats.parse_fasttext_text if self.whole_texts else block_formats.parse_fasttext_words
            )
            return partial(
                block_formats.parse_named_rows,
                parse_line=partial(parse_line, label_prefix=self.label_prefix),
            )
        is_libsvm = self.format == "libsvm"
        rows = RowReader(
            first_feature=int(is_libsvm if self.one_based is None else self.one_based),
            first_label=int(not is_libsvm and bool(self.one_based)),
            comments=is_libsvm,
            n_threads=self.n_threads,
        )
        return partial(block_formats.parse_numbered_rows, rows=rows)

    def _parsed(self, block: bytes, parse: BlockParser) -> Iterator[Block]:
        """Yield the batches of a block: several only if there are wrong lines between them."""
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
                if not self.skip_bad_lines:
                    raise DataFormatError(bad.reason, source_name(self.source), self.n_lines)
                self.n_bad_lines += 1
            block = rest

    def _in_small_batches(self, block: Block) -> Iterator[Batch]:
        n_rows = len(block.y)
        size = self.batch_size or n_rows
        for begin in range(0, n_rows, size):
            rows = slice(begin, begin + size)
            X, y, self.ids = block if size >= n_rows else (block.X[rows], block.y[rows], block.ids[rows])
            self.n_examples += len(y)
            yield Batch(X, y)
