"""`labeltree explain`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from labeltree.cli import options


def explain(
    model: options.Model,
    data: options.Data,
    row: Annotated[int, typer.Option(min=0, metavar="N", help="Which row of DATA, counted from 0.")] = 0,
    label: Annotated[
        str | None,
        typer.Option(help="The label to explain; by default the most probable one.", show_default=False),
    ] = None,
    top: Annotated[
        int, typer.Option(min=1, metavar="N", help="How many features to show for each node.")
    ] = 5,
    labels: options.LabelNames = None,
    feature_names: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Names of the features, one per line: feature 0 on the first.",
            show_default=False,
        ),
    ] = None,
    format: options.AnyFormat = "auto",
    one_based: options.OneBased = None,
    json: options.Json = False,
) -> None:
    """Show why a row gets a label: the path through the tree, and what weighed most.

    The probability of a label is the product of the probabilities along its path. Each node has a score, and the
    score is a sum of value times weight over the features of the row: the largest summands are shown.

    [bold]Examples[/bold]

        labeltree explain tags.labeltree test.txt --row 7
        labeltree explain tags.labeltree test.txt --row 7 --label 42
        labeltree explain tags.labeltree test.txt --feature-names words.txt
    """
    from labeltree.cli.console import print_json, standard_output, titled
    from labeltree.cli.data_file import DataFile
    from labeltree.cli.label_names import LabelNames, read_names
    from labeltree.cli.trained_model import open_model

    classifier = open_model(model, {})
    names = LabelNames(classifier, labels)
    features = None
    if feature_names is not None:
        features = read_names(feature_names, "feature", classifier.n_features_in_)
    elif hasattr(classifier, "vectorizer_"):
        features = classifier.vectorizer_.get_feature_names_out().tolist()
    x = _row(DataFile(data, format, one_based), classifier, row)
    chosen = (
        classifier.predict_topk(x, 1).labels.tolist()[0][0] if label is None else _known(classifier, label)
    )
    explanation = classifier.explain(x, chosen, n_features=top, feature_names=features)
    if json:
        print_json({"model": str(model), "data": data, "row": row, **_to_json(explanation, names)})
        return
    console = standard_output()
    name = f"{chosen} ({names[chosen]})" if names.known else str(chosen)
    console.print(titled(f"label {name}", f" of row {row}: probability {explanation.probability:.4f}"))
    for number, path in enumerate(explanation.paths, start=1):
        console.print()
        if len(explanation.paths) > 1:
            console.print(f"tree {number}: {path[-1].probability_so_far:.4f}")
        console.print(_table(path, names[chosen]))


def _row(source: Any, classifier: Any, row: int) -> Any:
    first = 0
    for X in source.blocks_for(classifier):
        n_rows = len(X) if isinstance(X, list) else X.shape[0]
        if row < first + n_rows:
            return X[row - first : row - first + 1]
        first += n_rows
    raise typer.BadParameter(f"{source.path} has {first} rows, counted from 0", param_hint="--row")


def _known(classifier: Any, text: str) -> Any:
    """The label of the model that `text` means."""
    for label in classifier.classes_.tolist():
        if str(label) == text:
            return label
    raise typer.BadParameter(f"{text!r} is not a label of this model", param_hint="--label")


def _table(path: Any, label: str) -> Any:
    from rich.columns import Columns
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("node", no_wrap=True, max_width=30, overflow="ellipsis")
    for name in ("P", "so far", "score"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("what weighed most", ratio=1)
    for depth, step in enumerate(path):
        node = "root" if depth == 0 else f"{'  ' * (depth - 1)}└ {step.node}"
        below = label if step is path[-1] else f"{step.n_labels:,} labels"
        summands = [(c.feature, c.amount) for c in step.contributions] + [("bias", step.bias)]
        table.add_row(
            f"{node}: {below}",
            f"{step.probability:.4f}",
            f"{step.probability_so_far:.4f}",
            _signed(step.score),
            Columns([_summand(*summand) for summand in summands], padding=(0, 2)),
        )
    return table


def _summand(name: Any, amount: float) -> Any:
    from rich.text import Text

    return Text.assemble(f"{name} ", (_signed(amount), "green" if amount > 0 else "red"))


def _signed(score: float) -> str:
    # A node whose examples are all alike has a score beyond all others, and needs no digits.
    return f"{score:+.3f}" if abs(score) < 100 else f"{score:+.0f}"


def _to_json(explanation: Any, names: Any) -> dict[str, Any]:
    name = {"name": names[explanation.label]} if names.known else {}
    return {
        "label": explanation.label,
        **name,
        "probability": explanation.probability,
        "trees": [[_step_to_json(step) for step in path] for path in explanation.paths],
    }


def _step_to_json(step: Any) -> dict[str, Any]:
    return {
        "node": step.node,
        "labels": step.n_labels,
        "probability": step.probability,
        "probability_so_far": step.probability_so_far,
        "score": step.score,
        "bias": step.bias,
        "features": [
            {"feature": c.feature, "value": c.value, "weight": c.weight, "amount": c.amount}
            for c in step.contributions
        ],
    }
