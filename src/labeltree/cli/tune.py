"""`labeltree tune`."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from labeltree.cli import options
from labeltree.cli.data_file import DataFile
from labeltree.cli.data_options import reads_data
from labeltree.cli.evaluate import positive
from labeltree.cli.options import file_option, option
from labeltree.cli.parameters import with_parameters

#: Parameters that are searched unless they are given.
_SEARCHED = ("loss", "C", "arity", "max_leaves", "prune", "n_trees")

#: Parameters that all trials share.
_SHARED = (
    "max_depth",
    "frequent_share",
    "label_vectors",
    "label_vector_prune",
    "penalty",
    "label_weight",
    "tol",
    "max_iter",
    "normalize",
    "bias",
    "search",
    "beam",
    "missing_estimates",
    "n_jobs",
    "random_state",
)


@with_parameters(*_SEARCHED, *_SHARED)
@reads_data(sizes=True)
def tune(
    data: DataFile,
    budget: Annotated[float, option("The time for the search.", metavar="MINUTES", callback=positive)],
    out: Annotated[
        Path, file_option("The file to write the chosen parameters to, for 'train --parameters'.")
    ],
    valid: Annotated[
        str | None,
        file_option(
            "Rows to measure models on. By default a fifth of DATA, at most 10,000 rows, is held out."
        ),
    ] = None,
    metric: Annotated[
        str,
        option(
            "The metric to maximise: P, nDCG, recall, coverage, PSP or PSnDCG, averaged over the cut-offs.",
            metavar="NAME@K,K,…",
        ),
    ] = "P@1,3,5",
    json: options.Json = False,
    **parameters: Any,
) -> None:
    """Search for good parameters of label trees within a time budget: precision against speed and size.

    Many candidates are trained on a sample of the rows, the best third of them on three times as many rows, and so on
    up to all rows and several trees. The table shows the trials that no other trial beats in precision, time and size
    at once. The chosen trial is the smallest of those that are as precise as the best, within the error of measurement.

    The search covers [bold]--loss[/bold], [bold]--C[/bold], [bold]--arity[/bold], [bold]--max-leaves[/bold],
    [bold]--prune[/bold] and [bold]--n-trees[/bold]. A parameter that you give is fixed. With the same
    [bold]--random-state[/bold], only the available time decides how many candidates are tried.

    [bold]Examples[/bold]

        labeltree tune train.txt --budget 10 --out parameters.json
        labeltree train train.txt --model tags --parameters parameters.json
        labeltree tune train.txt --valid dev.txt --budget 60 --out small.json --n-trees 1
    """
    import time

    from labeltree import LabelTreeClassifier
    from labeltree.cli.console import print_json, print_next, standard_output
    from labeltree.cli.trained_model import refuse_wrong
    from labeltree.cli.tuning_display import TuningDisplay, front_table, summary
    from labeltree.tuning import SearchSpace
    from labeltree.tuning import tune as search
    from labeltree.tuning.checks import check_search

    started = time.monotonic()
    given = {name: value for name, value in parameters.items() if value is not None}
    estimator = LabelTreeClassifier(**{name: value for name, value in given.items() if name in _SHARED})
    space = SearchSpace().fixed(**{name: value for name, value in given.items() if name in _SEARCHED})
    refuse_wrong(lambda: check_search(estimator, space, metric))
    # An error at the very end would cost the whole search.
    if out.is_dir():
        raise ValueError(f"{out}: expected the name of a file to write, got a directory")
    if not out.resolve().parent.is_dir():
        raise ValueError(f"{out}: there is no such directory to write to")
    with data.recognised() as file:
        X, y = file.read()
    X_valid = y_valid = None
    if valid is not None:
        X_valid, y_valid = _read_alike(data.alike(valid), X, y)
    left = 60 * budget - (time.monotonic() - started)
    if left <= 0:
        raise ValueError(
            f"{data.path}: reading the data took all of the {budget:g} minutes; give a longer --budget"
        )
    display = TuningDisplay(60 * budget, metric, started)
    with nullcontext() if json else display.opened():
        found = search(
            X,
            y,
            X_valid,
            y_valid,
            budget=left,
            estimator=estimator,
            space=space,
            metric=metric,
            on_trial=display.show,
        )
    found.save(out)
    seconds = time.monotonic() - started
    if json:
        print_json(
            {
                "out": str(out),
                "data": data.path,
                "valid": valid,
                "valid_rows": found.n_valid_rows,
                "metric": metric,
                "budget_seconds": 60 * budget,
                "seconds": seconds,
                "trials": len(found.trials),
                "parameters": found.parameters,
                "chosen": found.chosen.to_json(),
                "start": None if found.start is None else found.start.to_json(),
                "front": [trial.to_json() for trial in found.front],
            }
        )
        return
    console = standard_output()
    console.print(summary(found, seconds))
    console.print(front_table(found))
    print_next(f"labeltree train {data.path} --model DIR --parameters {out}")


def _read_alike(source: DataFile, X: Any, y: Any) -> tuple[Any, Any]:
    """Read rows with as many features and labels as the training data has."""
    with replace(source, n_features=None, n_labels=None).recognised() as file:
        X_valid, y_valid = file.read()
    for matrix, like, flag in ((X_valid, X, "--n-features"), (y_valid, y, "--n-labels")):
        if matrix.nnz and matrix.indices.max() >= like.shape[1]:
            raise ValueError(
                f"{source.path}: has ids that the training data has not; if the files belong together, give "
                f"{flag} {int(matrix.indices.max()) + 1}"
            )
        matrix.resize(matrix.shape[0], like.shape[1])
    if X_valid.shape[0] == 0:
        raise ValueError(f"{source.path}: expected at least one row to measure models with, got none")
    return X_valid, y_valid
