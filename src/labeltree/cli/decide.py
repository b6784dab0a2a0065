"""`labeltree decide`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from labeltree.cli import options
from labeltree.cli.parameters import with_parameters

Method = Literal["auto", "fixed", "exact", "ofo"]

_OFO_PANEL = "Online F-measure optimisation (--method ofo)"


@with_parameters("n_jobs")
def decide(
    model: options.Model,
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="[VALID]",
            help="Labelled rows that the model was not trained on, or - for standard input. Not needed for metrics "
            "that have nothing to tune: hamming, micro_am, macro_am, and those at k.",
            show_default=False,
        ),
    ] = None,
    metric: Annotated[
        str,
        typer.Option(
            "--metric",
            "-m",
            metavar="NAME",
            help="hamming; micro_f1, macro_f1, or with another beta; micro_jaccard, macro_jaccard; micro_am, macro_am; "
            "precision@5, recall@5, ndcg@5, or with another k.",
        ),
    ] = "micro_f1",
    method: Annotated[
        Method,
        typer.Option(
            help="How thresholds are found. fixed: they follow from the metric. exact: the best on VALID. ofo: online "
            "F-measure optimisation. auto: fixed if possible, else exact."
        ),
    ] = "auto",
    floor: Annotated[
        float,
        typer.Option(min=0, max=1, metavar="P", help="Labels of a smaller probability are not looked at."),
    ] = 0.01,
    a: Annotated[
        float | None,
        typer.Option(
            "--a",
            metavar="N",
            help="True positives that are counted before the first row; 1 by default.",
            show_default=False,
            rich_help_panel=_OFO_PANEL,
        ),
    ] = None,
    b: Annotated[
        float | None,
        typer.Option(
            "--b",
            metavar="N",
            help="Positives and positive predictions likewise; 2 by default. The first threshold is a / b.",
            show_default=False,
            rich_help_panel=_OFO_PANEL,
        ),
    ] = None,
    epochs: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Passes over the rows; 5 by default.",
            show_default=False,
            rich_help_panel=_OFO_PANEL,
        ),
    ] = None,
    format: options.AnyFormat = "auto",
    one_based: options.OneBased = None,
    json: options.Json = False,
    **parameters: Any,
) -> None:
    """Let a model predict the labels that make a metric largest.

    The thresholds that are best for the metric are found and kept with the model: [bold]labeltree predict[/bold]
    and predict(X) in Python heed them from then on. Probabilities stay as they are.

    [bold]Examples[/bold]

        labeltree decide tags.labeltree valid.txt --metric micro_f1
        labeltree decide tags.labeltree valid.txt --metric macro_f1 --method ofo
        labeltree decide tags.labeltree --metric precision@3
    """
    from labeltree.cli.console import print_json, print_next, standard_output, titled
    from labeltree.cli.trained_model import open_model

    chosen, how = _checked(metric, method, {"a": a, "b": b, "epochs": epochs}, data is not None)
    classifier = open_model(model, parameters)
    rows = () if data is None else _rows(classifier, model, data, format, one_based)
    classifier.decide_for(chosen, *rows, method=how, floor=floor)
    _save(classifier, model)
    decision = classifier.decision_
    if json:
        print_json({"model": str(model), "data": data, **decision.summary()})
        return
    value = "" if decision.value is None else f" ({100 * decision.value:.2f} % on {data})"
    line = titled(model, f": {decision.describe()}, for {decision.metric}{value}")
    standard_output().print(line, soft_wrap=True)
    print_next(f"labeltree predict {model} NEW_DATA")


def _checked(metric: str, method: Method, ofo: dict[str, Any], has_rows: bool) -> tuple[Any, Any]:
    """The metric and the method that are meant; wrong ones end here, before anything is read."""
    from labeltree.decisions import OFO
    from labeltree.decisions.decision import Tuning
    from labeltree.metrics import get_metric

    given = {name: value for name, value in ofo.items() if value is not None}
    if given and method != "ofo":
        raise typer.BadParameter(f"--{next(iter(given))} goes with --method ofo only")
    try:
        chosen, how = get_metric(metric), OFO(**given) if method == "ofo" else method
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    if not has_rows and Tuning(how).method_for(chosen) != "fixed":
        raise typer.BadParameter(
            f"thresholds for {chosen.name} are tuned on labelled rows: give a file VALID"
        )
    return chosen, how


def _rows(
    classifier: Any, model: Path, data: str, format: options.StreamFormat, one_based: bool | None
) -> tuple[Any, list[tuple[Any, ...]]]:
    """X, and the labels of every row as the model knows them."""
    from labeltree.cli.labelled_rows import read_labelled_rows

    X, y = read_labelled_rows(classifier, model, data, format, one_based)
    if not isinstance(y, list):
        y = [y.indices[begin:end].tolist() for begin, end in zip(y.indptr[:-1], y.indptr[1:], strict=True)]
    return X, [tuple(labels) for labels in y]  # lists of 0 and 1 would be taken for a matrix


def _save(classifier: Any, model: Path) -> None:
    """Write the model with the parameters it had."""
    from labeltree.model_file import read_info

    classifier.set_params(n_jobs=read_info(model).parameters.get("n_jobs"))
    classifier.save(model)
