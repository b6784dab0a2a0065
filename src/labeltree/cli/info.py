"""`labeltree info`."""

from __future__ import annotations

import inspect
from typing import Annotated, Any

import typer

from labeltree.cli import options
from labeltree.cli.options import count, option

#: More trees than this are described together.
MOST_TREES = 10


def info(
    model: options.Model,
    verify: Annotated[
        bool, option("Read all files and compare them with their checksums.", "--verify")
    ] = False,
    tree: Annotated[bool, option("Draw the first tree, from the root down.", "--tree")] = False,
    max_nodes: Annotated[int, count("The maximum number of nodes to draw.")] = 60,
    label_names: options.LabelNames = None,
    json: options.Json = False,
) -> None:
    """Describe a model: its training data, size, trees and parameters.

    [bold]Examples[/bold]

        labeltree info tags.labeltree
        labeltree info tags.labeltree --verify
        labeltree info tags.labeltree --tree --label-names labels.txt
    """
    from labeltree.cli.console import print_json, printable, standard_output
    from labeltree.cli.label_names import LabelNames
    from labeltree.cli.trained_model import check_has_label_tree
    from labeltree.model_file import load, read_info
    from labeltree.model_file.waiting import Waiting

    if label_names is not None and not tree:
        raise typer.BadParameter("names labels in the drawing: add --tree", param_hint="--label-names")
    stored = read_info(model)
    waiting = Waiting.of(model)
    # Verifying looks at the network as well, which may need an extra.
    options = {"without_network": True} if stored.runtime is not None and not verify else {}
    classifier: Any = load(model, verify, None, **options)
    drawing = None
    if tree:
        check_has_label_tree(classifier)
        names = LabelNames(classifier, label_names)
        leaves = [printable(names[label]) for label in classifier.classes_.tolist()]
        drawing = classifier.model_.forest.trees[0].draw(leaves, max_nodes)
    if json:
        drawn = {} if drawing is None else {"tree": drawing}
        journal = _journal_to_json(waiting)
        print_json({**_to_json(stored, classifier), "journal": journal, "verified": verify, **drawn})
        return
    console = standard_output()
    console.print(_description(stored, classifier, verify, waiting))
    if drawing is not None:
        console.print()
        console.print(drawing, no_wrap=True, overflow="ellipsis")


def trees_to_json(stored: Any, classifier: Any) -> list[dict[str, Any]]:
    """Return the figures of each tree of a saved model, with its training report."""
    shapes = classifier.model_.forest.shapes()
    return [
        {
            "nodes": tree.n_nodes,
            "depth": shape.depth,
            "arity": shape.arity,
            "weights": tree.n_weights,
            "bytes": tree.n_bytes,
            **report,
        }
        for tree, shape, report in zip(stored.trees, shapes, stored.training_report, strict=True)
    ]


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
        "label_names": len(classifier.label_names_ or ()),
        "weights": stored.weights,
        "calibration": stored.calibration,
        "calibration_source": None
        if stored.calibration is None
        else classifier.model_.forest.calibration.source,
        **({"rerank": stored.rerank} if stored.rerank else {}),
        **({"runtime": stored.runtime} if stored.runtime else {}),
        "model_bytes": stored.n_bytes,
        "decision": classifier.decision_.summary(),
        "parameters": _parameters(stored, classifier),
        "trees": trees_to_json(stored, classifier),
    }


def _journal_to_json(waiting: Any) -> dict[str, Any] | None:
    if not waiting.journal.exists():
        return None
    return {"path": str(waiting.journal), "examples": waiting.n_examples, "belongs": waiting.belongs}


def _description(stored: Any, classifier: Any, verified: bool, waiting: Any) -> Any:
    from labeltree.cli.console import table_of
    from labeltree.cli.figures import bytes_text
    from labeltree.wording import count_text

    checked = ", all checksums are right" if verified else ""
    n_dense = stored.dense_features[1] - stored.dense_features[0]
    dense = f", {n_dense:,} of them dense" if n_dense else ""
    rows = [
        ("model", stored.path),
        ("made by", f"{stored.estimator}, labeltree {stored.library_version}"),
        ("file format", f"version {stored.format_version}{checked}"),
        (
            "trained on",
            f"{count_text(classifier.n_samples_fit_, 'row')}, {count_text(stored.n_features, 'feature')}{dense}",
        ),
    ]
    if classifier.model_.vectorizer is not None:
        rows.append(("texts", repr(classifier.model_.vectorizer)))
    rows.append(("labels", _labels(classifier)))
    rows.append(("size", f"{bytes_text(stored.n_bytes)}, {stored.weights} weights"))
    if stored.calibration is not None:
        rows.append(("calibrated", classifier.model_.forest.calibration.describe()))
    if stored.rerank:
        rows.append(("reranked", f"{count_text(stored.rerank, 'proposal')} by label classifiers"))
    if stored.runtime is not None:
        rows.append(("network", f"run by {'torch' if stored.runtime == 'torch' else 'onnxruntime'}"))
    rows += _tree_rows(trees_to_json(stored, classifier))
    decision = classifier.decision_
    parameters = ", ".join(f"{name}={value}" for name, value in _parameters(stored, classifier).items())
    rows.append(("decision", f"{decision.describe()}, for {decision.metric}"))
    rows.append(("parameters", parameters))
    if waiting.n_examples:
        wait = "waits" if waiting.n_examples == 1 else "wait"
        what = f"{wait} to be learned" if waiting.belongs else "for another version of this model"
        rows.append(("journal", f"{count_text(waiting.n_examples, 'example')} {what}: {waiting.journal}"))
    return table_of(rows)


def _tree_rows(trees: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return a title and a text for each tree, or for all of them together if there are many."""
    from labeltree.wording import count_text

    names = [f"tree {number}" for number in range(1, len(trees) + 1)] if len(trees) > 1 else ["tree"]
    if len(trees) > MOST_TREES:
        names = [f"{len(trees)} trees"]
        sums = {name: sum(tree[name] for tree in trees) for name in ("nodes", "weights")}
        largest = {name: max(tree[name] for tree in trees) for name in ("depth", "arity")}
        trees = [sums | largest]
    return [
        (
            name,
            f"{tree['nodes']:,} nodes, {count_text(tree['depth'], 'level')} deep, at most {tree['arity']:,} children, "
            f"{tree['weights']:,} weights",
        )
        for name, tree in zip(names, trees, strict=True)
    ]


def _parameters(stored: Any, classifier: Any) -> dict[str, Any]:
    """Return the parameters in the order of the signature; a tree that was passed as an object is only named."""
    given = {name: "given" if isinstance(value, dict) else value for name, value in stored.parameters.items()}
    if "link" in given:  # a file has the name of the link that "auto" stands for
        given["link"] = classifier.link
    if hasattr(classifier, "rerank"):  # a file has it only if it is not 0
        given.setdefault("rerank", classifier.rerank)
    order = inspect.signature(type(classifier)).parameters
    return {name: given.pop(name) for name in order if name in given} | given


def _labels(classifier: Any) -> str:
    from labeltree.cli.console import printable

    classes, counts = classifier.classes_, classifier.label_counts_
    names = classifier.label_names_
    examples = ", ".join(
        str(label) if names is None or label not in names else f"{label}: {names[label]}"
        for label in classes[:3].tolist()
    )
    unseen = int((counts == 0).sum())
    without = f", {unseen:,} of them without any" if unseen else ""
    named = "" if names is None else f", {len(names):,} with names"
    rows = f"with {counts.mean():,.1f} training rows on average{without}"
    return f"{len(classes):,} ({printable(examples)}, …){named}, {rows}"
