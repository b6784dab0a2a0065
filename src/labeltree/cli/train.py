"""`labeltree train`: one command for every method in `labeltree.kinds`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from labeltree.cli import options
from labeltree.cli.data_file import DataFile
from labeltree.cli.figures import count_text, range_text, seconds_text
from labeltree.cli.options import file_option, option
from labeltree.cli.parameters import is_given, text_options
from labeltree.kinds import METHODS, Kind

DEFAULT_METHOD = "label-tree"


def train(
    context: typer.Context,
    data: DataFile,
    model: Annotated[
        Path,
        option(
            "The directory to save the model in. It is created or replaced when training ends.", metavar="DIR"
        ),
    ],
    method: Annotated[
        Literal[tuple(METHODS)],  # type: ignore[valid-type] # mypy does not read the registry
        option("The method to train. Add --help to see its options.", metavar="METHOD"),
    ] = DEFAULT_METHOD,
    label_names: options.LabelNames = None,
    preset: Annotated[
        Literal["parabel", "bonsai", "napkinxc"] | None,
        option("Use the settings of a published system. Options that you give override them."),
    ] = None,
    parameters_file: Annotated[
        Path | None,
        file_option(
            "A JSON file with parameters by name, as 'labeltree tune' writes it. Options that you give override "
            "them.",
            "--parameters",
        ),
    ] = None,
    weights: Annotated[
        options.WeightType,
        option("The type of the stored weights. The smaller types cost a little precision."),
    ] = "float32",
    json: options.Json = False,
    **parameters: Any,
) -> None:
    """Train a model on labelled rows or texts and save it.

    The defaults are good for most data. Options to try first: [bold]--n-trees 3[/bold] predicts a little better and
    costs three times as much; [bold]--max-leaves[/bold] and [bold]--arity[/bold] trade time for precision;
    [bold]--prune[/bold] makes the model smaller. The same [bold]--random-state[/bold] gives the same model, bit for
    bit.

    [bold]Examples[/bold]

        labeltree train train.txt --model tags.labeltree
        labeltree train texts.jsonl --model tags.labeltree
        labeltree train train.svm.gz --model tags.labeltree --n-trees 3
        zcat part*.gz | labeltree train - --model tags.labeltree --preset parabel
        labeltree train train.txt --model tags --tree topics.csv --label-names labels.txt
        labeltree train train.txt --model tags --parameters parameters.json
    """
    from labeltree.cli.console import print_json, print_next, standard_output, titled
    from labeltree.cli.figures import Stopwatch, bytes_text, directory_bytes, peak_memory_bytes
    from labeltree.cli.info import trees_to_json
    from labeltree.cli.training_rows import read_training_rows
    from labeltree.cli.tree.hierarchy import check_names_are_used, describe_matching, fit_for_columns
    from labeltree.model_file import read_info
    from labeltree.model_file.directory import check_replaceable
    from labeltree.model_file.waiting import check_nothing_waits

    kind = METHODS[method]
    given = {name for name in parameters if is_given(context, name)}
    text_parameters = {option.name: parameters.pop(option.name) for option in text_options()}
    given_for_texts = given & text_parameters.keys()
    classifier, parameters = _untrained(kind, parameters, given - given_for_texts, preset, parameters_file)
    # The JSON report has the words and files of --tree, not the trees that were read from them.
    tree, told = getattr(classifier, "tree", None), {}
    if tree is not None:
        told["tree"] = tree if isinstance(tree, str) else parameters["tree"]
    check_names_are_used(tree, label_names)
    check_replaceable(model)
    check_nothing_waits(model)
    stopwatch = Stopwatch()
    with stopwatch.phase("reading"):
        rows = read_training_rows(data, text_parameters, given_for_texts)
    if tree is not None and rows.vectorizer is None:
        classifier.tree = tree = fit_for_columns(tree, label_names, rows.y.shape[1], rows.first_label)
    rows.fit(classifier)
    stopwatch.seconds |= classifier.fit_seconds_
    with stopwatch.phase("saving"):
        classifier.save(model, **({"weights": weights} if "weights" in context.params else {}))
    stored, n_labels = read_info(model), len(classifier.classes_)
    if json:
        print_json(
            {
                "model": str(model),
                "model_bytes": directory_bytes(model),
                "method": method,
                "estimator": kind.estimator,
                "weights": stored.weights,
                "data": data.path,
                "rows": rows.X.shape[0],
                "features": rows.X.shape[1],
                "labels": n_labels,
                "parameters": {**classifier.get_params(), **told},
                "C": getattr(classifier, "C_", None),
                "trees": trees_to_json(stored, classifier),
                "training_report": classifier.training_report_,
                "seconds": stopwatch.seconds,
                "peak_memory_bytes": peak_memory_bytes(),
            }
        )
        return
    console = standard_output()
    console.print(rows.describe(n_labels, stopwatch.seconds["reading"]))
    for line in describe_matching(tree, n_labels):
        console.print(line)
    console.print(describe_training(classifier))
    if isinstance(getattr(classifier, "C", None), str):
        chosen = classifier.C_ if isinstance(classifier.C_, list) else [classifier.C_]
        console.print(f"C chosen: {', '.join(f'{value:g}' for value in chosen)}")
    named = "" if method == DEFAULT_METHOD else f"{kind.estimator}, "
    n_weights = sum(tree.n_weights for tree in stored.trees)
    size = bytes_text(directory_bytes(model))
    console.print(titled(model, f": {named}{size}, {n_weights:,} weights as {stored.weights}"))
    if rows.vectorizer is None:
        print_next(f"labeltree evaluate {model} TEST_DATA")
    else:
        print_next(f'labeltree tag {model} "some text"')


def describe_training(classifier: Any) -> str:
    """Describe the trained trees, and how long training took, in one line."""
    shapes, seconds = classifier.model_.forest.shapes(), classifier.fit_seconds_
    clustering = seconds.get("clustering")
    beside = "" if clustering is None else f" ({seconds_text(clustering)} to cluster labels)"
    trained = f"trained in {seconds_text(sum(seconds.values()))}{beside}"
    if not shapes:
        return trained
    trees = f"{count_text(len(shapes), 'tree')} of {range_text([shape.n_nodes for shape in shapes], 'node')}"
    return f"{trees}, {range_text([shape.depth for shape in shapes], 'level')}, {trained}"


def _untrained(
    kind: Kind, parameters: dict[str, Any], given: set[str], preset: str | None, file: Path | None
) -> tuple[Any, dict[str, Any]]:
    """Return an estimator, not yet trained, and its parameters: those `given`, then the file's, then the preset's.

    Wrong options raise an error here, before any data is read.
    """
    from labeltree.cli.trained_model import untrained
    from labeltree.cli.tree.hierarchy import tree_parameter
    from labeltree.tuning import read_parameters

    estimator = kind.load()
    if file is not None:
        read = read_parameters(file, estimator)
        parameters = {**parameters, **{name: value for name, value in read.items() if name not in given}}
        given = given | read.keys()
    made = dict(parameters)
    if "tree" in parameters:
        made["tree"] = tree_parameter(parameters["tree"])
        if isinstance(made["tree"], list) and "n_trees" not in given:
            made["n_trees"] = len(made["tree"])
            given = given | {"n_trees"}
    if preset is not None:
        # The default of --n-jobs is not the estimator's.
        made = {name: made[name] for name in (*given, "n_jobs")}
        return untrained(getattr(estimator, preset), made), parameters
    return untrained(estimator, made), parameters
