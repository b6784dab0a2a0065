"""The `labeltree` command: its sub-commands, and what happens when one of them fails."""

from __future__ import annotations

import os
import re
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import labeltree
from labeltree.cli.console import print_error
from labeltree.cli.convert import convert
from labeltree.cli.datasets import data_app
from labeltree.cli.decide import decide
from labeltree.cli.demo import demo
from labeltree.cli.evaluate import evaluate
from labeltree.cli.explain import explain
from labeltree.cli.help_page import reflowed
from labeltree.cli.info import info
from labeltree.cli.learn import learn
from labeltree.cli.predict import predict
from labeltree.cli.rival.application import rival_app
from labeltree.cli.serve import serve
from labeltree.cli.tag import tag
from labeltree.cli.train import train
from labeltree.cli.tree.application import tree_app
from labeltree.cli.tune import tune

#: Exit codes; a wrong command line is 2, as everywhere.
FAILED = 1
INTERRUPTED = 130
READER_GONE = 141  # what a shell says of a program that writes to a closed pipe


class Commands(TyperGroup):
    """The sub-commands. Their errors become one line and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            if ctx.params["debug"]:
                raise
            print_error("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            # Python flushes standard output when it ends, and must not stumble then.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(READER_GONE) from None
        except (ValueError, OSError, ImportError) as error:
            if ctx.params["debug"]:
                raise
            print_error(_in_one_line(error))
            raise typer.Exit(FAILED) from None


def _in_one_line(error: Exception) -> str:
    """The message; of the system's errors without their numbers, and without the names of temporary files."""
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename2 or _final_name(str(error.filename))}: {error.strerror}"
    return " ".join(str(error).split())


def _final_name(path: str) -> str:
    """What a file written under a temporary name, ``.NAME.1234abcd.tmp``, was to become."""
    folder, name = os.path.split(path)
    temporary = re.fullmatch(r"\.(.+)\.[0-9a-f]{8}\.tmp", name)
    return os.path.join(folder, temporary[1]) if temporary else path


app = typer.Typer(
    name="labeltree",
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (train, tune, learn, evaluate, decide, predict, tag, explain, info, convert, serve, demo):
    app.command(help=reflowed(command.__doc__ or ""))(command)
app.add_typer(tree_app)
app.add_typer(rival_app)
app.add_typer(data_app)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"labeltree {labeltree.__version__}")
        raise typer.Exit


def _labeltree(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version."),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where in the program an error comes from.")
    ] = False,
) -> None:
    """Tag things with a few labels out of very many, by probabilistic label trees.

    Data are text files with a row per line, 'label,label feature:value …'; a model is a directory.

    [bold]A session[/bold]

        labeltree train train.txt --model tags.labeltree
        labeltree evaluate tags.labeltree test.txt
        labeltree predict tags.labeltree new.txt --k 3

    Nothing at hand? [bold]labeltree demo[/bold] brings its own data.

    Exit codes: 0 done, 1 a file or a model is not as it should be, 2 wrong options, 130 interrupted.
    """


app.callback(help=reflowed(_labeltree.__doc__ or ""))(_labeltree)
