"""Artworks of the bundled catalogue, with the subjects that a model predicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from labeltree.datasets import TateCatalogue
from labeltree.text import Tagger

N_ARTWORKS = 5
N_SUBJECTS = 5
BAR_WIDTH = 10


@dataclass(frozen=True)
class Artwork:
    """A caption, its true subjects, and the predicted ones with their probabilities, best first."""

    caption: str
    true: list[str]
    predicted: list[tuple[str, float]]

    def to_json(self) -> dict[str, Any]:
        predicted = [{"label": name, "probability": probability} for name, probability in self.predicted]
        return {"caption": self.caption, "true": self.true, "predicted": predicted}

    def __rich__(self) -> Group:
        predicted = Table.grid(padding=(0, 1))
        predicted.add_column(width=1)
        predicted.add_column(width=24, no_wrap=True, overflow="ellipsis")
        predicted.add_column(width=BAR_WIDTH)
        predicted.add_column(width=4)
        for name, probability in self.predicted:
            mark, style, bar_style = ("✓", "bold green", "green") if name in self.true else ("", "", "dim")
            bar = Text(_bar(probability), bar_style)
            predicted.add_row(Text(mark, "green"), Text(name, style), bar, f"{probability:.2f}")
        found = {name for name, _ in self.predicted}
        names = [Text(name, "bold green" if name in found else "") for name in self.true]
        columns = Table.grid(padding=(0, 3), expand=True)
        columns.add_column(width=42)
        columns.add_column(ratio=1)
        columns.add_row(predicted, Text("true: ", "dim") + Text(" · ").join(names))
        caption = Text(self.caption, "italic", no_wrap=True, overflow="ellipsis")
        return Group(caption, Padding(columns, (0, 0, 0, 2)))


def ask(tagger: Tagger, catalogue: TateCatalogue) -> list[Artwork]:
    """Return artworks of the test set, evenly spaced, with their most specific subjects."""
    general, names = set(catalogue.parents.values()), catalogue.subject_names
    specific = [subject for subject in tagger.classes_.tolist() if subject not in general]
    artworks = []
    for number in range(N_ARTWORKS):
        row = number * (len(catalogue.texts_test) - 1) // (N_ARTWORKS - 1)
        caption = catalogue.texts_test[row]
        top = tagger.predict_topk([caption], N_SUBJECTS, threshold=0.01, allow=specific)
        pairs = zip(top.labels[0].tolist(), top.probabilities[0].tolist(), strict=True)
        true = sorted(set(catalogue.labels_test[row]).intersection(specific))
        artworks.append(
            Artwork(
                caption=caption,
                true=[names[subject] for subject in true],
                predicted=[
                    (names[subject], probability) for subject, probability in pairs if probability > 0
                ],
            )
        )
    return artworks


def _bar(probability: float) -> str:
    """Return a bar that is full at 1, drawn in eighths of a character."""
    full, eighths = divmod(round(8 * BAR_WIDTH * probability), 8)
    return "█" * full + " ▏▎▍▌▋▊▉"[eighths].strip()
