"""Every command of labeltree in the documentation is one that exists, with options that it has."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.pages import code_blocks, code_spans, name_of, pages

from labeltree.cli.application import app
from labeltree.cli.train_command import _command, _method_in
from labeltree.kinds import METHODS

ROOT_COMMAND: Any = typer.main.get_command(app)
#: Old versions of the library had other commands.
SKIPPED = {"CHANGELOG.md"}


def commands(page: Path) -> Iterator[str]:
    """Yield the arguments of `labeltree`: in blocks of code, in the parts of a pipe, and within sentences."""
    for language, code in code_blocks(page):
        if language in ("", "bash", "console"):
            for line in re.sub(r"\\\n", " ", code).splitlines():
                line = line.removeprefix("$ ")
                for part in re.split(r" (?:\||&&) ", line):
                    found = re.match(r"(?:[\w./-]*/)?labeltree (.+)", part.strip())
                    if found:
                        yield found[1]
    for span in code_spans(page):
        if span.startswith("labeltree "):
            yield " ".join(span.split()).removeprefix("labeltree ")


@cache
def flags_of(names: tuple[str, ...], method: str) -> frozenset[str]:
    """Return the options of a command."""
    command = ROOT_COMMAND
    for name in names:
        command = command.commands[name]
    if names == ("train",):
        command = _command(method)
    help_flags = {"-h", "--help", "--help-all"}
    return (
        frozenset(flag for option in command.params for flag in (*option.opts, *option.secondary_opts))
        | help_flags
    )


def fault_of(arguments: str) -> str | None:
    """Return what is wrong with a command, if anything is."""
    try:
        words = shlex.split(arguments, comments=True)
    except ValueError:  # an apostrophe in a sentence
        words = arguments.split()
    command, names = ROOT_COMMAND, []
    while words and words[0].startswith("-") and words[0] in flags_of((), ""):
        words.pop(0)
    while hasattr(command, "commands") and words:
        name = words.pop(0)
        if name in ("COMMAND", "…", "-h", "--help"):
            return None
        if name not in command.commands:
            return f"there is no command {name}"
        command = command.commands[name]
        names.append(name)
    known = flags_of(tuple(names), _method_in(words))
    given = [word.partition("=")[0] for word in words if re.match(r"--?[a-zA-Z]", word)]
    wrong = [flag for flag in given if flag not in known]
    return f"there is no option {', '.join(wrong)}" if wrong else None


@pytest.mark.parametrize("page", [page for page in pages() if name_of(page) not in SKIPPED], ids=name_of)
def test_commands_exist(page: Path) -> None:
    faults = [
        f"labeltree {line}: {fault}" for line in commands(page) if (fault := fault_of(line)) is not None
    ]
    assert not faults, "\n".join([name_of(page), *faults])


def test_there_are_commands() -> None:
    assert sum(len(list(commands(page))) for page in pages()) > 150


@pytest.mark.parametrize(
    "wrong", ["teach a.txt", "train a.txt --mode m", "tree paint m", "predict m a.txt -q"]
)
def test_wrong_commands_are_noticed(wrong: str) -> None:
    assert fault_of(wrong) is not None


def test_methods_have_options_of_their_own() -> None:
    assert fault_of("train a.txt --model m --method fastxml --max-leaf 5") is None
    assert fault_of("train a.txt --model m --preset pfastrexml --alpha 0.5") is None
    assert fault_of("train a.txt --model m --max-leaf 5") is not None
    assert set(METHODS) > {"fastxml"}
