"""`labeltree evaluate`."""

from __future__ import annotations

from pathlib import Path
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
    label_weight: options.LabelWeight = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also write a page of HTML for people: what is good, what goes wrong, and where in the tree.",
            show_default=False,
        ),
    ] = None,
    labels: options.LabelNames = None,
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
        labeltree evaluate tags.labeltree test.txt --label-weight propensity
        labeltree evaluate tags.labeltree test.txt --report tags.html --labels labels.txt
        labeltree evaluate tags.labeltree test.txt --json | jq '.metrics."P@1"'
    """
    from labeltree.cli.console import print_json, standard_output, titled
    from labeltree.cli.evaluation import Evaluation
    from labeltree.cli.evaluation_report import write_report
    from labeltree.cli.label_names import LabelNames
    from labeltree.cli.label_weight import read_label_weight
    from labeltree.cli.labelled_rows import read_labelled_rows
    from labeltree.cli.trained_model import open_model

    if labels is not None and report is None:
        raise typer.BadParameter("names labels in the report: add --report FILE", param_hint="--labels")
    if report is not None and not report.parent.is_dir():
        raise typer.BadParameter(f"there is no directory {report.parent}", param_hint="--report")
    if report is not None and label_weight is not None:
        raise typer.BadParameter(
            "is about the most probable labels: leave --label-weight out", param_hint="--report"
        )
    classifier = open_model(model, parameters)
    names = LabelNames(classifier, labels)
    weight = read_label_weight(label_weight, classifier, A, B)
    X, y = read_labelled_rows(classifier, model, data, format, one_based)
    evaluation = Evaluation.measure(classifier, model, X, y, A, B, weight)
    if report is not None:
        write_report(report, f"{model.name} on {Path(data).name}", classifier, X, y, evaluation, names)
    if json:
        by_weight = {} if label_weight is None else {"label_weight": label_weight}
        written = {} if report is None else {"report": str(report)}
        print_json({"model": str(model), "data": data, **by_weight, **evaluation.to_json(), **written})
        return
    console = standard_output()
    weighted = "" if label_weight is None else f", weighted by {label_weight}"
    about = f" on {data}: {evaluation.n_rows:,} rows, {evaluation.n_labels:,} labels{weighted}\n"
    console.print(titled(model, about))
    console.print(evaluation)
    if report is not None:
        console.print(f"\n{report}: a page about all this", soft_wrap=True)
