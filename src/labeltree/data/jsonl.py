"""Texts as JSON lines: an object per line."""

from __future__ import annotations

from labeltree.errors import DataFormatError

from .json_record import labels_of, parse_object, text_of
from .lines import LineError
from .sources import Source, read_lines, source_name


def read_jsonl(
    path: Source, text: str = "text", labels: str | None = "labels"
) -> tuple[list[str], list[list[str]]]:
    """Read lines such as ``{"text": "A fishing boat", "labels": ["sea", "boat"]}``.

    Other keys are ignored, and so are blank lines.

    Parameters
    ----------
    path : str, path-like or binary file
        The file, in UTF-8; ``"-"`` is standard input. Names ending in ``.gz``, ``.xz`` and ``.zst`` are
        decompressed.
    text : str, default="text"
        The key of the text, a string.
    labels : str or None, default="labels"
        The key of the labels, a list of strings. None reads texts that have none.

    Returns
    -------
    texts : list of str
    labels : list of list of str
        The labels of each text; empty lists when `labels` is None.

    Raises
    ------
    DataFormatError
        With file and line, when a line is not UTF-8, is not a JSON object, lacks a key, or has something of
        another type there.

    Examples
    --------
    >>> import io
    >>> from labeltree.data import read_jsonl
    >>> read_jsonl(io.BytesIO(b'{"text": "A fishing boat", "labels": ["sea", "boat"]}\\n'))
    (['A fishing boat'], [['sea', 'boat']])
    """
    all_texts, all_labels = [], []
    for number, line in read_lines(path):
        if not line.strip(" \t"):
            continue
        try:
            record = parse_object(line)
            all_texts.append(text_of(record, text))
            all_labels.append([] if labels is None else labels_of(record, labels))
        except LineError as error:
            raise DataFormatError(error.reason, source_name(path), number) from None
    return all_texts, all_labels
