"""Makes the golden models: small saved models of every kind, and what they predict.

The models of a format version are kept for ever, and every later version of the library must read them.
So this script leaves alone what is there and writes only what is missing::

    python -m tests.golden.make

The other files of this folder have the models, one file for each kind.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from tests.golden.decided_models import decided_cases, make_decided
from tests.golden.example_trees import example_cases, make_example_trees
from tests.golden.label_trees import (
    calibrated_cases,
    cases,
    dense_cases,
    joint_cases,
    make_label_tree,
    packed_cases,
    reranked_cases,
)
from tests.golden.mixes import make_mix, mixes
from tests.golden.named_labels import make_named, named_models
from tests.golden.online_trees import (
    given_tree_cases,
    later_online_cases,
    make_online_tree,
    online_cases,
    several_tree_cases,
)
from tests.golden.taggers import (
    FIELDED_TEXTS,
    TEXTS,
    later_tagger_cases,
    make_tagger,
    newest_tagger_cases,
    tagger_cases,
    vector_tagger_cases,
)
from tests.golden.word_vectors import make_vectors, vector_cases

GOLDEN = Path(__file__).parent


def main() -> None:
    write_missing(1, cases(), make_label_tree)
    write_missing(2, dense_cases() | joint_cases(), make_label_tree)
    write_missing(3, online_cases(), make_online_tree)
    write_missing(4, calibrated_cases(), make_label_tree)
    write_missing(4, decided_cases(), make_decided)
    write_missing(5, example_cases(), make_example_trees)
    tagger_of_texts = partial(make_tagger, texts=TEXTS)
    write_missing(6, tagger_cases(), tagger_of_texts)
    X, mixed = mixes()
    write_missing(7, mixed, partial(make_mix, X=X))
    X, named = named_models()
    write_missing(8, named, partial(make_named, X=X))
    write_missing(8, later_tagger_cases(), partial(make_tagger, texts=FIELDED_TEXTS))
    write_missing(9, reranked_cases(), make_label_tree)
    write_missing(9, later_online_cases(), make_online_tree)
    write_missing(9, newest_tagger_cases(), tagger_of_texts)
    write_missing(10, vector_cases(), make_vectors)
    write_missing(10, vector_tagger_cases(), tagger_of_texts)
    write_missing(12, given_tree_cases(), make_online_tree)
    write_missing(13, packed_cases(), make_label_tree)
    write_missing(13, several_tree_cases(), make_online_tree)


def write_missing(
    version: int, cases: Mapping[str, Any], make: Callable[[Path, Any], dict[str, Any]]
) -> None:
    """Let `make` save the models of a format version that are not there, and write what it returns beside them."""
    directory = GOLDEN / f"version-{version}"
    directory.mkdir(exist_ok=True)
    for name, case in cases.items():
        if not (directory / name).exists():
            expected = make(directory / name, case)
            (directory / f"{name}.json").write_text(json.dumps(expected) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
