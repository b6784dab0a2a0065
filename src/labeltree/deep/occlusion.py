"""Explanations of any model of texts: what happens to a label when a part of the text is left out."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from itertools import accumulate, groupby
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labeltree.deep.tokens import TextTokenizer, as_string
from labeltree.model.explanation import Contribution
from labeltree.model.texts import Text
from labeltree.text.text_explanation import Highlight, TextExplanation
from labeltree.validation import check_count

#: A longer text is cut into this many parts of several words.
MOST_PARTS = 64


def explain_by_occlusion(
    classifier: Any, text: Text, label: Any, n_features: int, tokenizer: TextTokenizer
) -> TextExplanation:
    """Explain a label of a text by the words whose absence changes its log-odds.

    Parameters
    ----------
    classifier : trained classifier
    text : str or mapping of fields
    label : one of its labels
    n_features : int
        The maximum number of words in the explanation.
    tokenizer : TextTokenizer
        Tells where words are.
    """
    check_count("n_features", n_features)
    whole = as_string(text)
    model, search = classifier.model_, classifier.make_search()
    position = int(model.label_index.positions([label])[0])
    fields = _fields(text)
    words = tokenizer.spans(whole)
    spans = _merged(words, [begin for begin, _ in fields])
    # What comes after the tokens that are read is left out: a long text is not read again for each of its parts.
    whole = whole[: words[-1][1]] if words else whole
    without = [whole[:begin] + whole[end:] for begin, end in spans]
    features = model.read_texts([whole, *without])
    rows = np.arange(len(without) + 1)
    probability = model.forest.pairs(features, rows, np.full(len(rows), position, dtype=np.int32), search)
    amounts = _log_odds(probability[:1]) - _log_odds(probability[1:])
    found = model.forest.explain(features.take(rows[:1]), position, search, 0, None)
    parts = [whole[begin:end] for begin, end in spans]
    strongest = np.argsort(-np.abs(amounts), kind="stable")[:n_features]
    contributions = tuple(Contribution(parts[at], 1.0, float(amounts[at])) for at in strongest)
    # The whole network decides about every node: parts of the text belong to the label, the last node of a path.
    paths = [[*path[:-1], replace(path[-1], contributions=contributions)] for path in found.paths]
    highlights = [
        _highlight(begin, end, float(amount), fields)
        for (begin, end), amount in zip(spans, amounts, strict=True)
    ]
    return TextExplanation(label, found.probability, paths, highlights)


def _fields(text: Text) -> list[tuple[int, str | None]]:
    """Return where each field begins in the string that `as_string` makes of a text, and its name."""
    if isinstance(text, str):
        return [(0, None)]
    given = [(name, value) for name, value in text.items() if value]
    begins = accumulate((len(value) + 1 for _, value in given), initial=0)
    return [(begin, name) for begin, (name, _) in zip(begins, given, strict=False)]


def _highlight(begin: int, end: int, amount: float, fields: list[tuple[int, str | None]]) -> Highlight:
    """Return a part of the whole string as a part of its field."""
    first, name = fields[bisect_right(fields, begin, key=itemgetter(0)) - 1]
    return Highlight(begin - first, end - first, amount, name)


def _merged(spans: list[tuple[int, int]], begins: list[int]) -> list[tuple[int, int]]:
    """Return the parts of a text: its words, or runs of words of a field if there are many."""
    n_words = max(-(-len(spans) // MOST_PARTS), 1)
    parts = []
    for _, run in groupby(spans, key=lambda span: bisect_right(begins, span[0])):
        words = list(run)
        for at in range(0, len(words), n_words):
            some = words[at : at + n_words]
            parts.append((some[0][0], some[-1][1]))
    return parts


def _log_odds(probability: NDArray[np.float32]) -> NDArray[np.float64]:
    safe = np.clip(probability.astype(np.float64), 1e-12, 1 - 1e-12)
    odds: NDArray[np.float64] = np.log(safe) - np.log1p(-safe)
    return odds
