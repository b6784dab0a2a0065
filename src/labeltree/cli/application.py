"""The `labeltree` command: its sub-commands, and how their errors are reported."""

from __future__ import annotations

import os
import re
import sys
import warnings
from typing import Annotated, Any

import typer

import labeltree
from labeltree.cli.calibrate import calibrate
from labeltree.cli.compare import compare
from labeltree.cli.console import print_error, print_warning
from labeltree.cli.convert import convert
from labeltree.cli.datasets import data_app
from labeltree.cli.decide import decide
from labeltree.cli.demo import demo
from labeltree.cli.evaluate import evaluate
from labeltree.cli.explain import explain
from labeltree.cli.export import export
from labeltree.cli.help_page import PlainCommand, PlainGroup, long_command, reflowed
from labeltree.cli.info import info
from labeltree.cli.learn import learn
from labeltree.cli.name import name
from labeltree.cli.options import option
from labeltree.cli.predict import predict
from labeltree.cli.serve import serve
from labeltree.cli.tag import tag
from labeltree.cli.termination import TerminationSignal
from labeltree.cli.train_command import add_train
from labeltree.cli.tree.application import tree_app
from labeltree.cli.tune import tune
from labeltree.errors import WorkerError

#: Exit codes; a wrong command line is 2, as everywhere.
FAILED = 1
INTERRUPTED = 130
TERMINATED = 143
BROKEN_PIPE = 141  # as a shell reports a program that writes to a closed pipe


class Commands(PlainGroup):
    """The sub-commands. An error becomes one line and an exit code, a warning one line."""

    def invoke(self, ctx: Any) -> Any:
        termination = TerminationSignal()
        try:
            with warnings.catch_warnings(), termination.handled():
                warnings.showwarning = _print_warning
                return super().invoke(ctx)
        except BrokenPipeError:
            # Python flushes standard output when it ends, and must not fail then.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(BROKEN_PIPE) from None
        except MemoryError as error:
            if ctx.params["debug"]:
                raise
            # A training that raises it anew says what to lower.
            told = _in_one_line(error) if error.__cause__ is not None else ""
            print_error(
                told
                or "there is not enough memory: use fewer rows or features, or parameters for a smaller model"
            )
            raise typer.Exit(FAILED) from None
        except (KeyboardInterrupt, ValueError, OSError, ImportError, WorkerError) as error:
            if ctx.params["debug"]:
                raise
            if not _is_interruption(error):
                print_error(_in_one_line(error))
                raise typer.Exit(FAILED) from None
            print_error("interrupted")
            raise typer.Exit(TERMINATED if termination.came else INTERRUPTED) from None


def _print_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: Any = None,
    line: Any = None,
) -> None:
    # Warnings about code, such as a DeprecationWarning, are for programmers: they keep their place.
    if category is UserWarning:
        print_warning(" ".join(str(message).split()))
    else:
        print(warnings.formatwarning(message, category, filename, lineno), file=sys.stderr, end="")


def _is_interruption(error: BaseException | None) -> bool:
    """Return whether Ctrl-C caused an error: a library that it meets while it is imported raises an `ImportError`."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__
    return error is not None


def _in_one_line(error: BaseException) -> str:
    """Return the message of an error; a system error without its number and without names of temporary files."""
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename2 or _final_name(str(error.filename))}: {error.strerror}"
    return " ".join(str(error).split())


def _final_name(path: str) -> str:
    """Return the final name of a file that is written under a temporary name, ``.NAME.1234abcd.tmp``."""
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
#: The options on the short help pages of commands that have many.
_BASIC = {
    tune: "budget out valid metric text labels separator format loss C n_trees ngram_range n_jobs random_state json",
    learn: "model fresh new_stream skip_bad_lines checkpoint_every report_every k text labels separator format policy "
    "memory_mb loss learning_rate n_jobs random_state json",
    serve: "host port workers token_file token_for_all cors_origin allowed_host watch learn max_body_mb max_rows "
    "max_seconds max_in_flight grace quiet",
}
add_train(app)
for command in (  # in the order of the overview
    *(tune, learn, evaluate, compare, calibrate, decide),
    *(predict, tag, explain, name, info, convert, export, serve, demo),
):
    cls = long_command(_BASIC[command]) if command in _BASIC else PlainCommand
    app.command(help=reflowed(command.__doc__ or ""), cls=cls)(command)
app.add_typer(tree_app)
app.add_typer(data_app)


def _print_version(is_given: bool) -> None:
    if is_given:
        print(f"labeltree {labeltree.__version__}")
        raise typer.Exit


def _labeltree(
    version: Annotated[
        bool, option("Print the version.", "--version", callback=_print_version, is_eager=True)
    ] = False,
    debug: Annotated[bool, option("Show the traceback of an error.", "--debug")] = False,
) -> None:
    """Tag texts, or rows of numbers, with a few labels out of very many.

    [bold]Texts[/bold]: JSON lines such as {"text": "A boat at sea", "labels": ["sea", "boat"]}, or other files with
    columns

        labeltree train texts.jsonl --model tags.labeltree
        labeltree evaluate tags.labeltree test.jsonl
        labeltree tag tags.labeltree "A boat in a storm"

    [bold]Numbers[/bold]: a row per line, 'label,label feature:value …'

        labeltree train train.txt --model tags.labeltree
        labeltree evaluate tags.labeltree test.txt
        labeltree predict tags.labeltree new.txt --k 3

    A model is a directory of files.

    No data yet? [bold]labeltree demo[/bold] comes with its own.

    Exit codes: 0 success, 1 a file or a model is wrong, 2 wrong options, 130 interrupted.
    """


app.callback(help=reflowed(_labeltree.__doc__ or ""))(_labeltree)
