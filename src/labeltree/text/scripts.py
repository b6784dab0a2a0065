"""A warning for texts whose words are not separated by spaces."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import TypeVar

_Text = TypeVar("_Text")

#: This many texts are looked at, and this many characters of each.
_N_TEXTS, _N_CHARACTERS = 100, 500
#: Fewer letters of such scripts than this do not count.
_FEWEST = 20
#: Han, Hiragana, Katakana, Thai, Lao, Burmese and Khmer.
_UNSPACED = re.compile(
    "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff\u3041-\u3096\u30a1-\u30fa\u31f0-\u31ff"
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ede\u1000-\u109f\u1780-\u17d3]"
)
_LETTER = re.compile(r"[^\W\d_]")


def warn_of_unspaced(texts: Iterable[_Text]) -> Iterable[_Text]:
    """Warn if most letters of some of the texts are of a script without spaces between words.

    Returns
    -------
    iterable
        All texts: an iterator gives its first ones up to be looked at.
    """
    if isinstance(texts, Sequence):
        sample = list(texts[:: max(1, len(texts) // _N_TEXTS)][:_N_TEXTS])
    else:
        rest: Iterator[_Text] = iter(texts)
        sample = list(islice(rest, _N_TEXTS))
        texts = chain(sample, rest)
    pieces = [
        piece[:_N_CHARACTERS]
        for text in sample
        for piece in (text.values() if isinstance(text, Mapping) else (text,))
        if isinstance(piece, str)
    ]
    n_unspaced = sum(len(_UNSPACED.findall(piece)) for piece in pieces if not piece.isascii())
    if n_unspaced >= _FEWEST and 2 * n_unspaced > sum(len(_LETTER.findall(piece)) for piece in pieces):
        warnings.warn(
            "most of these texts are in a script without spaces between words, such as Chinese, Japanese or Thai, so "
            "that whole phrases count as words: analyzer='char' with ngram_range=(1, 2), or a tokenizer, does better",
            stacklevel=4,
        )
    return texts
