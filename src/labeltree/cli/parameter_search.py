"""The search for parameters of `tune` and of `train --tune`: its options, and how it is run and stopped."""

from __future__ import annotations

import re
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labeltree.cli.options import file_option, option
from labeltree.cli.parameters import is_given, option_name

if TYPE_CHECKING:
    from labeltree.cli.stop_signals import SearchSignals
    from labeltree.cli.training_rows import TrainingRows

_SECONDS = {"s": 1, "m": 60, "h": 3600}

Valid = Annotated[
    str | None,
    file_option(
        "Rows to measure the models of a search on. By default a fifth of DATA, at most 10,000 rows, is held out."
    ),
]
Metric = Annotated[
    str,
    option(
        "The metric that a search maximises: P, nDCG, recall, coverage, PSP or PSnDCG, averaged over the cut-offs.",
        metavar="NAME@K,K,…",
    ),
]
DEFAULT_METRIC = "P@1,3,5"


def seconds_of(text: str) -> float:
    """Return the seconds of a time such as ``90s``, ``5m`` or ``2h``; a number without a unit is minutes.

    Examples
    --------
    >>> seconds_of("90s"), seconds_of("5m"), seconds_of("1.5h"), seconds_of("10")
    (90.0, 300.0, 5400.0, 600.0)
    """
    found = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)([smh]?)", text.strip())
    if found is None or float(found[1]) == 0:
        raise typer.BadParameter(
            f"must be a positive number with a unit, such as 90s, 5m or 2h; got {text!r}"
        )
    return float(found[1]) * _SECONDS[found[2] or "m"]


def run_search(
    rows: TrainingRows,
    valid: TrainingRows | None,
    estimator: Any,
    vectorizer: Any,
    fixed: dict[str, Any],
    *,
    budget: float,
    metric: str,
    started: float,
    is_shown: bool,
    signals: SearchSignals | None = None,
) -> Any:
    """Search parameters from `started` on for `budget` seconds; Ctrl-C or SIGTERM ends it with the result so far.

    The start of the search is the parameters of the estimator and of the vectorizer; those in `fixed` are not searched.
    """
    import time

    from labeltree.cli.stop_signals import SearchSignals
    from labeltree.cli.tuning_display import TuningDisplay
    from labeltree.text import Tagger
    from labeltree.tuning import SearchSpace, tune

    display = TuningDisplay(budget, metric, started)
    with (signals or SearchSignals()).handled(), display.opened() if is_shown else nullcontext():
        return tune(
            rows.X,
            rows.y,
            None if valid is None else valid.X,
            None if valid is None else valid.y,
            budget=max(budget - (time.monotonic() - started), 1e-3),
            estimator=Tagger(estimator, vectorizer) if rows.has_whole_texts else estimator,
            space=SearchSpace().fixed(**fixed),
            metric=metric,
            on_trial=display.show,
        )


def searched_only(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters that a search chooses."""
    from labeltree.tuning.space import SEARCHED, TEXT_SEARCHED

    return {name: value for name, value in parameters.items() if name in (*SEARCHED, *TEXT_SEARCHED)}


def check_tuning_options(
    context: typer.Context,
    budget: float | None,
    preset: str | None,
    classifier: Any,
    fixed: dict[str, Any],
    metric: str,
) -> None:
    """Raise `BadParameter` for options of `train` that do not work with ``--tune``, or without it."""
    if budget is None:
        for name in ("valid", "metric"):
            if is_given(context, name):
                raise typer.BadParameter("works only with --tune", param_hint=option_name(name))
        return
    if preset is not None:
        raise typer.BadParameter("a preset has settings of its own: leave it out", param_hint="--tune")
    from labeltree.cli.trained_model import refuse_wrong
    from labeltree.tuning import SearchSpace
    from labeltree.tuning.checks import check_search

    space = SearchSpace().fixed(**searched_only(fixed))
    refuse_wrong(lambda: check_search(classifier, space, metric))


def describe_search(found: Any, seconds: float) -> str:
    """Return the number of trials, the chosen parameters and their score."""
    from labeltree.cli.figures import seconds_text
    from labeltree.cli.tuning_display import parameters_text
    from labeltree.wording import count_text

    early = ", interrupted" if found.is_interrupted else ""
    trials = f"{count_text(len(found.trials), 'trial')} in {seconds_text(seconds)}{early}"
    score = f"{found.metric} {100 * found.chosen.score:.2f}"
    if found.start is not None:
        score += f" ({100 * found.start.score:.2f} at the start)"
    return f"{trials}: {score} on held-out rows with {parameters_text(found.chosen.parameters)}"


def search_to_json(found: Any) -> dict[str, Any]:
    """Return the search as an object of a JSON report."""
    return {
        "metric": found.metric,
        "valid_rows": found.n_valid_rows,
        "trials": len(found.trials),
        "interrupted": found.is_interrupted,
        "chosen": found.chosen.to_json(),
        "start": None if found.start is None else found.start.to_json(),
    }
