"""Checks that concepts and their parents form a forest; every error knows the concept at fault."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from labeltree.trees.checks import Int32Array, cycle_text, find_cycle


class ConceptError(ValueError):
    """An error of one concept."""

    def __init__(self, reason: str, concept: int) -> None:
        super().__init__(reason, concept)
        self.reason = reason
        self.concept = concept

    def __str__(self) -> str:
        return f"concept {self.concept}: {self.reason}"


def text_of(value: Any) -> str:
    """Return an id, a parent or a name as text without surrounding blanks; None is the empty text."""
    return "" if value is None else str(value).strip()


def positions_of_parents(ids: Sequence[str], parents: Sequence[str], root: str) -> Int32Array:
    """Return the position of each concept's parent, -1 if the parent is "" or ``root``."""
    position: dict[str, int] = {}
    for i, identifier in enumerate(ids):
        if not identifier:
            raise ConceptError("the id is empty", i)
        if position.setdefault(identifier, i) != i:
            raise ConceptError(
                f"the id {identifier!r} occurs twice; every concept must have one parent and a unique id", i
            )
    parent = np.full(len(ids), -1, dtype=np.int32)
    for i, above in enumerate(parents):
        if above in position:
            parent[i] = position[above]
        elif above not in ("", root):
            raise ConceptError(
                f"the parent {above!r} of {ids[i]!r} is not the id of a concept; leave the parent of concepts at the "
                f"top empty, or set root={above!r} if it is the parent of all of them",
                i,
            )
    if circle := find_cycle(parent):
        shown = cycle_text([repr(ids[i]) for i in circle], " below ")
        raise ConceptError(f"concepts are below each other in a circle: {shown}", circle[0])
    parent.flags.writeable = False
    return parent


def nested_concepts(nested: Mapping[Any, Any]) -> tuple[list[str], list[str | None]]:
    """Return the ids and the parents of the concepts in nested dictionaries, level by level."""
    if not isinstance(nested, Mapping):
        raise ValueError(f"expected a dictionary of concepts, got {type(nested).__name__}")
    ids: list[str] = []
    parents: list[str | None] = []
    seen_below: dict[str, str | None] = {}
    levels: list[tuple[str | None, Any]] = [(None, nested)]
    for above, content in levels:
        if content is None:
            continue
        if not isinstance(content, Mapping | list | tuple):
            raise ValueError(
                f"below {above!r}: expected a dictionary, a list of concepts or None, got {content!r}"
            )
        for concept in content:
            if not isinstance(concept, str | int | np.integer) or isinstance(concept, bool):
                raise ValueError(f"below {above!r}: a concept must be a text or an integer, got {concept!r}")
            identifier = text_of(concept)
            # This also stops at a dictionary that contains itself.
            if identifier in seen_below:
                raise ValueError(
                    f"{identifier!r} occurs twice, below {seen_below[identifier]!r} and below {above!r}; concepts "
                    "with the same name need unique ids: Taxonomy(ids, parents, names)"
                )
            seen_below[identifier] = above
            ids.append(identifier)
            parents.append(above)
            if isinstance(content, Mapping):
                levels.append((identifier, content[concept]))
    return ids, parents
