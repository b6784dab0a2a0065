"""Small parts of messages: plurals, articles, and texts that are cut."""

from __future__ import annotations


def count_text(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural if need be.

    Examples
    --------
    >>> count_text(1, "tree"), count_text(15803, "label"), count_text(0, "class")
    ('1 tree', '15,803 labels', '0 classes')
    """
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun}{'es' if noun.endswith('s') else 's'}"


def with_article(noun: str) -> str:
    """Return a noun, such as the name of a class, after "a" or "an".

    Examples
    --------
    >>> with_article("LabelTreeClassifier"), with_article("OnlineLabelTreeClassifier"), with_article("OneVsRest")
    ('a LabelTreeClassifier', 'an OnlineLabelTreeClassifier', 'a OneVsRest')
    """
    begins_with_vowel = noun[:1].lower() in "aeiou" and not noun.startswith("One")
    return f"{'an' if begins_with_vowel else 'a'} {noun}"


def shortened(text: str, most: int) -> str:
    """Return a text of at most `most` characters, with "…" in place of the rest.

    Examples
    --------
    >>> shortened("sailing boat", 8), shortened("boat", 8)
    ('sailing…', 'boat')
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"
