"""`labeltree train`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from labeltree.cli import options
from labeltree.cli.figures import count_text, range_text, seconds_text
from labeltree.cli.parameters import TEXT_PANELS, is_given, with_parameters

Preset = Literal["parabel", "bonsai", "napkinxc"]


@with_parameters(*TEXT_PANELS["Texts"], defaults=True, estimator="TextVectorizer")
@with_parameters()
def train(
    context: typer.Context,
    data: options.Data,
    model: Annotated[
        Path,
        typer.Option(
            metavar="DIR", help="Where the model goes: a directory, made or replaced at the very end."
        ),
    ],
    format: options.TrainingFormat = "auto",
    one_based: options.OneBased = None,
    n_features: options.NFeatures = None,
    n_labels: options.NLabels = None,
    labels: options.LabelNames = None,
    preset: Annotated[
        Preset | None,
        typer.Option(
            help="Start from the settings of a published system; options that are given override them.",
            show_default=False,
        ),
    ] = None,
    parameters_file: Annotated[
        Path | None,
        typer.Option(
            "--parameters",
            metavar="FILE",
            help="Parameters by name, as 'labeltree tune' writes them; options that are given override them.",
            show_default=False,
        ),
    ] = None,
    weights: options.Weights = "float32",
    json: options.Json = False,
    **parameters: Any,
) -> None:
    """Train a model on labelled rows or texts and save it.

    The defaults are good for most data. What to turn first: [bold]--n-trees 3[/bold] predicts a little better and
    costs three times as much; [bold]--max-leaves[/bold] and [bold]--arity[/bold] trade time for precision;
    [bold]--prune[/bold] makes the model smaller. The same [bold]--random-state[/bold] gives the same model, bit for
    bit.

    [bold]Examples[/bold]

        labeltree train train.txt --model tags.labeltree
        labeltree train texts.jsonl --model tags.labeltree
        labeltree train train.svm.gz --model tags.labeltree --n-trees 3
        zcat part*.gz | labeltree train - --model tags.labeltree --preset parabel
        labeltree train train.txt --model tags --tree topics.csv --labels labels.txt
        labeltree train train.txt --model tags --parameters parameters.json
    """
    from labeltree.cli.console import print_json, print_next, standard_output, titled
    from labeltree.cli.figures import Stopwatch, bytes_text, directory_bytes, peak_memory_bytes
    from labeltree.cli.training_rows import read_training_rows
    from labeltree.cli.tree.hierarchy import check_names_are_used, describe_matching, fit_for_columns
    from labeltree.model_file.directory import check_replaceable
    from labeltree.tuning import read_parameters

    given = {name for name in parameters if is_given(context, name)}
    text_parameters = {name: parameters.pop(name) for name in TEXT_PANELS["Texts"]}
    given_text_parameters = given & text_parameters.keys()
    given -= given_text_parameters
    if parameters_file is not None:
        said = read_parameters(parameters_file)
        parameters |= {name: value for name, value in said.items() if name not in given}
        given |= said.keys()
    classifier = _classifier(given, preset, parameters)
    # A preset may have another tree than the option says by default.
    tree_text = classifier.tree if isinstance(classifier.tree, str) else parameters["tree"]
    check_names_are_used(classifier.tree, labels)
    check_replaceable(model)
    stopwatch = Stopwatch()
    with stopwatch.phase("reading"):
        rows = read_training_rows(
            data, format, one_based, n_features, n_labels, text_parameters, given_text_parameters
        )
    if rows.vectorizer is None:
        classifier.tree = fit_for_columns(classifier.tree, labels, rows.y.shape[1], rows.first_label)
    rows.fit(classifier)
    n_classes = len(classifier.classes_)
    stopwatch.seconds |= classifier.fit_seconds_
    with stopwatch.phase("saving"):
        classifier.save(model, weights=weights)
    if json:
        print_json(
            {
                "model": str(model),
                "model_bytes": directory_bytes(model),
                "weights": weights,
                "data": data,
                "rows": rows.X.shape[0],
                "features": rows.X.shape[1],
                "labels": n_classes,
                "parameters": {**classifier.get_params(), "tree": tree_text},
                "C": getattr(classifier, "C_", None),
                "trees": _trees(classifier),
                "seconds": stopwatch.seconds,
                "peak_memory_bytes": peak_memory_bytes(),
            }
        )
        return
    console = standard_output()
    console.print(rows.describe(classifier, seconds_text(stopwatch.seconds["reading"])))
    for line in describe_matching(classifier.tree, n_classes):
        console.print(line)
    console.print(describe_training(classifier))
    if isinstance(classifier.C, str):
        chosen = classifier.C_ if isinstance(classifier.C_, list) else [classifier.C_]
        console.print(f"C chosen: {', '.join(f'{value:g}' for value in chosen)}")
    n_weights = sum(trained.n_weights for trained in classifier.weights_)
    console.print(
        titled(model, f": {bytes_text(directory_bytes(model))}, {n_weights:,} weights as {weights}")
    )
    if rows.vectorizer is None:
        print_next(f"labeltree evaluate {model} TEST_DATA")
    else:
        print_next(f'labeltree tag {model} "some text"')


def describe_training(classifier: Any) -> str:
    """What was trained, and how long it took, in a line."""
    trees, seconds = classifier.trees_, classifier.fit_seconds_
    return (
        f"{count_text(len(trees), 'tree')} of {range_text([tree.n_nodes for tree in trees], 'node')}, "
        f"{range_text([tree.depth for tree in trees], 'level')}, "
        f"trained in {seconds_text(sum(seconds.values()))} "
        f"({seconds_text(seconds['clustering'])} to cluster labels)"
    )


def _trees(classifier: Any) -> list[dict[str, Any]]:
    return [
        {
            "nodes": trained.tree.n_nodes,
            "depth": trained.tree.depth,
            "arity": trained.tree.arity,
            "weights": trained.n_weights,
            **report,
        }
        for trained, report in zip(classifier.weights_, classifier.training_report_, strict=True)
    ]


def _classifier(given: set[str], preset: Preset | None, parameters: dict[str, Any]) -> Any:
    """The classifier that the options ask for, not yet trained; wrong options end here, before anything is read.

    Of `parameters` those `given` override the preset.
    """
    from labeltree import LabelTreeClassifier
    from labeltree.cli.trained_model import untrained
    from labeltree.cli.tree.hierarchy import tree_parameter

    parameters = {**parameters, "tree": tree_parameter(parameters["tree"])}
    if isinstance(parameters["tree"], list) and "n_trees" not in given:
        parameters["n_trees"] = len(parameters["tree"])
    if preset is None:
        return untrained(LabelTreeClassifier, parameters)
    # The command line's own default is not the estimator's.
    named = given | {"n_jobs"}
    if isinstance(parameters["tree"], list):
        named.add("n_trees")
    return untrained(getattr(LabelTreeClassifier, preset), {name: parameters[name] for name in named})
