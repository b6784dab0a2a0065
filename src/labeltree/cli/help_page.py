"""Docstrings as help pages, and groups of commands."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping

import typer


def reflowed(docstring: str) -> str:
    """Join the lines of every paragraph, so that they wrap at the width of the terminal; keep examples as they are."""
    paragraphs = inspect.cleandoc(docstring).split("\n\n")
    return "\n\n".join(p if p.startswith(" ") else p.replace("\n", " ") for p in paragraphs)


def command_group(
    name: str, about: Callable[[], None], commands: Mapping[str, Callable[..., None]]
) -> typer.Typer:
    """Return a group of commands by name; the docstring of `about` is its help page."""
    group = typer.Typer(name=name, no_args_is_help=True, rich_markup_mode="rich")
    group.callback(help=reflowed(about.__doc__ or ""))(about)
    for command_name, command in commands.items():
        group.command(command_name, help=reflowed(command.__doc__ or ""))(command)
    return group
