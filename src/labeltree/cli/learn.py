"""`labeltree learn`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from labeltree.cli import options
from labeltree.cli.parameters import ONLINE_PANELS, is_given, with_parameters

_PARAMETERS = tuple(name for names in ONLINE_PANELS.values() for name in names)

#: What may change for a model that exists: nothing that it has learned depends on it.
_CHANGEABLE = {*ONLINE_PANELS["The search for labels"], "n_jobs"}


def _cutoffs(text: str) -> tuple[int, ...]:
    try:
        cutoffs = tuple(sorted({int(word) for word in text.split(",")}))
    except ValueError:
        cutoffs = (0,)
    if cutoffs[0] < 1:
        raise typer.BadParameter(f"must be numbers from 1 with commas, such as 1,3,5; got {text!r}")
    return cutoffs


@with_parameters(*_PARAMETERS, defaults=True, estimator="OnlineLabelTreeClassifier")
def learn(
    context: typer.Context,
    stream: Annotated[
        str,
        typer.Argument(
            metavar="STREAM",
            help="A file with an example on each line, or - for standard input. "
            "Names ending in .gz, .xz and .zst are decompressed.",
        ),
    ],
    model: Annotated[
        Path,
        typer.Option(metavar="DIR", help="The directory of the model: made, or gone on with if it is there."),
    ],
    format: options.AnyFormat = "auto",
    one_based: options.OneBased = None,
    new_stream: Annotated[
        bool | None,
        typer.Option(
            "--new-stream/--same-stream",
            help="For a model that is there: whether STREAM goes on where the one before ended, or is the "
            "same from its beginning, so that what was learned of it is passed over. By default a file is the same; "
            "of standard input it must be said.",
            show_default=False,
            rich_help_panel=options.DATA_PANEL,
        ),
    ] = None,
    skip_bad_lines: Annotated[
        bool,
        typer.Option(
            "--skip-bad-lines",
            help="Count lines that are not right and go on, instead of stopping there.",
            rich_help_panel=options.DATA_PANEL,
        ),
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Start over, and replace the model that is there.")
    ] = False,
    checkpoint_every: Annotated[
        int, typer.Option(min=1, metavar="N", help="Save the model after every N examples.")
    ] = 100_000,
    report_every: Annotated[
        int, typer.Option(min=1, metavar="N", help="Report after every N examples.")
    ] = 10_000,
    window: Annotated[
        int, typer.Option(min=1, metavar="N", help="Precision is that of the last N examples.")
    ] = 10_000,
    k: Annotated[
        str, typer.Option("--k", "-k", metavar="K,K,…", help="The precision of how many labels to report.")
    ] = "1,3,5",
    json: Annotated[bool, typer.Option("--json", help="Print a JSON object per line, for machines.")] = False,
    **parameters: Any,
) -> None:
    """Learn from a stream of examples, and report how well each was predicted before it was learned.

    New labels and new features may come at any time, and the stream may have no end. The model is saved at
    checkpoints, atomically. Whatever happens, the same command goes on from the last one, and the model becomes
    the same, bit for bit, as if nothing had happened. SIGTERM and Ctrl-C end it with a last checkpoint.

    [bold]Examples[/bold]

        labeltree learn examples.jsonl --model tags.labeltree
        labeltree learn train.txt.gz --model tags.labeltree --policy best_fit
        tail -n +1 -F log.jsonl | labeltree learn - --model tags --same-stream
    """
    from labeltree.cli.learning_run import LearningRun
    from labeltree.data import read_stream

    cutoffs = _cutoffs(k)
    classifier = _classifier(context, model, fresh, parameters)
    is_new_stream = _is_new(stream, classifier, new_stream)
    run = LearningRun(classifier, model, cutoffs, window, as_json=json)
    with run.open(stream) as file:
        examples = read_stream(file, format, one_based=one_based, skip_bad_lines=skip_bad_lines)
        run.learn(examples, checkpoint_every, report_every, new_stream=is_new_stream)
    run.end()


def _classifier(context: typer.Context, path: Path, fresh: bool, parameters: dict[str, Any]) -> Any:
    """The model that is there, or a new one; wrong options end here, before anything is read."""
    from labeltree import OnlineLabelTreeClassifier
    from labeltree.cli.trained_model import open_model, refuse_wrong
    from labeltree.model_file.directory import DOCUMENT_NAME, check_replaceable

    if fresh or not (path / DOCUMENT_NAME).exists():
        check_replaceable(path)
        new = OnlineLabelTreeClassifier(**parameters)
        refuse_wrong(new._check_parameters)
        return new
    given = {name: value for name, value in parameters.items() if is_given(context, name) or name == "n_jobs"}
    classifier = open_model(path, {name: value for name, value in given.items() if name in _CHANGEABLE})
    if not isinstance(classifier, OnlineLabelTreeClassifier):
        raise ValueError(
            f"{path} was trained on all its data at once; choose another directory, or go on with it in Python "
            "by OnlineLabelTreeClassifier.from_batch"
        )
    saved = classifier.get_params()
    for name, value in given.items():
        if value != saved[name]:
            raise typer.BadParameter(
                f"the model in {path} has {saved[name]}, not {value}; leave the option out, or start over with --fresh",
                param_hint=f"--{name.replace('_', '-')}",
            )
    return classifier


def _is_new(stream: str, classifier: Any, new_stream: bool | None) -> bool:
    """Whether all of the stream is new, or its beginning is what the model has learned."""
    from labeltree.online.streaming import n_learned

    if new_stream is None and stream == "-" and n_learned(classifier):
        raise typer.BadParameter(
            f"the model has learned {n_learned(classifier):,} examples: say --new-stream if standard input "
            "goes on behind these, --same-stream if it begins with them",
            param_hint="STREAM",
        )
    return bool(new_stream)
