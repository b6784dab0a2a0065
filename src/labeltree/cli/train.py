"""`labeltree train`: one command for every method in `labeltree.kinds`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from labeltree.cli import options
from labeltree.cli.data_file import DataFile
from labeltree.cli.engine_options import MaxRetries, Ray, Workers, chosen_engine
from labeltree.cli.figures import range_text, seconds_text
from labeltree.cli.options import file_option, option
from labeltree.cli.parameter_search import (
    DEFAULT_METRIC,
    Metric,
    Valid,
    check_tuning_options,
    searched_only,
    seconds_of,
)
from labeltree.cli.parameters import is_given, text_options
from labeltree.kinds import KINDS, METHODS
from labeltree.wording import count_text

DEFAULT_METHOD = "label-tree"
DEFAULT_HOLDOUT = 0.1
PRESETS = tuple(preset for kind in METHODS.values() for preset in kind.presets)
PRESETS_OF_STREAMS = tuple(preset for kind in KINDS if kind.method is None for preset in kind.presets)


def train(
    context: typer.Context,
    data: DataFile,
    model: Annotated[
        Path,
        option(
            "The directory to save the model in. It is created when training ends, or a model of the same kind in it "
            "is replaced.",
            metavar="DIR",
        ),
    ],
    overwrite: Annotated[
        bool,
        option(
            "Replace a model of another kind too. Without it, a model of another method, an online model and a model "
            "of texts instead of numbers, or of numbers instead of texts, are kept.",
            "--overwrite",
        ),
    ] = False,
    method: Annotated[
        Literal[tuple(METHODS)],  # type: ignore[valid-type] # mypy does not read the registry
        option(
            f"{' | '.join(METHODS)}. The first is the default. Add --help-all to see the options of a method.",
            metavar="METHOD",
            show_default=False,
        ),
    ] = DEFAULT_METHOD,
    tune: Annotated[
        float | None,
        option(
            "First search parameters for this time, such as 90s, 5m or 2h. Options that you give are fixed. Ctrl-C "
            "ends the search early and trains with the best parameters so far.",
            metavar="TIME",
            parser=seconds_of,
        ),
    ] = None,
    valid: Valid = None,
    metric: Metric = DEFAULT_METRIC,
    label_names: Annotated[
        Path | None,
        file_option(
            "A file with readable names of labels, which the model keeps: a table (.csv, .tsv) of labels and names, a "
            "SKOS vocabulary (.ttl, .rdf, …), or a list of names, one per line, from label 0 on. By default the names "
            "in the taxonomy that the tree is made of, if it has names."
        ),
    ] = None,
    language: options.Language = "en",
    mix: Annotated[
        Literal["linear"] | None,
        option(
            "Also train a linear label tree on the words of the texts, and answer with the weighted mean of both "
            "models: linear. For texts; often better than either model."
        ),
    ] = None,
    holdout: Annotated[
        float,
        option(
            "With --mix: share of the texts that are held out to choose the weights, at most 5,000 texts.",
            metavar="SHARE",
        ),
    ] = DEFAULT_HOLDOUT,
    preset: Annotated[
        Literal[PRESETS] | None,  # type: ignore[valid-type] # as above
        option(
            f"Use the settings of a published system, and its method: {', '.join(PRESETS)}. Options that you give "
            f"override them. 'labeltree learn' has {' and '.join(PRESETS_OF_STREAMS)}.",
            metavar="SYSTEM",
        ),
    ] = None,
    parameters_file: Annotated[
        Path | None,
        file_option(
            "A JSON file with parameters by name, as 'labeltree tune' writes it. Options that you give override "
            "them.",
            "--parameters",
        ),
    ] = None,
    stream: Annotated[
        bool,
        option(
            "Read the file once for each epoch instead of keeping it in memory. For files larger than memory; its rows "
            "are shuffled in a buffer.",
            "--stream",
        ),
    ] = False,
    buffer_rows: Annotated[
        int, option("With --stream: maximum number of rows in the buffer.", metavar="N", min=1)
    ] = 100_000,
    ray: Ray = None,
    workers: Workers = None,
    max_retries: MaxRetries = None,
    json: options.Json = False,
    **parameters: Any,
) -> None:
    """Train a model on labelled texts or rows of numbers and save it.

    The defaults are good for most data. Options to try first: [bold]--tune 5m[/bold] searches for better parameters;
    [bold]--n-trees 3[/bold] predicts a little better and costs three times as much; [bold]--max-leaves[/bold] and
    [bold]--arity[/bold] trade time for precision; [bold]--prune[/bold] makes the model smaller. The same command gives
    the same model, bit for bit; another [bold]--random-state[/bold] gives another model.

    A model in DIR is replaced in one step when training ends, if it is of the same kind. Another model is kept, unless
    you add [bold]--overwrite[/bold].

    [bold]Examples[/bold]

        labeltree train texts.jsonl --model tags.labeltree
        labeltree train texts.jsonl --model tags.labeltree --tune 5m
        labeltree train records.jsonl --model tags --text title --labels subjects
        labeltree train train.txt --model tags.labeltree --n-trees 3
        zcat part*.gz | labeltree train - --model tags.labeltree --preset parabel
        labeltree train train.txt --model tags --tree topics.csv --label-names labels.txt
        labeltree train texts.jsonl --model tags --label-names eurovoc.ttl --language fr
        labeltree train texts.jsonl --model tags --parameters parameters.json
    """
    import time

    from labeltree.cli.console import print_error, print_json, print_next, standard_output, titled
    from labeltree.cli.figures import Stopwatch, bytes_text, directory_bytes, peak_memory_bytes
    from labeltree.cli.info import trees_to_json
    from labeltree.cli.parameter_search import describe_search, run_search, search_to_json
    from labeltree.cli.replacement import check_may_replace
    from labeltree.cli.streamed_rows import StreamedRows, open_streamed_rows
    from labeltree.cli.training_rows import read_training_rows, read_validation_rows
    from labeltree.cli.tree.hierarchy import describe_matching, fit_for_columns, label_names_in
    from labeltree.cli.untrained_model import (
        MixOptions,
        check_processes,
        check_texts_are_vectorized,
        classifier_of,
        mixed_tagger,
        read_parameters_of,
        vectorizer_of,
    )
    from labeltree.deep.extras import process_number
    from labeltree.labels.name_file import NameFile
    from labeltree.model_file import read_info
    from labeltree.text.tokenizers import allow_import, is_import_path

    kind = METHODS[method]
    check_processes(method, kind.reads_texts, tune, str(data.path))
    if preset is not None and preset not in kind.presets:
        raise typer.BadParameter(
            f"--method {method} has the presets {', '.join(kind.presets)}, got {preset}",
            param_hint="--preset",
        )
    mixing = MixOptions.of(context, mix, holdout, tune, stream)
    given = {name for name in parameters if is_given(context, name)}
    text_parameters = {option.name: parameters.pop(option.name) for option in text_options()}
    given_for_texts = given & text_parameters.keys()
    if is_import_path(text_parameters["tokenizer"]):
        allow_import(text_parameters["tokenizer"])  # whoever types a name trusts it, also in a file
    read = read_parameters_of(kind, parameters_file)
    vectorizer, for_texts = vectorizer_of(text_parameters, given_for_texts, read.pop("text", {}), data)
    if kind.reads_texts and mixing is None:
        check_texts_are_vectorized(method, for_texts, data)
    classifier, parameters = classifier_of(kind, parameters, given - given_for_texts, preset, read)
    fixed = {name: (parameters | text_parameters)[name] for name in given}
    check_tuning_options(context, tune, preset, classifier, fixed, metric)
    # The JSON report has the words and files of --tree, not the trees that were read from them.
    tree, told = getattr(classifier, "tree", None), {}
    if tree is not None:
        told["tree"] = tree if isinstance(tree, str) else parameters["tree"]
    name_file = None if label_names is None else NameFile.read(label_names, language)
    estimator = kind.estimator if mixing is None else "MixedModel"
    check_may_replace(model, estimator, overwrite)
    stopwatch = Stopwatch()
    with stopwatch.phase("reading"):
        rows: Any = (
            open_streamed_rows(data, buffer_rows, for_texts)
            if stream
            else read_training_rows(
                data,
                for_texts,
                only_texts="--mix" if mixing else f"--method {method}" if kind.reads_texts else None,
                as_fields=not kind.reads_texts or mixing is not None,
            )
        )
        valid_rows = None if valid is None else read_validation_rows(data.alike(valid), rows)
    check_may_replace(model, estimator, overwrite, rows.are_texts)
    # A wrong file is refused before hours of training.
    names = None if name_file is None else name_file.names_of(rows.labels)
    found = None
    if tune is not None:
        with stopwatch.phase("tuning"), chosen_engine(ray, workers, max_retries):
            found = run_search(
                rows,
                valid_rows,
                classifier,
                vectorizer,
                searched_only(fixed),
                budget=tune,
                metric=metric,
                started=time.monotonic(),
                is_shown=not json,
            )
        if found.is_interrupted:
            print_error(
                "search interrupted: training with the best parameters so far; Ctrl-C again ends the command"
            )
        classifier.set_params(**searched_only(found.parameters))
        vectorizer.set_params(**searched_only(found.text_parameters or {}))
    if mixing is not None:
        classifier = mixed_tagger(classifier, vectorizer, mixing)
    elif rows.are_texts and not kind.reads_texts:
        with stopwatch.phase("vectorizing"):
            rows = rows.vectorized(vectorizer)
    if tree is not None and not rows.are_texts and not isinstance(rows, StreamedRows):
        classifier.tree = tree = fit_for_columns(tree, label_names, rows.n_labels, rows.first_label)
    if kind.reads_texts and names is None:
        names = label_names_in(tree, rows.labels)
    with chosen_engine(ray, workers, max_retries):
        rows.fit(classifier, **({"label_names": names} if kind.reads_texts else {}))
    if process_number():
        return  # the first of the processes of torchrun writes the model
    labels = classifier.classes_.tolist()
    found_names = label_names_in(tree, labels) if names is None else names
    if found_names is not None:  # a store may have names, too
        classifier.label_names_ = found_names
    stopwatch.seconds |= classifier.fit_seconds_
    with stopwatch.phase("saving"):
        classifier.save(model)
    stored, n_labels = read_info(model), len(classifier.classes_)
    if json:
        print_json(
            {
                "model": str(model),
                "model_bytes": directory_bytes(model),
                "method": method,
                "estimator": estimator,
                "weights": stored.weights,
                "data": data.path,
                "rows": classifier.n_samples_fit_,
                "features": classifier.n_features_in_,
                "labels": n_labels,
                "label_names": len(classifier.label_names_ or ()),
                "parameters": {**getattr(classifier, "classifier", classifier).get_params(), **told},
                **({} if mixing is None else {"mix": mixing.to_json(classifier)}),
                "tuning": None if found is None else search_to_json(found),
                "C": getattr(classifier, "C_", None),
                "trees": trees_to_json(stored, classifier),
                "training_report": classifier.training_report_,
                "seconds": stopwatch.seconds,
                "peak_memory_bytes": peak_memory_bytes(),
            }
        )
        return
    console = standard_output()
    if found is not None:
        console.print(describe_search(found, stopwatch.seconds["tuning"]))
    console.print(
        rows.describe(n_labels, stopwatch.seconds["reading"] + stopwatch.seconds.get("vectorizing", 0))
    )
    for line in describe_matching(tree, labels):
        console.print(line)
    if classifier.label_names_:
        console.print(f"{len(classifier.label_names_):,} of {n_labels:,} labels have names")
    console.print(describe_training(classifier))
    if getattr(classifier, "C_scores_", None) is not None:
        by_level = ", ".join(f"{value:g}" for value in classifier.C_)
        console.print(f"C chosen: {by_level} (for each level, from the root down)")
    if mixing is not None:
        console.print(mixing.describe(classifier))
    named = "" if estimator == METHODS[DEFAULT_METHOD].estimator else f"{estimator}, "
    n_weights = sum(tree.n_weights for tree in stored.trees)
    size = bytes_text(directory_bytes(model))
    console.print(titled(model, f": {named}{size}, {n_weights:,} weights as {stored.weights}"))
    if not rows.are_texts:
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
