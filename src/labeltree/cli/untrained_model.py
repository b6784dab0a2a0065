"""Models that commands will train, from the options, the parameters of a file and a preset."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from labeltree.cli.data_file import DataFile
from labeltree.cli.parameters import FOR_EVERY_RUN, is_given, option_name
from labeltree.cli.trained_model import refuse_wrong
from labeltree.cli.tree.hierarchy import tree_parameter
from labeltree.deep.extras import process_number
from labeltree.kinds import Kind
from labeltree.text import Tagger, TextVectorizer
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
    if made.get("encoder") == "":
        raise typer.BadParameter(
            "expected the directory of a pretrained encoder, or its name on the hub", param_hint="--encoder"
        )
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


@dataclass(frozen=True)
class MixOptions:
    """The options of a mixture.

    Attributes
    ----------
    mix : {"linear"}
    holdout : float
    """

    mix: str
    holdout: float

    @classmethod
    def of(
        cls, context: typer.Context, mix: str | None, holdout: float, tune: Any, stream: bool
    ) -> MixOptions | None:
        """Return the options of ``--mix`` if it is given; raise `BadParameter` for options that do not work with it."""
        if mix is None:
            if is_given(context, "holdout"):
                raise typer.BadParameter(
                    "sets texts aside to weigh models: add --mix linear", param_hint="--holdout"
                )
            return None
        for flag, given in {
            "--tune": tune is not None,
            "--stream": stream,
            "--weights": is_given(context, "weights"),
        }.items():
            if given:
                raise typer.BadParameter(f"does not work with --mix: remove {flag}", param_hint=flag)
        if not 0 < holdout < 1:
            raise typer.BadParameter(
                f"expected a share between 0 and 1, got {holdout:g}", param_hint="--holdout"
            )
        return cls(mix, holdout)

    def shares(self, tagger: Tagger) -> dict[str, float]:
        """Return the share of each trained member in the mean, by the name of its class."""
        mixed = tagger.classifier_
        total = sum(mixed.weights_)
        names = ["linear", type(tagger.classifier).__name__]
        return {name: weight / total for name, weight in zip(names, mixed.weights_, strict=True)}

    def describe(self, tagger: Tagger) -> str:
        """Return how much the members of a trained mixture count, in one line."""
        parts = " and ".join(f"{share:.0%} {name}" for name, share in self.shares(tagger).items())
        return f"mix of {parts}, weighed for nDCG@5 on held-out texts"

    def to_json(self, tagger: Tagger) -> dict[str, Any]:
        """Return the same as JSON."""
        return {"mix": self.mix, "holdout": self.holdout, "shares": self.shares(tagger)}


def mixed_tagger(classifier: Any, vectorizer: Any, options: MixOptions) -> Tagger:
    """Return an untrained mix of a classifier with a linear model over the words of this vectorizer."""
    return Tagger(classifier, vectorizer, mix=options.mix, holdout=options.holdout)


def check_texts_are_vectorized(method: str, text_options: Collection[str], data: DataFile) -> None:
    """Raise `BadParameter` for options of a vectorizer, because a network reads texts without one."""
    given = [option_name(name) for name in sorted(text_options)]
    if data.n_features is not None:
        given.append("--n-features")
    given += [
        f"--text {column}" for column in data.text if column not in (data.fields or {})
    ]  # with a weight
    if given:
        raise typer.BadParameter(
            f"is for the linear model of --mix linear, but --method {method} alone reads texts as they are",
            param_hint=given[0],
        )


def check_processes(method: str, reads_texts: bool, tune: float | None, path: str) -> None:
    """Raise `BadParameter` for a training that the processes of `torchrun` cannot share."""
    if process_number() is None:
        return
    if not reads_texts:
        raise typer.BadParameter(
            f"torchrun is for neural networks, but --method {method} trains in one process: start it without torchrun",
            param_hint="--method",
        )
    if tune is not None:
        raise typer.BadParameter(
            "the processes of torchrun would try different parameters: search without torchrun first",
            param_hint="--tune",
        )
    if path == "-":
        raise typer.BadParameter(
            "every process of torchrun reads all data, which standard input gives to one: pass a file",
            param_hint="DATA",
        )
