"""Reports of `learn`, one after another: a table that lives on a terminal, lines elsewhere."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from rich.console import Console
from rich.live import Live
from rich.table import Table

from labeltree.cli.progressive_validation import ProgressiveValidation, Report

_SHOWN_REPORTS = 12
_REFRESH_SECONDS = 0.25
_LEAST_WIDTH = 9


class LearningDisplay(Protocol):
    """Shows how learning goes."""

    def opened(self) -> AbstractContextManager[object]:
        """While this is open, reports are shown."""

    def show(self, report: Report) -> None:
        """Show a report for good."""

    def glance(self, validation: ProgressiveValidation) -> None:
        """Show where things stand between two reports, if there is a place for that."""


class LiveTable:
    """The last reports as a table, and below them where things stand."""

    def __init__(self, console: Console) -> None:
        self._reports: deque[Report] = deque(maxlen=_SHOWN_REPORTS)
        self._live = Live(console=console, auto_refresh=False)
        self._refreshed = 0.0

    def opened(self) -> AbstractContextManager[object]:
        return self._live

    def show(self, report: Report) -> None:
        self._reports.append(report)
        self._live.update(_table([*self._reports]), refresh=True)

    def glance(self, validation: ProgressiveValidation) -> None:
        now = time.monotonic()
        if now - self._refreshed >= _REFRESH_SECONDS:
            self._refreshed = now
            self._live.update(_table([*self._reports, validation.report(mark=False)]), refresh=True)


class PlainLines:
    """A line for each report, below a head."""

    def __init__(self) -> None:
        self._has_head = False

    def opened(self) -> AbstractContextManager[object]:
        return nullcontext()

    def show(self, report: Report) -> None:
        texts = report.to_texts()
        widths = [max(len(head), _LEAST_WIDTH) for head in texts]
        if not self._has_head:
            self._print(texts, widths)
            self._has_head = True
        self._print(texts.values(), widths)

    def glance(self, validation: ProgressiveValidation) -> None:
        pass

    def _print(self, words: Iterable[str], widths: list[int]) -> None:
        print(" ".join(word.rjust(width) for word, width in zip(words, widths, strict=True)), flush=True)


class JsonLines:
    """An object for each report."""

    def opened(self) -> AbstractContextManager[object]:
        return nullcontext()

    def show(self, report: Report) -> None:
        print(json.dumps({"event": "progress", **report.to_json()}), flush=True)

    def glance(self, validation: ProgressiveValidation) -> None:
        pass


def _table(reports: list[Report]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 3, 0, 0))
    for head in reports[0].to_texts():
        table.add_column(head, justify="right", no_wrap=True)
    for report in reports:
        table.add_row(*report.to_texts().values())
    return table
