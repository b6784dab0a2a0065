"""The labels of a model as its user knows them, and as the kernel does: by position."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray


class LabelNames:
    """Translates between `classes_` and positions in it."""

    def __init__(self, classes: NDArray[Any]) -> None:
        self.classes = classes

    def __len__(self) -> int:
        return len(self.classes)

    def at(self, positions: NDArray[np.int32]) -> NDArray[Any]:
        """The labels at these positions; where a position is -1, -1 or, if labels are not numbers, None."""
        missing = positions < 0
        if not missing.any():
            return self.classes[positions]
        if np.issubdtype(self.classes.dtype, np.number):
            # A type that can hold -1.
            names = self.classes[positions].astype(np.result_type(self.classes.dtype, np.int8))
            names[missing] = -1
            return names
        named = self.classes[positions].astype(object)
        named[missing] = None
        return named

    def positions(self, labels: Collection[Any]) -> NDArray[np.int32]:
        """Where these labels are; an unknown one is an error."""
        try:
            return np.fromiter((self._position[label] for label in labels), dtype=np.int32, count=len(labels))
        except KeyError as error:
            unknown = error.args[0]
            raise ValueError(f"{unknown!r} is not a label of this model; classes_ has them all") from None

    def find(self, labels: Collection[Any]) -> NDArray[np.int32]:
        """Where these labels are; an unknown one is at -1."""
        return np.fromiter((self._position.get(label, -1) for label in labels), np.int32, len(labels))

    def mask(self, allow: Collection[Any] | None, deny: Collection[Any] | None) -> NDArray[np.uint8] | None:
        """A flag per label that may be predicted, or None if all may."""
        if allow is None and deny is None:
            return None
        mask = np.full(len(self), allow is None, dtype=np.uint8)
        if allow is not None:
            mask[self.positions(allow)] = 1
        if deny is not None:
            mask[self.positions(deny)] = 0
        return mask

    @cached_property
    def _position(self) -> dict[Any, int]:
        return {label: i for i, label in enumerate(self.classes.tolist())}
