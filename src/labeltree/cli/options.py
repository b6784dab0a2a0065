"""Arguments and options that several commands have in common."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import typer

WeightType: TypeAlias = Literal["float32", "bfloat16", "int8"]


def option(help: str, *names: str, **settings: Any) -> Any:
    """Return an option; its name is that of the parameter, unless names are given."""
    return typer.Option(*names, help=help, **settings)


def argument(metavar: str, help: str) -> Any:
    """Return an argument that help pages call `metavar`."""
    return typer.Argument(metavar=metavar, help=help, show_default=False)


def _positive(value: float) -> float:
    """Raise `BadParameter` unless a number is positive and finite."""
    if not 0 < value < float("inf"):
        raise typer.BadParameter(f"must be a positive number, got {value}")
    return value


#: Options for a whole number from 1, for a probability, and for the name of a file.
count = partial(option, min=1, metavar="N")
probability_option = partial(option, min=0, max=1, metavar="P")
file_option = partial(option, metavar="FILE")

Model = Annotated[Path, argument("MODEL", "The directory of a trained model.")]
LabelNames = Annotated[
    Path | None,
    file_option(
        "A file with readable names of labels: a table (.csv, .tsv) of labels and names, a SKOS vocabulary (.ttl, "
        ".rdf, …), or a list of names, one per line, from label 0 on. By default the names in the model."
    ),
]
Language = Annotated[str, option("The language of the names in a SKOS vocabulary.", metavar="CODE")]
K = Annotated[
    int | None,
    option(
        "The maximum number of labels of a text or row; 5 by default. Without this option and --threshold, the model "
        "uses the thresholds set by 'labeltree decide', if there are any.",
        "--k",
        "-k",
        min=1,
        metavar="K",
    ),
]
Threshold = Annotated[
    float | None, probability_option("Leave out labels with a smaller probability; 0 by default.")
]
LabelWeight = Annotated[
    str | None,
    option(
        "Rank labels by weight times probability. propensity: rare labels weigh more. A file has one weight per line, "
        "from label 0 on, or lines 'label,weight'; other labels weigh 1.",
        metavar="propensity|FILE",
    ),
]
PropensityA = Annotated[
    float,
    option(
        "With B, the parameters of the propensities. Papers use 0.5 and 0.4 for Wikipedia, 0.6 and 2.6 for Amazon, and "
        "the defaults for other data.",
        "--A",
        callback=_positive,
    ),
]
PropensityB = Annotated[float, option("See A.", "--B", callback=_positive)]
FilterLabels = Annotated[
    Path | None,
    file_option(
        "A file with lines 'row label', counted from 0: pairs that count neither as true nor as predicted, as in the "
        "filter_labels files of the Extreme Classification Repository."
    ),
]
Json = Annotated[bool, option("Print one JSON object, for scripts.", "--json")]
