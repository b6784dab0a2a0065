"""`labeltree predict`."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal

import typer

from labeltree.cli import options
from labeltree.cli.parameters import PANELS, with_parameters

OutputFormat = Literal["lines", "jsonl", "xmlc"]


@with_parameters(*PANELS["The search for labels"], "n_jobs")
def predict(
    model: options.Model,
    data: options.Data,
    k: Annotated[
        int | None,
        typer.Option(
            "--k",
            "-k",
            min=1,
            metavar="K",
            help="At most so many labels per row; 5 by default. Without this and --threshold, a model that was told "
            "what for by 'labeltree decide' decides by itself.",
            show_default=False,
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            metavar="P",
            help="Leave out labels with a smaller probability; 0 by default.",
            show_default=False,
        ),
    ] = None,
    label_weight: options.LabelWeight = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write to this file, compressed if its name ends in .gz, .xz or .zst, instead of standard output.",
            show_default=False,
        ),
    ] = None,
    output_format: Annotated[
        OutputFormat,
        typer.Option(
            help="lines: 'label:probability …', best first. jsonl: a JSON object per row. "
            "xmlc: the rows of DATA with the predicted labels as theirs, a data file again."
        ),
    ] = "lines",
    json: Annotated[bool, typer.Option("--json", help="The same as --output-format jsonl.")] = False,
    labels: options.LabelNames = None,
    format: options.AnyFormat = "auto",
    one_based: options.OneBased = None,
    **parameters: Any,
) -> None:
    """Predict the most probable labels of rows, with their probabilities.

    One line per row, as soon as the row is read: rows may come from a pipe, and any number of them. Labels that
    DATA may have are not looked at. With [bold]--labels[/bold], lines have names instead of numbers. Between
    names there are tabs.

    [bold]Examples[/bold]

        labeltree predict tags.labeltree test.txt
        labeltree predict tags.labeltree test.txt -k 10 --json -o tags.jsonl.gz
        labeltree predict tags.labeltree test.txt --label-weight propensity
        tail -n 3 test.txt | labeltree predict tags.labeltree - --labels labels.txt
        echo '{"text": "a boat"}' | labeltree predict online.labeltree -
    """
    from labeltree.cli.data_file import DataFile
    from labeltree.cli.decided_labels import decided_labels
    from labeltree.cli.label_names import LabelNames, are_ids
    from labeltree.cli.label_weight import read_label_weight
    from labeltree.cli.trained_model import open_model
    from labeltree.decisions.decision import HALF

    classifier = open_model(model, parameters)
    names = LabelNames(classifier, labels)
    weight = read_label_weight(label_weight, classifier)
    lines = {"lines": _as_lines, "jsonl": _as_json, "xmlc": _as_rows}["jsonl" if json else output_format]
    if lines is _as_rows and (names.known or not are_ids(classifier.classes_)):
        raise typer.BadParameter("xmlc files have numbers from 0 as labels", param_hint="--output-format")
    source = DataFile(data, format, one_based)
    # Who ranks by weights wants the best, not what was decided for another purpose.
    is_decided = k is None and threshold is None and weight is None and classifier.decision_ is not HALF
    n_rows = 0
    with _opened(output) as file:
        for X in source.blocks_for(classifier):
            if is_decided:
                found, probabilities = decided_labels(classifier, X)
            else:
                found, probabilities = classifier.predict_topk(
                    X, k or 5, label_weight=weight, threshold=threshold or 0.0
                )
            file.write(lines(X, found, probabilities, names, n_rows))
            file.flush()
            n_rows += len(found)


@contextmanager
def _opened(path: Path | None) -> Iterator[BinaryIO]:
    from labeltree.data.atomic_file import open_atomic

    if path is not None:
        with open_atomic(path) as file:
            yield file
    elif isinstance(sys.stdout.buffer, io.RawIOBase):
        # Under PYTHONUNBUFFERED, where a write may end halfway and nobody goes on.
        writer = io.BufferedWriter(sys.stdout.buffer)
        yield writer
        writer.detach()
    else:
        yield sys.stdout.buffer


def _pairs(labels: Any, probabilities: Any) -> Iterator[list[tuple[Any, float]]]:
    """The labels of each row with their probabilities; 0 is also what fills up rows of fewer than k labels."""
    for row in zip(labels.tolist(), probabilities.tolist(), strict=True):
        yield [pair for pair in zip(*row, strict=True) if pair[1] > 0]


def _as_lines(X: Any, labels: Any, probabilities: Any, names: Any, first_row: int) -> bytes:
    separator = "\t" if names.may_have_blanks else " "
    return "".join(
        separator.join(f"{names[label]}:{probability:.6g}" for label, probability in row) + "\n"
        for row in _pairs(labels, probabilities)
    ).encode()


def _as_json(X: Any, labels: Any, probabilities: Any, names: Any, first_row: int) -> bytes:
    import json

    def entry(label: Any, probability: float) -> dict[str, Any]:
        name = {"name": names[label]} if names.known else {}
        return {"label": label, **name, "probability": float(f"{probability:.6g}")}

    return "".join(
        json.dumps({"row": number, "labels": [entry(*pair) for pair in row]}, ensure_ascii=False) + "\n"
        for number, row in enumerate(_pairs(labels, probabilities), start=first_row)
    ).encode()


def _as_rows(X: Any, labels: Any, probabilities: Any, names: Any, first_row: int) -> bytes:
    import numpy as np

    from labeltree._native import format_text_rows

    if isinstance(X, list):
        raise typer.BadParameter("xmlc files have no names of features", param_hint="--output-format")
    present = probabilities > 0
    return format_text_rows(
        X.indptr.astype(np.int64),
        X.indices.astype(np.int32),
        X.data.astype(np.float32),
        np.concatenate([[0], np.cumsum(present.sum(axis=1))]),
        labels[present].astype(np.int32),
    )
