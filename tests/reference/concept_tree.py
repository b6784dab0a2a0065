"""The tree over the labels of a taxonomy, slow and obvious: as nested lists."""

from __future__ import annotations

from typing import Any


def nested_tree(parents: dict[str, str | None], labels: list[str]) -> list[Any]:
    """Nested lists of positions in `labels`; `parents` has the concept above each concept, in their order."""

    def item(concept: str) -> Any:
        parts: list[Any] = [i for i, label in enumerate(labels) if label == concept]
        parts += [item(lower) for lower, upper in parents.items() if upper == concept]
        parts = [part for part in parts if part is not None]
        return None if not parts else parts[0] if len(parts) == 1 else parts

    tops = [item(concept) for concept, upper in parents.items() if upper is None]
    tops = [top for top in tops if top is not None]
    root: list[Any] = tops
    if len(tops) == 1 and isinstance(tops[0], list):
        root = list(tops[0])
    unknown = [i for i, label in enumerate(labels) if label not in parents]
    if len(unknown) > 1:
        return [*root, unknown]
    return [*root, *unknown]
