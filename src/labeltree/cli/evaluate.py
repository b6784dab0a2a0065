"""`labeltree evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from labeltree.cli import options
from labeltree.cli.data_file import DataFile
from labeltree.cli.data_options import reads_data
from labeltree.cli.engine_options import MaxRetries, Ray, Workers, chosen_engine, engine_option
from labeltree.cli.options import file_option
from labeltree.cli.parameters import PANELS, with_parameters


@with_parameters(*PANELS["The search for labels"], "n_jobs")
@reads_data
def evaluate(
    model: options.Model,
    data: DataFile,
    A: options.PropensityA = 0.55,
    B: options.PropensityB = 1.5,
    label_weight: options.LabelWeight = None,
    filter_labels: options.FilterLabels = None,
    report: Annotated[
        Path | None,
        file_option(
            "Also write an HTML page that shows where the model is good and where it fails: texts with wrong "
            "labels, with their words marked, and what to do about it."
        ),
    ] = None,
    label_names: options.LabelNames = None,
    ray: Ray = None,
    workers: Workers = None,
    max_retries: MaxRetries = None,
    json: options.Json = False,
    **parameters: Any,
) -> None:
    """Measure a model on labelled rows: its quality, speed and size.

    Prints precision (P), nDCG, their propensity-scored versions (PSP, PSnDCG: rare labels count more), recall, F1 and
    coverage, each for the best 1, 3 and 5 labels; micro and macro F1 of the labels that the model decides for
    (probability 0.5, or as set by [bold]labeltree decide[/bold]); how many true labels the model does not know; the
    time of a text or row, in a batch and alone; the size of the model; the peak memory.

    [bold]Examples[/bold]

        labeltree evaluate tags.labeltree test.jsonl
        labeltree evaluate tags.labeltree test.jsonl --report tags.html
        labeltree evaluate tags.labeltree test.txt --search beam --beam 20
        labeltree evaluate tags.labeltree test.txt --label-weight propensity
        labeltree evaluate tags.labeltree test.txt --report tags.html --label-names labels.txt
        labeltree evaluate tags.labeltree test.store --ray auto
        labeltree evaluate tags.labeltree test.txt --json | jq '.metrics."P@1"'
    """
    from labeltree.cli.console import print_json, standard_output, titled
    from labeltree.cli.evaluation import Evaluation
    from labeltree.cli.evaluation_report import write_report
    from labeltree.cli.filtered_pairs import filtered_pairs
    from labeltree.cli.label_names import LabelNames
    from labeltree.cli.label_weight import read_label_weight
    from labeltree.cli.labelled_rows import read_labelled_rows
    from labeltree.cli.model_answers import ModelAnswers, refuse_engine
    from labeltree.cli.trained_model import open_model

    if label_names is not None and report is None:
        raise typer.BadParameter("names labels in the report: add --report FILE", param_hint="--label-names")
    if report is not None and not report.parent.is_dir():
        raise typer.BadParameter(f"there is no directory {report.parent}", param_hint="--report")
    if report is not None and label_weight is not None:
        raise typer.BadParameter(
            "is about the most probable labels: leave --label-weight out", param_hint="--report"
        )
    engine = engine_option(ray, workers)
    if report is not None and engine is not None:
        raise typer.BadParameter(f"is made in one process: leave out {engine}", param_hint="--report")
    filtered = filtered_pairs(filter_labels, data)
    if report is not None and filtered is not None:
        raise typer.BadParameter(
            "is about all labels: leave --filter-labels out, or import the store without it",
            param_hint="--report",
        )
    classifier = open_model(model, parameters)
    refuse_engine(engine, classifier, parameters)
    names = LabelNames(classifier, label_names)
    weight = read_label_weight(label_weight, classifier, A, B)
    rows = read_labelled_rows(classifier, model, data)
    if filtered is not None:
        filtered.check(rows.n_rows, classifier.classes_)
    with chosen_engine(ray, workers, max_retries):
        answers = ModelAnswers.of(classifier, model, parameters)
        evaluation = Evaluation.measure(
            classifier,
            model,
            rows,
            A=A,
            B=B,
            label_weight=weight,
            filtered=filtered,
            answers=answers,
            data_options=data.options,
        )
    if report is not None:
        title = f"{model.name} on {Path(data.path).name}"
        write_report(report, title, classifier, model, rows, evaluation, names)
    if json:
        by_weight = {} if label_weight is None else {"label_weight": label_weight}
        written = {} if report is None else {"report": str(report)}
        print_json({"model": str(model), "data": data.path, **by_weight, **evaluation.to_json(), **written})
        return
    console = standard_output()
    weighted = "" if label_weight is None else f", weighted by {label_weight}"
    about = f" on {data.path}: {evaluation.rows:,} rows, {evaluation.labels:,} labels{weighted}\n"
    console.print(titled(model, about))
    console.print(evaluation, crop=False)
    if report is not None:
        console.print(f"\n{report}: a page about all this", soft_wrap=True)
