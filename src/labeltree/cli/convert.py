"""`labeltree convert`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from labeltree.cli import options
from labeltree.cli.data_file import DataFile
from labeltree.cli.data_options import reads_data
from labeltree.cli.options import argument, option
from labeltree.wording import count_text, with_article


@reads_data(sizes=True)
def convert(
    source: Annotated[
        DataFile, argument("SOURCE", "A data file, - for standard input, or the directory of a model.")
    ],
    target: Annotated[
        str,
        argument(
            "TARGET",
            "The file or directory to write. A file is compressed if its name ends in .gz, .xz or .zst.",
        ),
    ],
    weights: Annotated[
        options.WeightType | None, option("For a model: the type of the weights in TARGET.")
    ] = None,
    to: Annotated[
        Literal["auto", "jsonl", "csv", "tsv", "fasttext", "xmlc", "libsvm"],
        option(
            "The format of TARGET: jsonl, csv, tsv or fasttext for texts, xmlc or libsvm for rows of numbers. "
            "auto: by its name."
        ),
    ] = "auto",
) -> None:
    """Convert data to another format, or a model to smaller weights.

    Texts are written with the columns id (with [bold]--id[/bold]), text and labels. In CSV and TSV files, labels are
    separated by semicolons. TARGET appears only when it is complete.

    [bold]Examples[/bold]

        labeltree convert train.svm train.txt.gz
        labeltree convert train.txt.gz train.svm
        labeltree convert records.csv texts.jsonl --text title --labels subjects --separator ";"
        labeltree convert tags.labeltree small.labeltree --weights int8
    """
    from labeltree.cli.console import standard_output, titled
    from labeltree.cli.figures import bytes_text
    from labeltree.data.store.mapping import is_store

    path = source.path
    if path != "-" and Path(path).is_dir() and not is_store(path):
        if weights is None:
            raise typer.BadParameter(f"{path} is a model: give the type of weights", param_hint="--weights")
        _convert_model(Path(path), Path(target), weights)
        return
    if weights is not None:
        raise typer.BadParameter(f"{path} is not the directory of a model", param_hint="--weights")
    if target == "-":
        raise typer.BadParameter("expected the name of a file, got -", param_hint="TARGET")
    with source.recognised() as file:
        format, about = (_convert_rows if file.has_numbers else _convert_texts)(file, target, to)
    size = bytes_text(Path(target).stat().st_size)
    standard_output().print(titled(target, f": {about}, {size} of {format}"))


def _convert_rows(source: DataFile, target: str, to: str) -> tuple[str, str]:
    """Write rows of numbers; return the format and what was written."""
    from labeltree.data import write_libsvm, write_xmlc
    from labeltree.data.formats import NUMBER_FORMATS, format_of_name

    format = (format_of_name(target) or "xmlc") if to == "auto" else to
    if format not in NUMBER_FORMATS:
        raise typer.BadParameter(
            f"{source.path} has rows of numbers, which become xmlc or libsvm, not {format}", param_hint="--to"
        )
    X, y = source.read()
    (write_libsvm if format == "libsvm" else write_xmlc)(target, X, y)
    return format, f"{X.shape[0]:,} rows, {X.shape[1]:,} features, {y.shape[1]:,} labels"


def _convert_texts(source: DataFile, target: str, to: str) -> tuple[str, str]:
    """Write texts; return the format and what was written."""
    from labeltree.data.formats import format_of_name
    from labeltree.data.text_writer import TEXT_WRITERS, write_texts

    format = (format_of_name(target) or "auto") if to == "auto" else to
    if format not in TEXT_WRITERS:
        message = f"{source.path} has texts, which become {', '.join(TEXT_WRITERS)}: name one"
        raise typer.BadParameter(message, param_hint="--to")
    stream = source.stream(whole_texts=True)
    examples = (example for X, y in stream for example in zip(X, y, stream.ids, strict=True))
    n_rows = write_texts(target, format, examples)
    return format, count_text(n_rows, "text")


def _convert_model(source: Path, target: Path, weights: options.WeightType) -> None:
    from labeltree.cli.console import standard_output, titled
    from labeltree.cli.figures import bytes_text, directory_bytes
    from labeltree.kinds import kind_of
    from labeltree.model_file import load, save

    before = directory_bytes(source)
    model = load(source)
    if model.model_.learns:
        raise ValueError(
            f"{source} is an online model, which needs all its state to learn more; freeze it in Python: "
            "OnlineLabelTreeClassifier.load(...).freeze().save(...)"
        )
    if kind_of(type(model)).section not in ("linear_trees", "embedding"):
        raise ValueError(
            f"{source} is {with_article(type(model).__name__)}, whose weights have one type only; models of "
            "label-tree, softmax, one-vs-rest, extremetext and fasttext can be converted"
        )
    save(model, target, weights=weights)
    after = bytes_text(directory_bytes(target))
    standard_output().print(titled(target, f": {weights} weights, {after} ({source}: {bytes_text(before)})"))
