"""`load`: from a directory to a model that can be asked."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeVar, overload

from labeltree.kinds import KINDS, kind_named, kind_of
from labeltree.model_file.document import Stored, read_consistently
from labeltree.model_file.saving import section_of
from labeltree.wording import with_article

if TYPE_CHECKING:
    from labeltree.questions import Questions

_Model = TypeVar("_Model")


@overload
def load(
    path: str | os.PathLike[str], verify: bool = False, cls: None = None, **options: Any
) -> Questions: ...


@overload
def load(path: str | os.PathLike[str], verify: bool, cls: type[_Model], **options: Any) -> _Model: ...


def load(
    path: str | os.PathLike[str], verify: bool = False, cls: type[Any] | None = None, **options: Any
) -> Any:
    """Open a saved model.

    Arrays are mapped, not read: this takes milliseconds, and processes that open the same model share its memory. The
    shape of the model is checked at once; the inside of a block of weights when it is first used.

    Parameters
    ----------
    path : path of a directory
    verify : bool
        Read everything now: compare all files with their checksums and check every block.
    cls : type, optional
        The class that the model must have, by default any.
    **options
        Options of the kind of model: `policy` for online trees; `without_network` for networks and mixes, to describe
        a model where torch or onnxruntime is not installed.

    Raises
    ------
    ModelFileError
        If the model is missing, damaged, of another class or of a newer version. A damaged block that is found later
        raises it in prediction.

    Examples
    --------
    >>> import tempfile
    >>> from labeltree import LabelTreeClassifier
    >>> from labeltree.model_file import load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     LabelTreeClassifier(max_leaves=9).fit([[1.0], [2.0]], [["cat"], ["dog"]]).save(f"{folder}/pets")
    ...     load(f"{folder}/pets")
    LabelTreeClassifier(max_leaves=9)
    """
    return read_consistently(path, verify, lambda stored: open_model(stored, cls, **options))


def open_model(stored: Stored, cls: type[Any] | None = None, **options: Any) -> Any:
    """Return the model that a document describes, of this class if one is given."""
    name = stored.estimator
    if cls is None:
        kind = kind_named(name)
        if kind is None:
            raise ValueError(
                f"the model is of the class {name[:100]!r}, which this version of labeltree does not have; call the "
                "load() of that class, or upgrade labeltree"
            )
        cls = kind.load()
    section = section_of(kind_of(cls))
    if name != cls.__name__ or section is not section_in(stored):
        raise ValueError(
            f"the model is {with_article(name[:100])}, not {with_article(cls.__name__)}; use "
            f"{name[:100]}.load or labeltree.model_file.load"
        )
    return section.read(cls, stored, **options)


def section_in(stored: Stored) -> Any:
    """Return the section of the forest in a file, whatever class it names."""
    named = kind_named(stored.estimator)
    # The section that the class has comes first: the others are then not imported.
    kinds = KINDS if named is None else (named, *KINDS)
    for kind in {kind.section: kind for kind in kinds}.values():
        section = section_of(kind)
        if section.FILES in stored.files or section.FILES in stored.fields:
            return section
    raise ValueError("model.json has no 'files' with trees")
