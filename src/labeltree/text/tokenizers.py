"""Tokenizers of one's own: functions that are found by name, if their import is allowed."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import accumulate
from typing import Any, TypeAlias

from labeltree.text.characters import normalized

#: Takes a text and returns its words.
Tokenizer: TypeAlias = Callable[[str], Sequence[str]]

#: The functions that models may name, separated by commas.
ALLOWED_VARIABLE = "LABELTREE_ALLOW_IMPORT"
_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")
_allowed: set[str] = set()

#: Separates the words of a text for the kernel.
_END = "\0"


def allow_import(name: str) -> None:
    """Allow models to use a function of yours as their tokenizer.

    A model directory is data: `load` imports no code that a model names, unless this process has allowed it. The
    environment variable ``LABELTREE_ALLOW_IMPORT`` does the same, with names separated by commas. A tokenizer that
    this process passed to `fit` is allowed.

    Parameters
    ----------
    name : str
        The module and the function, as in ``"mypackage.module:function"``.

    Examples
    --------
    >>> from labeltree.text import allow_import
    >>> allow_import("mypackage.module:function")
    """
    if not is_import_path(name):
        raise ValueError(f"expected a name such as 'mypackage.module:function', got {name!r}")
    _allowed.add(name)


def is_import_path(name: Any) -> bool:
    """Return whether a value has the form ``"mypackage.module:function"``."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


def find_tokenizer(name: str) -> Tokenizer:
    """Import a tokenizer; raise `ValueError` if that is not allowed or not possible."""
    check_allowed(
        name, f"the texts of this model are split by the function {name!r}, and models may not import"
    )
    return _imported(name)


def check_allowed(name: str, refusal: str) -> None:
    """Raise `ValueError`, whose message begins with `refusal`, unless a tokenizer may be imported."""
    in_variable = {one.strip() for one in os.environ.get(ALLOWED_VARIABLE, "").split(",")}
    if name not in _allowed and name not in in_variable:
        raise ValueError(
            f"{refusal} code by themselves. If you know and trust this function, set {ALLOWED_VARIABLE}={name} or "
            f"call labeltree.text.allow_import({name!r})"
        )


def name_of(tokenizer: Tokenizer) -> str:
    """Return the name by which a function can be imported; raise `ValueError` if there is none."""
    module, function = getattr(tokenizer, "__module__", None), getattr(tokenizer, "__qualname__", None)
    name = f"{module}:{function}"
    reason = None
    if module == "__main__":
        reason = "it is defined in __main__, which other programs do not have"
    elif not is_import_path(name):
        reason = f"{name!r} is not a function of a module"
    else:
        try:
            if _imported(name) is not tokenizer:
                reason = f"{name!r} is another function"
        except ValueError as error:
            reason = str(error)
    if reason is not None:
        raise ValueError(
            "a tokenizer is saved by its name, so it must be a function that can be imported, such as "
            f"'mypackage.module:function'; got {tokenizer!r}: {reason}"
        )
    return name


def _imported(name: str) -> Tokenizer:
    module, function = name.split(":")
    try:
        found = getattr(import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"the tokenizer {name!r} cannot be imported: {error}") from error
    if not callable(found):
        raise ValueError(f"the tokenizer {name!r} must be a function, got {type(found).__name__}")
    tokenizer: Tokenizer = found
    return tokenizer


class OwnWords:
    """Splits texts by a tokenizer, after lower case and accents.

    Parameters
    ----------
    name : str
        The tokenizer, which must be allowed.
    lowercase, strip_accents
        As of the vectorizer.
    """

    def __init__(self, name: str, lowercase: bool, strip_accents: str | None) -> None:
        self._name, self._normal = name, (lowercase, strip_accents)
        self._tokenizer = find_tokenizer(name)

    def split(self, texts: Iterable[Any]) -> Iterator[Any]:
        """Yield texts, or texts of several fields, with their words as the kernel takes them."""
        for text in texts:
            if isinstance(text, Mapping):
                yield {name: self.joined(piece) for name, piece in text.items()}
            else:
                yield self.joined(text)

    def joined(self, text: Any) -> Any:
        """Return the words of a text as the kernel takes them; what is not a string stays, and is refused later."""
        if not isinstance(text, str):
            return text
        return _END.join(self._words(normalized(text, *self._normal)))

    def _words(self, text: str) -> list[str]:
        words = self._tokenizer(text)
        if isinstance(words, str) or not isinstance(words, Sequence):
            found = type(words).__name__
        else:
            found = next((type(word).__name__ for word in words if not isinstance(word, str)), "")
        if found:
            raise ValueError(f"the tokenizer {self._name!r} must return a list of strings, got {found}")
        kept = [word.replace(_END, "") if _END in word else word for word in words]
        return [word for word in kept if word]

    def places(self, text: str, spans: Sequence[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
        """Return spans of the joined words as spans of the text; words whose place is not found have none."""
        lengths = [len(normalized(character, *self._normal)) for character in text]
        origins = [i for i, length in enumerate(lengths) for _ in range(length)]
        normal = normalized(text, *self._normal)
        words = self._words(normal)
        begins = [0, *accumulate(len(word) + 1 for word in words)]
        where = _find_words(words, normal)
        found = []
        for column, begin, end in spans:
            first, last = bisect_right(begins, begin) - 1, bisect_right(begins, end - 1) - 1
            known = [place for place in where[first : last + 1] if place is not None]
            if known:
                found.append((column, origins[known[0][0]], origins[known[-1][1] - 1] + 1))
        return sorted(found, key=lambda span: (span[1], span[2], span[0]))


def _find_words(words: Sequence[str], text: str) -> list[tuple[int, int] | None]:
    """Return the begin and end of words.

    If the text has as many words of letters, each stands for the word in its place: a lemmatizer changes words.
    Otherwise they are looked for one after the other.
    """
    for pattern in (r"\w+", r"\w\w+"):
        runs = [match.span() for match in re.finditer(pattern, text)]
        if len(runs) == len(words):
            return list(runs)
    found: list[tuple[int, int] | None] = []
    at = 0
    for word in words:
        begin = text.find(word, at)
        if begin >= 0:
            at = begin + len(word)
        found.append((begin, at) if begin >= 0 else None)
    return found
