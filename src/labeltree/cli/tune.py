"""`labeltree tune`."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Annotated, Any

import typer

from labeltree.cli import options
from labeltree.cli.data_file import DataFile
from labeltree.cli.data_options import reads_data
from labeltree.cli.engine_options import (
    MaxRetries,
    Ray,
    Workers,
    chosen_engine,
    engine_option,
    refuse_threads,
)
from labeltree.cli.options import file_option, option
from labeltree.cli.parameter_search import DEFAULT_METRIC, Metric, Valid, seconds_of
from labeltree.cli.parameters import text_options, with_parameters

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


@with_parameters(*_SEARCHED, *_SHARED, texts=True)
@reads_data(sizes=True)
def tune(
    data: DataFile,
    budget: Annotated[
        float,
        option(
            "The time for the search, such as 90s, 5m or 2h; minutes without a unit.",
            metavar="TIME",
            parser=seconds_of,
        ),
    ],
    out: Annotated[
        Path, file_option("The file to write the chosen parameters to, for 'train --parameters'.")
    ],
    valid: Valid = None,
    metric: Metric = DEFAULT_METRIC,
    ray: Ray = None,
    workers: Workers = None,
    max_retries: MaxRetries = None,
    json: options.Json = False,
    **parameters: Any,
) -> None:
    """Search for good parameters within a time budget.

    Many candidates are trained on a sample of the rows, the best third of them on three times as many rows, and so on
    up to all rows and several trees. The table shows the trials that no other trial beats in precision, time and size
    at once. The chosen trial is the smallest of those that are as precise as the best, within the error of measurement,
    and not worse than the start of the search.

    The search covers [bold]--loss[/bold], [bold]--C[/bold], [bold]--arity[/bold], [bold]--max-leaves[/bold],
    [bold]--prune[/bold] and [bold]--n-trees[/bold], and for texts also [bold]--ngram-range[/bold],
    [bold]--char-ngram-range[/bold], [bold]--min-df[/bold] and [bold]--sublinear-tf[/bold]. A parameter that you give is
    fixed. With the same [bold]--random-state[/bold], only the available time decides how many candidates are tried.

    With [bold]--workers[/bold] or [bold]--ray[/bold], several candidates are tried at once, so that more of them fit
    into the time.

    Ctrl-C and SIGTERM end the search early: the best parameters so far are written.

    [bold]Examples[/bold]

        labeltree tune texts.jsonl --budget 5m --out parameters.json
        labeltree train texts.jsonl --model tags --parameters parameters.json
        labeltree tune texts.jsonl --budget 5m --out parameters.json --workers 8
        labeltree tune train.txt --valid dev.txt --budget 1h --out small.json --n-trees 1
    """
    import time

    from labeltree import LabelTreeClassifier
    from labeltree.cli.application import INTERRUPTED
    from labeltree.cli.console import print_json, print_next, standard_output
    from labeltree.cli.parameter_search import run_search, searched_only
    from labeltree.cli.stop_signals import SearchSignals
    from labeltree.cli.trained_model import refuse_wrong
    from labeltree.cli.training_rows import read_training_rows, read_validation_rows
    from labeltree.cli.tuning_display import WIDTH, front_table, summary
    from labeltree.cli.untrained_model import untrained_vectorizer
    from labeltree.tuning import SearchSpace
    from labeltree.tuning.checks import check_search
    from labeltree.wording import count_text

    started = time.monotonic()
    refuse_threads(engine_option(ray, workers), parameters)
    given = {name: value for name, value in parameters.items() if value is not None}
    for_texts = {option.name for option in text_options()} & given.keys()
    fixed = searched_only(given)
    estimator = LabelTreeClassifier(**{name: value for name, value in given.items() if name in _SHARED})
    vectorizer = untrained_vectorizer({name: given[name] for name in for_texts}, data)
    refuse_wrong(lambda: check_search(estimator, SearchSpace().fixed(**fixed), metric))
    # An error at the very end would cost the whole search.
    if out.is_dir():
        raise ValueError(f"{out}: expected the name of a file to write, got a directory")
    if not out.resolve().parent.is_dir():
        raise ValueError(f"{out}: there is no such directory to write to")
    rows = read_training_rows(data, for_texts)
    valid_rows = None if valid is None else read_validation_rows(data.alike(valid), rows)
    if time.monotonic() - started >= budget:
        raise ValueError(
            f"{data.path}: reading the data took all of the {budget:g} seconds; give a longer --budget"
        )
    signals = SearchSignals()
    with chosen_engine(ray, workers, max_retries):
        found = run_search(
            rows,
            valid_rows,
            estimator,
            vectorizer,
            fixed,
            budget=budget,
            metric=metric,
            started=started,
            is_shown=not json,
            signals=signals,
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
                "budget_seconds": budget,
                "seconds": seconds,
                "trials": len(found.trials),
                "stopped_by": None if signals.received is None else signals.received.name,
                "parameters": found.to_json(),
                "chosen": found.chosen.to_json(),
                "start": None if found.start is None else found.start.to_json(),
                "front": [trial.to_json() for trial in found.front],
            }
        )
    else:
        console = standard_output()
        console.print(summary(found, seconds))
        console.print(front_table(found), width=max(console.width, WIDTH))
        if signals.received is not None:
            trials = count_text(len(found.trials), "trial")
            console.print(f"stopped by {signals.received.name} after {trials}: the best so far is in {out}")
        print_next(f"labeltree train {data.path}{data.options} --model DIR --parameters {out}")
    if signals.received == signal.SIGINT:
        raise typer.Exit(INTERRUPTED)
