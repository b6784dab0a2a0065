"""The words that a parameter takes are those of its docstring, which are also the values of its option."""

from __future__ import annotations

import re

import pytest

from labeltree import OnlineLabelTreeClassifier
from labeltree.cli.parameters import classifier_parameters
from labeltree.kinds import KINDS, Kind, kind_of

#: `tree` has words that register themselves, and `C` takes one word beside its numbers.
WITHOUT_BRACES = {"tree", "C"}
#: What saved models have instead of an array or a dictionary.
IN_SAVED_MODELS = {"label_weight": {"given"}}
#: Wrong values of other parameters are refused before theirs are looked at.
NEEDED = {"EncoderTreeClassifier": {"encoder": "a directory"}}


def accepted_words(kind: Kind, name: str) -> set[str]:
    """Return the words that the message about a wrong one lists; none if any text is accepted."""
    parameters = {**NEEDED.get(kind.estimator, {}), name: "no such word"}
    try:
        kind.load()(**parameters).check_parameters()
    except (ValueError, ImportError) as error:  # without torch, what is right of a network ends so
        listed = re.search(rf"the parameter '{name}' must be (.*), got ", str(error))
        return set(re.findall(r"'([^']+)'", listed[1])) if listed else set()
    return set()


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.panels], ids=lambda kind: kind.estimator)
def test_words_of_docstrings(kind: Kind) -> None:
    parameters = classifier_parameters(kind.estimator)
    documented = {name: set(parameter.words) for name, parameter in parameters.items()}
    accepted = {name: accepted_words(kind, name) - IN_SAVED_MODELS.get(name, set()) for name in documented}
    for name in WITHOUT_BRACES | {"device"}:
        accepted.pop(name, None)
        documented.pop(name, None)
    assert accepted == documented


def test_there_are_words() -> None:
    assert accepted_words(kind_of(OnlineLabelTreeClassifier), "solver") == {"adagrad", "sgd", "fobos"}
