"""`labeltree tree build`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from labeltree.cli import options
from labeltree.cli.data_file import DataFile
from labeltree.cli.data_options import reads_data
from labeltree.cli.options import file_option
from labeltree.cli.parameters import PANELS, is_given, text_options, with_parameters


def _json_file(path: Path) -> Path:
    if path.suffix != ".json":
        raise typer.BadParameter(f"a tree is written as JSON: the name must end in .json, got {path.name}")
    return path


Out = Annotated[Path, file_option("The .json file to write the tree to.", "--out", callback=_json_file)]


@with_parameters(
    *(name for name in PANELS["The tree"] if name != "n_trees"),
    "normalize",
    "n_jobs",
    "random_state",
    "verbose",
    defaults=True,
    texts=True,
)
@reads_data(sizes=True)
def build(
    context: typer.Context,
    data: DataFile,
    out: Out,
    label_names: options.LabelNames = None,
    json: options.Json = False,
    **parameters: Any,
) -> None:
    """Build the tree that train would build, without training, and show its shape and cost.

    The cost is an average over rows: the nodes that learn from a row, their blocks of siblings, and the passes over the
    row's features. The tree with fewer passes trains faster.

    [bold]Examples[/bold]

        labeltree tree build train.txt --out tree.json
        labeltree tree build texts.jsonl --out tree.json
        labeltree tree build train.txt --out tree.json --tree huffman --arity 16
        labeltree tree build train.txt --out tree.json --tree topics.csv --max-arity 64
    """
    from labeltree import LabelTreeClassifier
    from labeltree.cli.console import print_json, print_next, standard_output, titled
    from labeltree.cli.figures import Stopwatch, seconds_text
    from labeltree.cli.training_rows import read_training_rows
    from labeltree.cli.tree import hierarchy
    from labeltree.cli.tree.shape import shape_table, shape_to_json, write_text
    from labeltree.cli.untrained_model import untrained, untrained_vectorizer
    from labeltree.labels.reading import read_labels

    given_for_texts = {option.name for option in text_options() if is_given(context, option.name)}
    text_parameters = {option.name: parameters.pop(option.name) for option in text_options()}
    tree = hierarchy.tree_parameter(parameters["tree"])
    if isinstance(tree, list):
        raise typer.BadParameter(f"build makes one tree, got {len(tree)}", param_hint="--tree")
    classifier = untrained(LabelTreeClassifier, {**parameters, "tree": tree})
    hierarchy.check_names_are_used(classifier.tree, label_names)
    vectorizer = untrained_vectorizer(text_parameters, data)
    rows = read_training_rows(data, given_for_texts).vectorized(vectorizer)
    if rows.vectorizer is None:
        n_labels, first_label = rows.n_labels, rows.first_label
        classifier.tree = hierarchy.fit_for_columns(classifier.tree, label_names, n_labels, first_label)
    elif label_names is not None:
        raise typer.BadParameter(
            f"names labels that are numbers, but {data.path} has texts, whose labels are looked up as they are",
            param_hint="--label-names",
        )
    stopwatch = Stopwatch()
    with stopwatch.phase("building"):
        built = classifier.build_tree(rows.X, rows.y)
    cost = built.expected_cost(rows.label_matrix(), rows.feature_matrix())
    write_text(out, built.to_json())
    if json:
        print_json(
            {
                "out": str(out),
                **shape_to_json(built, cost, data.path),
                "parameters": parameters,
                "seconds": stopwatch.seconds,
            }
        )
        return
    console = standard_output()
    console.print(titled(out, f": built in {seconds_text(stopwatch.seconds['building'])}"))
    for line in hierarchy.describe_matching(classifier.tree, read_labels(rows.y).classes.tolist()):
        console.print(line)
    console.print(shape_table(built, [], cost, data.path))
    print_next(f"labeltree train {data.path}{data.options} --tree {out} --model MODEL")
