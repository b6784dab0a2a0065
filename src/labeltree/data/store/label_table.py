"""`LabelTable`: the labels of texts, as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.labels.reading import label_order
from labeltree.text.terms import Terms, pack_terms, unpack_terms

_INT64 = np.iinfo(np.int64)


@dataclass(frozen=True)
class LabelTable:
    """Labels in the order of `classes_`: integers, and behind them names."""

    numbers: NDArray[np.int64]
    names: Terms

    @classmethod
    def of(cls, labels: Iterable[Any]) -> LabelTable:
        """Return the table of distinct labels, in any order; raise `ValueError` for labels that it cannot have."""
        ordered = label_order(labels)
        n_numbers = sum(isinstance(label, int | np.integer) for label in ordered)
        numbers, names = ordered[:n_numbers], ordered[n_numbers:]
        if wrong := next((label for label in names if not isinstance(label, str)), None):
            raise ValueError(f"the labels of a store are strings or integers, got {wrong!r}")
        if numbers and not (_INT64.min <= numbers[0] and numbers[-1] <= _INT64.max):
            too_large = numbers[0] if numbers[0] < _INT64.min else numbers[-1]
            raise ValueError(f"labels that are integers must fit into 64 bits, got {too_large}")
        return cls(np.array(numbers, dtype=np.int64), pack_terms(names))

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> LabelTable:
        """Return the table of a store's arrays."""
        return cls(arrays["labels.numbers"], (arrays["labels.names"], arrays["labels.names_begin"]))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of a store."""
        text, begin = self.names
        return {"labels.numbers": self.numbers, "labels.names": text, "labels.names_begin": begin}

    @property
    def classes(self) -> NDArray[Any]:
        """The labels as `read_labels` returns them: an array of integers if all are, else of objects."""
        if len(self.names[1]) == 1:
            return np.array(self.numbers)
        labels = [*self.numbers.tolist(), *unpack_texts(*self.names, "labels.names")]
        classes = np.empty(len(labels), dtype=object)
        classes[:] = labels
        return classes


def unpack_texts(text: NDArray[np.uint8], begin: NDArray[np.int64], name: str) -> list[str]:
    """Return the texts of a store's arrays; raise `ValueError` if these are damaged."""
    if begin[0] != 0 or begin[-1] != len(text) or (np.diff(begin) < 0).any():
        raise ValueError(f"{name}_begin must ascend from 0 to the length of {name}")
    try:
        return unpack_terms((text, np.ascontiguousarray(begin)))
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} must have UTF-8 text, but: {error}") from None


def pack_titles(titles: Mapping[Any, str], classes: Sequence[Any]) -> dict[str, NDArray[Any]]:
    """Return the arrays of readable names of labels."""
    text, begin = pack_terms([titles.get(label, "") for label in classes])
    return {"labels.titles": text, "labels.titles_begin": begin}
