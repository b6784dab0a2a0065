"""`labeltree convert`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from labeltree.cli import options
from labeltree.cli.data_file import DataFile, format_of
from labeltree.cli.data_options import reads_data
from labeltree.cli.options import argument, option
from labeltree.wording import with_article


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
        Literal["auto", "xmlc", "libsvm"],
        option("The format of TARGET. auto: by its name, as for --format."),
    ] = "auto",
) -> None:
    """Convert a data file to another format, or a model to smaller weights.

    TARGET appears only when it is complete.

    [bold]Examples[/bold]

        labeltree convert train.svm train.txt.gz
        labeltree convert train.txt.gz train.svm
        labeltree convert tags.labeltree small.labeltree --weights int8
    """
    from labeltree.cli.console import standard_output, titled
    from labeltree.cli.figures import bytes_text
    from labeltree.data import write_libsvm, write_xmlc

    path = source.path
    if path != "-" and Path(path).is_dir():
        if weights is None:
            raise typer.BadParameter(f"{path} is a model: give the type of weights", param_hint="--weights")
        _convert_model(Path(path), Path(target), weights)
        return
    if weights is not None:
        raise typer.BadParameter(f"{path} is not the directory of a model", param_hint="--weights")
    if target == "-":
        raise typer.BadParameter("expected the name of a file, got -", param_hint="TARGET")
    X, y = source.read()
    is_libsvm = format_of(target, to) == "libsvm"
    (write_libsvm if is_libsvm else write_xmlc)(target, X, y)
    shape = f"{X.shape[0]:,} rows, {X.shape[1]:,} features, {y.shape[1]:,} labels"
    size = bytes_text(Path(target).stat().st_size)
    standard_output().print(titled(target, f": {shape}, {size} of {'libsvm' if is_libsvm else 'xmlc'}"))


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
    if kind_of(type(model)).section != "linear_trees":
        raise ValueError(
            f"{source} is {with_article(type(model).__name__)}, whose weights have one type only; models of "
            "label-tree, softmax "
            "and one-vs-rest can be converted"
        )
    save(model, target, weights=weights)
    after = bytes_text(directory_bytes(target))
    standard_output().print(titled(target, f": {weights} weights, {after} ({source}: {bytes_text(before)})"))
