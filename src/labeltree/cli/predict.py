"""`labeltree predict`."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Literal

import typer

from labeltree.cli import options
from labeltree.cli.data_file import DataFile
from labeltree.cli.data_options import reads_data
from labeltree.cli.engine_options import MaxRetries, Ray, Workers, chosen_engine, engine_option
from labeltree.cli.options import file_option, option
from labeltree.cli.parameters import PANELS, with_parameters

if TYPE_CHECKING:
    from labeltree.cli.label_names import LabelNames
    from labeltree.cli.predicted_labels import PredictedLabels


@with_parameters(*PANELS["The search for labels"], "n_jobs")
@reads_data
def predict(
    model: options.Model,
    data: DataFile,
    k: options.K = None,
    threshold: options.Threshold = None,
    label_weight: options.LabelWeight = None,
    output: Annotated[
        Path | None,
        file_option(
            "Write to this file instead of standard output, compressed if its name ends in .gz, .xz or .zst.",
            "--output",
            "-o",
        ),
    ] = None,
    output_format: Annotated[
        Literal["lines", "jsonl", "xmlc"],
        option(
            "lines: 'label:probability …', best first, after the id with --id. jsonl: a JSON object per row. "
            "xmlc: a data file with the rows of DATA and the predicted labels."
        ),
    ] = "lines",
    json: Annotated[bool, option("The same as --output-format jsonl.", "--json")] = False,
    label_names: options.LabelNames = None,
    ray: Ray = None,
    workers: Workers = None,
    max_retries: MaxRetries = None,
    **parameters: Any,
) -> None:
    """Predict the most probable labels of rows.

    Prints one line per row, as soon as the row is read: rows may come from a pipe, and any number of them. Labels in
    DATA are ignored. If labels have names, lines have 'label (name):probability', separated by tabs. With
    [bold]--label-names[/bold], they have the names of the file instead of labels. In labels, names and ids a tab is
    written as \\t, a newline as \\n, a backslash as \\\\, and other control characters are escaped too: a row is always
    one line.

    [bold]Examples[/bold]

        labeltree predict tags.labeltree test.txt
        labeltree predict tags.labeltree new.csv --text title --id nr
        labeltree predict tags.labeltree test.txt -k 10 --json -o tags.jsonl.gz
        labeltree predict tags.labeltree test.txt --label-weight propensity
        labeltree predict tags.labeltree test.store --workers 8 -o tags.txt.gz
        tail -n 3 test.txt | labeltree predict tags.labeltree - --label-names labels.txt
        echo '{"text": "a boat"}' | labeltree predict online.labeltree -
    """
    from labeltree.cli.label_names import LabelNames, are_ids
    from labeltree.cli.label_weight import read_label_weight
    from labeltree.cli.model_answers import ModelAnswers, refuse_engine
    from labeltree.cli.predicted_labels import predictor
    from labeltree.cli.trained_model import open_model

    engine = engine_option(ray, workers)
    if engine is not None and data.path == "-":
        raise typer.BadParameter(
            f"rows of standard input are answered one by one as they come: leave out {engine}, or write them to a file",
            param_hint=engine,
        )
    classifier = open_model(model, parameters)
    refuse_engine(engine, classifier, parameters)
    names = LabelNames(classifier, label_names)
    weight = read_label_weight(label_weight, classifier)
    write = {"lines": _as_lines, "jsonl": _as_json, "xmlc": _as_rows}["jsonl" if json else output_format]
    if write is _as_rows and (names.are_from_file or not are_ids(classifier.classes_)):
        raise typer.BadParameter("xmlc files have numbers from 0 as labels", param_hint="--output-format")
    question = predictor(classifier, k, threshold, weight)
    n_rows = 0
    with chosen_engine(ray, workers, max_retries), _opened(output) as file:
        answers = ModelAnswers.of(classifier, model, parameters)
        # The kernel reads texts faster than the matrix of their features, which is needed only if it is written.
        keep_texts = write is not _as_rows
        for rows in data.blocks_for(classifier, times=answers.workers, keep_texts=keep_texts):
            found = answers.ask(question, rows.X)
            file.write(write(rows.X, found, names, n_rows, rows.ids))
            file.flush()
            n_rows += len(found.indptr) - 1


@contextmanager
def _opened(path: Path | None) -> Iterator[BinaryIO]:
    from labeltree.data.atomic_file import open_atomic

    if path is not None:
        with open_atomic(path) as file:
            yield file
    elif isinstance(sys.stdout.buffer, io.RawIOBase):
        # Under PYTHONUNBUFFERED a raw write may end early, and nothing writes the rest.
        writer = io.BufferedWriter(sys.stdout.buffer)
        yield writer
        writer.detach()
    else:
        yield sys.stdout.buffer


def _as_lines(
    X: Any, found: PredictedLabels, names: LabelNames, first_row: int, ids: list[Any] | None
) -> bytes:
    from labeltree.cli.console import escaped

    separator = "\t" if names.may_have_blanks else " "
    text_of = names.__getitem__ if names.are_from_file else names.beside
    labels = found.labels.tolist()
    # The same labels come again and again: each is escaped once.
    text = {label: escaped(text_of(label)) for label in set(labels)}
    pairs = zip(labels, found.probabilities.tolist(), strict=True)
    words = [f"{text[label]}:{probability:.6g}" for label, probability in pairs]
    lines = (separator.join(words[begin:end]) for begin, end in pairwise(found.indptr.tolist()))
    if ids is not None:
        lines = (f"{escaped(id)}\t{line}" for id, line in zip(ids, lines, strict=True))
    return "".join(f"{line}\n" for line in lines).encode()


def _as_json(
    X: Any, found: PredictedLabels, names: LabelNames, first_row: int, ids: list[Any] | None
) -> bytes:
    from labeltree.cli.console import json_text
    from labeltree.cli.predicted_labels import labels_to_json

    lines = []
    for place, row in enumerate(found.rows()):
        number = {"row": first_row + place} | ({} if ids is None else {"id": ids[place]})
        lines.append(json_text({**number, "labels": labels_to_json(row, names)}) + "\n")
    return "".join(lines).encode()


def _as_rows(
    X: Any, found: PredictedLabels, names: LabelNames, first_row: int, ids: list[Any] | None
) -> bytes:
    import numpy as np

    from labeltree._native import format_text_rows

    if isinstance(X, list):
        raise typer.BadParameter("xmlc files have no names of features", param_hint="--output-format")
    return format_text_rows(
        X.indptr.astype(np.int64),
        X.indices.astype(np.int32),
        X.data.astype(np.float32),
        found.indptr.astype(np.int64),
        found.labels.astype(np.int32),
    )
