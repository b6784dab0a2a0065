"""Output of commands: text, JSON and errors."""

from __future__ import annotations

import json
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text


def standard_output() -> Console:
    """Return a console that prints text as it is: paths and names may have brackets, which would be markup."""
    return Console(highlight=False, markup=False, emoji=False)


def titled(title: object, text: str) -> Text:
    """Return a text that starts with a title in bold."""
    return Text.assemble((str(title), "bold"), text)


def table_of(rows: list[tuple[str, str]]) -> Table:
    """Return a table of titles in bold and texts."""
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 3, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(ratio=1)
    for row in rows:
        table.add_row(*row)
    return table


def print_json(value: dict[str, Any]) -> None:
    """Print one JSON object."""
    print(json.dumps(value, indent=2, ensure_ascii=False))


def print_error(message: str) -> None:
    """Print one line on standard error, which wraps only where the terminal does."""
    line = Text.assemble(("labeltree: ", "bold red"), message)
    Console(stderr=True, highlight=False).print(line, soft_wrap=True)


def print_next(command: str) -> None:
    """Print a command to run next, on one line that can be copied."""
    standard_output().print(Text.assemble(("Next: ", "bold"), (command, "cyan")), soft_wrap=True)
