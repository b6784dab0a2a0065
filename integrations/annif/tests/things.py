"""A small vocabulary, and documents about it."""

from __future__ import annotations

import random

WORDS = {
    "cat": "purr whisker kitten meow",
    "dog": "bark leash puppy growl",
    "horse": "saddle gallop stable hoof",
    "ship": "harbour anchor sail deck",
    "train": "railway locomotive platform carriage",
    "bread": "flour oven yeast loaf",
    "wine": "vineyard grape cellar bottle",
    "book": "chapter page author library",
    "moon": "crater orbit eclipse tide",
}
#: In the vocabulary, but in no document that projects are trained on.
NEW = "moon"


def uri(subject: str) -> str:
    return f"http://example.org/{subject}"


def line(*subjects: str, seed: int = 0) -> str:
    """Return a document about some subjects, as a line of a TSV file."""
    pick = random.Random(f"{subjects}{seed}")
    words = [word for subject in subjects for word in pick.sample(WORDS[subject].split(), 3)]
    text = f"This document of today mentions {' and '.join(words)}."
    return f"{text}\t{' '.join(f'<{uri(subject)}>' for subject in subjects)}\n"


def lines(seed: int, per_subject: int) -> str:
    known = [subject for subject in WORDS if subject != NEW]
    return "".join(
        line(subject, *others, seed=seed + number)
        for number in range(per_subject)
        for position, subject in enumerate(known)
        for others in ((), (known[position - 1],))
    )


def skos() -> str:
    concepts = (f'<{uri(s)}> a skos:Concept ; skos:prefLabel "{s}"@en .' for s in WORDS)
    return "\n".join(["@prefix skos: <http://www.w3.org/2004/02/skos/core#> .", *concepts])
