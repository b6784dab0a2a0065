"""Data files as commands read them: whole, or block by block."""

from __future__ import annotations

import codecs
import io
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, cast

from labeltree.cli.options import DataFormat
from labeltree.data import read_libsvm, read_xmlc
from labeltree.data.sources import open_buffer, source_name
from labeltree.errors import DataFormatError

BLOCK_BYTES = 1 << 23

_HEADER = re.compile(rb"[ \t]*(\d+)[ \t]+\d+[ \t]+\d+[ \t]*\r?(?:\n|\Z)")
_ONLY_COMMENTS = re.compile(rb"(?:[ \t]*#[^\n]*(?:\n|\Z))*")


def format_of(path: str, format: DataFormat) -> Literal["xmlc", "libsvm"]:
    """The format that is meant: by ``auto``, the one that the name of the file says."""
    if format != "auto":
        return format
    name = re.sub(r"\.(gz|xz|zst)$", "", path.lower())
    return "libsvm" if name.endswith((".svm", ".libsvm")) else "xmlc"


@dataclass(frozen=True)
class DataFile:
    """A file named on the command line, or standard input (``-``), and how to read it.

    `one_based` None is the custom of the format: XMLC files count from 0, features of libsvm files from 1.
    """

    path: str
    format: Literal["xmlc", "libsvm"]
    one_based: bool | None = None

    def read(self, n_features: int | None = None, n_labels: int | None = None) -> tuple[Any, Any]:
        """X and y."""
        return self._parse(self.path, "auto", n_features, n_labels)

    def read_for(self, model: Any) -> tuple[Any, Any]:
        """X as `model` wants it, and y with a column for each number that is a label of the model."""
        X, y = self.read()
        n_labels = int(model.classes_.max()) + 1
        if len(y.indices) and y.indices.max() >= n_labels:
            row, label = _first_beyond(y, n_labels)
            raise DataFormatError(
                f"row {row} has the label {label + self.first_label}, but the largest that the model knows is "
                f"{n_labels - 1 + self.first_label}; if the files belong together, "
                f"train with --n-labels {int(y.indices.max()) + 1}",
                source_name(self.path),
            )
        y.resize(y.shape[0], n_labels)
        return self._for_model(X, model, 0), y

    def blocks_for(self, model: Any) -> Iterator[Any]:
        """X in blocks of rows as they come, so that neither the file nor what a pipe brings need fit in memory."""
        n_rows, n_lines, expected_rows = 0, 0, None
        for number, block in enumerate(_line_blocks(self.path)):
            if number == 0:
                block = block.removeprefix(codecs.BOM_UTF8)
                header = _HEADER.match(block) if self.format == "xmlc" else None
                if header is not None:
                    expected_rows, n_lines, block = int(header[1]), 1, block[header.end() :]
            if not block or (self.format == "libsvm" and _ONLY_COMMENTS.fullmatch(block)):
                n_lines += block.count(b"\n")
                continue
            try:
                X, _ = self._parse(io.BytesIO(block), False)
            except DataFormatError as error:
                line = None if error.line is None else error.line + n_lines
                raise DataFormatError(error.reason, source_name(self.path), line) from None
            yield self._for_model(X, model, n_rows)
            n_rows += X.shape[0]
            n_lines += block.count(b"\n")
        if n_rows != (n_rows if expected_rows is None else expected_rows):
            raise DataFormatError(
                f"expected {expected_rows} rows, as the header says, got {n_rows}", source_name(self.path), 1
            )
        if n_rows == 0 and expected_rows is None:
            raise DataFormatError("expected at least one row, got an empty file", source_name(self.path), 1)

    @property
    def _first_feature(self) -> int:
        return int(self.format == "libsvm" if self.one_based is None else self.one_based)

    @property
    def first_label(self) -> int:
        """The number that the label of column 0 has in the file."""
        return int(self.format == "xmlc" and bool(self.one_based))

    def _parse(
        self,
        source: Any,
        header: bool | Literal["auto"],
        n_features: int | None = None,
        n_labels: int | None = None,
    ) -> tuple[Any, Any]:
        one_based = bool(self._first_feature)
        if self.format == "libsvm":
            return read_libsvm(
                source, one_based=one_based, n_features=n_features, n_labels=n_labels, n_jobs=-1
            )
        return read_xmlc(
            source, header=header, one_based=one_based, n_features=n_features, n_labels=n_labels, n_jobs=-1
        )

    def _for_model(self, X: Any, model: Any, first_row: int) -> Any:
        n_features = model.n_features_in_
        if len(X.indices) and X.indices.max() >= n_features:
            row, feature = _first_beyond(X, n_features)
            raise DataFormatError(
                f"row {first_row + row} has the feature {feature + self._first_feature}, but the largest that the "
                f"model knows is {n_features - 1 + self._first_feature}; if the files belong together, "
                f"train with --n-features {int(X.indices.max()) + 1} or more",
                source_name(self.path),
            )
        X.resize(X.shape[0], n_features)
        return X


def _first_beyond(matrix: Any, n_columns: int) -> tuple[int, int]:
    """Row and column of the first entry that is not in the first `n_columns`."""
    entry = int((matrix.indices >= n_columns).argmax())
    return int(matrix.indptr.searchsorted(entry, side="right")) - 1, int(matrix.indices[entry])


def _line_blocks(path: str) -> Iterator[bytes]:
    """Whole lines in blocks; of standard input, whatever has come so far."""
    if path == "-":
        rest = b""
        stdin = cast(io.BufferedReader, sys.stdin.buffer)
        while text := stdin.read1(BLOCK_BYTES):
            lines, newline, rest = (rest + text).rpartition(b"\n")
            if newline:
                yield lines + newline
        if rest:
            yield rest
        return
    with open_buffer(path) as buffer:
        begin, size = 0, len(buffer)
        while begin < size:
            end = buffer.find(b"\n", min(begin + BLOCK_BYTES, size) - 1) + 1 or size
            yield buffer[begin:end]
            begin = end
