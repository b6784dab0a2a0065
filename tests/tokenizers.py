"""Tokenizers that tests name by their import path."""

from __future__ import annotations

not_a_function = 3


def split_at_spaces(text: str) -> list[str]:
    return text.split()


def without_plural(text: str) -> list[str]:
    """A lemmatizer: a word for each word of the text."""
    return [word.strip(".,!").removesuffix("s") or "s" for word in text.split()]


def pairs(text: str) -> list[str]:
    """What a tokenizer of Chinese returns: parts of the text."""
    return [text[i : i + 2] for i in range(0, len(text), 2)]


def a_string(text: str) -> str:
    return text


def numbers(text: str) -> list[int]:
    return [1]
