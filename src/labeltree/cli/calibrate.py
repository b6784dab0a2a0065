"""`labeltree calibrate`."""

from __future__ import annotations

from copy import copy
from typing import Annotated, Any, Literal

import typer

from labeltree.cli import options
from labeltree.cli.data_file import DataFile
from labeltree.cli.data_options import reads_data
from labeltree.cli.options import argument, option
from labeltree.cli.parameters import with_parameters

#: Fewer rows are not divided: calibration is measured on the rows that it was fitted to.
_FEWEST_DIVIDED = 20

_MEASURES = ("log_loss", "expected_calibration_error", "log_loss_per_row", "error_per_row")


@with_parameters("n_jobs")
@reads_data
def calibrate(
    model: options.Model,
    data: Annotated[
        DataFile,
        argument("VALID", "Labelled rows that the model was not trained on, or - for standard input."),
    ],
    method: Annotated[
        Literal["isotonic", "platt"],
        option(
            "The maps from scores to probabilities. isotonic: any that do not decrease, which fit best. platt: "
            "sigmoids, which need fewer rows."
        ),
    ] = "isotonic",
    random_state: Annotated[
        int, option("Seed of the samples and of the halves, so that the same command gives the same model.")
    ] = 0,
    json: options.Json = False,
    **parameters: Any,
) -> None:
    """Calibrate the probabilities of a model.

    Of all labels with probability 0.8, four out of five should be true.

    Training has calibrated a label tree by rows that it held out. Calibrate a model of another method, one with
    label weights, or one that answers rows unlike those of the training.

    For each level of each tree, a map from scores to probabilities is fitted on VALID and saved with the model, in
    place of the maps of the training. Rankings hardly change. Thresholds of [bold]labeltree decide[/bold] are
    dropped, because they were tuned for other probabilities: tune them again.

    The figures before and after are measured by cross-fitting: each half of VALID with maps that were fitted on the
    other half. The maps that are saved are fitted on all of VALID.

    [bold]Examples[/bold]

        labeltree calibrate tags.labeltree valid.jsonl
        labeltree calibrate tags.labeltree valid.txt --method platt
        labeltree decide tags.labeltree valid.jsonl --metric micro_f1
    """
    from labeltree.cli.console import print_json, print_next, standard_output, titled
    from labeltree.cli.labelled_rows import label_lists, read_labelled_rows
    from labeltree.cli.trained_model import changing, open_model
    from labeltree.wording import count_text

    with changing(model, "calibrate") as save:
        classifier = open_model(model, parameters)
        _check_can_be_calibrated(classifier)
        rows = read_labelled_rows(classifier, model, data)
        y = label_lists(rows.y)
        is_divided = len(y) >= _FEWEST_DIVIDED
        before, after = _measured(classifier, rows.X, y, method, random_state, is_divided)
        decision = classifier.decision_.summary()
        classifier.calibrate(rows.X, y, method=method, random_state=random_state)
        dropped = None if classifier.decision_.summary() == decision else decision["metric"]
        save(classifier)
    if json:
        print_json(
            {
                "model": str(model),
                "data": data.path,
                "rows": len(y),
                "method": method,
                "cross_fitted": is_divided,
                "before": before,
                "after": after,
                "dropped_decision": dropped,
            }
        )
        return
    console = standard_output()
    console.print(
        titled(model, f": calibrated with {method} maps on {count_text(len(y), 'row')}"), soft_wrap=True
    )
    for name, title, unit in (
        ("error_per_row", "calibration error", "labels per row too many or too few"),
        ("log_loss_per_row", "log loss", "nats per row"),
        ("expected_calibration_error", "ECE of all pairs", ""),
    ):
        console.print(f"  {title:18} {before[name]:10.4g} → {after[name]:<10.4g} {unit}".rstrip())
    if is_divided:
        console.print("  measured by cross-fitting: each half with maps of the other half")
    else:
        console.print(
            "  measured on the rows of calibration, because they are few: expect less of other rows",
            soft_wrap=True,
        )
    if dropped is not None:
        console.print(f"The thresholds for {dropped} are dropped: tune them again.")
    print_next(f"labeltree decide {model} {data.path}{data.options} --metric {dropped or 'micro_f1'}")


def _check_can_be_calibrated(classifier: Any) -> None:
    from labeltree.calibration.fitting import can_be_calibrated

    name = type(classifier).__name__
    if classifier.model_.learns:
        raise typer.BadParameter(
            f"a model that learns, {name}, would move away from its calibration: freeze it in Python with "
            "freeze() first",
            param_hint="MODEL",
        )
    if not can_be_calibrated(classifier):
        hint = (
            ": calibrate its members in Python before you mix them" if hasattr(classifier, "members_") else ""
        )
        raise typer.BadParameter(f"{name} has no calibration{hint}", param_hint="MODEL")


def _measured(
    classifier: Any, X: Any, y: list[Any], method: str, random_state: int, is_divided: bool
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the measures of a model without and with calibration, as averages over the rows."""
    import numpy as np

    from labeltree.calibration import measure_calibration
    from labeltree.validation import take_rows

    order = np.random.RandomState(random_state).permutation(len(y))
    halves = [np.sort(order[::2]), np.sort(order[1::2])] if is_divided else [np.arange(len(y))]
    measured: list[list[list[float]]] = []
    for fitted_on, held_out in zip(halves, reversed(halves), strict=True):
        parts = [(take_rows(X, half), [y[row] for row in half]) for half in (fitted_on, held_out)]
        calibrated = copy(classifier).calibrate(*parts[0], method=method, random_state=random_state)
        reports = [
            measure_calibration(one, *parts[1], random_state=random_state) for one in (classifier, calibrated)
        ]
        measured.append([[getattr(report.labels, name) for name in _MEASURES] for report in reports])
    weights = [len(half) for half in reversed(halves)]
    before, after = np.average(measured, axis=0, weights=weights).tolist()
    return dict(zip(_MEASURES, before, strict=True)), dict(zip(_MEASURES, after, strict=True))
