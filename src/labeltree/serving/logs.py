"""Logs as JSON lines: one line for each request, without its texts, and one for each event."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from typing import Any, TextIO

from pydantic_core import to_json

from labeltree.serving.exchange import Exchange

_EVENTS = logging.getLogger("labeltree.serving")

#: Lines about requests are written in batches, after at most this many seconds.
WRITE_SECONDS = 0.05


class RequestLog:
    """Writes a line for each request, without `logging`, which would take as long as a small prediction.

    Parameters
    ----------
    stream : text file or None
        The file to write to; None disables the log.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self._lines: list[str] = []

    def add(self, exchange: Exchange, method: str, route: str, seconds: float) -> None:
        """Log a request. No part of the line needs quoting: names are checked when they come."""
        if self._stream is None:
            return
        if not self._lines:
            asyncio.get_running_loop().call_later(WRITE_SECONDS, self.flush)
        self._lines.append(
            f'{{"time":"{_stamp(time.time())}","level":"info","request":"{exchange.id}","method":"{method}",'
            f'"route":"{route}","model":"{exchange.model}","rows":{exchange.rows},"status":{exchange.status},'
            f'"ms":{seconds * 1000:.2f},"model_ms":{exchange.model_seconds * 1000:.2f}}}\n'
        )

    def flush(self) -> None:
        """Write the lines that wait."""
        lines, self._lines = self._lines, []
        if self._stream is not None and lines:
            self._stream.write("".join(lines))
            self._stream.flush()


class JsonLines(logging.Formatter):
    """Formats a record as a JSON object on one line, with the record's fields or else its message."""

    def format(self, record: logging.LogRecord) -> str:
        fields = record.args if isinstance(record.args, dict) else {"message": record.getMessage()}
        line: dict[str, Any] = {"time": _stamp(record.created), "level": record.levelname.lower(), **fields}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return to_json(line).decode()


def start_logs(quiet: bool = False) -> None:
    """Write the logs of this library and of uvicorn to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name in ("labeltree", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(logging.WARNING if quiet else logging.INFO)


def log_event(
    event: str, *, level: int = logging.INFO, error: BaseException | None = None, **fields: Any
) -> None:
    """Log an event of the server, as a start or a failure."""
    _EVENTS.log(level, event, {"event": event, **fields}, exc_info=error)


def _stamp(seconds: float) -> str:
    whole, part = divmod(seconds, 1.0)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(whole))}.{int(part * 1000):03d}Z"
