"""Words that depend on what they stand with: plurals and articles."""

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
