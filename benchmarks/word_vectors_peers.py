"""The systems that learn word vectors: ours and, for each, the package that it is compared with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from benchmarks.peers import PEERS, Peer

#: Our systems, with the class and the parameters of each.
OUR_SYSTEMS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "labeltree-extremetext": ("ExtremeTextClassifier", {}),
    "labeltree-fasttext-hs": ("FastTextClassifier", {"loss": "hs"}),
    "labeltree-fasttext-ova": ("FastTextClassifier", {"loss": "ova"}),
}

#: Our systems and their rivals.
PAIRS: Mapping[str, str] = {
    "labeltree-extremetext": "extremetext",
    "labeltree-fasttext-hs": "fasttext-hs",
    "labeltree-fasttext-ova": "fasttext-ova",
}

#: A system and its rival follow each other, so that they run under the same conditions.
SYSTEMS = [system for pair in PAIRS.items() for system in pair]

_ALIKE = "reads its own text format as it trains; predicts in one thread"
#: Its threads initialise a tenth of the word vectors each. The others begin with what was in memory, often zeros.
_WORDS = (
    "knows no weights of features: a feature is a word; with fewer than 10 threads, it initialises only some of its "
    f"word vectors, and may end with NaN on small sets; {_ALIKE}"
)
_NOTES = {"extremetext": f"has no seed; {_ALIKE}", "fasttext-hs": _WORDS, "fasttext-ova": _WORDS}


def peers(dimension: int, epochs: int, extremetext_lr: float, fasttext_lr: float) -> dict[str, Peer]:
    """The systems with the same dimension and number of epochs; the learning rates are those of the other packages."""
    made = {
        name: Peer(
            (),
            "",
            "labeltree_vectors_system.py",
            settings={
                "estimator": estimator,
                "parameters": {**parameters, "dimension": dimension, "epochs": epochs},
            },
        )
        for name, (estimator, parameters) in OUR_SYSTEMS.items()
    }
    for name in PAIRS.values():
        rate = extremetext_lr if name == "extremetext" else fasttext_lr
        settings = {**PEERS[name].settings, "dim": dimension, "epoch": epochs, "lr": rate}
        made[name] = replace(PEERS[name], settings=settings, note=_NOTES[name])
    return made
