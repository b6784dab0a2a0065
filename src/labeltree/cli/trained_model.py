"""Models for commands: one to be trained, or one that is asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer


def open_model(path: Path, parameters: dict[str, Any]) -> Any:
    """Load a model and set those of its parameters that were given as options."""
    from labeltree.model_file import load

    model: Any = load(path)
    given = {name: value for name, value in parameters.items() if value is not None}
    for name in given.keys() - model.get_params(deep=False).keys():
        option = f"--{name.replace('_', '-')}"
        raise typer.BadParameter(f"a {type(model).__name__} has no such parameter", param_hint=option)
    model.set_params(**given)
    refuse_wrong(model._check_parameters)
    return model


def check_has_label_tree(model: Any) -> None:
    """Refuse a model whose trees divide examples: there is no label tree to show."""
    if not hasattr(model, "tree_"):
        raise typer.BadParameter(f"a {type(model).__name__} has no label tree: its trees divide examples")


def untrained(make: Callable[..., Any], parameters: dict[str, Any]) -> Any:
    """What `make` makes of options; wrong ones end here, before anything is read."""
    model = make(**parameters)
    refuse_wrong(model._check_training_parameters)
    return model


def refuse_wrong(check: Callable[[], None]) -> None:
    """Tell what a check finds wrong as a mistake on the command line."""
    try:
        check()
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
