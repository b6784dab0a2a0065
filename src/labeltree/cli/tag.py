"""`labeltree tag`."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labeltree.cli import options
from labeltree.cli.options import argument, option

if TYPE_CHECKING:
    from labeltree.cli.label_names import LabelNames


def tag(
    model: options.Model,
    texts: Annotated[
        list[str] | None,
        argument("TEXT", "Texts, each in quotes. Without any, every line of standard input is a text."),
    ] = None,
    k: options.K = None,
    threshold: options.Threshold = None,
    label_names: options.LabelNames = None,
    json: Annotated[bool, option("Print a JSON object per text, for scripts.", "--json")] = False,
) -> None:
    """Print the most probable labels of texts.

    The model is one that 'labeltree train' has trained on texts, or 'labeltree learn' on a stream of texts. It prints
    the 5 most probable labels, or those that it chooses after [bold]labeltree decide[/bold]. If labels have names, the
    name comes first and the label beside it.

    [bold]Examples[/bold]

        labeltree tag tags.labeltree "A fishing boat at sea"
        labeltree tag tags.labeltree -k 3 --threshold 0.2 "A fishing boat" "A cat"
        labeltree tag tags.labeltree --json < texts.txt
    """
    from labeltree.cli.console import print_warning
    from labeltree.cli.label_names import LabelNames
    from labeltree.cli.predicted_labels import predictor
    from labeltree.cli.trained_model import open_model
    from labeltree.data.sources import standard_input

    classifier = open_model(model)
    if not classifier.model_.takes_text:
        raise typer.BadParameter(
            f"{model} was trained on rows of numbers, not on texts: ask it with 'labeltree predict', or train one "
            "on texts with 'labeltree train texts.jsonl'",
            param_hint="MODEL",
        )
    if texts and len(texts) == 1 and _is_file(texts[0]):
        print_warning(
            f"{texts[0]} is a file, but its name is tagged here; for the texts of the file use 'labeltree "
            f"predict {model} {texts[0]}'"
        )
    ask = predictor(classifier, k, threshold)
    show = partial(_print_json if json else _print, names=LabelNames(classifier, label_names))
    has_several = not texts or len(texts) > 1
    if not texts and standard_input().isatty():
        print("Type a text and press Enter; Ctrl+D ends.", file=sys.stderr)
    # Lines of standard input are answered one by one, as they come.
    for batch in [texts] if texts else ([line.rstrip("\r\n")] for line in sys.stdin):
        X = classifier.model_.text_rows(batch)
        found = ask(classifier, X)
        for number, (text, tags) in enumerate(zip(batch, found.rows(), strict=True)):
            show(text, tags, has_several, _is_empty(X, number))


def _is_file(text: str) -> bool:
    return len(text) < 256 and "\0" not in text and Path(text).is_file()


def _is_empty(X: Any, row: int) -> bool:
    """Return whether the model knows no word of a text; for a mix, whose rows have several forms, it is not asked."""
    if isinstance(X, list):
        return not X[row]
    return hasattr(X, "indptr") and bool(X.indptr[row] == X.indptr[row + 1])


def _print(
    text: str, tags: list[tuple[Any, float]], has_several: bool, is_empty: bool, names: LabelNames
) -> None:
    from rich.text import Text

    from labeltree.cli.console import printable, standard_output

    console = standard_output()
    if has_several:
        console.print(printable(text), style="bold", no_wrap=True, overflow="ellipsis")
    for label, probability in tags:
        name = names.get(label)
        line = f"{probability:6.1%}  {printable(label if name is None else name)}"
        beside = "" if name is None else f"  {printable(label)}"
        console.print(Text.assemble(line, (beside, "dim")), soft_wrap=True)
    if not tags:
        console.print("no label is probable enough", style="dim")
    if is_empty:
        known = "the model knows no word of this text"
        console.print(f"{known}: these are frequent labels" if tags else known, style="dim")


def _print_json(
    text: str, tags: list[tuple[Any, float]], has_several: bool, is_empty: bool, names: LabelNames
) -> None:
    from labeltree.cli.console import json_text
    from labeltree.cli.predicted_labels import labels_to_json

    print(json_text({"text": text, "labels": labels_to_json(tags, names)}), flush=True)
