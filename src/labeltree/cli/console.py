"""What commands print, and where."""

from __future__ import annotations

import json
from typing import Any

from rich.console import Console
from rich.text import Text


def standard_output() -> Console:
    """A console that does not colour the numbers in a text."""
    return Console(highlight=False)


def print_json(value: dict[str, Any]) -> None:
    """Print one object."""
    print(json.dumps(value, indent=2, ensure_ascii=False))


def print_error(message: str) -> None:
    """Print one line on standard error, whole even where it is longer than the terminal is wide."""
    line = Text.assemble(("labeltree: ", "bold red"), message)
    Console(stderr=True, highlight=False).print(line, soft_wrap=True)


def print_next(command: str) -> None:
    """Say how to go on, in a line that can be copied."""
    standard_output().print(Text.assemble(("Next: ", "bold"), (command, "cyan")), soft_wrap=True)
