"""`LabelIndex`: translates between the user's labels and their positions."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.cached import cached_property


class LabelIndex:
    """Translates between labels and their positions in `classes`."""

    def __init__(self, classes: NDArray[Any]) -> None:
        self.classes = classes

    def __reduce__(self) -> tuple[Any, ...]:
        return LabelIndex, (self.classes,)  # without what is remembered

    def __len__(self) -> int:
        return len(self.classes)

    def at(self, positions: NDArray[np.int32]) -> NDArray[Any]:
        """Return the labels at these positions; for a position of -1 it is -1, or None if labels are not numbers."""
        if self._ended is not None:
            return self._ended.take(positions)
        missing, dtype = positions < 0, self.classes.dtype
        if not missing.any():
            return self.classes[positions]
        are_numbers = np.issubdtype(dtype, np.number)
        # A type that can hold the label of missing positions.
        labels = self.classes[positions].astype(np.result_type(dtype, np.int8) if are_numbers else object)
        labels[missing] = -1 if are_numbers else None
        return labels

    def positions(self, labels: Collection[Any]) -> NDArray[np.int32]:
        """Return the positions of labels; raise `ValueError` for an unknown label."""
        try:
            return np.fromiter((self._position[label] for label in labels), dtype=np.int32, count=len(labels))
        except KeyError as error:
            unknown = error.args[0]
            raise ValueError(f"{unknown!r} is not a label of this model; classes_ has them all") from None

    def find(self, labels: Collection[Any]) -> NDArray[np.int32]:
        """Return the positions of labels, -1 for an unknown label."""
        return np.fromiter((self._position.get(label, -1) for label in labels), np.int32, len(labels))

    def mask(self, allow: Collection[Any] | None, deny: Collection[Any] | None) -> NDArray[np.uint8] | None:
        """Return a flag for each label that may be predicted; None if all may."""
        if allow is None and deny is None:
            return None
        mask = np.full(len(self), allow is None, dtype=np.uint8)
        if allow is not None:
            mask[self.positions(allow)] = 1
        if deny is not None:
            mask[self.positions(deny)] = 0
        return mask

    @cached_property
    def _ended(self) -> NDArray[Any] | None:
        """The labels and, last, the label of missing positions; None if that is of another type."""
        dtype = self.classes.dtype
        if dtype.kind not in "Oi":
            return None
        return np.concatenate([self.classes, np.array([None if dtype.kind == "O" else -1], dtype)])

    @cached_property
    def _position(self) -> dict[Any, int]:
        return {label: i for i, label in enumerate(self.classes.tolist())}
