"""Runs a target in processes that may crash, and collects what they find."""

from __future__ import annotations

import json
import os
import pickle
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fuzz.findings import Findings
from tests.fuzz.target import TARGETS


@dataclass
class Effort:
    """What was done for a target."""

    cases: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    crashes: int = 0


@dataclass(frozen=True)
class Runner:
    """How to run targets.

    `limit` is the maximum time of a case, in seconds of the processor. `corpus` has the corpora of earlier runs.
    """

    findings: Findings
    seed: int
    limit: float = 60.0
    corpus: Path | None = None

    def run(self, name: str, seconds: float, n_cases: int = 0) -> Effort:
        """Try cases of a target for some time, or `n_cases` cases if this is not 0."""
        effort, started, cpu = Effort(), time.monotonic(), _cpu_seconds()
        first = 0
        while (left := seconds - (time.monotonic() - started)) > 0 and not (n_cases and first >= n_cases):
            with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
                order = {
                    "place": TARGETS.get(name, name),
                    "folder": folder,
                    "seed": self.seed,
                    "first": first,
                    "end": n_cases,
                    "seconds": left,
                    "limit": self.limit,
                    "sanitized": is_sanitized(),
                    "corpus": None if self.corpus is None else str(self.corpus / name),
                }
                first = self._run_worker(name, order, Path(folder), effort)
        effort.seconds, effort.cpu_seconds = time.monotonic() - started, _cpu_seconds() - cpu
        return effort

    def _run_worker(self, name: str, order: dict[str, Any], folder: Path, effort: Effort) -> int:
        """Run a worker until its end. Return the number of the next case."""
        number = order["first"] - 1
        with (folder / "stderr").open("wb+") as errors:
            command = [sys.executable, "-m", "tests.fuzz.worker"]
            environment = _environment()
            with subprocess.Popen(command, stdin=-1, stdout=-1, stderr=errors, env=environment) as worker:
                assert worker.stdin is not None
                assert worker.stdout is not None
                worker.stdin.write(json.dumps(order).encode())
                worker.stdin.close()
                for line in worker.stdout:
                    if not line.startswith(b'{"number"'):
                        continue  # printed by something else
                    report = json.loads(line)
                    number = report["number"]
                    effort.cases += 1
                    if report["finding"] is not None:
                        case = pickle.loads((folder / f"finding-{number}").read_bytes())
                        self.findings.add(name, number, self.seed, case, report["finding"], report["details"])
            if worker.returncode == 0:
                return number + 1
            errors.seek(0)
            text = errors.read().decode(errors="replace")
        if not (folder / "current").exists():
            raise RuntimeError(f"the fuzzer of {name} does not start:\n{text}")
        crashed, case = pickle.loads((folder / "current").read_bytes())
        effort.cases += 1
        effort.crashes += 1
        self.findings.add(
            name, crashed, self.seed, case, crash_signature(text, worker.returncode), text[-20_000:]
        )
        return max(number, int(crashed)) + 1


def is_sanitized() -> bool:
    """Whether this process, and so its children, run with a sanitizer."""
    return "asan" in os.environ.get("LD_PRELOAD", "")


def crash_signature(text: str, code: int) -> str:
    """Return a line for a crash that is the same for all crashes with the same cause."""
    if code == -signal.SIGPROF or re.search(r"^Timeout \(", text, re.MULTILINE):
        ours = re.findall(r'File "[^"]*/(labeltree/[^"]+)", line (\d+)', text)
        return f"hang in {':'.join(ours[0]) if ours else 'foreign code'}"
    for pattern in (r"SUMMARY: (.*)", r"(\S+: runtime error: .*)"):
        if found := re.search(pattern, text):
            return "sanitizer: " + re.sub(r"0x[0-9a-f]+|\d{4,}", "…", found[1])
    fatal = re.search(r"Fatal Python error: (.*)", text)
    return f"crash with status {code}" + (f": {fatal[1]}" if fatal else "")


def _environment() -> dict[str, str]:
    """The variables of a worker: sanitizers report to its standard error, and refuse huge allocations."""
    environment = {**os.environ, "PYTHONFAULTHANDLER": "1"}
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
        if name in environment:
            environment[name] += ":log_path=stderr:max_allocation_size_mb=4096:allocator_may_return_null=0"
    return environment


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
