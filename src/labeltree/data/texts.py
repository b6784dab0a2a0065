"""Texts with labels, read whole from a file or taken from a frame."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from labeltree.errors import DataFormatError
from labeltree.wording import with_article

from . import fasttext
from .columns import Columns
from .formats import NUMBER_FORMATS, DataFormat
from .frames import Frame
from .sources import Source, source_name
from .stream import ExampleStream, check_format


@dataclass
class Texts:
    """Texts with their labels.

    Attributes
    ----------
    texts : list of str
        The texts.
    labels : list of list of str or int
        The labels of each text.
    ids : list of str or int, or None
        The id of each text, if a column of ids was chosen.
    """

    texts: list[Any]
    labels: list[list[Any]]
    ids: list[Any] | None = None


def read_texts(
    source: Source | Any,
    *,
    text: str | Sequence[str] = "text",
    labels: str | None = "labels",
    separator: str | None = None,
    id: str | None = None,
    format: Literal["auto"] | DataFormat = "auto",
    label_prefix: str = fasttext.LABEL_PREFIX,
) -> Texts:
    """Read texts with their labels from a file or a frame.

    Missing texts are empty texts, and missing labels are no labels.

    Parameters
    ----------
    source : str, path-like, binary file, or frame
        A file in UTF-8; ``"-"`` is standard input. Names ending in ``.gz``, ``.xz`` and ``.zst`` are decompressed.
        Or a frame of pandas or polars, a table of pyarrow, or a ``datasets.Dataset``.
    text : str or sequence of str
        Column or JSON key of the text. Several are joined by a newline.
    labels : str or None
        Column or JSON key of the labels: a list of strings or integers, a string or an integer. None ignores labels.
    separator : str, optional
        Splits a string of labels; blanks around labels are removed. Without it, a string is one label.
    id : str, optional
        Column or JSON key of the ids.
    format : {"auto", "jsonl", "csv", "tsv", "parquet", "arrow", "fasttext"}
        Format of the file. ``"auto"`` recognises it by the name or else by the first line. Parquet and Arrow files
        need pyarrow, the extra ``parquet``.
    label_prefix : str
        Prefix of labels in fastText lines. It is removed from the labels.

    Returns
    -------
    Texts
        The texts, labels and ids.

    Raises
    ------
    DataFormatError
        With file and line, if the file has another format, lacks a column, or has a value of another type.

    Examples
    --------
    >>> import io
    >>> from labeltree.data import read_texts
    >>> read_texts(io.BytesIO(b'{"text": "A fishing boat", "labels": ["sea", "boat"]}\\n'))
    Texts(texts=['A fishing boat'], labels=[['sea', 'boat']], ids=None)
    >>> table = b"nr,title,subjects\\n7,A fishing boat,sea; boat\\n"
    >>> read_texts(io.BytesIO(table), text="title", labels="subjects", separator=";", id="nr")
    Texts(texts=['A fishing boat'], labels=[['sea', 'boat']], ids=['7'])
    """
    columns = Columns((text,) if isinstance(text, str) else tuple(text), labels, separator, id)
    frame = Frame.of(source)
    if frame is not None:
        block = frame.read(columns)
        read = Texts(list(block.X), block.y, block.ids)
    elif not isinstance(source, (str, os.PathLike)) and not hasattr(source, "read"):
        raise TypeError(
            "expected the name of a file, a file opened in binary mode, a frame of pandas or polars, a table of "
            f"pyarrow or a datasets.Dataset, got {with_article(type(source).__name__)}"
        )
    else:
        check_format(format)
        fasttext.check_label_prefix(label_prefix)
        stream = ExampleStream(source, format, columns=columns, label_prefix=label_prefix, whole_texts=True)
        read = Texts([], [], ids := [])
        for X, y in stream:
            if stream.format in NUMBER_FORMATS:
                raise DataFormatError("expected texts, got rows of numbers", source_name(source))
            read.texts += X
            read.labels += y
            ids += stream.ids
    if labels is None:  # fastText lines have them nevertheless
        read.labels = [[] for _ in read.texts]
    if id is None:
        read.ids = None
    return read
