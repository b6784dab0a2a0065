"""Trained models that commands open, ask and save."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import typer

from labeltree.cli.parameters import option_name
from labeltree.kinds import KINDS
from labeltree.wording import with_article

#: The names of parameters that cannot be words of a sentence.
_PARAMETERS = {name for kind in KINDS for names in kind.panels.values() for name in names if "_" in name}


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
        raise typer.BadParameter(_with_options(str(error))) from None


def _with_options(message: str) -> str:
    """Return a message about parameters with the options that set them.

    Examples
    --------
    >>> _with_options("with n_trees=3, use policy='random', bias=False or another max_leaves")
    'with --n-trees 3, use --policy random, --no-bias or another --max-leaves'
    """

    def given(found: re.Match[str]) -> str:
        flag, value = option_name(found[1]), found[2].strip("'")
        if value in ("True", "False"):
            return flag if value == "True" else f"--no-{flag[2:]}"
        return f"{flag} {value}"

    message = re.sub(r"(?<![\w.'-])([A-Za-z_]+)=('[^']*'|\w[\w.]*\b)", given, message)
    # In quotes they are what was typed, before a bracket functions.
    names = r"(?<![\w.'-])\w+(?![\w'(])"
    return re.sub(names, lambda name: option_name(name[0]) if name[0] in _PARAMETERS else name[0], message)
