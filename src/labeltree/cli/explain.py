"""`labeltree explain`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labeltree.cli import options
from labeltree.cli.data_file import DataFile
from labeltree.cli.data_options import reads_data
from labeltree.cli.options import count, file_option, option
from labeltree.wording import count_text

if TYPE_CHECKING:
    from labeltree.cli.label_names import LabelNames


@reads_data
def explain(
    model: options.Model,
    data: DataFile,
    row: Annotated[int, option("The row of DATA, counted from 0.", min=0, metavar="N")] = 0,
    label: Annotated[str | None, option("The label to explain; by default the most probable one.")] = None,
    top: Annotated[int, count("The number of features to show for each node.")] = 5,
    label_names: options.LabelNames = None,
    feature_names: Annotated[
        Path | None, file_option("A file with the names of the features, one per line, from feature 0 on.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Explain why a row gets a label.

    The output has the path through the tree, and the features that count most.

    The probability of a label is the product of the probabilities along its path. The score of a node is the sum of
    value times weight over the features of the row: the largest terms are shown. For a neural network they are the
    words without which the label is less probable.

    [bold]Examples[/bold]

        labeltree explain tags.labeltree test.txt --row 7
        labeltree explain tags.labeltree test.txt --row 7 --label 42
        labeltree explain tags.labeltree test.txt --feature-names words.txt
    """
    from labeltree.cli.console import print_json, printable, standard_output, titled
    from labeltree.cli.label_names import LabelNames, read_feature_names
    from labeltree.cli.trained_model import open_model
    from labeltree.text.text_explanation import explain_text

    classifier = open_model(model)
    names = LabelNames(classifier, label_names)
    features = None
    if feature_names is not None:
        features = read_feature_names(feature_names, classifier.n_features_in_)
    elif classifier.model_.vectorizer is not None:
        features = classifier.model_.vectorizer.get_feature_names_out().tolist()
    x = _row(data, classifier, row)
    best = classifier.predict_topk(x, 1).labels.tolist()[0][0]
    chosen = best if label is None else _known(classifier, label, names)
    if isinstance(x, list) and not classifier.model_.learns:  # a text for a network or a mix
        explanation = explain_text(classifier, x[0], chosen, top)
    else:
        explanation = classifier.explain(x, chosen, n_features=top, feature_names=features)
    if json:
        print_json(
            {
                "model": str(model),
                "data": data.path,
                "row": row,
                "label": chosen,
                **names.to_json(chosen),
                "probability": explanation.probability,
                "trees": [[_to_json(step) for step in path] for path in explanation.paths],
                **(
                    {}
                    if explanation.classifier is None
                    else {"classifier": _own_to_json(explanation.classifier)}
                ),
            }
        )
        return
    console = standard_output()
    console.print(
        titled(
            f"label {printable(names.beside(chosen))}",
            f" of row {row}: probability {explanation.probability:.4f}",
        )
    )
    own = explanation.classifier
    if own is not None:
        aside = "" if own.proposed else "; the trees do not propose this label, so it does not count"
        console.print()
        console.print(f"classifier of the label: {own.probability:.4f}, score {_signed(own.score)}{aside}")
        console.print(_terms(own))
    for number, path in enumerate(explanation.paths, start=1):
        console.print()
        if len(explanation.paths) > 1:
            console.print(f"tree {number}: {path[-1].probability_so_far:.4f}")
        console.print(_table(path, printable(names[chosen])))


def _row(source: DataFile, classifier: Any, row: int) -> Any:
    first = 0
    for rows in source.blocks_for(classifier):
        X = rows.X
        n_rows = len(X) if isinstance(X, list) else X.shape[0]
        if row < first + n_rows:
            return X[row - first : row - first + 1]
        first += n_rows
    raise typer.BadParameter(f"{source.path} has {first} rows, counted from 0", param_hint="--row")


def _known(classifier: Any, text: str, names: LabelNames) -> Any:
    """Return the label of the model that `text` is, or is the name of."""
    labels = classifier.classes_.tolist()
    for text_of in (str, names.get):
        for label in labels:
            if text_of(label) == text:
                return label
    raise typer.BadParameter(f"{text!r} is not a label of this model", param_hint="--label")


def _terms(step: Any) -> Any:
    """Return the largest terms of a score side by side."""
    from rich.columns import Columns
    from rich.text import Text

    from labeltree.cli.console import printable

    terms = [(c.feature, c.amount) for c in step.contributions] + [("bias", step.bias)]
    texts = [
        Text.assemble(f"{printable(feature)} ", (_signed(amount), "green" if amount > 0 else "red"))
        for feature, amount in terms
    ]
    return Columns(texts, padding=(0, 2))


def _table(path: Any, label: str) -> Any:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("node", no_wrap=True, max_width=30, overflow="ellipsis")
    for name in ("P", "so far", "score"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("largest terms", ratio=1)
    for depth, step in enumerate(path):
        node = "root" if depth == 0 else f"{'  ' * (depth - 1)}└ {step.node}"
        below = label if step is path[-1] else count_text(step.n_labels, "label")
        table.add_row(
            f"{node}: {below}",
            f"{step.probability:.4f}",
            f"{step.probability_so_far:.4f}",
            _signed(step.score),
            _terms(step),
        )
    return table


def _signed(score: float) -> str:
    # A node whose examples are all alike has a huge score, and needs no digits.
    return f"{score:+.3f}" if abs(score) < 100 else f"{score:+.0f}"


def _to_json(step: Any) -> dict[str, Any]:
    return {
        "node": step.node,
        "labels": step.n_labels,
        "probability": step.probability,
        "probability_so_far": step.probability_so_far,
        **_score_to_json(step),
    }


def _own_to_json(step: Any) -> dict[str, Any]:
    return {"proposed": step.proposed, "probability": step.probability, **_score_to_json(step)}


def _score_to_json(step: Any) -> dict[str, Any]:
    return {
        "score": step.score,
        "bias": step.bias,
        "features": [{**c._asdict(), "amount": c.amount} for c in step.contributions],
    }
