"""Arguments and options that several commands have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

DataFormat: TypeAlias = Literal["auto", "xmlc", "libsvm"]
StreamFormat: TypeAlias = Literal["auto", "jsonl", "xmlc", "libsvm", "fasttext"]
WeightType: TypeAlias = Literal["float32", "bfloat16", "int8"]

DATA_PANEL = "The data"

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
    typer.Option(
        help="How DATA is written: the text format of the extreme classification repository (with or without a "
        "header) or that of libsvm. auto: libsvm if its name ends in .svm or .libsvm.",
        rich_help_panel=DATA_PANEL,
    ),
]
TrainingFormat = Annotated[
    Literal["auto", "xmlc", "libsvm", "jsonl"],
    typer.Option(
        help="How DATA is written: as rows of numbers, in the text format of the extreme classification repository "
        "(with or without a header) or that of libsvm, or as texts, in JSON lines such as "
        '{"text": "A boat", "labels": ["sea"]}. auto: by the end of its name, .jsonl, .svm or .libsvm.',
        rich_help_panel=DATA_PANEL,
    ),
]
AnyFormat = Annotated[
    StreamFormat,
    typer.Option(
        help="How the file is written: JSON objects with 'features' or 'text', and 'labels'; rows of numbers; "
        "fastText lines. auto: by the name or, failing that, the first line. "
        "Features with names are for models of 'labeltree learn'.",
        rich_help_panel=DATA_PANEL,
    ),
]
OneBased = Annotated[
    bool | None,
    typer.Option(
        "--one-based/--zero-based",
        help="Whether ids count from 1. By default only the features of libsvm files do, and their labels never.",
        show_default=False,
        rich_help_panel=DATA_PANEL,
    ),
]
NFeatures = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="The number of features, for a file without a header: leaves room for ids that only later files have.",
        rich_help_panel=DATA_PANEL,
    ),
]
NLabels = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="The number of labels, likewise.", rich_help_panel=DATA_PANEL),
]
LabelNames = Annotated[
    Path | None,
    typer.Option(
        "--labels",
        metavar="FILE",
        help="Names of the labels, one per line: label 0 on the first.",
        show_default=False,
    ),
]
LabelWeight = Annotated[
    str | None,
    typer.Option(
        metavar="propensity|FILE",
        help="Rank labels by weight times probability. propensity: the rarer in training, the heavier. A file has a "
        "weight per line, that of label 0 on the first, or lines 'label,weight'; labels that are left out weigh 1.",
        show_default=False,
    ),
]
Weights = Annotated[
    WeightType,
    typer.Option(help="How weights are stored; the smaller types cost a little precision."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, for machines.")]
