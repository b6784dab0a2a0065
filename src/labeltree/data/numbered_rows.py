"""Rows of numbers, read block by block."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from .examples import Block, Parsed
from .labelled_rows import RowReader
from .lines import LineError, cut_at_line

_ONLY_COMMENTS = re.compile(rb"(?:[ \t]*#[^\n]*(?:\n|\Z))*")


def read_numbered_rows(blocks: Iterable[bytes], rows: RowReader, n_lines: int) -> Parsed:
    """Parse lines of ``label,label feature:value``, after `n_lines` other lines."""
    for block in blocks:
        while block:
            bad, good, rest = None, block, b""
            try:
                parsed = _parse(block, rows)
            except LineError as error:
                bad = error
                good, rest = cut_at_line(block, error.line)
                parsed = _parse(good, rows) if good else None
            n_lines += good.count(b"\n") if bad else len(good.removesuffix(b"\n").split(b"\n"))
            if parsed is not None:
                yield parsed._replace(n_lines=n_lines)
            if bad is not None:
                n_lines += 1
                yield LineError(bad.reason, n_lines)
            block = rest


def _parse(block: bytes, rows: RowReader) -> Block | None:
    if rows.comments and _ONLY_COMMENTS.fullmatch(block):
        return None
    X, y = rows.parse(np.frombuffer(block, dtype=np.uint8))
    if X.shape[1] == 0:  # learners expect at least one column
        X.resize(X.shape[0], 1)
    labels, ends = y.indices.tolist(), y.indptr.tolist()
    return Block(X, [labels[begin:end] for begin, end in pairwise(ends)], [None] * X.shape[0], 0)
