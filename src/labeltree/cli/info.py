"""`labeltree info`."""

from __future__ import annotations

from dataclasses import astuple
from typing import Annotated, Any

import typer

from labeltree.cli import options
from labeltree.cli.parameters import classifier_parameters

#: More trees than these are described together.
MOST_TREES = 10


def info(
    model: options.Model,
    verify: Annotated[
        bool, typer.Option("--verify", help="Read everything and compare it with the checksums.")
    ] = False,
    tree: Annotated[bool, typer.Option("--tree", help="Draw the first tree, from the root down.")] = False,
    max_nodes: Annotated[int, typer.Option(min=1, metavar="N", help="How many nodes to draw.")] = 60,
    labels: options.LabelNames = None,
    json: options.Json = False,
) -> None:
    """Describe a model: what it was trained on, its size, its trees and its parameters.

    [bold]Examples[/bold]

        labeltree info tags.labeltree
        labeltree info tags.labeltree --verify
        labeltree info tags.labeltree --tree --labels labels.txt
    """
    from labeltree.cli.console import print_json, standard_output
    from labeltree.cli.label_names import LabelNames
    from labeltree.cli.trained_model import check_has_label_tree
    from labeltree.model_file import load, read_info

    stored = read_info(model)
    classifier: Any = load(model, verify=verify)
    if tree:
        check_has_label_tree(classifier)
    names = LabelNames(classifier, labels)
    drawing = (
        classifier.tree_.draw([names[label] for label in classifier.classes_.tolist()], max_nodes)
        if tree
        else None
    )
    if json:
        drawn = {} if drawing is None else {"tree": drawing}
        print_json({**_to_json(stored, classifier), "verified": verify, **drawn})
        return
    console = standard_output()
    console.print(_description(stored, classifier, verify))
    if drawing is not None:
        console.print()
        console.print(drawing, no_wrap=True, overflow="ellipsis")


def _to_json(stored: Any, classifier: Any) -> dict[str, Any]:
    return {
        "model": stored.path,
        "estimator": stored.estimator,
        "library_version": stored.library_version,
        "format_version": stored.format_version,
        "rows": classifier.n_samples_fit_,
        "features": stored.n_features,
        "dense_features": list(stored.dense_features),
        "labels": stored.n_labels,
        "weights": stored.weights,
        "calibration": stored.calibration,
        "model_bytes": stored.n_bytes,
        "decision": classifier.decision_.summary(),
        "parameters": _parameters(stored),
        "trees": [
            {
                "nodes": tree.n_nodes,
                "depth": shape.depth,
                "arity": shape.arity,
                "weights": tree.n_weights,
                "bytes": tree.n_bytes,
                **report,
            }
            for tree, shape, report in zip(
                stored.trees, classifier._tree_shapes(), stored.training_report, strict=True
            )
        ],
    }


def _description(stored: Any, classifier: Any, verified: bool) -> Any:
    from rich.table import Table

    from labeltree.cli.figures import bytes_text

    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 3, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(ratio=1)
    table.add_row("model", stored.path)
    table.add_row("made by", f"{stored.estimator}, labeltree {stored.library_version}")
    checked = ", all checksums are right" if verified else ""
    table.add_row("file format", f"version {stored.format_version}{checked}")
    n_dense = stored.dense_features[1] - stored.dense_features[0]
    dense = f", {n_dense:,} of them dense" if n_dense else ""
    table.add_row("trained on", f"{classifier.n_samples_fit_:,} rows, {stored.n_features:,} features{dense}")
    if hasattr(classifier, "vectorizer_"):
        table.add_row("texts", repr(classifier.vectorizer_))
    table.add_row("labels", _labels(classifier))
    table.add_row("size", f"{bytes_text(stored.n_bytes)}, {stored.weights} weights")
    if stored.calibration is not None:
        table.add_row("calibrated", f"{stored.calibration}, level by level")
    for name, tree, depth, arity in _described_trees(stored, classifier):
        table.add_row(
            name,
            f"{tree.n_nodes:,} nodes, {depth} levels deep, at most {arity:,} children, {tree.n_weights:,} weights",
        )
    decision = classifier.decision_
    table.add_row("decision", f"{decision.describe()}, for {decision.metric}")
    table.add_row("parameters", ", ".join(f"{name}={value}" for name, value in _parameters(stored).items()))
    return table


def _described_trees(stored: Any, classifier: Any) -> list[tuple[str, Any, int, int]]:
    """Each tree, or if there are many of them all together: what it is called, its counts, its depth and arity."""
    shapes = classifier._tree_shapes()
    if len(shapes) <= MOST_TREES:
        names = [f"tree {number}" for number in range(1, len(shapes) + 1)] if len(shapes) > 1 else ["tree"]
        return [
            (name, tree, shape.depth, shape.arity)
            for name, tree, shape in zip(names, stored.trees, shapes, strict=True)
        ]
    sums = [sum(counts) for counts in zip(*(astuple(tree) for tree in stored.trees), strict=True)]
    depth, arity = max(shape.depth for shape in shapes), max(shape.arity for shape in shapes)
    return [(f"{len(shapes)} trees", type(stored.trees[0])(*sums), depth, arity)]


def _parameters(stored: Any) -> dict[str, Any]:
    """The parameters in the order of the signature; of a tree that was given only that it was."""
    given = {name: "given" if isinstance(value, dict) else value for name, value in stored.parameters.items()}
    return {
        name: given.pop(name) for name in classifier_parameters(stored.estimator) if name in given
    } | given


def _labels(classifier: Any) -> str:
    classes, counts = classifier.classes_, classifier.label_counts_
    examples = ", ".join(str(label) for label in classes[:3].tolist())
    unseen = int((counts == 0).sum())
    without = f", {unseen:,} of them without any" if unseen else ""
    return f"{len(classes):,} ({examples}, …), of {counts.mean():,.1f} training rows on average{without}"
