"""`labeltree decide`."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal

import typer

from labeltree.cli import options
from labeltree.cli.data_file import DataFile
from labeltree.cli.data_options import reads_data
from labeltree.cli.options import argument, option, probability_option
from labeltree.cli.parameters import with_parameters

Method = Literal["auto", "fixed", "exact", "ofo"]

_for_ofo = partial(option, metavar="N", rich_help_panel="Online F-measure optimisation (--method ofo)")


@with_parameters("n_jobs")
@reads_data
def decide(
    model: options.Model,
    data: Annotated[
        DataFile | None,
        argument(
            "VALID",
            "Labelled rows that the model was not trained on, or - for standard input. Not needed for metrics "
            "without thresholds to tune: hamming, micro_am, macro_am, and those at k.",
        ),
    ] = None,
    metric: Annotated[
        str,
        option(
            "hamming; micro_f1, macro_f1, or with another beta; micro_jaccard, macro_jaccard; micro_am, macro_am; "
            "precision@5, recall@5, ndcg@5, or with another k.",
            "--metric",
            "-m",
            metavar="NAME",
        ),
    ] = "micro_f1",
    method: Annotated[
        Method,
        option(
            "How to find thresholds. fixed: they follow from the metric. exact: the best on VALID. ofo: online "
            "F-measure optimisation. auto: fixed if possible, else exact."
        ),
    ] = "auto",
    floor: Annotated[
        float, probability_option("Ignore labels with a smaller probability when tuning.")
    ] = 0.01,
    a: Annotated[
        float | None, _for_ofo("True positives counted before the first row; 1 by default.", "--a")
    ] = None,
    b: Annotated[
        float | None,
        _for_ofo(
            "Positives and positive predictions counted before the first row; 2 by default. The first threshold "
            "is a / b.",
            "--b",
        ),
    ] = None,
    epochs: Annotated[int | None, _for_ofo("Passes over the rows; 5 by default.", min=1)] = None,
    json: options.Json = False,
    **parameters: Any,
) -> None:
    """Tune the thresholds of a model to maximise a metric.

    The thresholds are saved with the model: [bold]labeltree predict[/bold], and predict(X) in Python, use them from
    then on. Probabilities do not change.

    [bold]Examples[/bold]

        labeltree decide tags.labeltree valid.txt --metric micro_f1
        labeltree decide tags.labeltree valid.txt --metric macro_f1 --method ofo
        labeltree decide tags.labeltree --metric precision@3
    """
    from labeltree.cli.console import print_json, print_next, standard_output, titled
    from labeltree.cli.labelled_rows import label_lists, read_labelled_rows
    from labeltree.cli.trained_model import changing, open_model

    chosen, how = _checked(metric, method, {"a": a, "b": b, "epochs": epochs}, data is not None)
    with changing(model, "decide") as save:
        classifier = open_model(model, parameters)
        X = y = None
        if data is not None:
            rows = read_labelled_rows(classifier, model, data)
            X, y = rows.X, label_lists(rows.y)
        classifier.decide_for(chosen, X, y, method=how, floor=floor)
        save(classifier)
    decision = classifier.decision_
    path = None if data is None else data.path
    if json:
        print_json({"model": str(model), "data": path, **decision.summary()})
        return
    value = "" if decision.value is None else f" ({100 * decision.value:.2f} % on {path})"
    line = titled(model, f": {decision.describe()}, for {decision.metric}{value}")
    standard_output().print(line, soft_wrap=True)
    print_next(f"labeltree predict {model} NEW_DATA")


def _checked(metric: str, method: Method, ofo: dict[str, Any], has_rows: bool) -> tuple[Any, Any]:
    """Return the metric and the method; wrong ones raise `BadParameter` before any data is read."""
    from labeltree.decisions import OFO
    from labeltree.decisions.decision import Tuning
    from labeltree.metrics import get_metric

    given = {name: value for name, value in ofo.items() if value is not None}
    if given and method != "ofo":
        raise typer.BadParameter(f"--{next(iter(given))} works only with --method ofo")
    try:
        chosen, how = get_metric(metric), OFO(**given) if method == "ofo" else method
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    if not has_rows and Tuning(how).method_for(chosen) != "fixed":
        raise typer.BadParameter(
            f"thresholds for {chosen.name} are tuned on labelled rows: give a file VALID"
        )
    return chosen, how
