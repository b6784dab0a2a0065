"""`labeltree learn`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from labeltree.cli.data_file import DataFile
from labeltree.cli.data_options import data_option, reads_data
from labeltree.cli.options import argument, count, option
from labeltree.cli.parameters import is_given, option_name, with_parameters
from labeltree.kinds import kind_named
from labeltree.wording import count_text

_KIND = kind_named("OnlineLabelTreeClassifier")
assert _KIND is not None

#: Parameters that may change when a model is resumed: nothing that it has learned depends on them.
_CHANGEABLE = {*_KIND.panels["The search for labels"], "n_jobs"}


def _cutoffs(text: str) -> tuple[int, ...]:
    try:
        cutoffs = tuple(sorted({int(word) for word in text.split(",")}))
    except ValueError:
        cutoffs = (0,)
    if cutoffs[0] < 1:
        raise typer.BadParameter(f"must be numbers from 1 with commas, such as 1,3,5; got {text!r}")
    return cutoffs


@with_parameters(defaults=True, kind=_KIND)
@reads_data
def learn(
    context: typer.Context,
    stream: Annotated[
        DataFile | None,
        argument(
            "STREAM",
            "A file with an example on each line, or - for standard input. "
            "Files ending in .gz, .xz and .zst are decompressed. Without it, only the journal of the model is learned.",
        ),
    ] = None,
    *,
    model: Annotated[
        Path,
        option("The directory of the model. If it has a model, learning resumes from it.", metavar="DIR"),
    ],
    new_stream: Annotated[
        bool | None,
        data_option(
            "All examples of STREAM are new; or, with --same-stream, it starts with the examples that the model has "
            "learned, which are then skipped. When learning resumes, a file is the same stream by default; for "
            "standard input the option is required.",
            "--new-stream/--same-stream",
        ),
    ] = None,
    skip_bad_lines: Annotated[
        bool, data_option("Count and skip wrong lines instead of stopping.", "--skip-bad-lines")
    ] = False,
    fresh: Annotated[bool, option("Start over, and replace the model in DIR.", "--fresh")] = False,
    preset: Annotated[
        Literal[_KIND.presets] | None,  # type: ignore[name-defined] # mypy does not read the registry
        option(
            f"Use the settings of a published system: {', '.join(_KIND.presets)}. Options that you give override them.",
            metavar="SYSTEM",
        ),
    ] = None,
    checkpoint_every: Annotated[int, count("Save the model after every N examples.")] = 100_000,
    report_every: Annotated[int, count("Report after every N examples.")] = 10_000,
    window: Annotated[int, count("Report the precision on the last N examples.")] = 10_000,
    k: Annotated[
        str, option("Report the precision of the best K labels.", "--k", "-k", metavar="K,K,…")
    ] = "1,3,5",
    json: Annotated[bool, option("Print a JSON object per line, for scripts.", "--json")] = False,
    **parameters: Any,
) -> None:
    """Learn from a stream of examples.

    Each example is predicted before it is learned, and the reports have the precision of these predictions.

    New labels and new features may come at any time, and the stream may be endless. The model is saved at checkpoints,
    atomically. After a crash, the same command resumes from the last checkpoint, and the model becomes the same, bit
    for bit, as without the crash. SIGTERM and Ctrl-C stop learning after a last checkpoint.

    The directory is locked meanwhile. Examples that wait in its journal, because a server was killed, are learned
    first.

    [bold]Examples[/bold]

        labeltree learn examples.jsonl --model tags.labeltree
        labeltree learn train.txt.gz --model tags.labeltree --policy best_fit
        labeltree learn train.txt --model tags.labeltree --tree tree.json --policy fixed
        labeltree learn train.txt --model tags.labeltree --n-trees 3 --policy random
        tail -n +1 -F log.jsonl | labeltree learn - --model tags --same-stream
        labeltree learn --model tags
    """
    from labeltree.cli.learning_run import print_replayed, run_learning
    from labeltree.cli.progressive_validation import ProgressiveValidation
    from labeltree.model_file.directory import check_replaceable
    from labeltree.model_file.lock import ModelLock
    from labeltree.online.journaled_model import JournaledModel

    cutoffs = _cutoffs(k)
    check_replaceable(model)
    if stream is None and (fresh or not model.exists()):
        raise typer.BadParameter("is required to start a model", param_hint="STREAM")
    with ModelLock(model, "learns into this model (labeltree learn)") as lock:
        classifier = _classifier(context, model, fresh, preset, parameters)
        is_new = stream is not None and _is_new(stream.path, classifier, new_stream)
        open_journal = JournaledModel.start_over if fresh else JournaledModel
        with open_journal(classifier, model, lock) as journaled:
            if journaled.n_replayed:
                journaled.save()
            if stream is None or journaled.n_replayed:
                print_replayed(journaled, as_json=json)
            if stream is None:
                return
            run_learning(
                journaled,
                stream.path,
                partial(stream.stream, skip_bad_lines=skip_bad_lines),
                ProgressiveValidation(classifier, cutoffs, window),
                checkpoint_every=checkpoint_every,
                report_every=report_every,
                new_stream=is_new,
                as_json=json,
            )


def _classifier(
    context: typer.Context, path: Path, fresh: bool, preset: str | None, parameters: dict[str, Any]
) -> Any:
    """Return the model in `path`, or a new one; wrong options raise an error before any data is read."""
    from labeltree import OnlineLabelTreeClassifier
    from labeltree.cli.trained_model import open_model
    from labeltree.cli.tree.hierarchy import given_trees
    from labeltree.cli.untrained_model import untrained
    from labeltree.model_file.directory import DOCUMENT_NAME

    is_new = fresh or not (path / DOCUMENT_NAME).exists()
    names = {name for name in parameters if is_given(context, name)} | {"n_jobs"}
    if is_new and parameters["tree"] is not None:
        parameters = {**parameters, "tree": given_trees(parameters["tree"])}
        if isinstance(parameters["tree"], list) and "n_trees" not in names:
            parameters["n_trees"] = len(parameters["tree"])
            names.add("n_trees")
    if is_new and preset is None:
        return untrained(OnlineLabelTreeClassifier, parameters)
    given = {name: value for name, value in parameters.items() if name in names}
    if preset is not None:
        settings = {"random_state": parameters["random_state"], **given}
        if not is_new:
            settings.pop("tree", None)  # a file; the model has its tree
        made = untrained(getattr(OnlineLabelTreeClassifier, preset), settings)
        if is_new:
            return made
        # A saved model must have all settings of the preset.
        defaults = OnlineLabelTreeClassifier().get_params()
        given |= {name: value for name, value in made.get_params().items() if value != defaults[name]}
    classifier = open_model(path, {name: value for name, value in given.items() if name in _CHANGEABLE})
    if not classifier.model_.learns:
        raise ValueError(
            f"{path} was trained on all its data at once; choose another directory, or continue in Python with "
            "OnlineLabelTreeClassifier.from_batch"
        )
    saved = classifier.get_params()
    if saved["tree"] is not None:
        given.pop("tree", None)  # the same command resumes; the tree of the model may have more labels by now
    for name, value in given.items():
        if value != saved[name]:
            raise typer.BadParameter(
                f"the model in {path} has {saved[name]}, not {value}; leave the option out, or start over with --fresh",
                param_hint=option_name(name),
            )
    return classifier


def _is_new(stream: str, classifier: Any, new_stream: bool | None) -> bool:
    """Return whether all examples of the stream are new, rather than its first ones learned already."""
    from labeltree.online.streaming import n_learned

    if new_stream is None and stream == "-" and n_learned(classifier):
        raise typer.BadParameter(
            f"the model has learned {count_text(n_learned(classifier), 'example')}: add --new-stream if standard input "
            "has only new ones, --same-stream if it starts with those",
            param_hint="STREAM",
        )
    return bool(new_stream)
