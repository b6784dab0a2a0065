"""Arguments and options that several commands have in common."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import typer

DataFormat: TypeAlias = Literal["auto", "xmlc", "libsvm"]
StreamFormat: TypeAlias = Literal["auto", "jsonl", "xmlc", "libsvm", "fasttext"]
WeightType: TypeAlias = Literal["float32", "bfloat16", "int8"]


def option(help: str, *names: str, **settings: Any) -> Any:
    """Return an option; its name is that of the parameter, unless names are given."""
    return typer.Option(*names, help=help, **settings)


def argument(metavar: str, help: str) -> Any:
    """Return an argument that help pages call `metavar`."""
    return typer.Argument(metavar=metavar, help=help, show_default=False)


#: Options for a whole number from 1, for a probability, for the name of a file, and about the data file.
count = partial(option, min=1, metavar="N")
probability_option = partial(option, min=0, max=1, metavar="P")
file_option = partial(option, metavar="FILE")
data_option = partial(option, rich_help_panel="The data")
_data_count = partial(count, rich_help_panel="The data")

Data = Annotated[
    str,
    argument(
        "DATA",
        "A data file, such as one with rows 'label,label feature:value …', or - for standard input. "
        "Names ending in .gz, .xz and .zst are decompressed.",
    ),
]
Model = Annotated[Path, argument("MODEL", "The directory of a trained model.")]
Format = Annotated[
    DataFormat,
    data_option(
        "The format of DATA: xmlc, the text format of the extreme classification repository (with or without a "
        "header), or libsvm. auto: libsvm if the name ends in .svm or .libsvm, else xmlc.",
        metavar="FORMAT",
    ),
]
TrainingFormat = Annotated[
    Literal["auto", "xmlc", "libsvm", "jsonl"],
    data_option(
        "The format of DATA. xmlc: rows of numbers in the text format of the extreme classification repository "
        "(with or without a header). libsvm: rows of numbers. jsonl: texts in JSON lines such as "
        '{"text": "A boat", "labels": ["sea"]}. auto: jsonl if the name ends in .jsonl, libsvm if it ends in .svm or '
        ".libsvm, else xmlc.",
        metavar="FORMAT",
    ),
]
AnyFormat = Annotated[
    StreamFormat,
    data_option(
        "The format of the file. jsonl: JSON objects with 'features' or 'text', and 'labels'. xmlc, libsvm: rows of "
        "numbers. fasttext: fastText lines. auto: by the name of the file or, if that does not tell, by its first "
        "line. Named features are for models of 'labeltree learn'.",
        metavar="FORMAT",
    ),
]
OneBased = Annotated[
    bool | None,
    data_option(
        "Whether ids count from 1. By default only the features of libsvm files do.",
        "--one-based/--zero-based",
    ),
]
NFeatures = Annotated[
    int | None,
    _data_count(
        "The number of features. Set it for a file without a header if later files have larger feature ids."
    ),
]
NLabels = Annotated[
    int | None,
    _data_count(
        "The number of labels. Set it for a file without a header if later files have larger label ids."
    ),
]
LabelNames = Annotated[
    Path | None,
    file_option("A file with the names of the labels, one per line, from label 0 on.", "--labels"),
]
LabelWeight = Annotated[
    str | None,
    option(
        "Rank labels by weight times probability. propensity: rare labels weigh more. A file has one weight per line, "
        "from label 0 on, or lines 'label,weight'; labels that it leaves out weigh 1.",
        metavar="propensity|FILE",
    ),
]
Json = Annotated[bool, option("Print one JSON object, for scripts.", "--json")]
