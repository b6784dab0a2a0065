"""Opening a model for a command that asks it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer


def open_model(path: Path, parameters: dict[str, Any]) -> Any:
    """Load a model and set those of its parameters that were given as options."""
    from labeltree.model_file import load

    model: Any = load(path)
    model.set_params(**{name: value for name, value in parameters.items() if value is not None})
    try:
        model._check_parameters()
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    return model
