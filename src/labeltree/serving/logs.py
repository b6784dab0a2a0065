"""One line of JSON for each request: what was asked of which model, how it ended, how long it took; never the text."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from dataclasses import dataclass, field
from typing import Any, TextIO

from pydantic_core import to_json

_EVENTS = logging.getLogger("labeltree.serving")

#: Lines about requests are written together, at most so many seconds late.
WRITE_SECONDS = 0.05


@dataclass(slots=True)
class Exchange:
    """What is known of a request while it is answered; routes write down what they learn."""

    id: str
    headers: dict[bytes, bytes]
    started: float = field(default_factory=time.perf_counter)
    route: str = "other"
    model: str = ""
    rows: int = 0
    model_seconds: float = 0.0
    n_bytes: int = 0
    body_is_read: bool = False


class RequestLog:
    """Writes a line for each request, without `logging`, which would take as long as a small prediction.

    Parameters
    ----------
    stream : text file or None
        Where to; None for nowhere.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self._lines: list[str] = []

    def add(self, exchange: Exchange, method: str, status: int, seconds: float) -> None:
        """Log a request that was answered. Nothing in the line can need quoting: names are checked when they come."""
        if self._stream is None:
            return
        if not self._lines:
            asyncio.get_running_loop().call_later(WRITE_SECONDS, self.flush)
        self._lines.append(
            f'{{"time":"{_stamp(time.time())}","level":"info","request":"{exchange.id}","method":"{method}",'
            f'"route":"{exchange.route}","model":"{exchange.model}","rows":{exchange.rows},"status":{status},'
            f'"ms":{seconds * 1000:.2f},"model_ms":{exchange.model_seconds * 1000:.2f}}}\n'
        )

    def flush(self) -> None:
        """Write what waits."""
        lines, self._lines = self._lines, []
        if self._stream is not None and lines:
            self._stream.write("".join(lines))
            self._stream.flush()


class JsonLines(logging.Formatter):
    """A record as a JSON object on one line: its fields if it has some, else its message."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {"time": _stamp(record.created), "level": record.levelname.lower()}
        if isinstance(record.args, dict):
            line |= record.args
        else:
            line["message"] = record.getMessage()
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
    """Log something that happened to the server."""
    _EVENTS.log(level, event, {"event": event, **fields}, exc_info=error)


def _stamp(seconds: float) -> str:
    whole, part = divmod(seconds, 1.0)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(whole))}.{int(part * 1000):03d}Z"
