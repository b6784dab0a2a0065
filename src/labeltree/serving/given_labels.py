"""Labels that a request names: whether a model has them, as labels of the same type."""

from __future__ import annotations

from collections.abc import Sequence

from labeltree.serving.errors import Refusal
from labeltree.serving.registry import ServedModel
from labeltree.serving.schemas import Label

_TYPES = {str: "strings", bool: "booleans", int: "integers", float: "numbers"}


def check(served: ServedModel, labels: Sequence[Label], places: Sequence[str]) -> None:
    """Refuse labels that a model does not have. In Python 1, 1.0 and True are equal, but they are different labels.

    An integer may stand for a float, because programs write 1.0 as 1.
    """
    index = served.model.model_.label_index
    kinds = {type(label) for label in index.classes[:1].tolist()}
    if float in kinds:
        kinds.add(int)
    for label, place, position in zip(labels, places, index.find(labels).tolist(), strict=True):
        if position < 0 or type(label) not in kinds:
            raise no_such_label(served, place, label)


def no_such_label(served: ServedModel, place: str, label: Label) -> Refusal:
    """Return the refusal of a label."""
    text = str(label).lower() if isinstance(label, bool) else repr(label)
    shown = text if len(text) <= 60 else f"{text[:57]}…"
    known = served.model.model_.label_index.classes[:1].tolist()
    expected = f", whose labels are {_TYPES[type(known[0])]}" if known and type(known[0]) in _TYPES else ""
    message = f"{place}: {shown} is not a label of the model {served.name}{expected}"
    return Refusal(422, message, "no_such_label")
