"""`labeltree compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from labeltree.cli import options
from labeltree.cli.data_file import DataFile
from labeltree.cli.data_options import reads_data
from labeltree.cli.options import argument, option
from labeltree.cli.parameters import with_parameters


@with_parameters("n_jobs")
@reads_data
def compare(
    first: Annotated[Path, argument("A", "The directory of a model.")],
    second: Annotated[Path, argument("B", "The directory of another model, of any kind.")],
    data: DataFile,
    rows: Annotated[
        int, option("The number of rows to show where the models differ most.", min=0, metavar="N")
    ] = 5,
    level: Annotated[float, option("The confidence level.", min=0.5, max=0.9999, metavar="P")] = 0.95,
    resamples: Annotated[
        int, option("The number of resamples of the bootstrap.", min=100, metavar="N")
    ] = 2000,
    random_state: Annotated[int, option("The seed of the resamples.", min=0, metavar="N")] = 0,
    A: options.PropensityA = 0.55,
    B: options.PropensityB = 1.5,
    filter_labels: options.FilterLabels = None,
    label_names: options.LabelNames = None,
    json: options.Json = False,
    **parameters: Any,
) -> None:
    """Compare two models on the same labelled rows.

    Prints the metrics of [bold]labeltree evaluate[/bold] for both models, the difference B - A with a paired confidence
    interval (a bootstrap over rows), and the rows where the models differ most. A difference is significant if 0 is
    outside of its interval. The models may be of different kinds, with different words and labels. Propensities come
    from the training rows of A. DATA must not be training rows of either model.

    [bold]Examples[/bold]

        labeltree compare old.labeltree new.labeltree test.jsonl
        labeltree compare old.labeltree new.labeltree test.jsonl --rows 20
        labeltree compare old.labeltree new.labeltree test.jsonl --json | jq '.metrics."P@1"'
    """
    from labeltree.cli.comparison import measure
    from labeltree.cli.console import print_json, standard_output
    from labeltree.cli.label_names import LabelNames
    from labeltree.cli.trained_model import open_model

    path = Path(data.path)
    if data.path == "-" or (path.exists() and not (path.is_file() or path.is_dir())):
        raise typer.BadParameter("is read by both models: give the name of a file", param_hint="DATA")
    models = [open_model(path, parameters) for path in (first, second)]
    names = LabelNames(models[0], label_names)
    found = measure(
        models,
        (first, second),
        data,
        propensity=(A, B),
        filter_labels=filter_labels,
        level=level,
        n_resamples=resamples,
        random_state=random_state,
    )
    if json:
        print_json(found.to_json(rows))
    else:
        found.print(standard_output(), rows, names)
