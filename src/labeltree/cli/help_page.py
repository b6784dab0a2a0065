"""Docstrings as help pages, short pages of commands with many options, and groups of commands."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from copy import copy
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

#: On short pages, a longer sentence is cut, and more examples are left out.
_LONG_SENTENCE = 45
_MOST_EXAMPLES = 5


def reflowed(docstring: str) -> str:
    """Join the lines of every paragraph, so that they wrap at the width of the terminal; keep examples as they are."""
    paragraphs = inspect.cleandoc(docstring).split("\n\n")
    return "\n\n".join(p if p.startswith(" ") else p.replace("\n", " ") for p in paragraphs)


def in_short(text: str) -> str:
    """Return the first sentence of a text, and of a long one only the first part.

    Examples
    --------
    >>> in_short("Seed, e.g. 7. The same seed gives the same model.")
    'Seed, e.g. 7.'
    >>> in_short("How to arrange the labels in a tree: the name of a tree builder, or a file.")
    'How to arrange the labels in a tree.'
    """
    sentence = _first_sentence(text)
    if len(sentence) > _LONG_SENTENCE:
        sentence = re.split("[:;,] ", sentence, maxsplit=1)[0]
    return f"{sentence}." if sentence else ""


def _first_sentence(text: str) -> str:
    return re.split(r"(?<!\b[a-z])\.\s", text, maxsplit=1)[0].removesuffix(".")


class _PlainFlags:
    """A command or a group whose help page shows no type for flags: they take no value."""

    def get_params(self, ctx: Any) -> list[Any]:
        options: list[Any] = super().get_params(ctx)  # type: ignore[misc] # of the command or group
        for option in options:
            if getattr(option, "is_flag", False):
                option.metavar = " "
        return options


class PlainCommand(_PlainFlags, TyperCommand):
    """A command."""


class PlainGroup(_PlainFlags, TyperGroup):
    """A group of commands."""


class LongCommand(PlainCommand):
    """A command with many options: ``--help`` shows those in `basic` on one screen, ``--help-all`` shows all."""

    #: The names of the options on the short page, in this order.
    basic: tuple[str, ...] = ()

    def get_params(self, ctx: Any) -> list[Any]:
        """Return all options, with ``--help-all`` at the end."""
        all_options: list[Any] = super().get_params(ctx)
        *options, help = all_options
        help_all = copy(help)
        help_all.name, help_all.opts, help_all.callback = "help_all", ["--help-all"], self._print_all
        help_all.help = f"Show all {len(self.params)} options and exit."
        return [*options, help, help_all]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the short page."""
        short = copy(self)
        short.help = _short_text(self.help or "")
        by_name = {option.name: option for option in self.params}
        shown = [_on_short_page(by_name[name]) for name in self.basic if name in by_name]
        arguments: list[Any] = [
            copy(option) for option in self.params if option.param_type_name == "argument"
        ]
        for argument in arguments:
            argument.help = f"{_first_sentence(argument.help or '')}."
        short.params = arguments + shown
        short.get_params = lambda ctx: [*short.params, *self.get_params(ctx)[-2:]]  # type: ignore[method-assign] # of this copy
        super(LongCommand, short).format_help(ctx, formatter)

    def _print_all(self, ctx: Any, parameter: Any, is_given: bool) -> None:
        if is_given and not ctx.resilient_parsing:
            super().format_help(ctx, ctx.make_formatter())
            ctx.exit()


def long_command(basic: str) -> type[LongCommand]:
    """Return a class of commands that show these options, with spaces between them, on the short page."""
    return type("LongCommand", (LongCommand,), {"basic": tuple(basic.split())})


def _short_text(help: str) -> str:
    """Return the first paragraph of a help page, and its examples."""
    summary, _, rest = help.partition("\n\n")
    examples = rest.partition("[bold]Examples[/bold]\n\n")[2].partition("\n\n")[0]
    # Lines that begin with a space would lose it.
    lines = [f"[bold][/bold]{line}" for line in examples.splitlines()[:_MOST_EXAMPLES]]
    return "\n\n".join([summary, "[bold]Examples[/bold]", "\n".join(lines)])


def _on_short_page(option: Any) -> Any:
    """Return an option that takes one line, if possible, in the panel of all options."""
    short = copy(option)
    short.help = in_short(option.help or "")
    short.rich_help_panel, short.secondary_opts = None, []
    short.min = short.max = None
    short.metavar = re.split(r"[|\[]", option.metavar or "WORD")[0]
    return short


def command_group(
    name: str, about: Callable[[], None], commands: Mapping[str, Callable[..., None]]
) -> typer.Typer:
    """Return a group of commands by name; the docstring of `about` is its help page."""
    group = typer.Typer(name=name, cls=PlainGroup, no_args_is_help=True, rich_markup_mode="rich")
    group.callback(help=reflowed(about.__doc__ or ""))(about)
    for command_name, command in commands.items():
        group.command(command_name, cls=PlainCommand, help=reflowed(command.__doc__ or ""))(command)
    return group
