"""A process with the preloaded library, whose children do tasks and meet faults. Children start quickly: they fork."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import resource
import signal
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

from tests.faults.tasks import Task, make_tasks

ACTIONS = {"kill": 1, "fail": 2, "short": 3}


def run_child(library: Any, tasks: dict[str, Task], order: dict[str, Any]) -> dict[str, Any]:
    """Do a task in a child process. Return how it ended, and how many calls it made that change files."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        report = do_task(library, tasks, order)
        os.write(writing, json.dumps(report).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    report = json.loads(text) if text else {}
    return {"signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0, "error": None, **report}


def do_task(library: Any, tasks: dict[str, Task], order: dict[str, Any]) -> dict[str, Any]:
    """Do a task with a fault. Return the error that came, if any, and the number of calls."""
    os.dup2(1, 2)  # which is nowhere
    folder = Path(order["folder"])
    if size := order.get("file_bytes"):  # a larger file fails, as on a full disk
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    trace = os.open(order["trace"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC) if order.get("trace") else -1
    error = kind = None
    library.faults_arm(
        os.fsencode(folder),
        ctypes.c_long(order.get("at", 0)),
        ACTIONS.get(order.get("action", ""), 0),
        getattr(errno, order.get("errno", "EIO")),
        trace,
    )
    try:
        tasks[order["task"]].act(folder)
    except Exception as raised:
        kind, error = type(raised).__name__, "".join(traceback.format_exception(raised))
    return {"calls": library.faults_disarm(), "error": error, "kind": kind}


def main() -> None:
    library = ctypes.CDLL(os.environ["FAULTS_LIBRARY"])
    library.faults_disarm.restype = ctypes.c_long
    tasks = make_tasks()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for task in tasks.values():  # so that all that they import is there before children fork
        with tempfile.TemporaryDirectory() as folder:
            task.prepare(Path(folder))
            task.act(Path(folder))
    for line in sys.stdin:
        order = json.loads(line)
        print(json.dumps(run_child(library, tasks, order)), file=answers, flush=True)


if __name__ == "__main__":
    main()
