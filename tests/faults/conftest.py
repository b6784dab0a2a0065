"""The preloaded library, compiled here, and the process that does tasks with it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.faults.tasks import Task, make_tasks

#: The processes of these tests fork, and preload a library.
collect_ignore_glob = ["*.py"] if sys.platform == "win32" else []

SOURCE = Path(__file__).with_name("preload.c")


@pytest.fixture(scope="session")
def preload(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library to preload."""
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if sys.platform != "linux" or compiler is None or "LD_PRELOAD" in os.environ:
        pytest.skip("faults are injected on Linux, with a C compiler, and not beside sanitizers")
    library = tmp_path_factory.mktemp("preload") / "faults.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, SOURCE, "-ldl"], check=True)
    return library


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder in memory where there is such a thing: thousands of saves sync thousands of files."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as name:
        yield Path(name)


@pytest.fixture(scope="session")
def tasks() -> dict[str, Task]:
    return make_tasks()


@pytest.fixture(scope="session")
def do(preload: Path) -> Iterator[Callable[..., dict[str, Any]]]:
    """A function that does a task in a process of its own: ``do("save", folder, at=3, action="kill")``."""
    environment = {
        **os.environ,
        "LD_PRELOAD": str(preload),
        "FAULTS_LIBRARY": str(preload),
        "OPENBLAS_NUM_THREADS": "1",  # a process that forks should have no threads
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, "-m", "tests.faults.nursery"]
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True, env=environment) as nursery:
        assert nursery.stdin is not None
        assert nursery.stdout is not None
        asked, answered = nursery.stdin, nursery.stdout

        def do(task: str, folder: Path, **fault: Any) -> dict[str, Any]:
            print(json.dumps({"task": task, "folder": str(folder), **fault}), file=asked, flush=True)
            answer: dict[str, Any] = json.loads(answered.readline())
            return answer

        yield do
        asked.close()
