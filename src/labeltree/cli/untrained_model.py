"""Models that commands will train, from the options, the parameters of a file and a preset."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from labeltree.cli.data_file import DataFile
from labeltree.cli.parameters import FOR_EVERY_RUN
from labeltree.cli.trained_model import refuse_wrong
from labeltree.cli.tree.hierarchy import tree_parameter
from labeltree.kinds import Kind
from labeltree.text import TextVectorizer
from labeltree.tuning import read_parameters


def untrained(make: Callable[..., Any], parameters: dict[str, Any]) -> Any:
    """Make an estimator from options; raise `BadParameter` for wrong ones, before any data is read."""
    model = make(**parameters)
    refuse_wrong(model.check_parameters)
    return model


def untrained_vectorizer(parameters: dict[str, Any], source: DataFile) -> Any:
    """Return a vectorizer for the texts of a file; wrong parameters raise `BadParameter`."""
    made = {**parameters, "fields": source.fields, "n_jobs": -1}
    if source.n_features is not None:
        made["n_features"] = source.n_features
    return untrained(TextVectorizer, made)


def read_parameters_of(kind: Kind, file: Path | None) -> dict[str, Any]:
    """Read the parameters of ``--parameters``, if it is given; those of texts are under the name ``text``."""
    return {} if file is None else read_parameters(file, kind.load())


def vectorizer_of(
    parameters: dict[str, Any], given: set[str], read: dict[str, Any], data: DataFile
) -> tuple[Any, set[str]]:
    """Return a vectorizer, not yet trained, for the parameters `given` and those `read`; and the names of both."""
    made = {**parameters, **{name: value for name, value in read.items() if name not in given}}
    return untrained_vectorizer(made, data), given | read.keys()


def classifier_of(
    kind: Kind, parameters: dict[str, Any], given: set[str], preset: str | None, read: dict[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """Return an estimator, not yet trained, and its parameters: those `given`, those `read`, then the preset's.

    Wrong options raise an error here, before any data is read.
    """
    estimator = kind.load()
    parameters = {**parameters, **{name: value for name, value in read.items() if name not in given}}
    given = given | read.keys()
    made = dict(parameters)
    if "tree" in parameters:
        if not (kind.reads_texts and parameters["tree"] == "auto"):  # a word of networks alone
            made["tree"] = tree_parameter(parameters["tree"])
        if isinstance(made["tree"], list) and "n_trees" not in given:
            made["n_trees"] = len(made["tree"])
            given = given | {"n_trees"}
    if preset is not None:
        made = {name: made[name] for name in (*given, *FOR_EVERY_RUN)}
        return untrained(getattr(estimator, preset), made), parameters
    return untrained(estimator, made), parameters
