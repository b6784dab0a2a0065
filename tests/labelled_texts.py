"""Texts whose labels can be told from their words."""

from __future__ import annotations

import numpy as np

_WORDS = {
    "sea": "boat wave harbour sailor tide anchor",
    "animal": "cat dog horse kitten paw tail",
    "city": "street house tower bridge crowd tram",
    "food": "bread cheese apple soup kitchen salt",
    "music": "violin song choir drum melody concert",
}
_COMMON = ["the", "a", "of", "with", "near", "under", "two", "old", "and", "is"]


def labelled_texts(n_texts: int = 200, seed: int = 0) -> tuple[list[str], list[list[str]]]:
    """Texts of one to three labels, which are words, with words of theirs and common ones."""
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for _ in range(n_texts):
        chosen = rng.choice(list(_WORDS), size=rng.integers(1, 4), replace=False).tolist()
        words = [word for label in chosen for word in rng.choice(_WORDS[label].split(), size=3).tolist()]
        words += rng.choice(_COMMON, size=6).tolist()
        texts.append(" ".join(rng.permutation(words).tolist()).capitalize() + ".")
        labels.append(sorted(chosen))
    return texts, labels
