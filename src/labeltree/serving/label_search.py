"""Labels found by parts of their names, whatever their case and accents."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class LabelSearch:
    """The labels of a model, with how often they were given in training.

    Examples
    --------
    >>> search = LabelSearch(["Café", "cat", "cafeteria", "dog"], np.array([1, 5, 3, 9]))
    >>> search.find("CAFE", limit=5, offset=0)
    ([{'label': 'cafeteria', 'count': 3}, {'label': 'Café', 'count': 1}], 2)
    """

    labels: Sequence[Any]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, model: Any) -> LabelSearch:
        """The labels of a model; of one that learns, as they are between two examples."""
        while True:
            classes = model.classes_
            counts = np.asarray(model.label_counts_)
            if len(counts) == len(classes) and model.classes_ is classes:
                return cls(classes.tolist(), counts)

    def find(self, query: str, limit: int, offset: int) -> tuple[list[dict[str, Any]], int]:
        """A page of the labels that have `query` in their name, and how many these are.

        Those that begin with it come first, then those that more examples had.
        """
        wanted = folded(query)
        names, order = self._names, self._by_count
        if wanted:
            inside = [i for i in order if wanted in names[i]]
            found = [i for i in inside if names[i].startswith(wanted)]
            found += [i for i in inside if not names[i].startswith(wanted)]
        else:
            found = order
        page = found[offset : offset + limit]
        return [{"label": self.labels[i], "count": int(self.counts[i])} for i in page], len(found)

    def by_text(self, text: str) -> Any | None:
        """The label that is written so, as in the keys of JSON objects and in addresses; None if there is none."""
        return self._by_text.get(text)

    @cached_property
    def _names(self) -> list[str]:
        return [folded(_text(label)) for label in self.labels]

    @cached_property
    def _by_count(self) -> list[int]:
        order: list[int] = np.argsort(-self.counts, kind="stable").tolist()
        return order

    @cached_property
    def _by_text(self) -> dict[str, Any]:
        return {_text(label): label for label in self.labels}


def folded(text: str) -> str:
    """Without case and accents: é is e.

    Examples
    --------
    >>> folded("Ĝis Straße")
    'gis strasse'
    """
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(character for character in parts if not unicodedata.combining(character))


def _text(label: Any) -> str:
    """As JSON writes it."""
    return str(label).lower() if isinstance(label, bool) else str(label)
