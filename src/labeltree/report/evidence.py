"""The words of a text, or the features of a row, that count most for or against a label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from labeltree.model.explanation import FeatureNames
from labeltree.questions import Questions
from labeltree.text.text_explanation import Highlight, explain_text
from labeltree.validation import take_rows

#: Longer texts are cut to the part with the most evidence.
LONGEST_TEXT = 400
#: A text is shown from its beginning if that has this share of the most evidence.
NEARLY_ALL = 0.8
#: Stands between two fields of a text.
BETWEEN_FIELDS = " · "
#: Maximum number of features in a list.
LISTED_FEATURES = 8
#: A word counts a little or much if its amount is at least this share of the largest.
A_LITTLE, MUCH = 0.2, 0.6


class Piece(NamedTuple):
    """A part of a text, and how much it counts: from -2, much against the label, to 2, much for it."""

    text: str
    strength: int


@dataclass(frozen=True)
class Evidence:
    """What the model saw in a row: a text in pieces, or the features with the largest amounts; both may be empty."""

    pieces: Sequence[Piece] = ()
    features: Sequence[tuple[Any, float]] = ()


@dataclass(frozen=True)
class EvidenceFinder:
    """Finds the evidence for labels in the rows of X, which were texts or not."""

    model: Questions
    X: Any
    texts: Sequence[Any] | None
    feature_names: FeatureNames

    def __call__(self, row: int, label: int) -> Evidence:
        """Return the evidence for a label, given by its position."""
        name = self.model.model_.label_index.classes[[label]].tolist()[0]
        if self.texts is not None:
            return Evidence(self._pieces(self.texts[row], name))
        trained = self.model.model_
        has_names = trained.feature_names is not None or (trained.takes_text and trained.learns)
        if self.feature_names is None and not has_names:
            return Evidence()
        return Evidence(features=self._features(row, name))

    def _pieces(self, text: Any, label: Any) -> list[Piece]:
        try:
            highlights = explain_text(self.model, text, label, 1).highlights
        except ValueError:  # the scores of this kind of model are not sums over words
            highlights = ()
        return marked(*joined(text, highlights))

    def _features(self, row: int, label: Any) -> list[tuple[Any, float]]:
        x = take_rows(self.X, [row])
        try:
            found = self.model.explain(x, label, n_features=1_000_000, feature_names=self.feature_names)
        except ValueError:
            return []
        return sorted(found.amounts().items(), key=lambda pair: -abs(pair[1]))[:LISTED_FEATURES]


def joined(text: Any, highlights: Sequence[Highlight] = ()) -> tuple[str, list[Highlight]]:
    """Return the fields of a text as one text, with the highlights at their new places.

    Examples
    --------
    >>> joined({"title": "Sea", "body": "A boat"}, [Highlight(2, 6, 1.0, "body")])
    ('Sea · A boat', [Highlight(begin=8, end=12, amount=1.0, field=None)])
    """
    if isinstance(text, str):
        return text, list(highlights)
    begins: dict[Any, int] = {}
    whole = ""
    for name, value in text.items():
        if value:
            whole += BETWEEN_FIELDS if whole else ""
            begins[name] = len(whole)
            whole += str(value)
    moved = [Highlight(begins[of] + begin, begins[of] + end, amount) for begin, end, amount, of in highlights]
    return whole, moved


def marked(text: str, highlights: Sequence[Highlight], longest: int = LONGEST_TEXT) -> list[Piece]:
    """Cut a text to the part with the most evidence, and split it where the strength of the evidence changes.

    Examples
    --------
    >>> marked("a boat at sea", [Highlight(2, 6, 0.3), Highlight(10, 13, -1.0)])
    [Piece(text='a ', strength=0), Piece(text='boat', strength=1), Piece(text=' at ', strength=0), \
Piece(text='sea', strength=-2)]
    """
    amounts = np.zeros(len(text))
    for highlight in highlights:
        amounts[highlight.begin : highlight.end] += highlight.amount
    begin, end = _window(text, np.abs(amounts), longest)
    largest = np.abs(amounts).max(initial=0.0)
    share = np.abs(amounts) / largest if largest > 0 else amounts
    strength = (np.sign(amounts) * ((share >= A_LITTLE).astype(int) + (share >= MUCH))).astype(int)
    changes = np.flatnonzero(np.diff(strength[begin:end])) + begin + 1
    edges = [begin, *changes.tolist(), end]
    pieces = [Piece(text[a:b], int(strength[a])) for a, b in pairwise(edges) if a < b]
    before = [Piece("… ", 0)] if begin > 0 else []
    return before + pieces + ([Piece(" …", 0)] if end < len(text) else [])


def _window(text: str, amounts: Any, longest: int) -> tuple[int, int]:
    """Return the part of at most `longest` characters that has the most evidence, between two blanks if it can be."""
    if len(text) <= longest:
        return 0, len(text)
    sums = np.concatenate([[0.0], np.cumsum(amounts)])
    of_windows = sums[longest:] - sums[:-longest]
    best = np.flatnonzero(of_windows >= of_windows.max() * (1 - 1e-9))
    # Readers know a text by its beginning. Elsewhere, the words that count are in the middle of the part.
    begin = 0 if of_windows[0] >= NEARLY_ALL * of_windows.max() else int(best[len(best) // 2])
    end = min(begin + longest, len(text))
    if begin > 0 and (blank := text.find(" ", begin, begin + 30)) >= 0:
        begin = blank + 1
    if end < len(text) and (blank := text.rfind(" ", end - 30, end)) >= 0:
        end = blank
    return begin, end
