"""Readable names of labels, for labels that are codes, numbers or URIs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def check_label_names(names: Any, labels: Iterable[Any]) -> dict[Any, str] | None:
    """Return the names of these labels; None if no label has a name other than itself.

    Parameters
    ----------
    names : mapping from label to str, or None
        It may have more labels than the model: vocabularies do.
    labels : iterable
        The labels of the model.

    Raises
    ------
    ValueError
        If none of the labels has a name, or a name is not a text.
    """
    if names is None:
        return None
    if not isinstance(names, Mapping):
        raise ValueError(
            f"label_names_ must be a mapping from label to name, or None, got {type(names).__name__}"
        )
    found, n_found, label = {}, 0, None
    for label in labels:
        name = names.get(label)
        if name is None:
            continue
        if not isinstance(name, str):
            raise ValueError(f"the name of the label {label!r} must be a text, got {name!r}")
        n_found += 1
        if name and name != str(label):
            found[label] = name
    if n_found == 0 and names:
        raise ValueError(
            f"none of the {len(names):,} names is for a label of this model: labels are like {label!r}, and names are "
            f"for labels like {next(iter(names))!r}"
        )
    return found or None
