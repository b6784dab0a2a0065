"""Arguments and options that several commands have in common."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

DataFormat: TypeAlias = Literal["auto", "xmlc", "libsvm"]
TrainingDataFormat: TypeAlias = Literal["auto", "xmlc", "libsvm", "jsonl"]
StreamFormat: TypeAlias = Literal["auto", "jsonl", "xmlc", "libsvm", "fasttext"]
WeightType: TypeAlias = Literal["float32", "bfloat16", "int8"]

#: An option for a whole number from 1.
count = partial(typer.Option, min=1, metavar="N")
#: An option for a probability.
probability = partial(typer.Option, min=0, max=1, metavar="P")
#: An option for the name of a file.
file = partial(typer.Option, metavar="FILE")
#: An option about the data file.
of_data = partial(typer.Option, rich_help_panel="The data")

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A file of rows 'label,label feature:value …', or - for standard input. "
        "Names ending in .gz, .xz and .zst are decompressed.",
    ),
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="The directory of a trained model.")]
Format = Annotated[
    DataFormat,
    of_data(
        help="The format of DATA: the text format of the extreme classification repository (with or without a "
        "header), or libsvm. auto: libsvm if the name ends in .svm or .libsvm, else xmlc."
    ),
]
TrainingFormat = Annotated[
    TrainingDataFormat,
    of_data(
        help="The format of DATA. xmlc: rows of numbers in the text format of the extreme classification repository "
        "(with or without a header). libsvm: rows of numbers. jsonl: texts in JSON lines such as "
        '{"text": "A boat", "labels": ["sea"]}. auto: jsonl if the name ends in .jsonl, libsvm if it ends in .svm or '
        ".libsvm, else xmlc."
    ),
]
AnyFormat = Annotated[
    StreamFormat,
    of_data(
        help="The format of the file. jsonl: JSON objects with 'features' or 'text', and 'labels'. xmlc, libsvm: rows "
        "of numbers. fasttext: fastText lines. auto: by the name of the file or, if that does not tell, by its first "
        "line. Named features are for models of 'labeltree learn'."
    ),
]
OneBased = Annotated[
    bool | None,
    of_data(
        "--one-based/--zero-based",
        help="Whether ids count from 1. By default only the features of libsvm files do.",
    ),
]
NFeatures = Annotated[
    int | None,
    of_data(
        min=1,
        metavar="N",
        help="The number of features. Set it for a file without a header if later files have larger feature ids.",
    ),
]
NLabels = Annotated[
    int | None,
    of_data(
        min=1,
        metavar="N",
        help="The number of labels. Set it for a file without a header if later files have larger label ids.",
    ),
]
LabelNames = Annotated[
    Path | None, file("--labels", help="A file with the names of the labels, one per line, from label 0 on.")
]
LabelWeight = Annotated[
    str | None,
    typer.Option(
        metavar="propensity|FILE",
        help="Rank labels by weight times probability. propensity: rare labels weigh more. A file has one weight per "
        "line, from label 0 on, or lines 'label,weight'; labels that it leaves out weigh 1.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, for scripts.")]
