"""Output of commands: text, JSON and errors."""

from __future__ import annotations

import json
import re
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

#: Characters that would move the cursor, change colours, end a line, turn the writing direction, or not be encoded.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(value: object) -> str:
    """Return a value as text on one line that is safe to print on a terminal: control characters are escaped.

    Examples
    --------
    >>> print(printable("a\\tb\\x1b[31m [bold]"))
    a\\tb\\x1b[31m [bold]
    """
    return _UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode(), str(value))


def escaped(value: object) -> str:
    """Return a value as `printable` does, with backslashes doubled, so that programs can read it back.

    Examples
    --------
    >>> print(escaped("a\\tb"), escaped("C:\\\\temp"))
    a\\tb C:\\\\temp
    """
    return printable(str(value).replace("\\", r"\\"))


def json_text(value: Any, **settings: Any) -> str:
    """Return JSON that a person can read and a terminal can show: only control characters are escaped."""
    text = json.dumps(value, ensure_ascii=False, **settings)
    # Line feeds between values are the only control characters outside of strings; JSON has escaped those in strings.
    return _UNPRINTABLE.sub(lambda found: found[0] if found[0] == "\n" else f"\\u{ord(found[0]):04x}", text)


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
    print(json_text(value, indent=2))


def print_error(message: str) -> None:
    """Print one line on standard error, which wraps only where the terminal does."""
    line = Text.assemble(("labeltree: ", "bold red"), printable(message))
    Console(stderr=True, highlight=False).print(line, soft_wrap=True)


def print_warning(message: str) -> None:
    """Print a warning in one line on standard error."""
    print_error(f"warning: {message}")


def print_next(command: str) -> None:
    """Print a command to run next, on one line that can be copied."""
    standard_output().print(Text.assemble(("Next: ", "bold"), (command, "cyan")), soft_wrap=True)
