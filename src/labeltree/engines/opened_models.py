"""Saved models that this process has opened: once for all tasks that ask them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from labeltree.model_file import load
from labeltree.model_file.directory import blaming, read_document, version_of

#: Models that stay open; the one that was used longest ago is closed first.
_MOST_OPEN = 4

_opened: dict[tuple[Path, str], Any] = {}


def opened_model(path: str | os.PathLike[str]) -> Any:
    """Return a saved model, mapped; again the same one if it has not been saved anew."""
    directory = Path(path).resolve()
    with blaming(directory):
        key = directory, version_of(read_document(directory))
    model = _opened.pop(key, None) or load(directory)
    _opened[key] = model
    while len(_opened) > _MOST_OPEN:
        del _opened[next(iter(_opened))]
    return model
