"""Artworks of the bundled catalogue, with what a model says they show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from labeltree.datasets import TateCatalogue, TateMatrices

N_ARTWORKS = 5
N_SUBJECTS = 5
BAR_WIDTH = 10


@dataclass(frozen=True)
class Artwork:
    """A caption, its true subjects and the predicted ones with their probabilities, best first."""

    caption: str
    true: list[str]
    predicted: list[tuple[str, float]]

    def to_json(self) -> dict[str, Any]:
        return {
            "caption": self.caption,
            "true": self.true,
            "predicted": [
                {"label": name, "probability": probability} for name, probability in self.predicted
            ],
        }

    def __rich__(self) -> Group:
        predicted = Table.grid(padding=(0, 1))
        predicted.add_column(width=1)
        predicted.add_column(width=24, no_wrap=True, overflow="ellipsis")
        predicted.add_column(width=BAR_WIDTH)
        predicted.add_column(width=4)
        for name, probability in self.predicted:
            hit = name in self.true
            predicted.add_row(
                Text("✓" if hit else "", "green"),
                Text(name, "bold green" if hit else ""),
                Text(_bar(probability), "green" if hit else "dim"),
                f"{probability:.2f}",
            )
        found = {name for name, _ in self.predicted}
        names = [Text(name, "bold green" if name in found else "") for name in self.true]
        true = Text("true: ", "dim") + Text(", ").join(names)
        columns = Table.grid(padding=(0, 3), expand=True)
        columns.add_column(width=42)
        columns.add_column(ratio=1)
        columns.add_row(predicted, true)
        return Group(
            Text(self.caption, "italic", no_wrap=True, overflow="ellipsis"), Padding(columns, (0, 0, 0, 2))
        )


def ask(classifier: Any, catalogue: TateCatalogue, data: TateMatrices) -> list[Artwork]:
    """Some artworks of the test set, evenly spaced, with the subjects that have none below them."""
    general = set(catalogue.parents.values())
    ids = data.subject_ids.tolist()
    specific = [column for column, subject in enumerate(ids) if subject not in general]
    names = [catalogue.subject_names[subject] for subject in ids]
    artworks = []
    for number in range(N_ARTWORKS):
        row = number * (data.X_test.shape[0] - 1) // (N_ARTWORKS - 1)
        labels, probabilities = classifier.predict_topk(
            data.X_test[row], N_SUBJECTS, threshold=0.01, allow=specific
        )
        true = set(data.y_test[row].indices.tolist()).intersection(specific)
        artworks.append(
            Artwork(
                caption=catalogue.texts_test[row],
                true=[names[column] for column in sorted(true)],
                predicted=[
                    (names[column], probability)
                    for column, probability in zip(labels[0].tolist(), probabilities[0].tolist(), strict=True)
                    if column >= 0
                ],
            )
        )
    return artworks


def _bar(probability: float) -> str:
    """A bar that is full at 1, drawn in eighths of a character."""
    full, eighths = divmod(round(8 * BAR_WIDTH * probability), 8)
    return "█" * full + " ▏▎▍▌▋▊▉"[eighths].strip()
