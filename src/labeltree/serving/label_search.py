"""Search for labels by a part of their text or name, without regard to case and accents."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.cached import cached_property


@dataclass(frozen=True)
class LabelSearch:
    """The labels of a model, with their numbers of training examples.

    Examples
    --------
    >>> search = LabelSearch(["Café", "cat", "cafeteria", "dog"], np.array([1, 5, 3, 9]))
    >>> search.find("CAFE", limit=5, offset=0)
    {'labels': [{'label': 'cafeteria', 'count': 3}, {'label': 'Café', 'count': 1}], 'total': 2}
    """

    labels: Sequence[Any]
    counts: NDArray[np.int64]
    names: Mapping[Any, str] = field(default_factory=dict)

    @classmethod
    def of(cls, model: Any) -> LabelSearch:
        """Return the labels of a model, which may learn meanwhile."""
        while True:
            classes = model.classes_
            counts = np.asarray(model.label_counts_)
            if len(counts) == len(classes) and model.classes_ is classes:
                return cls(classes.tolist(), counts, model.model_.label_names or {})

    def find(self, query: str, limit: int, offset: int) -> dict[str, Any]:
        """Return the content of a `LabelsAnswer`: a page of the labels with `query` in their text or name.

        Labels that begin with the query come first, then the most frequent.
        """
        wanted, found = folded(query), self._by_count
        if wanted:
            texts = self._texts
            found = [i for i in found if wanted in texts[i]]
            found.sort(key=lambda i: not (texts[i].startswith(wanted) or f"\n{wanted}" in texts[i]))
        page = found[offset : offset + limit]
        labels = [{**self.named(self.labels[i]), "count": int(self.counts[i])} for i in page]
        return {"labels": labels, "total": len(found)}

    def named(self, label: Any) -> dict[str, Any]:
        """Return a label, with its name if it has one."""
        return {"label": label, "name": self.names[label]} if label in self.names else {"label": label}

    def by_text(self, text: str) -> Any | None:
        """Return the label with this text, as in a key of a JSON object, or None."""
        return self._by_text.get(text)

    @cached_property
    def _texts(self) -> list[str]:
        """The text of each label and, on a line of its own, its name."""
        names = self.names
        return [
            folded(f"{text_of(label)}\n{names[label]}" if label in names else text_of(label))
            for label in self.labels
        ]

    @cached_property
    def _by_count(self) -> list[int]:
        order: list[int] = np.argsort(-self.counts, kind="stable").tolist()
        return order

    @cached_property
    def _by_text(self) -> dict[str, Any]:
        return {text_of(label): label for label in self.labels}


def folded(text: str) -> str:
    """Return a text without case and accents.

    Examples
    --------
    >>> folded("Ĝis Straße")
    'gis strasse'
    """
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(character for character in parts if not unicodedata.combining(character))


def text_of(label: Any) -> str:
    """Return a label as JSON writes it."""
    return str(label).lower() if isinstance(label, bool) else str(label)
