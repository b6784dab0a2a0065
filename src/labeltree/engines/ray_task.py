"""What a worker of Ray calls for each task; it imports little, so that workers start quickly."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

from labeltree.engines.outcome import Outcome
from labeltree.engines.versions import Versions, check_versions, own_versions
from labeltree.errors import WorkerError


def run_task(versions: Versions, run: Callable[..., Any], arguments: tuple[Any, ...]) -> Outcome:
    """Run a task. Errors are values here, so that they reach the program as they were."""
    try:
        check_versions(versions, own_versions(), socket.gethostname())
    except WorkerError as error:
        return Outcome.failed(error)
    return Outcome.of(run, arguments)
