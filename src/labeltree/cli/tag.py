"""`labeltree tag`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from labeltree.cli import options


def tag(
    model: options.Model,
    texts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TEXT]…",
            help="Texts, each in quotes; without any, every line of standard input is one.",
            show_default=False,
        ),
    ] = None,
    k: Annotated[int, typer.Option("--k", "-k", min=1, metavar="K", help="At most so many labels.")] = 5,
    threshold: Annotated[
        float,
        typer.Option(min=0, max=1, metavar="P", help="Leave out labels with a smaller probability."),
    ] = 0.0,
    json: Annotated[bool, typer.Option("--json", help="Print a JSON object per text, for machines.")] = False,
) -> None:
    """Tag texts: the most probable labels of each, with their probabilities.

    The model is one that 'labeltree train' made of texts, or 'labeltree learn' of a stream of them.

    [bold]Examples[/bold]

        labeltree tag tags.labeltree "A fishing boat at sea"
        labeltree tag tags.labeltree -k 3 --threshold 0.2 "A fishing boat" "A cat"
        labeltree tag tags.labeltree --json < texts.txt
    """
    from labeltree.cli.trained_model import open_model
    from labeltree.text.text_input import takes_text

    classifier = open_model(model, {})
    if not takes_text(classifier):
        raise typer.BadParameter(
            f"{model} was trained on rows of numbers, not on texts: ask it with 'labeltree predict', or train one "
            "on texts with 'labeltree train texts.jsonl'",
            param_hint="MODEL",
        )
    show = _print_json if json else _print
    several = texts is None or len(texts) > 1
    for some in [texts] if texts else _lines_of_standard_input():
        for text, tags in zip(some, _tags(classifier, some, k, threshold), strict=True):
            show(text, tags, several)


def _lines_of_standard_input() -> Iterator[list[str]]:
    """One by one, so that each is answered as it comes."""
    for line in sys.stdin:
        yield [line.rstrip("\n")]


def _tags(classifier: Any, texts: list[str], k: int, threshold: float) -> Iterator[list[tuple[Any, float]]]:
    from labeltree.text.text_input import text_features

    top = classifier.predict_topk(text_features(classifier, texts), k, threshold=threshold)
    for labels, probabilities in zip(top.labels.tolist(), top.probabilities.tolist(), strict=True):
        yield [pair for pair in zip(labels, probabilities, strict=True) if pair[1] > 0]


def _print(text: str, tags: list[tuple[Any, float]], several: bool) -> None:
    from labeltree.cli.console import standard_output

    console = standard_output()
    if several:
        console.print(text, style="bold", no_wrap=True, overflow="ellipsis")
    for label, probability in tags:
        console.print(f"{probability:6.1%}  {label}")
    if not tags:
        console.print("no label is probable enough", style="dim")


def _print_json(text: str, tags: list[tuple[Any, float]], several: bool) -> None:
    import json

    labels = [{"label": label, "probability": float(f"{probability:.6g}")} for label, probability in tags]
    print(json.dumps({"text": text, "labels": labels}, ensure_ascii=False), flush=True)
