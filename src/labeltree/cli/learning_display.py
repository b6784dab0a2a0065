"""The reports of `learn`: a live table on a terminal, lines elsewhere."""

from __future__ import annotations

import json
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext

from rich.console import Console
from rich.live import Live
from rich.table import Table

from labeltree.cli.progressive_validation import ProgressiveValidation, Report, report_texts

_SHOWN_REPORTS = 12
_REFRESH_SECONDS = 0.25
_LEAST_WIDTH = 9


class LearningDisplay(ABC):
    """Shows reports while it is open."""

    def opened(self) -> AbstractContextManager[object]:
        """Return a context in which reports are shown."""
        return nullcontext()

    @abstractmethod
    def show(self, report: Report) -> None:
        """Show a report."""

    def glance(self, validation: ProgressiveValidation) -> None:  # noqa: B027 # most displays cannot
        """Show the figures between two reports, if the display can."""


class JsonLines(LearningDisplay):
    """Prints a JSON object for each report."""

    def show(self, report: Report) -> None:
        print(json.dumps({"event": "progress", **report}), flush=True)


class PlainLines(LearningDisplay):
    """Prints a line for each report, below a header."""

    def __init__(self) -> None:
        self._has_header = False

    def show(self, report: Report) -> None:
        texts = report_texts(report)
        widths = [max(len(title), _LEAST_WIDTH) for title in texts]
        if not self._has_header:
            self._print(texts, widths)
            self._has_header = True
        self._print(texts.values(), widths)

    def _print(self, words: Iterable[str], widths: list[int]) -> None:
        print(" ".join(word.rjust(width) for word, width in zip(words, widths, strict=True)), flush=True)


class LiveTable(LearningDisplay):
    """Shows the last reports in a table, and below them the figures since."""

    def __init__(self, console: Console) -> None:
        self._reports: deque[Report] = deque(maxlen=_SHOWN_REPORTS)
        self._live = Live(console=console, auto_refresh=False)
        self._refreshed = 0.0

    def opened(self) -> AbstractContextManager[object]:
        return self._live

    def show(self, report: Report) -> None:
        self._reports.append(report)
        self._draw(*self._reports)

    def glance(self, validation: ProgressiveValidation) -> None:
        now = time.monotonic()
        if now - self._refreshed >= _REFRESH_SECONDS:
            self._refreshed = now
            self._draw(*self._reports, validation.report(mark=False))

    def _draw(self, *reports: Report) -> None:
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 3, 0, 0))
        for title in report_texts(reports[0]):
            table.add_column(title, justify="right", no_wrap=True)
        for report in reports:
            table.add_row(*report_texts(report).values())
        self._live.update(table, refresh=True)
