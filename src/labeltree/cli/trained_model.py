"""Trained models that commands open, ask and save."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import typer

from labeltree.cli.parameters import option_name
from labeltree.wording import with_article


def open_model(path: Path, parameters: dict[str, Any] | None = None) -> Any:
    """Load a model and set the parameters that were given as options: those that are not None."""
    from labeltree.model_file import load

    model: Any = load(path)
    known = {"n_jobs"}
    if hasattr(model, "get_params"):
        known |= model.get_params(deep=False).keys()
    for name, value in (parameters or {}).items():
        if value is None:
            continue
        if name not in known:
            message = f"{with_article(type(model).__name__)} has no such parameter"
            raise typer.BadParameter(message, param_hint=option_name(name))
        setattr(model, name, value)
    if hasattr(model, "check_parameters"):
        refuse_wrong(partial(model.check_parameters, training=False))
    else:  # a mix, which has no parameters but this one
        refuse_wrong(partial(_check_n_jobs, model))
    return model


@contextmanager
def changing(path: Path, command: str) -> Iterator[Callable[[Any], None]]:
    """Lock a model before it is opened, and return a function that saves it.

    Without the lock, a change that another process saves in between would be lost. ``--n-jobs`` is for this command
    alone, and is not saved.
    """
    from labeltree.model_file import read_info, save
    from labeltree.model_file.lock import ModelLock

    read_info(path)  # what is not a model is refused before it is touched
    with ModelLock(path, f"changes this model (labeltree {command})") as lock:

        def save_model(model: Any) -> None:
            model.n_jobs = read_info(path).parameters.get("n_jobs")
            save(model, path, lock=lock)

        yield save_model


def _check_n_jobs(model: Any) -> None:
    from labeltree.validation import n_threads

    n_threads(model.n_jobs)  # raises for 0


def check_has_label_tree(model: Any) -> None:
    """Raise `BadParameter` for a model without label trees, such as one whose trees divide examples."""
    if not model.model_.forest.has_label_trees:
        raise typer.BadParameter(f"{with_article(type(model).__name__)} has no label tree")


def refuse_wrong(check: Callable[[], None]) -> None:
    """Turn the `ValueError` of a check into `BadParameter`: the command line is wrong."""
    try:
        check()
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
