"""`labeltree tree build`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from labeltree.cli import options
from labeltree.cli.parameters import PANELS, with_parameters


def _json_file(path: Path) -> Path:
    if path.suffix != ".json":
        raise typer.BadParameter(f"a tree is written as JSON: the name must end in .json, got {path.name}")
    return path


Out = Annotated[
    Path,
    typer.Option("--out", metavar="FILE", help="Where the tree goes: a .json file.", callback=_json_file),
]


@with_parameters(
    *(name for name in PANELS["The tree"] if name != "n_trees"),
    "normalize",
    "n_jobs",
    "random_state",
    "verbose",
    defaults=True,
)
def build(
    data: options.Data,
    out: Out,
    labels: options.LabelNames = None,
    format: options.Format = "auto",
    one_based: options.OneBased = None,
    n_features: options.NFeatures = None,
    n_labels: options.NLabels = None,
    json: options.Json = False,
    **parameters: Any,
) -> None:
    """Build the tree that train would, and stop: what is its shape, what would it cost?

    The cost is that of a row on average: the nodes that learn from it, the blocks of siblings that they are in, and the
    passes over its features, which say beforehand which of two trees is faster.

    [bold]Examples[/bold]

        labeltree tree build train.txt --out tree.json
        labeltree tree build train.txt --out tree.json --tree huffman --arity 16
        labeltree tree build train.txt --out tree.json --tree topics.csv --max-arity 64
    """
    from labeltree import LabelTreeClassifier
    from labeltree.cli.console import print_json, print_next, standard_output, titled
    from labeltree.cli.data_file import DataFile, format_of
    from labeltree.cli.figures import Stopwatch, seconds_text
    from labeltree.cli.trained_model import untrained
    from labeltree.cli.tree.hierarchy import (
        check_names_are_of_use,
        describe_matching,
        fit_for_columns,
        tree_parameter,
    )
    from labeltree.cli.tree.shape import cost_row, cost_to_json, shape_rows, shape_to_json, table_of
    from labeltree.data.atomic_file import open_atomic

    tree = tree_parameter(parameters["tree"])
    if isinstance(tree, list):
        raise typer.BadParameter(f"build makes one tree, got {len(tree)}", param_hint="--tree")
    classifier = untrained(LabelTreeClassifier, {**parameters, "tree": tree})
    check_names_are_of_use(classifier.tree, labels)
    source = DataFile(data, format_of(data, format), one_based)
    X, y = source.read(n_features, n_labels)
    classifier.tree = fit_for_columns(classifier.tree, labels, y.shape[1], source.first_label)
    stopwatch = Stopwatch()
    with stopwatch.phase("building"):
        built = classifier.build_tree(X, y)
    cost = built.expected_cost(y, X)
    with open_atomic(out) as file:
        file.write(built.to_json().encode())
    if json:
        print_json(
            {
                "out": str(out),
                "data": data,
                **shape_to_json(built),
                "cost": cost_to_json(cost),
                "parameters": parameters,
                "seconds": stopwatch.seconds,
            }
        )
        return
    console = standard_output()
    console.print(titled(out, f": built in {seconds_text(stopwatch.seconds['building'])}"))
    for line in describe_matching(classifier.tree, built.n_labels):
        console.print(line)
    console.print(table_of([*shape_rows(built), cost_row(cost, data, built.n_labels)]))
    print_next(f"labeltree train {data} --tree {out} --model MODEL")
