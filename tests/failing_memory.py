"""Allocations of the kernel that fail: a library to preload, and a loop over all allocations of a call.

A test runs a program with `run_with_failing_memory`; the program uses `fail_at_every_allocation`.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from labeltree import _native

HERE = Path(__file__).parent

#: The largest number of failures for each call; beyond it, only some of the allocations fail.
MOST_FAILURES = int(os.environ.get("LABELTREE_FAILURES", "150"))


def run_with_failing_memory(program: str, folder: Path) -> None:
    """Run a program with the library preloaded; fail if it fails, crashes or hangs."""
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    preloaded = os.environ.get("LD_PRELOAD", "")
    if not sys.platform.startswith("linux") or compiler is None or "libtsan" in preloaded:
        pytest.skip("needs Linux, a C++ compiler, and no thread sanitizer")
    library = folder / "failing_memory.so"
    command = [compiler, "-O1", "-std=c++17", "-shared", "-fPIC", "-o", library, HERE / "failing_memory.cpp"]
    subprocess.run(list(map(str, command)), check=True, timeout=120)
    path = [str(HERE.parent), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    environment = {
        **os.environ,
        "LD_PRELOAD": f"{library} {preloaded}".strip(),
        "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0",
        "PYTHONPATH": os.pathsep.join(filter(None, path)),
        "FAILING_MEMORY": str(library),
    }
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"


def fail_at_every_allocation(make: Callable[[], Any], call: Callable[[Any], Any]) -> Iterator[Any]:
    """Yield ``make()`` after ``call`` on it, in which one allocation failed; a new one for each allocation.

    The last one yielded is one in which none failed. `call` may raise `MemoryError`, and nothing else.
    """

    # nanobind ends the process if its table of living objects cannot grow. The table never shrinks: it gets room now.
    objects = [_native.Progress() for _ in range(20_000)]
    del objects
    library = ctypes.CDLL(os.environ["FAILING_MEMORY"])
    library.fail_allocation.restype = ctypes.c_int64
    library.fail_allocation.argtypes = [ctypes.c_int64]
    subject = make()
    library.fail_allocation(2**62)
    call(subject)
    total = library.fail_allocation(0)
    assert total > 0, "the call allocates nothing: nothing is tested"
    n, step = 1, max(1, total / MOST_FAILURES)
    while True:
        subject = make()
        library.fail_allocation(int(n))
        with suppress(MemoryError):
            call(subject)
        reached = library.fail_allocation(0)
        yield subject
        if reached < int(n):
            return
        n += step
