"""Which model a command may replace by another."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from labeltree.errors import ModelFileError
from labeltree.kinds import kind_named
from labeltree.model_file.directory import DOCUMENT_NAME, check_replaceable, read_document
from labeltree.model_file.waiting import check_nothing_waits
from labeltree.wording import count_text, with_article


def check_may_replace(
    directory: Path, estimator: str, overwrite: bool, are_texts: bool | None = None
) -> None:
    """Raise `ModelFileError` if a directory has a model that the user may not want to lose, unless `overwrite`.

    A new model of the same kind may replace an old one: the same estimator, and the same kind of rows (`are_texts`,
    None if that is not known yet). What waits in a journal is never lost.
    """
    check_replaceable(directory)
    _check_writable(directory)
    check_nothing_waits(directory)
    if overwrite or not (directory / DOCUMENT_NAME).exists():
        return
    fields: dict[str, Any] = json.loads(read_document(directory))
    found = fields.get("estimator")
    if found != estimator:
        n_examples = fields.get("n_examples")
        learned = (
            f" that has learned {count_text(n_examples, 'example')}" if isinstance(n_examples, int) else ""
        )
        fault = f"has a model of another kind, {with_article(str(found))}{learned}"
    elif are_texts is not None and are_texts != _reads_texts(fields):
        fault = f"has a model of {'numbers' if are_texts else 'texts'}"
    else:
        return
    raise ModelFileError(
        f"{directory} {fault}; nothing was written: choose another directory, or add --overwrite to replace the model"
    )


def _check_writable(directory: Path) -> None:
    """Raise `ModelFileError` if the directory cannot be made or written to: better now than after hours of training."""
    there = Path(os.path.realpath(directory))
    while not there.exists():
        there = there.parent
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise ModelFileError(
            f"{directory}: a model cannot be saved there, because {there} cannot be written to; choose another "
            "directory, or get permission to write"
        )


def _reads_texts(fields: dict[str, Any]) -> bool:
    """Return whether a model was trained on texts: with a vectorizer, as a network, or as a mix of such models."""
    members = fields.get("members")
    if isinstance(members, list):
        return all(isinstance(member, dict) and _reads_texts(member) for member in members)
    kind = kind_named(str(fields.get("estimator")))
    return "text" in fields or (kind is not None and kind.reads_texts)
