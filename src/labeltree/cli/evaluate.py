"""`labeltree evaluate`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from labeltree.cli import options
from labeltree.cli.parameters import PANELS, with_parameters


def _positive(value: float) -> float:
    if not 0 < value < float("inf"):
        raise typer.BadParameter(f"must be a positive number, got {value}")
    return value


@with_parameters(*PANELS["The search for labels"], "n_jobs")
def evaluate(
    model: options.Model,
    data: options.Data,
    format: options.AnyFormat = "auto",
    one_based: options.OneBased = None,
    A: Annotated[
        float,
        typer.Option(
            "--A",
            callback=_positive,
            help="With B: how propensities follow from label counts. The literature has 0.5 and 0.4 for Wikipedia, "
            "0.6 and 2.6 for Amazon, the defaults for the rest.",
        ),
    ] = 0.55,
    B: Annotated[float, typer.Option("--B", callback=_positive, help="See A.")] = 1.5,
    json: options.Json = False,
    **parameters: Any,
) -> None:
    """Measure a model on labelled rows: how good, how fast, how large.

    One table: precision (P), nDCG, their propensity-scored kin (PSP, PSnDCG: rare labels count more),
    recall and coverage, each of the best 1, 3 and 5 labels; the time to predict a row, in a batch and alone;
    the size of the model; the memory that all this took.

    [bold]Examples[/bold]

        labeltree evaluate tags.labeltree test.txt
        labeltree evaluate tags.labeltree test.txt --search beam --beam 20
        labeltree evaluate tags.labeltree test.txt --json | jq '.metrics."P@1"'
    """
    from labeltree.cli.console import print_json, standard_output, titled
    from labeltree.cli.evaluation import Evaluation
    from labeltree.cli.labelled_rows import read_labelled_rows
    from labeltree.cli.trained_model import open_model

    classifier = open_model(model, parameters)
    X, y = read_labelled_rows(classifier, model, data, format, one_based)
    evaluation = Evaluation.measure(classifier, model, X, y, A, B)
    if json:
        print_json({"model": str(model), "data": data, **evaluation.to_json()})
        return
    console = standard_output()
    console.print(titled(model, f" on {data}: {evaluation.n_rows:,} rows, {evaluation.n_labels:,} labels\n"))
    console.print(evaluation)
