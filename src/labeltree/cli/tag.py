"""`labeltree tag`."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from labeltree.cli import options
from labeltree.cli.options import argument, option, probability_option


def tag(
    model: options.Model,
    texts: Annotated[
        list[str] | None,
        argument("[TEXT]…", "Texts, each in quotes. Without any, every line of standard input is a text."),
    ] = None,
    k: Annotated[int, option("The maximum number of labels per text.", "--k", "-k", min=1, metavar="K")] = 5,
    threshold: Annotated[float, probability_option("Leave out labels with a smaller probability.")] = 0.0,
    json: Annotated[bool, option("Print a JSON object per text, for scripts.", "--json")] = False,
) -> None:
    """Tag texts: print the most probable labels of each, with their probabilities.

    The model is one that 'labeltree train' has trained on texts, or 'labeltree learn' on a stream of texts.

    [bold]Examples[/bold]

        labeltree tag tags.labeltree "A fishing boat at sea"
        labeltree tag tags.labeltree -k 3 --threshold 0.2 "A fishing boat" "A cat"
        labeltree tag tags.labeltree --json < texts.txt
    """
    from labeltree.cli.predicted_labels import best_labels
    from labeltree.cli.trained_model import open_model

    classifier = open_model(model)
    if not classifier.model_.takes_text:
        raise typer.BadParameter(
            f"{model} was trained on rows of numbers, not on texts: ask it with 'labeltree predict', or train one "
            "on texts with 'labeltree train texts.jsonl'",
            param_hint="MODEL",
        )
    show = _print_json if json else _print
    has_several = not texts or len(texts) > 1
    # Lines of standard input are answered one by one, as they come.
    for batch in [texts] if texts else ([line.rstrip("\n")] for line in sys.stdin):
        found = best_labels(classifier, classifier.model_.text_rows(batch), k, threshold)
        for text, tags in zip(batch, found.rows(), strict=True):
            show(text, tags, has_several)


def _print(text: str, tags: list[tuple[Any, float]], has_several: bool) -> None:
    from labeltree.cli.console import standard_output

    console = standard_output()
    if has_several:
        console.print(text, style="bold", no_wrap=True, overflow="ellipsis")
    for label, probability in tags:
        console.print(f"{probability:6.1%}  {label}")
    if not tags:
        console.print("no label is probable enough", style="dim")


def _print_json(text: str, tags: list[tuple[Any, float]], has_several: bool) -> None:
    import json

    from labeltree.cli.predicted_labels import label_to_json

    labels = [label_to_json(*pair) for pair in tags]
    print(json.dumps({"text": text, "labels": labels}, ensure_ascii=False), flush=True)
