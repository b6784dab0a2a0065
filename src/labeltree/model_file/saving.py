"""`save`: from a trained model to a directory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import labeltree
from labeltree.kinds import Kind, kind_of
from labeltree.model_file.directory import check_replaceable
from labeltree.model_file.document import Draft, Stored
from labeltree.model_file.lock import ModelLock
from labeltree.model_file.waiting import check_nothing_waits


def save(model: Any, path: str | os.PathLike[str], *, lock: ModelLock | None = None, **options: Any) -> None:
    """Write a trained model of any kind to a directory, atomically.

    After a failure or a crash, the directory has the old model or the new one. It is locked meanwhile: another
    `save` waits for 5 seconds and then fails. Readers, and processes that have the old model open, are not disturbed.

    Parameters
    ----------
    model : a trained model of this library
    path : path of a directory
        Made if it does not exist. A directory that holds anything but a model is refused.
    lock : ModelLock, optional
        The lock of the directory, if the caller has it already.
    **options
        Options of the kind of model: `weights`, one of "float32", "bfloat16" and "int8", for label trees.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model is not trained.
    ValueError
        If its labels or parameters are of a kind that the format does not have.
    ModelFileError
        If there is something else at `path`, if another process has locked it, if examples wait in its journal, or if
        `load` would refuse the model, for instance because its weights are not finite.

    Examples
    --------
    >>> import tempfile
    >>> from labeltree import LabelTreeClassifier
    >>> from labeltree.model_file import load, save
    >>> model = LabelTreeClassifier(random_state=0).fit([[1.0, 0.0], [0.0, 1.0]], [["cat"], ["dog"]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, f"{folder}/pets.labeltree", weights="int8")
    ...     load(f"{folder}/pets.labeltree").predict([[1.0, 0.0]])
    [['cat']]
    """
    model = getattr(model, "classifier_", model)  # a Tagger is saved as its classifier
    # Everything that can be refused is refused before the directory is touched.
    draft_of(model, **options).write(path, lock, check=partial(check_readable, type(model)))


@contextmanager
def learning_into(path: str | os.PathLike[str]) -> Iterator[Callable[[Any], None]]:
    """Lock a directory, and return a function that saves a model to it: again and again, and nobody else."""
    directory = Path(path)
    check_replaceable(directory)
    with ModelLock(directory, "learns into this model") as lock:
        check_nothing_waits(directory)
        yield partial(save, path=directory, lock=lock)


def draft_of(model: Any, **options: Any) -> Draft:
    """Return what is to be written for a model."""
    draft = Draft()
    draft.add(library_version=labeltree.__version__, estimator=type(model).__name__)
    section_of(kind_of(type(model))).write(draft, model, **options)
    return draft


def check_readable(cls: type[Any], stored: Stored) -> None:
    """Raise `ValueError` if `load` would refuse a model of this class."""
    section = section_of(kind_of(cls))
    # Opening an online model copies all of it. Its section checks the weights before they are written.
    getattr(section, "check", section.read)(cls, stored)


def section_of(kind: Kind) -> Any:
    """Return the module that writes and reads the forest of a kind."""
    return import_module(f"labeltree.model_file.sections.{kind.section}")
